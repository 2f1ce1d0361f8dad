import type { Source } from '../files/source.ts'
import { type ReferenceRates, ratesOf, ratesOfCsv, ratesOfXml } from '../publishers/ecb.ts'
import { codeLines, publisherSeries } from './known-series.ts'
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
  const lines = codeLines('ecb')
  const currencies = [...new Set([...rates.values()].flatMap(ofDay => [...ofDay.keys()]))]
  const crosses = lines.filter(
    line =>
      line.sourceId.includes('/') &&
      line.sourceId
        .split('/')
        .every(currency => currency === 'EUR' || currencies.includes(currency)),
  )
  const quotedLines = lines.filter(
    line => currencies.includes(line.sourceId) || crosses.includes(line),
  )
  const table = await spooled(
    source,
    directory,
    linesOf(
      rates,
      currencies,
      crosses.map(line => line.sourceId),
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
  const lines = codeLines('ecb').filter(line => crosses.includes(line.sourceId))
  for (const [day, ofDay] of rates) {
    const series = ratesOf(lines, new Map([[day, ofDay]]))
    const direct = currencies.map(currency => String(ofDay.get(currency) ?? ''))
    yield csvLine([day, ...direct, ...crosses.map(id => series.get(id)?.rows[0]?.text)])
  }
}
