import type { Catalogue } from '../../topics/catalogue/service/catalogue.ts'
import type { Delta } from '../store/delta.ts'

/** The caches of an instance that depend on rows changed by another process. */
export interface Followed {
  catalogue: Pick<Catalogue, 'reload' | 'extend' | 'measure' | 'list'>
  quarantine: { reload(): void }
  forgetSeries(seriesId: number): void
}

const catalogueTables = new Set(['series', 'aliases', 'series_terms'])
/** Their rows say whose values a series has; a write of the series comes with them. */
const forgetsAll = new Set([...catalogueTables, 'quarantine'])

/** Updates the caches after rows have changed. Returns the series whose prices may have changed. */
export function followDelta(followed: Followed, delta: Delta): number[] {
  const { catalogue, quarantine, forgetSeries } = followed
  const tables = new Set(delta.tables.map(({ table }) => table))
  const changed = new Set(delta.ranges.map(range => range.seriesId))
  if ([...catalogueTables].some(table => tables.has(table))) catalogue.reload()
  if (tables.has('quarantine')) quarantine.reload()
  if ([...forgetsAll].some(table => tables.has(table)))
    for (const series of catalogue.list()) changed.add(series.id)
  for (const { seriesId, from, to, observations } of delta.ranges) {
    const isWhole = momentOf(observations[0]) === from && momentOf(observations.at(-1)) === to
    if (isWhole) catalogue.extend(seriesId, from, to)
    else catalogue.measure(seriesId)
  }
  for (const seriesId of changed) forgetSeries(seriesId)
  return [...changed]
}

/** Rows of observations begin with the series and the moment. */
const momentOf = (row: readonly unknown[] | undefined) => row?.[1]
