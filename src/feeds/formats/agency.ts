import { isObject } from '../../lib/text/json.ts'
import type { PublisherSeries } from '../files/source.ts'
import type { JsonDocument } from './json.ts'
import { codeEntries, periodsByFrequency, publisherSeries } from './known-series.ts'

/**
 * The codes of the series in a response of the Energy Information Administration; undefined for
 * other documents. Throws a sentence where it has means of longer periods than its series.
 */
export function agencySeries(
  { body, path, records }: JsonDocument,
  name: string,
): PublisherSeries | undefined {
  const response = isObject(body) && path === 'response.data' ? body.response : undefined
  if (!isObject(response)) return undefined
  const sent = new Set(
    records.map(record => (isObject(record) ? (record.series ?? record.seriesId) : undefined)),
  )
  const entries = codeEntries('eia').filter(entry => sent.has(entry.sourceId))
  const kind = periodsByFrequency[String(response.frequency)]
  const other = entries.find(entry => kind !== undefined && entry.kind !== kind)
  if (other && 'code' in other.target)
    throw new Error(
      `${name} has ${String(response.frequency)} values of ${other.sourceId}, and ${other.target.code} is its value of a ${other.kind}: if they belong there all the same, say --series ${other.target.code}`,
    )
  return entries.length > 0 ? publisherSeries(entries) : undefined
}

/** The codes of the columns of a download from FRED; undefined where none is a series of it. */
export function fredSeries(names: readonly string[]): PublisherSeries | undefined {
  const entries = codeEntries('fred').filter(entry => names.includes(entry.sourceId))
  return entries.length > 0 ? publisherSeries(entries) : undefined
}
