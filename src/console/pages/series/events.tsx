import { useMemo } from 'preact/hooks'
import type { Note } from '../../../topics/analytics/operations/indicator-lists.ts'
import { Tag } from '../../parts/bits.tsx'
import { has } from '../../parts/person/account.ts'
import { useLoaded } from '../../parts/requests/ask.ts'
import { boot } from '../../parts/requests/boot.ts'
import { allRows } from '../../parts/requests/pages.ts'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { words } from '../../parts/text/format.ts'
import type { ChartAnswer } from './answer.ts'

export type { Note }

/** The notes about the series in the range of the chart, newest first. */
export function useNotes(data: ChartAnswer | undefined) {
  const path =
    data && data.times.length > 0 && has('calculated_metrics')
      ? `/v1/indicators/annotations?commodity=${data.code}`
      : undefined
  const answer = useLoaded(path, signal =>
    boot.hasEvents ? allRows<Note>(path!, 'data', signal) : Promise.resolve([]),
  )
  const rows = useMemo(
    () => data && answer.data?.filter(({ date }) => date >= data.from.slice(0, 10)),
    [data, answer.data],
  )
  return { answer, rows }
}

export const Notes = ({ notes }: { notes: ReturnType<typeof useNotes> }) => (
  <Table
    caption="Events"
    file="notes"
    of={notes.answer}
    rows={notes.rows}
    isTall
    empty="No events in this range."
    columns={({ column }) => [
      column('Day', 'date', { className: 'nowrap' }),
      column('What', ({ title, description }) => `${title}. ${description}`, {
        show: ({ title, description }) => twoLines(title, description),
      }),
      column('Kind', 'category', {
        isWide: true,
        show: ({ category }) => <Tag>{words(category)}</Tag>,
      }),
    ]}
  />
)
