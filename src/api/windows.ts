import { Elysia, t } from 'elysia'
import type { AccessPlugin } from '../http/access.ts'
import type { CodeReader } from '../http/codes.ts'
import type { Access } from '../http/gate.ts'
import { pageHeaders, pageMeta, pageOf, pageQuery } from '../http/page.ts'
import { invalidParameter } from '../http/problem.ts'
import { FailProblem, NestedProblem } from '../http/problem-shape.ts'
import { listOf } from '../http/query.ts'
import { serialised } from '../http/serialised.ts'
import { isoDay, isoInstant, parseDay } from '../lib/instant.ts'
import { priceType, priceTypes, sourceDescription } from '../market/catalogue.ts'
import type { Interval } from '../market/interval.ts'
import type { Resolved } from '../service/catalogue.ts'
import type { History, HistoryQuery, HistoryRow } from '../service/history.ts'
import type { Ingest } from '../service/ingest.ts'
import type { QuarantineList } from '../service/quarantine.ts'
import { remember, type Walk, walks } from '../service/walks.ts'
import type { Series } from '../store/series.ts'
import { type Answering, type Marks, markFixtures } from './answer.ts'
import { disclosureRow } from './price-row.ts'
import { asOfOf, intervalOf, movingWindowQuery, type Range, rangeOf, servedInterval, vintageHeaders, windowDays, windowQuery } from './window-query.ts'
import { csvHeader, rowWriter, WindowBody } from './window-row.ts'

export interface WindowsDeps {
  access: AccessPlugin
  history: History
  quarantine: QuarantineList
  codes: CodeReader
  ingest: Ingest
  marks: Marks
  firstCodes: readonly string[]
  perPageMax: number
  coverageSinceAt: number
}

interface Query {
  [name: string]: string | undefined
}

/** One question about the past, understood. */
interface Question {
  found: Resolved[]
  asked: Interval | undefined
  interval: Interval
  downsampled: boolean
  range: Range
  asOf: number | undefined
}

const bucketOf = (interval: Interval): HistoryQuery['interval'] => (interval === 'minute' ? 'raw' : interval)

/** A path that names no day is no route at all. */
const ofOneDay: Access = { meter: true, known: ({ date }) => parseDay(date ?? '') !== undefined }

/** Prices of a window or a range of the past: as published, or as bars. */
export function windows(deps: WindowsDeps) {
  const { history } = deps
  const walking = walks()

  const questionOf = (query: Query, request: Request, pathDays: number, now: number): Question => {
    const names = listOf(query.by_code ?? query.commodity ?? query.code)
    const all = deps.codes.read(names.length > 0 ? names : deps.firstCodes, request)
    const found = ofType(all, query.by_type)
    const asked = intervalOf(query.interval)
    const asOf = asOfOf(query.as_of, asked)
    const range = rangeOf(query, pathDays, now)
    const served = servedInterval(
      asked,
      found.map(one => one.series),
      range,
    )
    return { found, asked, range, asOf, ...(asOf === undefined ? served : { interval: 'raw' as const, downsampled: false }) }
  }

  /** The rows of a page, continuing a walk where there is one to continue. */
  const rowsOf = (question: Question, key: string, page: { page: number; perPage: number }, now: number) => {
    const base = historyQuery(question, page)
    if (question.asOf !== undefined) return history.pageAsOf(base, question.asOf, deps.coverageSinceAt)
    const held = page.page === 1 ? undefined : walking.find(key, now)
    const range = held ?? question.range
    const total = held?.total ?? history.count({ ...base, from: range.from, to: range.to })
    const walk: Walk = held ?? walking.begin(key, { startedAt: now, from: range.from, to: range.to, total })
    const after = held?.starts.get(page.page)
    const rows = history.page({
      ...base,
      from: range.from,
      to: range.to,
      ...(held && { bornBy: held.startedAt }),
      ...(after && { after, offset: 0 }),
    })
    const last = rows.at(-1)
    if (last) remember(walk, page.page, { observedAt: last.observedAt, order: base.seriesIds.indexOf(last.seriesId) })
    return { rows, total }
  }

  const answer = (query: Query, pathDays: number, request: Request, set: Answering, keyId: string): string => {
    const now = deps.ingest.mark()
    const question = questionOf(query, request, pathDays, now)
    const page = pageOf(query, deps.perPageMax)
    const { rows, total } = rowsOf(question, walkKey(keyId, question, query, page.perPage), page, now)
    const meta = pageMeta(page, total)
    pageHeaders(set.headers, request.url, meta)
    set.headers['x-cache'] = 'MISS'
    markFixtures(set, deps.marks, question.found)
    if (question.asOf !== undefined) Object.assign(set.headers, vintageHeaders(question.asOf, deps.coverageSinceAt))
    const writers = new Map(question.found.map(one => [one.series.id, rowWriter(one.series)]))
    if (wantsCsv(query.format, request)) {
      set.headers['content-type'] = 'text/csv; charset=utf-8'
      return `${[csvHeader, ...rows.map(row => writers.get(row.seriesId)!.csv(row))].join('\n')}\n`
    }
    set.headers['content-type'] = 'application/json; charset=utf-8'
    const prices = rows.map(row => writers.get(row.seriesId)!.json(row)).join(',')
    const metadata = metadataOf(question, query, rows, deps.quarantine)
    return `{"status":"success","data":{"prices":[${prices}],"metadata":${JSON.stringify(metadata)}},"meta":${JSON.stringify(meta)}}`
  }

  const plugin = new Elysia().use(deps.access)
  const response = { 200: serialised(WindowBody), 400: t.Union([FailProblem, NestedProblem]) }
  const note =
    ' Rows are newest first; codes are merged into one order. Hour, day, week and month are UTC buckets (weeks start on Monday) of the observations inside the range. Walking the pages neither repeats nor loses a row while data comes in: pages after the first continue over the rows of the first page’s moment.'

  const withWindows = (Object.keys(windowDays) as (keyof typeof windowDays)[]).reduce(
    (app, name) =>
      app.get(
        `/v1/prices/${name}`,
        ({ query, request, set, caller }) => {
          if (query.at !== undefined && name !== 'past_day') throw invalidParameter('at', query.at, 'is accepted on past_day only.')
          return answer(query, windowDays[name], request, set as Answering, caller.key.key.id)
        },
        {
          access: { meter: true },
          query: t.Object({
            ...windowQuery,
            ...movingWindowQuery,
            at: t.Optional(t.String({ description: 'One UTC calendar day, on past_day only; wins over every other range.', examples: ['2026-11-14'] })),
            ...pageQuery(deps.perPageMax),
          }),
          response,
          detail: {
            operationId: `getPrices${name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
            tags: ['prices'],
            summary: `Prices of the past ${name.slice(5)}`,
            description: `Prices of the ${windowDays[name]} ${windowDays[name] === 1 ? 'day' : 'days'} up to now, or of any range of days.${note}`,
          },
        },
      ) as unknown as typeof app,
    plugin,
  )
  return withWindows
    .get(
      '/v1/prices/historical',
      ({ query, request, set, caller }) => answer(query, windowDays.past_month, request, set as Answering, caller.key.key.id),
      {
        access: { meter: true },
        query: t.Object({ ...windowQuery, ...pageQuery(deps.perPageMax) }),
        response,
        detail: {
          operationId: 'getHistoricalPrices',
          tags: ['prices'],
          summary: 'Historical prices',
          description: `Prices between two dates; the last 30 days without any.${note}`,
        },
      },
    )
    .get(
      '/v1/prices/:date',
      ({ params, query, request, set, caller }) =>
        answer({ ...query, at: params.date }, windowDays.past_day, request, set as Answering, caller.key.key.id),
      {
        access: ofOneDay,
        params: t.Object({ date: t.String({ description: 'A UTC calendar day, `YYYY-MM-DD`.', examples: ['2026-11-14'] }) }),
        query: t.Object({ ...windowQuery, ...movingWindowQuery, ...pageQuery(deps.perPageMax) }),
        response,
        detail: {
          operationId: 'getPricesOfDay',
          tags: ['prices'],
          summary: 'Prices of one day',
          description: `The same as past_day with \`at\`.${note}`,
        },
      },
    )
}

function historyQuery({ found, interval, range }: Question, page: { page: number; perPage: number }): HistoryQuery {
  return {
    seriesIds: [...found].sort((a, b) => (a.series.code < b.series.code ? -1 : 1)).map(one => one.series.id),
    interval: bucketOf(interval),
    from: range.from,
    to: range.to,
    limit: page.perPage,
    offset: (page.page - 1) * page.perPage,
  }
}

/** Two requests walk together when they ask the same of the same key; how far the window has moved between them does not matter. */
const walkKey = (keyId: string, { found, interval, range, asOf }: Question, query: Query, perPage: number): string =>
  [
    keyId,
    found.map(one => one.series.id).join(' '),
    interval,
    asOf ?? '',
    perPage,
    range.open ? `${Math.round(range.to - range.from)} ${query.start_date ?? ''}` : `${range.from} ${range.to}`,
  ].join('|')

function ofType(found: Resolved[], type: string | undefined): Resolved[] {
  if (type === undefined || type === '' || type === 'spot_price') return found
  if (!(priceTypes as readonly string[]).includes(type)) throw invalidParameter('by_type', type, 'is not a type.', priceTypes)
  return found.filter(one => priceType(one.series.category, one.series.unit) === type)
}

function wantsCsv(format: string | undefined, request: Request): boolean {
  if (format === undefined || format === '') return request.headers.get('accept')?.includes('text/csv') ?? false
  if (format !== 'json' && format !== 'csv') throw invalidParameter('format', format, 'is neither json nor csv.', ['json', 'csv'])
  return format === 'csv'
}

function metadataOf(question: Question, query: Query, rows: readonly HistoryRow[], quarantine: QuarantineList) {
  const { found, interval, downsampled, range } = question
  const series = found.map(one => one.series)
  const disclosures = series.flatMap(one => disclosureRow(one, isoDay(range.to - 1)) ?? [])
  const excluded = series.map(one => quarantine.within(one.id, range.from, range.to))
  const days = [...new Set(excluded.flatMap(one => one.days))].sort()
  return {
    codes: found.map(one => one.code),
    interval,
    interval_requested: query.interval ?? null,
    downsampled,
    from: isoInstant(range.from),
    to: isoInstant(range.to - 1),
    timezone: 'UTC',
    count: rows.length,
    source_description: describe(series),
    ...(disclosures.length > 0 && { instrument_disclosures: disclosures }),
    ...(days.length > 0 && {
      quarantine: {
        excluded_dates: days,
        excluded_count: days.length,
        reason: [...new Set(excluded.flatMap(one => one.reasons))].join('; '),
      },
    }),
  }
}

const describe = (series: readonly Series[]): string => [...new Set(series.map(one => sourceDescription(one.source, one.fixture)))].join('; ')
