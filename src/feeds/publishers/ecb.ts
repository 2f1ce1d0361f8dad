import { isObject } from '../../lib/text/json.ts'
import { parseDay, startOfDay } from '../../lib/time/instant.ts'
import { previousTradingDay } from '../../topics/calendars/math/calendar.ts'
import { euroSettlement } from '../../topics/calendars/math/holidays.ts'
import { cellOf, quotient } from '../reading/decimal.ts'
import { FeedFault, headerFault, unreadable } from '../reading/fault.ts'
import { leadingDay, namedDay } from '../reading/periods.ts'
import { tableOf, textOf } from '../reading/text.ts'
import { archiveFiles, pieces } from '../reading/zip.ts'
import { type Calendar, everyWorkingDay, lastRelease } from './calendar.ts'
import type { MapEntry } from './map.ts'
import type { Publisher, PublisherClient, Reading, SentSeries } from './publisher.ts'
import { type Collected, collections, earliest, sentSeries } from './series.ts'

const site = 'https://www.ecb.europa.eu/stats/eurofxref'
const calendar: Calendar = [everyWorkingDay('16:00', euroSettlement, { zone: 'Europe/Berlin' })]

/** Units of each currency in one euro, as they were written, by day. */
export type ReferenceRates = Map<string, Map<string, unknown>>

/** Loaded where XML is read: a start is sooner without it. `require`, because who reads waits for nothing. */
const xmlParser = (): typeof import('fast-xml-parser') => require('fast-xml-parser')

/** The rates of the XML files: one day, ninety, or all. */
export function ratesOfXml(bytes: Uint8Array): ReferenceRates {
  const { XMLParser } = xmlParser()
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseAttributeValue: false,
    removeNSPrefix: true,
    isArray: name => name === 'Cube',
  })
  const text = textOf(bytes)
  // The parser returns an empty object for a body that is not XML.
  const body: unknown = text.includes('</') ? parser.parse(text) : undefined
  const envelope = isObject(body) ? body.Envelope : undefined
  const rates: ReferenceRates = new Map()
  for (const outer of cubes(envelope)) {
    for (const day of cubes(outer)) {
      if (typeof day.time !== 'string') throw headerFault('the XML of the day', 'time')
      const ofDay = new Map<string, unknown>()
      for (const { currency, rate } of cubes(day)) {
        if (typeof currency !== 'string') throw headerFault('the XML of the day', 'currency')
        ofDay.set(currency, rate)
      }
      rates.set(leadingDay(day.time) ?? day.time, ofDay)
    }
  }
  if (rates.size === 0) throw unreadable('the XML of the day')
  return rates
}

const cubes = (node: unknown): Readonly<Record<string, unknown>>[] =>
  isObject(node) && Array.isArray(node.Cube) ? node.Cube.filter(isObject) : []

/** The rates of the CSV files: a row for each day, a column for each currency; days as `2026-04-13` or `13 April 2026`. */
export function ratesOfCsv(bytes: Uint8Array): ReferenceRates {
  const { header, rows } = tableOf(bytes, 'the history')
  if (header[0] !== 'Date' || !header.includes('USD'))
    throw headerFault('the history', 'Date and USD')
  const rates: ReferenceRates = new Map()
  for (const row of rows) {
    const written = row[0] ?? ''
    const ofDay = new Map<string, unknown>()
    for (const [i, currency] of header.entries()) {
      if (i > 0 && currency !== '') ofDay.set(currency, row[i])
    }
    rates.set(leadingDay(written) ?? namedDay(written) ?? written, ofDay)
  }
  return rates
}

/** The rates of the data service, a row for each currency and day. */
export function ratesOfSdmx(bytes: Uint8Array): ReferenceRates {
  const { header, rows } = tableOf(bytes, 'the data service')
  const [currency, day, value] = ['CURRENCY', 'TIME_PERIOD', 'OBS_VALUE'].map(name => {
    const column = header.indexOf(name)
    if (column < 0) throw headerFault('the data service', name)
    return column
  })
  const base = header.indexOf('CURRENCY_DENOM')
  const multiplier = header.indexOf('UNIT_MULT')
  const rates: ReferenceRates = new Map()
  for (const row of rows) {
    const [of = 'EUR', power = '0'] = [row[base], row[multiplier]]
    if (of !== 'EUR' || Number(power) !== 0)
      throw new FeedFault(
        'unexpected_unit',
        `${row[currency!]} came per 10^${power} ${of} instead of one euro`,
      )
    const ofDay = rates.get(row[day!]!) ?? new Map<string, unknown>()
    rates.set(row[day!]!, ofDay.set(row[currency!]!, row[value!]))
  }
  return rates
}

/**
 * Series from rates: `USD` is the amount of a currency per euro as the bank publishes it, `NOK/USD`
 * the quotient of two rates of one day. A day that lacks one of the two has a blank.
 */
export function ratesOf(
  entries: readonly MapEntry[],
  rates: ReferenceRates,
): Map<string, Collected> {
  const series = collections(entries)
  for (const day of [...rates.keys()].sort()) {
    const ofDay = rates.get(day)!
    for (const [id, values] of series) values.add(day, rateOf(id, ofDay))
  }
  return series
}

function rateOf(id: string, ofDay: ReadonlyMap<string, unknown>): unknown {
  const [of = '', to] = id.split('/')
  if (to === undefined) return ofDay.get(of)
  const dividend = cellOf(of === 'EUR' ? '1' : ofDay.get(of))
  const divisor = cellOf(to === 'EUR' ? '1' : ofDay.get(to))
  if (dividend.kind === 'fault') return dividend.written
  if (divisor.kind === 'fault') return divisor.written
  if (dividend.kind === 'blank' || divisor.kind === 'blank') return null
  return quotient(dividend.text, divisor.text) ?? `${dividend.text}/${divisor.text}`
}

const currenciesOf = (entries: readonly MapEntry[]): string[] =>
  [...new Set(entries.flatMap(entry => entry.sourceId.split('/')))].filter(
    currency => currency !== 'EUR',
  )

async function* read(
  client: PublisherClient,
  { entries, since, now }: Reading,
): AsyncIterable<SentSeries> {
  const from = earliest(entries.map(since))
  if (from === undefined) {
    const rates = await history(client)
    // Computes one series at a time: seven thousand quotients for each would block the event loop.
    for (const entry of entries) yield* sentSeries([entry], ratesOf([entry], rates), undefined)
    return
  }
  const newest = lastRelease(calendar, now)
  const newestDay = startOfDay(newest?.at ?? now)
  // Where only the newest day can be missing, the small file has it.
  if (parseDay(from)! >= previousTradingDay('fx', newestDay)) {
    const answer = await client.get({ url: `${site}/eurofxref-daily.xml`, ifChanged: true })
    if (!answer) return
    const rates = ratesOfXml(answer.bytes)
    yield* sentSeries(entries, ratesOf(entries, rates), [...rates.keys()].sort()[0])
    return
  }
  const currencies = currenciesOf(entries).join('+')
  const answer = await client.get({
    url: `https://data-api.ecb.europa.eu/service/data/EXR/D.${currencies}.EUR.SP00.A?format=csvdata&startPeriod=${from}`,
  })
  yield* sentSeries(entries, ratesOf(entries, ratesOfSdmx(answer.bytes)), from)
}

async function history(client: PublisherClient): Promise<ReferenceRates> {
  const answer = await client.get({ url: `${site}/eurofxref-hist.zip` })
  for await (const file of archiveFiles(pieces(answer.bytes), name => name.endsWith('.csv'))) {
    const content = await Array.fromAsync(file.read())
    return ratesOfCsv(Buffer.concat(content))
  }
  throw unreadable('the archive of the history')
}

export const ecb: Publisher = {
  name: 'ecb',
  title: 'Euro foreign exchange reference rates',
  publisher: 'European Central Bank',
  homepage:
    'https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html',
  licenseClass: 'open',
  attribution: 'Source: European Central Bank, euro foreign exchange reference rates',
  key: 'none',
  guide: {
    content: "euro reference rates, and crosses of one day's rates in decimal arithmetic",
    terms: 'free if the source is named',
    format:
      'header of the CSV of the history, attributes `time`, `currency`, `rate` of the daily XML, column names of the data service, of which `CURRENCY_DENOM` must be EUR',
  },
  hosts: ['www.ecb.europa.eu', 'data-api.ecb.europa.eu'],
  requestsPerSecond: 1,
  rereadDays: 0,
  calendar,
  read,
}
