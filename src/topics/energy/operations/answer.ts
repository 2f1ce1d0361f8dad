import { t } from '../../../http/answer/schema.ts'
import { markFixtures } from '../../../http/operations/answer.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { dayAfter } from '../../prices/math/window.ts'
import type { EnergyCall } from './frame.ts'
import { rangeOf } from './list.ts'

/** After every day. */
const endOfDays = '9999-12-31'

/** The days of `start_date` and `end_date`; the end is exclusive. */
export function daysOf(query: { start_date?: string; end_date?: string }): {
  fromOn: string
  toOn: string
} {
  const { from, to } = rangeOf(query)
  return {
    fromOn: from === Number.MIN_SAFE_INTEGER ? '' : isoDay(from),
    toOn: to === Number.MAX_SAFE_INTEGER ? endOfDays : dayAfter(isoDay(to - 1), 1),
  }
}

/** Says in the headers that rows are invented. */
export function markSources<T extends readonly { source: string }[]>(
  { at, reply }: EnergyCall,
  rows: T,
): T {
  const isFixture = rows.some(({ source }) => source === generatedSource)
  markFixtures(reply, at.marks, [{ series: { fixture: isFixture } }])
  return rows
}

/** The value, or the refusal of a dataset that nothing has been imported of. */
export function requireData<T>(value: T | undefined, subject: string, dataset: string): T {
  if (value !== undefined) return value
  throw new Problem(
    'DATA_NOT_AVAILABLE',
    `No ${subject} are available: the operator has not imported this dataset.`,
    { dataset },
  )
}

export const Day = t.String({ format: 'date', examples: ['2026-11-20'] })
export const Stamp = t.instant('When this service recorded it.', '2026-11-20T17:00:00Z')
