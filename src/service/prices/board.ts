import type { Clock } from '../../lib/clock.ts'
import { strongEtag } from '../../lib/etag.ts'
import { type DataStatus, dataStatus, freshUntil } from '../../market/calendars/freshness.ts'
import type { Observation } from '../../market/prices/bars.ts'
import {
  type ChangeSpan,
  changeBases,
  type PriceChange,
  priceChange,
} from '../../market/prices/change.ts'
import type { Series } from '../../store/catalogue/series.ts'
import type { ObservationStore } from '../../store/prices/observations.ts'
import type { QuarantineList } from './quarantine.ts'

export type { ChangeSpan }

/** The newest price of a series and its changes. */
export interface Quote {
  series: Series
  observation: Observation
  changes: Partial<Record<ChangeSpan, PriceChange>>
  status: DataStatus
}

/** A quote as text, ready to send. */
export interface Rendered {
  text: string
  etag: string
  /** Rendered for this call, not taken from the cache. */
  fresh: boolean
}

/** The newest price of every series, kept until something changes it. */
export interface Board {
  /** Undefined when the series has no observation outside quarantine. */
  quote(series: Series): Quote | undefined
  /**
   * The answer for one code, kept as bytes; `render` makes it, once for each change of the quote.
   */
  rendered(key: string, series: Series, render: (quote: Quote) => string): Rendered | undefined
  /**
   * Another number after any quote may have changed by a write; `validUntil` says when one changes
   * by its age. What is made of many quotes is good for as long as both stand.
   */
  readonly changes: number
  /** Unix ms; infinity: it does not age. */
  validUntil(series: Series): number
  forget(seriesId: number): void
  forgetAll(): void
}

interface Entry {
  quote: Quote | undefined
  /** When the status changes next: it ages without any write. */
  validUntil: number
  texts: Map<string, Rendered>
}

export function createBoard(
  observations: Pick<ObservationStore, 'newest'>,
  quarantine: QuarantineList,
  clock: Pick<Clock, 'now'>,
): Board {
  const entries = new Map<number, Entry>()
  let changes = 0

  const newestBefore = (seriesId: number, before: number): Observation | undefined => {
    for (const stretch of quarantine.clear(seriesId, Number.MIN_SAFE_INTEGER, before).reverse()) {
      const observation = observations.newest(seriesId, stretch.to)
      if (observation && observation.observedAt >= stretch.from) return observation
    }
    return undefined
  }

  const createEntry = (series: Series, now: number): Entry => {
    // What is discontinued has a history and no price.
    const observation =
      series.unavailableReason === null
        ? newestBefore(series.id, Number.MAX_SAFE_INTEGER)
        : undefined
    if (!observation)
      return { quote: undefined, validUntil: Number.POSITIVE_INFINITY, texts: new Map() }
    const changes: Quote['changes'] = {}
    for (const [span, before] of changeBases(series.cadence, observation.observedAt)) {
      const base = newestBefore(series.id, before)
      if (base) changes[span] = priceChange(base.value, observation.value, series.decimals)
    }
    const { currentUntil, delayedUntil } = freshUntil(series, observation.observedAt)
    const validUntil =
      [currentUntil, delayedUntil].find(at => at >= now) ?? Number.POSITIVE_INFINITY
    return {
      quote: {
        series,
        observation,
        changes,
        status: dataStatus(series, observation.observedAt, now),
      },
      validUntil,
      texts: new Map(),
    }
  }

  const entryOf = (series: Series): Entry => {
    const now = clock.now()
    const cached = entries.get(series.id)
    if (cached && now <= cached.validUntil) return cached
    const entry = createEntry(series, now)
    entries.set(series.id, entry)
    return entry
  }

  return {
    quote: series => entryOf(series).quote,
    rendered(key, series, render) {
      const entry = entryOf(series)
      const cached = entry.texts.get(key)
      if (cached || !entry.quote) return cached
      const text = render(entry.quote)
      const etag = strongEtag(text)
      // One text for each name that answers differently: clients cannot add more.
      entry.texts.set(key, { text, etag, fresh: false })
      return { text, etag, fresh: true }
    },
    get changes() {
      return changes
    },
    validUntil: series => entryOf(series).validUntil,
    forget(seriesId) {
      changes += 1
      entries.delete(seriesId)
    },
    forgetAll() {
      changes += 1
      entries.clear()
    },
  }
}
