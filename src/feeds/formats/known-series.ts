import type { PublisherSeries } from '../files/source.ts'
import type { MapLine } from '../publishers/map.ts'
import { shippedFeeds } from '../publishers/publishers.ts'
import type { PeriodKind } from '../reading/periods.ts'

/** The lines of a feed's map that refer to series of the catalogue. */
export const codeLines = (feed: string): MapLine[] =>
  shippedFeeds
    .find(({ publisher }) => publisher.name === feed)!
    .map.filter(({ target }) => 'code' in target)

/** The codes of a publisher's series, by the name that its files have for them. */
export function publisherSeries(
  lines: readonly MapLine[],
  nameOf: (line: MapLine) => string = line => line.sourceId,
): PublisherSeries {
  const series = new Map<string, { code: string; factor: string; unit: string }[]>()
  for (const line of lines) {
    if (!('code' in line.target)) continue
    const name = nameOf(line)
    const { code } = line.target
    series.set(name, [...(series.get(name) ?? []), { code, factor: line.factor, unit: line.unit }])
  }
  return series
}

/** The period kind for each frequency that agencies name. */
export const periodsByFrequency: Readonly<Record<string, PeriodKind>> = {
  daily: 'day',
  weekly: 'week',
  monthly: 'month',
  quarterly: 'quarter',
  annual: 'year',
}
