import { isoDay } from '../../lib/time/instant.ts'
import { FeedFault, headerFault } from '../reading/fault.ts'
import { periodOf } from '../reading/periods.ts'
import { tableOf } from '../reading/text.ts'
import { monthlyDay } from './calendar.ts'
import type { Publisher, PublisherClient, Reading, SentSeries } from './publisher.ts'
import { type Collected, collections, earliest, sentSeries } from './series.ts'

const folder = 'https://www.jodidata.org/_resources/files/downloads/oil-data/annual-csv/primary'
const firstYear = 2002

/** The file of a year: the running one has another name than those that are over. */
const yearUrl = (year: number, running: number): string =>
  year < running ? `${folder}/${year}.csv` : `${folder}/primaryyear${year}.csv`

const columns = [
  'REF_AREA',
  'ENERGY_PRODUCT',
  'FLOW_BREAKDOWN',
  'UNIT_MEASURE',
  'TIME_PERIOD',
  'OBS_VALUE',
] as const

/** Adds the rows of a year to the series `SA/CRUDEOIL/INDPROD/KBD`. */
function addYear(bytes: Uint8Array, year: number, series: ReadonlyMap<string, Collected>): void {
  const { header, rows } = tableOf(bytes, `the file of ${year}`)
  const [area, product, flow, unit, month, value] = columns.map(name => {
    const column = header.indexOf(name)
    if (column < 0) throw headerFault(`the file of ${year}`, name)
    return column
  })
  for (const row of rows) {
    const id = [area, product, flow, unit].map(column => row[column!]).join('/')
    const written = row[month!] ?? ''
    series.get(id)?.add(periodOf(written, 'month') ?? written, row[value!])
  }
}

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  const { entries } = reading
  const running = Number(isoDay(reading.now).slice(0, 4))
  const since = earliest(entries.map(reading.since))
  const from = since === undefined ? firstYear : Number(since.slice(0, 4))
  const series = collections(entries)
  for (let year = Math.max(firstYear, from); year <= running; year++) {
    try {
      addYear((await client.get({ url: yearUrl(year, running) })).bytes, year, series)
    } catch (error) {
      // There is no file for a year in its first months, nor for the oldest years.
      if (!(error instanceof FeedFault && error.status === 404)) throw error
    }
  }
  yield* sentSeries(entries, series, since === undefined ? undefined : `${from}-01-01`)
}

export const jodi: Publisher = {
  name: 'jodi',
  title: 'JODI oil world database',
  publisher: 'Joint Organisations Data Initiative',
  homepage: 'https://www.jodidata.org/',
  licenseClass: 'open',
  attribution: 'Source: Joint Organisations Data Initiative (JODI)',
  key: 'none',
  guide: {
    content: 'OPEC production where EIA has none',
    terms: 'name the source',
    format: 'the addresses of the yearly files; column names',
  },
  hosts: ['www.jodidata.org'],
  requestsPerSecond: 2,
  rereadDays: 400,
  calendar: [monthlyDay(20, '12:00', () => [], { zone: 'Asia/Riyadh' })],
  read,
}
