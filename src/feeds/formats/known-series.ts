import type { PublisherSeries } from '../files/source.ts'
import type { MapEntry } from '../publishers/map.ts'
import { shippedFeeds } from '../publishers/publishers.ts'
import type { PeriodKind } from '../reading/periods.ts'

/** The entries of a feed's map that refer to series of the catalogue. */
export const codeEntries = (feed: string): MapEntry[] =>
  shippedFeeds
    .find(({ publisher }) => publisher.name === feed)!
    .map.filter(({ target }) => 'code' in target)

/** The codes of a publisher's series, by the name that its files have for them. */
export function publisherSeries(
  entries: readonly MapEntry[],
  nameOf: (entry: MapEntry) => string = entry => entry.sourceId,
): PublisherSeries {
  const series = new Map<string, { code: string; factor: string; unit: string }[]>()
  for (const entry of entries) {
    if (!('code' in entry.target)) continue
    const name = nameOf(entry)
    const { code } = entry.target
    series.set(name, [
      ...(series.get(name) ?? []),
      { code, factor: entry.factor, unit: entry.unit },
    ])
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
