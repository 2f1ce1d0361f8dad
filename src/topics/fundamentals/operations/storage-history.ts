import { t } from '../../../http/answer/schema.ts'
import { momentOf } from '../../../http/input/query.ts'
import { momentParameter, wordParameter } from '../../../http/input/typed.ts'
import { invalidParameter, Problem, reversedRange } from '../../../http/problem/problem.ts'
import { oneOf } from '../../../lib/text/wrong-value.ts'
import { dayMs, isoDay, parseDay } from '../../../lib/time/instant.ts'
import { type Cadence, sourceOf } from '../../catalogue/math/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { roundTo } from '../../prices/math/format.ts'
import { parseInterval } from '../../prices/math/interval.ts'
import type { Close } from '../../prices/math/window.ts'
import { invalidInterval } from '../../prices/operations/window-query.ts'
import { quarantineField } from '../../prices/operations/window-row.ts'
import type { QuarantineList } from '../../prices/service/quarantine.ts'
import { levelDecimals, levelRows, type StorageInterval } from '../math/storage.ts'

const periodDays = { '7d': 7, '30d': 30, '90d': 90, '1y': 365, all: undefined } as const
const periods = Object.keys(periodDays) as (keyof typeof periodDays)[]
const defaultDays = periodDays['90d']

export const historyQuery = {
  start_date: momentParameter('First day, `YYYY-MM-DD`, inclusive.', '2026-01-01'),
  end_date: momentParameter('Last day, inclusive. Alone: the 90 days up to it.', '2026-11-20'),
  interval: wordParameter(
    ['daily', 'weekly', 'monthly'],
    '`daily`, `weekly` or `monthly`; absent: as published.',
    'weekly',
  ),
  period: wordParameter(
    periods,
    '`7d`, `30d`, `90d` (default), `1y` or `all`, up to now; used when no dates are given.',
    '1y',
    { default: '90d' },
  ),
}

const Row = t.object('StorageHistoryRow', {
  date: t.date('Day of the level.', '2026-11-18'),
  value: t.Number({ examples: [24.604] }),
  level: t.number('The same as `value`.', 24.604),
  unit: t.String({ examples: ['million_barrels'] }),
  change: t.numberOrNull('Against the row before; null for the first there is.', -0.821),
})

export const HistoryBody = t.object('StorageHistory', {
  status: t.Literal('success'),
  data: t.Array(Row),
  meta: t.Object({
    code: t.String({ examples: ['CUSHING_STORAGE'] }),
    name: t.String({ examples: ['Cushing Crude Storage'] }),
    start_date: t.String({ format: 'date' }),
    end_date: t.String({ format: 'date' }),
    interval: t.oneOf(['daily', 'weekly', 'monthly']),
    count: t.integer({ examples: [13] }),
    source: t.String({ examples: ['EIA'] }),
    source_description: t.String({ examples: ['Published by EIA'] }),
    quarantine: quarantineField,
  }),
})
export type StorageHistory = (typeof HistoryBody)['static']

const intervals = { day: 'daily', week: 'weekly', month: 'monthly' } as const
const publishedIn: Partial<Record<Cadence, StorageInterval>> = {
  daily: 'daily',
  weekly: 'weekly',
  monthly: 'monthly',
}
const intervalNames = Object.values(intervals)

/** The query parameters of any storage series. */
export interface HistoryQuestion {
  /** Undefined: as published. */
  interval: StorageInterval | undefined
  /** Undefined: from the first level that there is. */
  fromOn: string | undefined
  /** Inclusive. */
  toOn: string
}

type Query = { [name in keyof typeof historyQuery]?: string }

/** Throws the refusal of a query that cannot be answered. */
export const questionOf = (query: Query, now: number): HistoryQuestion => ({
  interval: intervalOf(query.interval),
  ...daysOf(query, now),
})

export const noLevel = (code: string) =>
  new Problem('DATA_NOT_AVAILABLE', `There is no level of ${code}.`, { leg: code })

export function historyAnswer(
  question: HistoryQuestion,
  series: Series,
  closes: readonly Close[],
  quarantine: QuarantineList,
) {
  const first = closes[0]
  if (!first) throw noLevel(series.code)
  const { fromOn = first.day, toOn } = question
  const interval = question.interval ?? publishedIn[series.cadence] ?? 'daily'
  const decimals = levelDecimals(series)
  const rows = levelRows(closes, interval, fromOn, toOn, decimals)
  const excluded = quarantine.within(series.id, parseDay(fromOn)!, parseDay(toOn)! + dayMs)
  return {
    status: 'success' as const,
    data: rows.map(({ day, value, change }) => {
      const level = roundTo(value, decimals)
      return { date: day, value: level, level, unit: series.unit, change: change ?? null }
    }),
    meta: {
      code: series.code,
      name: series.name,
      start_date: fromOn,
      end_date: toOn,
      interval,
      count: rows.length,
      source: sourceOf(series).name,
      source_description: sourceOf(series).description,
      ...(excluded.days.length > 0 && {
        quarantine: {
          excluded_dates: excluded.days,
          excluded_count: excluded.days.length,
          reason: excluded.reasons.join('; '),
        },
      }),
    },
  }
}

function intervalOf(text: string | undefined): StorageInterval | undefined {
  if (text === undefined || text === '') return undefined
  const interval = intervals[parseInterval(text) as keyof typeof intervals]
  if (!interval) throw invalidInterval(text.slice(0, 100), oneOf(intervalNames), intervalNames)
  return interval
}

function daysOf(query: Query, now: number): Omit<HistoryQuestion, 'interval'> {
  const start = momentOf('start_date', query.start_date, 'start')
  const end = momentOf('end_date', query.end_date, 'end')
  const period = (query.period || '90d').toLowerCase() as (typeof periods)[number]
  if (!periods.includes(period)) throw invalidParameter('period', query.period, periods)
  const to = end === undefined ? now : end - 1
  const length = start === undefined && end === undefined ? periodDays[period] : defaultDays
  const from = start ?? (length === undefined ? undefined : to - length * dayMs)
  if (from !== undefined && from > to) throw reversedRange(query)
  return { fromOn: from === undefined ? undefined : isoDay(from), toOn: isoDay(to) }
}
