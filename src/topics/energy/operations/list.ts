import { momentOf } from '../../../http/input/query.ts'
import { momentParameter } from '../../../http/input/typed.ts'
import { reversedRange } from '../../../http/problem/problem.ts'

export const rangeQuery = {
  start_date: momentParameter('First day, `YYYY-MM-DD`, inclusive.', '2026-01-01'),
  end_date: momentParameter('Last day, inclusive.', '2026-11-20'),
}

/** The days of the query as half-open instants; all days where it names none. */
export function rangeOf(query: { start_date?: string; end_date?: string }): {
  from: number
  to: number
} {
  const from = momentOf('start_date', query.start_date, 'start') ?? Number.MIN_SAFE_INTEGER
  const to = momentOf('end_date', query.end_date, 'end') ?? Number.MAX_SAFE_INTEGER
  if (from < to) return { from, to }
  throw reversedRange(query)
}
