import { cellOf } from '../reading/decimal.ts'
import { sameUnit } from '../reading/units.ts'
import type { MapEntry } from './map.ts'
import type { SentRow, SentSeries } from './publisher.ts'

/** Collects what was sent of one series of a publisher, period by period. */
export interface Collected {
  unit: string | undefined
  rows: SentRow[]
  blanks: number
  faults: { period: string; written: string }[]
  /** Notes a unit that came with a value. Where it is not that of the others, no unit is the expected one. */
  state(unit: string): void
  add(period: string, written: unknown, options?: AddOptions): void
}

interface AddOptions {
  publishedAt?: number
  /** Groups of thousands are written with commas. */
  thousands?: boolean
}

export function collected(unit?: string): Collected {
  const series: Collected = {
    unit,
    rows: [],
    blanks: 0,
    faults: [],
    state(stated) {
      if (series.unit === undefined) series.unit = stated
      else if (stated !== series.unit && !sameUnit(stated, series.unit))
        series.unit = `${series.unit || 'no unit'} and ${stated || 'no unit'}`
    },
    add(period, written, { publishedAt, thousands = false } = {}) {
      const cell = cellOf(written, { thousands })
      if (cell.kind === 'blank') series.blanks += 1
      else if (cell.kind === 'fault') series.faults.push({ period, written: cell.written })
      else if (publishedAt === undefined) series.rows.push({ period, text: cell.text })
      else series.rows.push({ period, text: cell.text, publishedAt })
    },
  }
  return series
}

/** Every entry with the values of its series, which several entries may share. */
export function* sentSeries(
  entries: readonly MapEntry[],
  bySource: ReadonlyMap<string, Collected>,
  covers: string | undefined,
): Iterable<SentSeries> {
  for (const entry of entries) {
    const series = bySource.get(entry.sourceId)
    yield {
      entry,
      unit: series?.unit,
      rows: series?.rows ?? [],
      blanks: series?.blanks ?? 0,
      faults: series?.faults ?? [],
      covers,
    }
  }
}

/** A collection for each series of the entries. */
export const collections = (entries: readonly MapEntry[]): Map<string, Collected> =>
  new Map(entries.map(entry => [entry.sourceId, collected()]))

/** Entries that one request fetches together: by a key, in the order of the map. */
export function grouped(
  entries: readonly MapEntry[],
  keyOf: (entry: MapEntry) => string,
): MapEntry[][] {
  return [...Map.groupBy(entries, keyOf).values()]
}

/** The earliest of days; undefined where one of them is, which means the beginning. */
export const earliest = (days: readonly (string | undefined)[]): string | undefined =>
  days.includes(undefined) ? undefined : days.toSorted()[0]
