import { cellOf } from '../reading/decimal.ts'
import { sameUnit } from '../reading/units.ts'
import type { MapLine } from './map.ts'
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

/** Every line with the values of its series, which several lines may share. */
export function* sentSeries(
  lines: readonly MapLine[],
  bySource: ReadonlyMap<string, Collected>,
  covers: string | undefined,
): Iterable<SentSeries> {
  for (const line of lines) {
    const series = bySource.get(line.sourceId)
    yield {
      line,
      unit: series?.unit,
      rows: series?.rows ?? [],
      blanks: series?.blanks ?? 0,
      faults: series?.faults ?? [],
      covers,
    }
  }
}

/** A collection for each series that lines are of. */
export const collections = (lines: readonly MapLine[]): Map<string, Collected> =>
  new Map(lines.map(line => [line.sourceId, collected()]))

/** Lines that one request fetches together: by a key, in the order of the map. */
export function grouped(lines: readonly MapLine[], keyOf: (line: MapLine) => string): MapLine[][] {
  return [...Map.groupBy(lines, keyOf).values()]
}

/** The earliest of days; undefined where one of them is, which means the beginning. */
export const earliest = (days: readonly (string | undefined)[]): string | undefined =>
  days.includes(undefined) ? undefined : days.toSorted()[0]
