import { dayMs } from '../../../lib/time/instant.ts'
import type { TriggerShape as Trigger } from '../../../topics/alerts/operations/row.ts'
import { ask, dataOf, useLoaded } from '../../parts/ask.ts'
import { Tag } from '../../parts/bits.tsx'
import { now } from '../../parts/boot.ts'
import { ago, words } from '../../parts/format.ts'
import { Table } from '../../parts/table.tsx'

interface Source {
  name: string
  expected_by: string | null
  codes: number
  stale_codes: number
}

const weekMs = 7 * dayMs

/** The publications of the next seven days, the next first. */
export function Releases() {
  const answer = useLoaded('releases', signal =>
    dataOf<{ feeds: Source[] }>('/v1/status', { signal }),
  )
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
      keyOf={({ name }) => name}
      isTall
      empty="Nothing is due this week."
      columns={[
        {
          name: 'Source',
          value: ({ name }) => name,
          show: ({ name }) => {
            const [publisher, subject] = name.split('/')
            return `${words(publisher ?? '')}${subject ? `, ${words(subject).toLowerCase()}` : ''}`
          },
        },
        {
          name: 'Due',
          isNumber: true,
          value: ({ due }) => due,
          show: ({ due, stale_codes: stale }) => (
            <span title={due}>{stale > 0 ? <Tag mood="warn">Late</Tag> : ago(due)}</span>
          ),
        },
      ]}
    />
  )
}

/** The alerts that fired last. */
export function Triggers() {
  const answer = useLoaded('triggers', signal =>
    ask<{ triggers: Trigger[] }>('/v1/alerts/triggers?per_page=10', { signal }),
  )
  return (
    <Table
      caption="Alerts that fired"
      file="fired"
      of={answer}
      rows={answer.data?.triggers}
      keyOf={({ id }) => id}
      isTall
      empty={
        <>
          None fired. <a href="/alerts/new">Add an alert</a>
        </>
      }
      columns={[
        {
          name: 'Alert',
          value: row => row.alert_name ?? row.commodity_code,
          show: row => (
            <a href={`/alerts/${row.alert_id}`}>{row.alert_name ?? row.commodity_code}</a>
          ),
        },
        {
          name: 'When',
          isNumber: true,
          value: row => row.triggered_at,
          show: row => ago(row.triggered_at),
        },
      ]}
    />
  )
}
