import { plot } from 'asciichart'
import { sleep } from '../../lib/time/clock.ts'
import { dayMs } from '../../lib/time/instant.ts'
import type { Ask } from '../../topics/assistants/operations/tool.ts'
import { families } from '../../topics/futures/math/families.ts'
import type { Curve } from '../../topics/futures/operations/curve.ts'
import { summaryOf, thinned } from '../../topics/prices/math/summary.ts'
import type { PriceRow } from '../../topics/prices/operations/row.ts'
import { addressOf, headersOf, type RemoteServer } from './ask.ts'
import { type Column, type Format, printRows, signedPercent } from './print.ts'

/** A server of an earlier version sends no metadata. */
type Price = Omit<PriceRow, 'metadata'> & Partial<Pick<PriceRow, 'metadata'>>

type HistoryRow = Pick<Price, 'code' | 'created_at' | 'price' | 'currency' | 'unit'>

interface HistoryAnswer {
  data: { prices: HistoryRow[] }
  meta: { has_next: boolean }
}

export interface Range {
  start?: string
  end?: string
  interval?: string
  asOf?: string
}

/** Where a command writes: text as it is. */
export type Write = (text: string) => void | Promise<void>

const codesPerRequest = 20
const rowsPerPage = 100

const priceColumns: readonly Column<Price>[] = [
  { heading: 'CODE', name: 'code', value: row => row.code },
  { heading: 'PRICE', name: 'price', value: row => row.price, text: row => row.formatted },
  { heading: 'CURRENCY', name: 'currency', value: row => row.currency },
  { heading: 'UNIT', name: 'unit', value: row => row.unit },
  {
    heading: '24 H',
    name: 'change_24h_percent',
    value: row => row.change_24h_percent,
    text: row => signedPercent(row.change_24h_percent),
  },
  { heading: 'OBSERVED', name: 'observed_at', value: row => row.created_at },
]

const staleDays: Readonly<Record<string, number>> = {
  weekly: 21,
  monthly: 75,
}
/**
 * Days after which a price with a daily or shorter cadence is stale: longer than any series of
 * holidays.
 */
const staleDaysOfDaily = 7

/** How old a price is, and whether that is older than its cadence explains. */
function ageOf({ created_at, metadata }: Price, now: number): string {
  const days = Math.max(0, Math.floor((now - Date.parse(created_at)) / dayMs))
  const isStale = days > (staleDays[metadata?.cadence ?? ''] ?? staleDaysOfDaily)
  return `${days} d${isStale ? ', stale' : ''}`
}

const priceColumnsAt = (now: number): readonly Column<Price>[] => [
  ...priceColumns,
  { heading: 'AGE', name: 'age', value: row => ageOf(row, now) },
]

const historyColumns: readonly Column<HistoryRow>[] = [
  { heading: 'OBSERVED', name: 'observed_at', value: row => row.created_at },
  { heading: 'CODE', name: 'code', value: row => row.code },
  { heading: 'PRICE', name: 'price', value: row => row.price },
  { heading: 'CURRENCY', name: 'currency', value: row => row.currency },
  { heading: 'UNIT', name: 'unit', value: row => row.unit },
]

interface LatestAnswer {
  data: Price | { prices: Price[] }
}

const pricesOf = ({ data }: LatestAnswer): Price[] => ('prices' in data ? data.prices : [data])

/** The newest price of each code; none named: every code. */
export async function getPrices(
  ask: Ask,
  codes: readonly string[],
  format: Format,
  write: Write,
  now: number,
): Promise<void> {
  const prices: Price[] = []
  const path = '/v1/prices/latest'
  if (codes.length === 0) prices.push(...pricesOf(await ask<LatestAnswer>('GET', path)))
  for (let start = 0; start < codes.length; start += codesPerRequest) {
    const query = { by_code: codes.slice(start, start + codesPerRequest).join(',') }
    prices.push(...pricesOf(await ask<LatestAnswer>('GET', path, { query })))
  }
  await write(
    printRows(prices, format.json || format.csv ? priceColumns : priceColumnsAt(now), format),
  )
}

/** Every price of the codes in a range, newest first, page by page. */
async function* historyPages(
  ask: Ask,
  codes: readonly string[],
  { start, end, interval, asOf }: Range,
): AsyncGenerator<HistoryRow[]> {
  let hasNext = true
  for (let page = 1; hasNext; page += 1) {
    const query = {
      by_code: codes.join(','),
      start_date: start,
      end_date: end,
      interval: asOf === undefined ? interval : 'raw',
      as_of: asOf,
      page,
      per_page: rowsPerPage,
    }
    const path = asOf === undefined ? '/v1/prices/historical' : '/v1/prices/past_month'
    const answer = await ask<HistoryAnswer>('GET', path, { query })
    hasNext = answer.meta.has_next
    yield answer.data.prices
  }
}

async function allOf<Row>(pages: AsyncIterable<Row[]>): Promise<Row[]> {
  const rows: Row[] = []
  for await (const page of pages) rows.push(...page)
  return rows
}

export async function getHistory(
  ask: Ask,
  codes: readonly string[],
  options: Range & Format,
  write: Write,
): Promise<void> {
  const rows = await allOf(historyPages(ask, codes, options))
  await write(printRows(rows, historyColumns, options))
}

/** A history as CSV while it arrives, so that a long one needs little memory; `count` gets the rows. */
export async function* historyText(
  ask: Ask,
  codes: readonly string[],
  range: Range,
  count: (rows: number) => void = () => undefined,
): AsyncGenerator<string> {
  let isFirst = true
  for await (const rows of historyPages(ask, codes, range)) {
    const text = printRows(rows, historyColumns, { csv: true })
    yield isFirst ? text : text.slice(text.indexOf('\n') + 1)
    isFirst = false
    count(rows.length)
  }
}

const chartPoints = 72
const chartRows = 14

/** Draws the prices of a code over a range as a line, with a summary. */
export async function drawChart(ask: Ask, code: string, range: Range, write: Write): Promise<void> {
  const rows = await allOf(historyPages(ask, [code], { interval: 'day', ...range }))
  const points = rows.reverse().map(row => ({ at: row.created_at, value: row.price }))
  const summary = summaryOf(points)
  const row = rows[0]
  if (!summary || !row) throw new Error(`${code} has no prices in this range`)
  const values = thinned(points, chartPoints).map(point => point.value)
  const decimals = Math.abs(summary.high.value) < 10 ? 4 : 2
  const width = Math.max(
    summary.high.value.toFixed(decimals).length,
    summary.low.value.toFixed(decimals).length,
  )
  const lines = [
    `${row.code}, ${[row.currency, row.unit].filter(Boolean).join(' per ')}`,
    '',
    plot(values, {
      height: chartRows,
      format: value => value.toFixed(decimals).padStart(width),
    }),
    '',
    `${summary.first.at.slice(0, 10)}  ${summary.first.value}   to   ${summary.last.at.slice(0, 10)}  ${summary.last.value}   (${signedPercent(summary.changePercent)})`,
    `high ${summary.high.value} on ${summary.high.at.slice(0, 10)}, low ${summary.low.value} on ${summary.low.at.slice(0, 10)}, mean ${summary.mean.toFixed(decimals)}, ${summary.count} prices`,
  ]
  await write(`${lines.join('\n')}\n`)
}

type CurveAnswer = Curve & { error?: string }

const contractColumns: readonly Column<CurveAnswer['contracts'][number]>[] = [
  { heading: 'MONTH', name: 'month', value: row => row.contract_month },
  { heading: 'SETTLEMENT', name: 'settlement', value: row => row.settlement_price },
  { heading: 'EXPIRES', name: 'expires_on', value: row => row.expiry_date },
  { heading: 'CODE', name: 'code', value: row => row.contract_code },
]

/** Converts the code of a futures family, as lists show it, to the slug that addresses take. */
function familyInAddress(text: string): string {
  const family = families.find(({ code }) => code === text.toUpperCase())
  return family?.slugs[0] ?? family?.aliases[0] ?? text
}

/** The futures curve of a family, by its slug, ticker or code. */
export async function getCurve(
  ask: Ask,
  family: string,
  { date, ...format }: Format & { date?: string },
  write: Write,
): Promise<void> {
  const path = `/v1/futures/${encodeURIComponent(familyInAddress(family))}/curve`
  const curve = await ask<CurveAnswer>('GET', path, { query: { date } })
  if (curve.error !== undefined) throw new Error(curve.error)
  const isForPeople = !format.json && !format.csv
  const heading = `${curve.analysis_date}  ${curve.curve_type}  ${curve.currency} per ${curve.unit}\n\n`
  await write(`${isForPeople ? heading : ''}${printRows(curve.contracts, contractColumns, format)}`)
}

export interface WatchOptions {
  /** Time between two requests. */
  everyMs: number
  /** Requests to send; undefined: until it is stopped. */
  updates: number | undefined
  /** Each change is a line of JSON. */
  json: boolean
  /** The table is drawn over itself; otherwise each change is a line. */
  isLive: boolean
  isStopped(): boolean
}

/** Clears what a terminal shows and goes to its first line. */
const clearScreen = '\u001b[2J\u001b[H'

/** Shows the prices of codes as they change. A request that brings nothing new does not count towards the quota. */
export async function watchPrices(
  server: RemoteServer,
  codes: readonly string[],
  { everyMs, updates, json, isLive, isStopped }: WatchOptions,
  write: Write,
): Promise<void> {
  const address = addressOf(server, '/v1/prices/latest', { by_code: codes.join(',') })
  const shown = new Map<string, string>()
  let etag = ''
  for (let sent = 0; (updates === undefined || sent < updates) && !isStopped(); sent += 1) {
    if (sent > 0) await sleep(everyMs)
    const response = await fetch(address, {
      headers: { ...headersOf(server), 'if-none-match': etag },
    })
    if (response.status === 304) continue
    const answer = (await response.json()) as LatestAnswer & { message?: string; error?: unknown }
    if (!response.ok) {
      const { message } = (answer.error ?? answer) as { message?: string }
      throw new Error(message ?? answer.message ?? `the server returned status ${response.status}`)
    }
    etag = response.headers.get('etag') ?? ''
    const prices = pricesOf(answer)
    if (isLive) await write(`${clearScreen}${printRows(prices, priceColumns, {})}`)
    for (const price of prices) {
      const key = `${price.created_at} ${price.price}`
      if (shown.get(price.code) === key) continue
      shown.set(price.code, key)
      if (json) await write(`${JSON.stringify(price)}\n`)
      else if (!isLive) await write(`${price.created_at}  ${price.code}  ${price.formatted}\n`)
    }
  }
}
