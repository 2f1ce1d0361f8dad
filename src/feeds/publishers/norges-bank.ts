import { dayMs, parseDay } from '../../lib/time/instant.ts'
import { easterDay, europeExchange, type Holidays } from '../../topics/calendars/math/holidays.ts'
import { cellOf, timesDecimal } from '../reading/decimal.ts'
import { headerFault } from '../reading/fault.ts'
import { tableOf } from '../reading/text.ts'
import { everyWorkingDay } from './calendar.ts'
import type { MapEntry } from './map.ts'
import type { Publisher, PublisherClient, Reading, SentSeries } from './publisher.ts'
import { type Collected, collections, grouped, sentSeries } from './series.ts'

const columns = ['BASE_CUR', 'QUOTE_CUR', 'UNIT_MULT', 'TIME_PERIOD', 'OBS_VALUE'] as const

/** The bank's series from its semicolon CSV. `UNIT_MULT` 2 means that a rate is of 100 units. */
function bankRates(bytes: Uint8Array, entries: readonly MapEntry[]): Map<string, Collected> {
  const { header, rows } = tableOf(bytes, 'the exchange rates')
  const at = Object.fromEntries(
    columns.map(name => {
      const column = header.indexOf(name)
      if (column < 0) throw headerFault('the exchange rates', name)
      return [name, column]
    }),
  ) as Record<(typeof columns)[number], number>
  const series = collections(entries)
  for (const row of rows) {
    const values = series.get(`${row[at.BASE_CUR]}/${row[at.QUOTE_CUR]}`)
    if (!values) continue
    values.add(row[at.TIME_PERIOD]!, ofOne(row[at.OBS_VALUE], row[at.UNIT_MULT] ?? ''))
  }
  return series
}

/** The rate of one unit. */
function ofOne(written: unknown, multiplier: string): unknown {
  const cell = cellOf(written)
  if (cell.kind !== 'value') return written
  if (!/^\d$/.test(multiplier)) throw headerFault('the exchange rates', 'number in UNIT_MULT')
  return timesDecimal(
    cell.text,
    multiplier === '0' ? '1' : `0.${'0'.repeat(Number(multiplier) - 1)}1`,
  )
}

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  for (const entries of grouped(reading.entries, entry => reading.since(entry) ?? '')) {
    const since = reading.since(entries[0]!)
    const bases = [...new Set(entries.map(entry => entry.sourceId.split('/')[0]))].join('+')
    const url = new URL(`https://data.norges-bank.no/api/data/EXR/B.${bases}.NOK.SP`)
    url.searchParams.append('format', 'csv')
    if (since !== undefined) url.searchParams.append('startPeriod', since)
    url.searchParams.append('locale', 'en')
    const answer = await client.get({ url: url.href })
    yield* sentSeries(entries, bankRates(answer.bytes, entries), since)
  }
}

const may = (year: number, day: number): number =>
  parseDay(`${year}-05-${String(day).padStart(2, '0')}`)! / dayMs

/** Days on which banks in Norway are closed. */
const norway: Holidays = year => [
  ...europeExchange(year),
  may(year, 1),
  may(year, 17),
  // Maundy Thursday, Ascension and Whit Monday.
  easterDay(year) - 3,
  easterDay(year) + 39,
  easterDay(year) + 50,
]

export const norgesBank: Publisher = {
  name: 'norges_bank',
  title: 'Exchange rates of the Norwegian krone',
  publisher: 'Norges Bank',
  homepage: 'https://www.norges-bank.no/en/topics/Statistics/exchange_rates/',
  licenseClass: 'open',
  attribution: 'Source: Norges Bank',
  key: 'none',
  guide: {
    content: 'rates of the Norwegian krone',
    terms: 'free if the source is named',
    format: 'column names; `UNIT_MULT` is the number of units of a rate',
  },
  hosts: ['data.norges-bank.no'],
  requestsPerSecond: 1,
  rereadDays: 7,
  calendar: [everyWorkingDay('16:00', norway, { zone: 'Europe/Oslo' })],
  read,
}
