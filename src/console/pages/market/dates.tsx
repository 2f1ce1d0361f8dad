import { useMemo } from 'preact/hooks'
import { dayMs, isoInstant } from '../../../lib/time/instant.ts'
import type { TriggerShape as Trigger } from '../../../topics/alerts/operations/row.ts'
import type { PublicStatus } from '../../../topics/condition/operations/public-status.ts'
import { Tag } from '../../parts/bits.tsx'
import { useAnswer, useData } from '../../parts/requests/ask.ts'
import { now } from '../../parts/requests/boot.ts'
import { Table } from '../../parts/tables/table.tsx'
import { ago, instant, sourceText } from '../../parts/text/format.ts'

const weekMs = 7 * dayMs

/** The publications of the next seven days, the next first. */
export function Releases() {
  const answer = useData<PublicStatus>('/v1/status', true)
  const rows = answer.data?.feeds
    .flatMap(source => (source.expected_by ? [{ ...source, due: source.expected_by }] : []))
    .filter(({ due }) => Date.parse(due) < now() + weekMs)
    .sort((a, b) => a.due.localeCompare(b.due))
  return (
    <Table
      caption="Releases this week"
      file="releases"
      of={answer}
      rows={rows}
      isTall
      empty="Nothing is due this week."
      columns={({ column, numeric }) => [
        column('Source', 'name', { write: sourceText }),
        numeric('Due', 'due', ({ due, stale_codes: stale }) => (
          <span title={instant(due)}>{stale > 0 ? <Tag mood="warn">Late</Tag> : ago(due)}</span>
        )),
      ]}
    />
  )
}

const visitName = 'visit.1'

/** When this browser was here before this tab was opened, Unix ms; now is noted for the next time. */
function lastVisit(): number | undefined {
  try {
    const before = sessionStorage.getItem(visitName) ?? localStorage.getItem(visitName)
    if (before !== null) sessionStorage.setItem(visitName, before)
    localStorage.setItem(visitName, String(Math.round(now())))
    return before === null ? undefined : Number(before)
  } catch {
    return undefined
  }
}

/** The alerts that fired last, and how many of them since the last visit. */
export function Triggers() {
  const since = useMemo(lastVisit, [])
  const answer = useAnswer<{ triggers: Trigger[] }>('/v1/alerts/triggers?per_page=50', true)
  const isNew = (row: Trigger) => since !== undefined && Date.parse(row.triggered_at) > since
  const count = answer.data?.triggers.filter(isNew).length ?? 0
  return (
    <Table
      caption="Alerts that fired"
      note={
        since !== undefined &&
        answer.data && (
          <span role="status">
            {count === 0 ? 'None' : count} since your last visit, {ago(isoInstant(since))}.
          </span>
        )
      }
      file="fired"
      of={answer}
      rows={answer.data?.triggers}
      isTall
      empty={
        <>
          None fired. <a href="/alerts/new">Add an alert</a>
        </>
      }
      columns={({ column, numeric }) => [
        column('Alert', row => row.alert_name ?? row.commodity_code, {
          show: row => (
            <>
              <a href={`/alerts/${row.alert_id}`}>{row.alert_name ?? row.commodity_code}</a>{' '}
              {isNew(row) && <Tag mood="warn">New</Tag>}
            </>
          ),
        }),
        numeric('When', 'triggered_at', { write: ago }),
      ]}
    />
  )
}
