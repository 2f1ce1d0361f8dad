import { fieldsOf, isObject } from '../../../lib/text/json.ts'
import { dayMs, isoInstant, minuteMs, parseInstant } from '../../../lib/time/instant.ts'
import { FeedFault, headerFault, unreadable } from '../../reading/fault.ts'
import { textOf } from '../../reading/text.ts'
import type {
  Publisher,
  PublisherClient,
  PublisherRequest,
  Reading,
  SentSeries,
} from '../publisher.ts'
import { type Collected, collected } from '../series.ts'
import { addAt, sentSince, startOf, timesOfDay } from './reading.ts'

/** Loaded where XML is read: a start is sooner without it. */
const xmlParser = (): typeof import('fast-xml-parser') => require('fast-xml-parser')

const what = 'the day-ahead prices'
/** The longest span of one request. */
const spanMs = 360 * dayMs
/** Tomorrow's auction and the change of clocks. */
const aheadMs = 2 * dayMs
const lengths: Readonly<Record<string, number>> = {
  PT15M: 15 * minuteMs,
  PT30M: 30 * minuteMs,
  PT60M: 60 * minuteMs,
}
const sequenceName = 'classificationSequence_AttributeInstanceComponent.position'
const noData = '999'

type Element = Readonly<Record<string, unknown>>
const listed = new Set(['TimeSeries', 'Period', 'Point'])

interface Offer {
  lengthMs: number
  sequence: number
  written: unknown
}

const elements = (parent: unknown, name: string): Element[] =>
  isObject(parent) && Array.isArray(parent[name]) ? parent[name].filter(isObject) : []

/** The document; undefined where there is no data for the requested time. */
function documentOf(bytes: Uint8Array): Element | undefined {
  const { XMLParser, XMLValidator } = xmlParser()
  const text = textOf(bytes)
  if (!text.includes('</') || XMLValidator.validate(text) !== true) throw unreadable(what)
  const parser = new XMLParser({
    removeNSPrefix: true,
    parseTagValue: false,
    isArray: name => listed.has(name),
  })
  const body: unknown = parser.parse(text)
  if (!isObject(body)) throw unreadable(what)
  const { Acknowledgement_MarketDocument: refusal, Publication_MarketDocument: published } = body
  if (isObject(refusal) && isObject(refusal.Reason)) {
    if (String(refusal.Reason.code) === noData) return undefined
    throw new FeedFault('http_status', `it answered reason ${refusal.Reason.code}`)
  }
  if (!isObject(published)) throw headerFault(what, 'Publication_MarketDocument')
  return published
}

/**
 * Prices by the start of their period. Positions count from the start of the interval in elapsed
 * time; with curve type A03 a position that is left out has the price of the one before. Of several
 * prices of one time the one of the finest resolution stands, of equals that of the first sequence.
 */
export function addPrices(series: Collected, bytes: Uint8Array): void {
  const document = documentOf(bytes)
  const offers = new Map<number, Offer>()
  for (const timeSeries of elements(document, 'TimeSeries')) {
    series.state(
      `${timeSeries['currency_Unit.name'] ?? ''}/${timeSeries['price_Measure_Unit.name'] ?? ''}`,
    )
    const sequence = Number(timeSeries[sequenceName] ?? 1)
    for (const period of elements(timeSeries, 'Period')) {
      for (const [at, lengthMs, written] of pricesOf(period, timeSeries.curveType === 'A03')) {
        const other = offers.get(at)
        const isBetter =
          !other ||
          lengthMs < other.lengthMs ||
          (lengthMs === other.lengthMs && sequence < other.sequence)
        if (isBetter) offers.set(at, { lengthMs, sequence, written })
      }
    }
  }
  for (const [at, { written }] of [...offers].sort(([a], [b]) => a - b)) addAt(series, at, written)
}

function* pricesOf(
  period: Element,
  isFilled: boolean,
): Generator<[at: number, lengthMs: number, written: unknown]> {
  const { timeInterval, resolution } = period
  const lengthMs = lengths[String(resolution)]
  const interval = fieldsOf(timeInterval)
  const [from, to] = [interval.start, interval.end].map(text => parseInstant(String(text)))
  if (lengthMs === undefined) throw headerFault(what, 'known resolution')
  if (from === undefined || to === undefined) throw headerFault(what, 'timeInterval')
  const points = new Map(
    elements(period, 'Point').map(point => {
      if (!('price.amount' in point)) throw headerFault(what, 'price.amount')
      return [Number(point.position), point['price.amount']]
    }),
  )
  let last: unknown
  for (let position = 1; from + position * lengthMs <= to; position += 1) {
    const stated = points.get(position)
    if (stated === undefined && !(isFilled && last !== undefined)) continue
    last = stated ?? last
    yield [from + (position - 1) * lengthMs, lengthMs, last]
  }
}

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  for (const entry of reading.entries) {
    const series = collected()
    const from = startOf(reading, entry)
    for (let at = from; at < reading.now + aheadMs; at += spanMs) {
      const to = Math.min(at + spanMs, reading.now + aheadMs)
      addPrices(series, (await client.get(requestOf(entry.sourceId, at, to, reading.key))).bytes)
    }
    yield* sentSince([entry], new Map([[entry.sourceId, series]]), from)
  }
}

const minuteText = (at: number): string => isoInstant(at).replace(/[-:T]/g, '').slice(0, 12)

function requestOf(
  domain: string,
  from: number,
  to: number,
  key: string | undefined,
): PublisherRequest {
  const url = new URL('https://web-api.tp.entsoe.eu/api')
  url.searchParams.set('documentType', 'A44')
  url.searchParams.set('in_Domain', domain)
  url.searchParams.set('out_Domain', domain)
  url.searchParams.set('periodStart', minuteText(from))
  url.searchParams.set('periodEnd', minuteText(to))
  return { url: url.href, secret: { name: 'securityToken', value: key ?? '' } }
}

export const entsoe: Publisher = {
  name: 'entsoe',
  title: 'Day-ahead prices of European bidding zones',
  publisher: 'ENTSO-E Transparency Platform',
  homepage: 'https://transparency.entsoe.eu/',
  licenseClass: 'view',
  attribution: 'Source: ENTSO-E Transparency Platform',
  key: 'needed',
  guide: {
    content: 'day-ahead power of European bidding zones',
    terms: 'needs the consent of data owners; the key is a security token',
    format:
      'with `curveType` A03, an omitted price repeats the one before; of several series, the finest resolution is used; reason 999 means no data. A return to longer periods is held',
  },
  hosts: ['web-api.tp.entsoe.eu'],
  requestsPerSecond: 5,
  rereadDays: 3,
  calendar: timesOfDay('Europe/Brussels', ['12:58', '14:10', '18:10']),
  read,
}
