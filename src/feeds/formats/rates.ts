import type { Source } from '../files/source.ts'
import { type ReferenceRates, ratesOf, ratesOfCsv, ratesOfXml } from '../publishers/ecb.ts'
import { codeEntries, publisherSeries } from './known-series.ts'
import { csvLine, spooled, wholeOf } from './spool.ts'

const ratesBytesMax = 64 * 1024 * 1024

/**
 * Reference rates, from the bank's XML or CSV, as a table with a line for each day: a column for each
 * currency, and one for each cross of two that the catalogue has, such as `NOK/USD`.
 */
export async function rateSource(
  source: Source,
  directory: string,
  format: 'xml' | 'csv',
): Promise<Source> {
  const bytes = await wholeOf(source, ratesBytesMax)
  const rates = format === 'xml' ? ratesOfXml(bytes) : ratesOfCsv(bytes)
  const entries = codeEntries('ecb')
  const currencies = [...new Set([...rates.values()].flatMap(ofDay => [...ofDay.keys()]))]
  const crosses = entries.filter(
    entry =>
      entry.sourceId.includes('/') &&
      entry.sourceId
        .split('/')
        .every(currency => currency === 'EUR' || currencies.includes(currency)),
  )
  const quotedLines = entries.filter(
    entry => currencies.includes(entry.sourceId) || crosses.includes(entry),
  )
  const table = await spooled(
    source,
    directory,
    linesOf(
      rates,
      currencies,
      crosses.map(entry => entry.sourceId),
    ),
  )
  return { ...table, series: publisherSeries(quotedLines) }
}

function* linesOf(
  rates: ReferenceRates,
  currencies: readonly string[],
  crosses: readonly string[],
): Generator<string> {
  yield csvLine(['Date', ...currencies, ...crosses])
  const entries = codeEntries('ecb').filter(entry => crosses.includes(entry.sourceId))
  for (const [day, ofDay] of rates) {
    const series = ratesOf(entries, new Map([[day, ofDay]]))
    const direct = currencies.map(currency => String(ofDay.get(currency) ?? ''))
    yield csvLine([day, ...direct, ...crosses.map(id => series.get(id)?.rows[0]?.text)])
  }
}
