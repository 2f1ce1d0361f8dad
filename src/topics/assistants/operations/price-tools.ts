import { Type } from '@sinclair/typebox'
import type { Commodity } from '../../../http/operations/commodities/row.ts'
import type { Note } from '../../analytics/operations/indicator-lists.ts'
import { groupings, priceGroups } from '../../prices/math/price-groups.ts'
import { type Point, summaryOf, thinned } from '../../prices/math/summary.ts'
import type { PriceRow } from '../../prices/operations/row.ts'
import {
  type Ask,
  createTool,
  numberIfAny,
  orReason,
  Refusal,
  type Tool,
  textIfAny,
  wholeOf,
  wordsOf,
} from './tool.ts'

const codesMax = 20
const queriedMax = 5
const comparedMax = 10
const rowsPerPage = 100
/** Enough for twenty years of days; longer ranges use weeks or months. */
const pagesMax = 60
const beforeAllPrices = '1900-01-01'

const Code = Type.String({
  minLength: 1,
  maxLength: 80,
  description:
    'A code or alias of the catalogue, such as BRENT_CRUDE_USD. Find it with search_codes.',
})
const firstDay = 'First day or time, inclusive, such as 2026-01-31. Default: 30 days ago'
const Start = textIfAny(`${firstDay}.`)
const End = textIfAny('Last day or time, inclusive. Default: now.')
const Interval = wordsOf(['hour', 'day', 'week', 'month'], {
  default: 'day',
  description: 'Bar length; each point is the last price of its bar.',
})

interface WindowAnswer {
  data: { prices: PriceRow[]; metadata: { source_description?: string } }
  meta: { has_next: boolean; total: number }
}

interface Range {
  start?: string
  end?: string
  interval: string
  asOf?: string
}

interface History {
  points: Point[]
  row: PriceRow
  source: string | undefined
  /** More bars than are read at once. */
  isCut: boolean
}

/** The history of a code, oldest first. */
async function historyOf(ask: Ask, code: string, range: Range): Promise<History> {
  const rows: PriceRow[] = []
  let source: string | undefined
  let hasNext = true
  let page = 1
  for (; hasNext && page <= pagesMax; page += 1) {
    const query = {
      by_code: code,
      start_date: range.start,
      end_date: range.end,
      interval: range.asOf === undefined ? range.interval : 'raw',
      as_of: range.asOf,
      page,
      per_page: rowsPerPage,
    }
    const path = range.asOf === undefined ? '/v1/prices/historical' : '/v1/prices/past_month'
    const answer = await ask<WindowAnswer>('GET', path, { query })
    rows.push(...answer.data.prices)
    source = answer.data.metadata.source_description
    hasNext = answer.meta.has_next
  }
  const row = rows[0]
  if (!row) throw new Refusal(`${code} has no prices in this range.`)
  const points = rows.reverse().map(({ created_at, price }) => ({ at: created_at, value: price }))
  return { points, row, source, isCut: hasNext }
}

const priceOf = ({ code, name, price, currency, unit, created_at, ...row }: PriceRow) => ({
  code,
  name,
  price,
  currency,
  unit,
  observed_at: created_at,
  change_24h_percent: row.change_24h_percent,
  change_7d_percent: row.changes?.['7d']?.percent,
  change_30d_percent: row.changes?.['30d']?.percent,
})

/** The newest prices of codes; codes that have none are named. */
async function latestOf(ask: Ask, codes: readonly string[]) {
  const { data } = await ask<{
    data: PriceRow | { prices: PriceRow[]; missing_codes?: string[] }
  }>('GET', '/v1/prices/latest', { query: { by_code: codes.join(',') } })
  if (!('prices' in data)) return { prices: [priceOf(data)], without_price: [] }
  return { prices: data.prices.map(priceOf), without_price: data.missing_codes ?? [] }
}

export const priceTools: readonly Tool[] = [
  createTool({
    name: 'search_codes',
    title: 'Search codes',
    description:
      'Finds codes whose code, name or aliases contain every word of a text, with unit, currency and start of history. All other tools take these codes.',
    input: Type.Object({
      text: Type.String({
        minLength: 1,
        description: 'Words of a code, name or alias: brent, dutch gas',
      }),
      category: textIfAny('Such as crude_oil, natural_gas, fx.'),
      limit: wholeOf(1, 50, 15, 'Maximum number of codes.'),
    }),
    async run({ text, category, limit }, ask) {
      const query = { q: text, category }
      const { data } = await ask<{ data: Commodity[] }>('GET', '/v1/commodities', { query })
      const codes = data.slice(0, limit).map(row => ({
        code: row.code,
        name: row.name,
        category: row.category,
        currency: row.currency,
        unit: row.unit,
        cadence: row.cadence,
        from: row.first_observation,
        to: row.last_observation,
      }))
      return { codes, found: data.length, shown: codes.length }
    },
  }),
  createTool({
    name: 'latest_prices',
    title: 'Latest prices',
    description:
      'Returns the newest price of one to twenty codes with its time, unit, currency and change over a day, a week and a month.',
    input: Type.Object({ codes: Type.Array(Code, { minItems: 1, maxItems: codesMax }) }),
    run: ({ codes }, ask) => latestOf(ask, codes),
  }),
  createTool({
    name: 'price_history',
    title: 'Price history',
    description:
      'Returns a code over time: a summary of the range (first, last, high, low, mean, change) and points to chart, thinned so that highs and lows are kept. With as_of, the values known at that time, without later revisions.',
    input: Type.Object({
      code: Code,
      start: Start,
      end: End,
      interval: Interval,
      as_of: textIfAny('A time with a zone, such as 2026-11-01T12:00:00Z.'),
      points: wholeOf(2, 200, 60, 'Maximum number of points.'),
    }),
    async run({ code, start, end, interval, as_of, points: most }, ask) {
      const history = await historyOf(ask, code, { start, end, interval, asOf: as_of })
      return {
        code: history.row.code,
        name: history.row.name,
        currency: history.row.currency,
        unit: history.row.unit,
        interval: as_of === undefined ? interval : 'raw',
        source: history.source,
        summary: summaryOf(history.points),
        points: thinned(history.points, most),
        ...(history.isCut && { note: 'The range is too long for one request: use weekly bars.' }),
      }
    },
  }),
  createTool({
    name: 'query_prices',
    title: 'Query prices',
    description:
      'Runs a read-only query over the prices of one to five codes: count, mean, low, high, first, last and changes of the bars that match `where`, grouped by year, quarter, month, month of the year or weekday. Examples: in which month of the year natural gas rose most; on how many days of each year WTI lost more than 5 percent. Several years of hourly bars are too long for one query.',
    input: Type.Object({
      codes: Type.Array(Code, { minItems: 1, maxItems: queriedMax }),
      start: textIfAny(`${firstDay}, or the first value where group_by is not all.`),
      end: End,
      interval: Interval,
      group_by: wordsOf(groupings, {
        default: 'all',
        description: 'How bars are grouped, in UTC.',
      }),
      where: Type.Optional(
        Type.Object(
          {
            above: numberIfAny('Only prices above this.'),
            below: numberIfAny('Only prices below this.'),
            change_above: numberIfAny('Only bars whose change in percent is above this.'),
            change_below: numberIfAny(
              'Only bars whose change in percent is below this, such as -5.',
            ),
          },
          { additionalProperties: false, description: 'Filter for bars. Default: all.' },
        ),
      ),
      order_by: wordsOf(['time', 'count', 'mean', 'low', 'high', 'meanChangePercent'], {
        default: 'time',
        description: 'Sort order: time ascending; all others descending.',
      }),
      groups: wholeOf(1, 60, 24, 'Maximum groups per code.'),
    }),
    async run({ codes, start, end, interval, group_by, where = {}, order_by, groups: most }, ask) {
      const filter = {
        above: where.above,
        below: where.below,
        changeAbove: where.change_above,
        changeBelow: where.change_below,
      }
      const from = start ?? (group_by === 'all' ? undefined : beforeAllPrices)
      const results: unknown[] = []
      for (const code of codes) {
        const { points, row, isCut } = await historyOf(ask, code, { start: from, end, interval })
        const all = priceGroups(points, group_by, filter)
        const ordered =
          order_by === 'time'
            ? all
            : all.toSorted((a, b) => (b[order_by] ?? -Infinity) - (a[order_by] ?? -Infinity))
        results.push({
          code: row.code,
          currency: row.currency,
          unit: row.unit,
          from: points[0]!.at,
          to: points.at(-1)!.at,
          bars: points.length,
          groups_total: all.length,
          groups: ordered.slice(0, most),
          ...(isCut && {
            note: 'The range is too long for one query: only the newest bars are included.',
          }),
        })
      }
      return { interval, group_by, results }
    },
  }),
  createTool({
    name: 'compare',
    title: 'Compare codes',
    description:
      'Two to ten codes over one range: the summary of each, best change first, and the correlation of their returns for two codes where the plan has analytics.',
    input: Type.Object({
      codes: Type.Array(Code, { minItems: 2, maxItems: comparedMax }),
      start: Start,
      end: End,
      interval: Interval,
    }),
    async run({ codes, start, end, interval }, ask) {
      const rows: { code: string; name: string; unit: string; summary: unknown; rank: number }[] =
        []
      for (const code of codes) {
        const { points, row } = await historyOf(ask, code, { start, end, interval })
        const summary = summaryOf(points)
        const rank = summary?.changePercent ?? Number.NEGATIVE_INFINITY
        rows.push({ code: row.code, name: row.name, unit: row.unit, summary, rank })
      }
      rows.sort((left, right) => right.rank - left.rank)
      const compared = rows.map(({ rank, ...row }) => row)
      const [code1, code2, more] = codes
      if (more !== undefined) return { compared }
      const query = { code1, code2, period: 90 }
      const correlation = ask('GET', '/v1/analytics/correlation', { query })
      return { compared, correlation_90d: await orReason(correlation) }
    },
  }),
  createTool({
    name: 'why_did_it_move',
    title: 'Why did it move',
    description:
      'Returns context for a price move: changes over a day, a week and a month, the largest recent daily moves, and dated notes about publications, decisions and outages.',
    input: Type.Object({
      code: Code,
      days: wholeOf(2, 365, 30, 'How far back.'),
    }),
    async run({ code, days }, ask) {
      const { prices } = await latestOf(ask, [code])
      const query = { by_code: code, days, interval: 'day', per_page: rowsPerPage }
      const answer = await ask<WindowAnswer>('GET', '/v1/prices/past_year', { query })
      const rows = answer.data.prices
      const moves = rows.slice(0, -1).map((row, index) => {
        const before = rows[index + 1]!.price
        const summary = summaryOf([
          { at: '', value: before },
          { at: row.created_at, value: row.price },
        ])
        return {
          date: row.created_at.slice(0, 10),
          from: before,
          to: row.price,
          percent: summary?.changePercent ?? null,
        }
      })
      const size = (move: { percent: number | null }) => Math.abs(move.percent ?? 0)
      const largest = moves.toSorted((left, right) => size(right) - size(left)).slice(0, 5)
      const notes = await notesOf(ask, prices[0]?.code ?? code, rows.at(-1)?.created_at)
      return { now: prices[0], largest_daily_moves: largest, ...notes }
    },
  }),
]

/** The notes about a code since a moment, newest first. */
async function notesOf(ask: Ask, code: string, since = '') {
  const query = { commodity: code, per_page: 20 }
  try {
    const { data } = await ask<{ data: Note[] }>('GET', '/v1/indicators/annotations', { query })
    const recent = data.filter(note => note.date >= since.slice(0, 10))
    const notes = (recent.length > 0 ? recent : data.slice(0, 3)).map(
      ({ date, title, description, category }) => ({ date, title, description, category }),
    )
    return recent.length > 0
      ? { notes }
      : { notes, note: 'No notes in this range; showing the latest ones.' }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { notes: [], note: `Notes are not available: ${error.message}` }
  }
}
