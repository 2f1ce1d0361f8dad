import { type FedBy, sourceDescription } from '../../catalogue/math/catalogue.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { declaredPublisher, type Series } from '../../catalogue/store/series.ts'
import type { Formulas } from '../../formulas/service/formulas.ts'
import type { Observation } from '../math/bars.ts'
import type { PriceBlock, RowTexts } from '../math/block.ts'
import type { ValueSource, ValueSourceStore } from '../store/value-sources.ts'
import type { QuarantineList } from './quarantine.ts'
import { createRowSources } from './row-sources.ts'

export function createProvenance({
  sources,
  catalogue,
  quarantine,
  averagedFor,
}: {
  sources: ValueSourceStore
  catalogue: Catalogue
  quarantine: QuarantineList
  /** The series of delivery periods of which a value is the mean, which has their publisher. */
  averagedFor: Formulas['averagedFor']
}) {
  let describeFeed: ((source: ValueSource) => FedBy | undefined) | undefined
  const fedByOf = (source: ValueSource | undefined, seriesId: number): FedBy | undefined =>
    source?.kind === 'feed'
      ? describeFeed?.(source)
      : source && namedSource(source.name, catalogue.byId(seriesId))

  /** Values of series without sources need not be read. */
  let sourced: Map<number, boolean> | undefined
  const isSourced = (seriesId: number): boolean => {
    sourced ??= findSourced()
    const isKnown = sourced.get(seriesId) ?? sources.ofSeries(seriesId).length > 0
    sourced.set(seriesId, isKnown)
    const leg = legOf(seriesId)
    return isKnown || (leg !== undefined && isSourced(leg.id))
  }
  const legOf = (seriesId: number): Series | undefined => {
    const { averageOf } = catalogue.byId(seriesId)
    return averageOf === undefined ? undefined : catalogue.find(averageOf)
  }
  const newestOf = (seriesId: number): FedBy | undefined => {
    const direct = fedByOf(sources.ofNewest(seriesId), seriesId)
    const leg = legOf(seriesId)
    const ofLeg = leg && newestOf(leg.id)
    return direct ?? (ofLeg && { publisher: ofLeg.publisher })
  }
  /** At first of all series at once: one by one they take some milliseconds. */
  const findSourced = (): Map<number, boolean> => {
    const sourcedIds = new Set(sources.everySeries())
    return new Map(catalogue.list().map(({ id }) => [id, sourcedIds.has(id)]))
  }

  const published = (series: Series, source: ValueSource | undefined): Series => {
    const { publisher: _ofNewest, ...own } = series
    const publisher = fedByOf(source, series.id)?.publisher ?? declaredPublisher(series)
    return publisher ? { ...own, publisher } : own
  }

  const attributed = (series: Series, value: Observation): Series => {
    // Ranks of futures have ids below zero; they are in no list and have no sources.
    if (series.id < 0 || !isSourced(series.id)) return series
    const leg = averagedFor(series, value)
    if (!leg)
      return published(series, sources.ofValue(series.id, value.observedAt, value.recordedAt))
    const { publisher: _ofNewest, ...own } = series
    const { publisher } = published(leg, sources.ofNewest(leg.id))
    return publisher ? { ...own, publisher } : own
  }

  const ofRows = createRowSources({
    sources,
    catalogue,
    quarantine,
    averagedFor,
    isSourced,
    published,
    attributed,
  })

  const nameOf = (seriesId: number, sourceId: number): string =>
    fedByOf(sources.byId(sourceId), seriesId)?.publisher.name ?? catalogue.byId(seriesId).source

  const ofBlock = (
    seriesId: number,
    block: Pick<PriceBlock, 'length' | 'observedAt' | 'recordedAt' | 'bars'>,
    isPast: boolean,
  ): RowTexts => {
    const { length, observedAt, recordedAt, bars } = block
    const currentIds =
      isPast && !bars
        ? undefined
        : sources.byInstant(seriesId, observedAt[0]!, observedAt[length - 1]! + 1)
    const texts: string[] = []
    const places = new Map<number, number>()
    const index = new Uint32Array(length)
    for (let row = 0; row < length; row += 1) {
      const at = observedAt[row]!
      const sourceId =
        (currentIds ? currentIds.get(at) : sources.ofValue(seriesId, at, recordedAt[row]!)?.id) ?? 0
      if (!places.has(sourceId)) places.set(sourceId, texts.push(nameOf(seriesId, sourceId)) - 1)
      index[row] = places.get(sourceId)!
    }
    return { texts, index }
  }

  return {
    /** Says how a feed is named with its values. */
    describeFeeds(describe: (source: ValueSource) => FedBy | undefined) {
      describeFeed = describe
    },
    /** The source of the newest value of a series; undefined: unknown, or feeds are not named yet. */
    newestOf,
    /** Whether a series ever had a value of a source. */
    isSourced,
    /** Call this after a write: the sources of the series are looked up again. */
    forget: (seriesId: number) => void sourced?.delete(seriesId),
    /** The series with the source of one of its values, current or earlier, as its publisher. */
    attributed,
    nameOf,
    /** Every name that a source of values of a series has. */
    namesOf: (seriesId: number): string[] => [
      ...new Set([0, ...sources.ofSeries(seriesId)].map(id => nameOf(seriesId, id))),
    ],
    /**
     * The source of each row of a block; for bars, that of the closing value. `isPast`: the values
     * may have been replaced since.
     */
    ofBlock,
    /** `isPast`: the rows are of values that may have been replaced since. */
    ofRows,
  }
}

/** The publisher fields of a source that was named with its values. */
const namedSource = (
  name: string,
  { terms, shippedTerms }: Pick<Series, 'terms' | 'shippedTerms'>,
): FedBy => ({
  publisher: {
    name,
    text: terms?.attribution ?? sourceDescription(name, false),
    licenseClass: terms?.licenseClass ?? shippedTerms?.licenseClass ?? 'open',
  },
})
