import { strongEtag } from '../../../../lib/text/etag.ts'
import type { Clock } from '../../../../lib/time/clock.ts'
import { startOfDay } from '../../../../lib/time/instant.ts'
import { type DataStatus, dataStatus, freshUntil } from '../../../calendars/math/freshness.ts'
import type { Series } from '../../../catalogue/store/series.ts'
import { periodAt } from '../../../delivery/math/days.ts'
import { type QuotedDelivery, quotedDelivery } from '../../../delivery/math/quote.ts'
import type { DeliveryTerms } from '../../../delivery/math/terms.ts'
import { type FormulaStatus, worstOf } from '../../../formulas/math/status.ts'
import type { Formulas } from '../../../formulas/service/formulas.ts'
import type { Observation } from '../../math/bars.ts'
import { type ChangeSpan, type PriceChange, priceChange } from '../../math/change.ts'
import type { ObservationStore } from '../../store/observations.ts'
import type { QuarantineList } from '../quarantine.ts'
import { type ChangeBases, createChangeBases } from './change-bases.ts'
import type { PeriodValues } from './period-values.ts'

export type { ChangeSpan, QuotedDelivery }

/** The newest price of a series and its changes. */
export interface Quote {
  series: Series
  observation: Observation
  changes: Partial<Record<ChangeSpan, PriceChange>>
  /** The prices that the changes are from, as stored. */
  bases: Partial<Record<ChangeSpan, number>>
  status: DataStatus
  /** Present for a series of delivery periods. */
  delivery?: QuotedDelivery
  /** Present for a series by formula. */
  formula?: QuotedFormula
  /** The series of delivery periods whose mean the price is. */
  averageOf?: Series
}

/** The inputs of a computed price. */
export interface QuotedFormula {
  text: string
  status: FormulaStatus
  legs: readonly { series: Series; observation: Observation | undefined; status: FormulaStatus }[]
}

/** The legs of a series by formula; undefined for any other series. */
export type FormulaOf = (
  series: Pick<Series, 'id' | 'terms'>,
  /** Those of a formula that the series does not have yet. */
  legs?: readonly Series[],
) =>
  | {
      text: string
      legs: readonly Series[]
      /** Why a value of a leg that is newer than one of `at` is not used, if there is one. */
      newerUnused(leg: Series, at: number): 'held' | 'quarantined' | undefined
    }
  | undefined

/** A quote as text, ready to send. */
export interface Rendered {
  text: string
  etag: string
  /** Rendered for this call, not taken from the cache. */
  fresh: boolean
}

/** The newest price of every series, cached until something changes it. */
export type LatestPrices = ReturnType<typeof createLatestPrices>

interface Entry {
  quote: Quote | undefined
  /**
   * When the quote changes next without a write: its status ages, and later values have their
   * time.
   */
  validUntil: number
  texts: Map<string, Rendered>
}

/** Facts about the days before the day of a series' newest price. */
interface EarlierDays {
  /** They end where that day begins. */
  end: number
  bases: ChangeBases
  made: Map<string, unknown>
}

type LatestReads = Pick<ObservationStore, 'newest'> &
  Partial<Pick<ObservationStore, 'after' | 'together'>>

/** The newest observations outside quarantine. */
function createNewest(
  observations: LatestReads,
  quarantine: QuarantineList,
  clock: Pick<Clock, 'now'>,
) {
  const newestOnes = new Map<number, Observation | undefined>()

  const newestBefore = (seriesId: number, before: number): Observation | undefined => {
    for (const stretch of quarantine.clear(seriesId, Number.MIN_SAFE_INTEGER, before).reverse()) {
      const observation = observations.newest(seriesId, stretch.to)
      if (observation && observation.observedAt >= stretch.from) return observation
    }
    return undefined
  }

  /** A value with a time in the future is the latest price when its time comes. */
  const latestOf = ({ id, unavailableReason }: Series): Observation | undefined => {
    // A discontinued series has history but no latest price; this is checked each time, because it
    // may change.
    if (unavailableReason !== null) return undefined
    const now = clock.now()
    if (!newestOnes.has(id)) newestOnes.set(id, newestBefore(id, Number.MAX_SAFE_INTEGER))
    const newest = newestOnes.get(id)
    return newest && newest.observedAt > now ? newestBefore(id, now + 1) : newest
  }

  /** The last moment at which the next value of a series is in the future still. */
  const until = (seriesId: number, now: number): number => {
    const last = newestOnes.get(seriesId)?.observedAt ?? now
    const next = last > now ? observations.after?.(seriesId, now, 1)[0]?.observedAt : undefined
    return (next ?? Number.POSITIVE_INFINITY) - 1
  }

  return {
    before: newestBefore,
    of: latestOf,
    until,
    forget: (seriesId: number) => newestOnes.delete(seriesId),
    forgetAll: () => newestOnes.clear(),
  }
}

/** Facts about the days before the day of the newest price of each series. */
function createEarlierDays(
  observations: LatestReads,
  quarantine: QuarantineList,
  newestBefore: (seriesId: number, before: number) => Observation | undefined,
) {
  const earlier = new Map<number, EarlierDays>()
  const earlierDaysOf = (seriesId: number, newestAt: number): EarlierDays => {
    const end = startOfDay(newestAt)
    const cached = earlier.get(seriesId)
    if (cached?.end === end) return cached
    const bases = createChangeBases({
      dayStart: end,
      newestBefore,
      after: observations.after,
      isClear: (id, at) => quarantine.clear(id, at, at + 1).length > 0,
    })
    const days = { end, bases, made: new Map<string, unknown>() }
    earlier.set(seriesId, days)
    return days
  }
  return {
    of: earlierDaysOf,
    /** `from`: nothing that was observed earlier has changed. */
    forget(seriesId: number, from: number) {
      const days = earlier.get(seriesId)
      if (days && from < days.end) earlier.delete(seriesId)
    },
    forgetAll: () => earlier.clear(),
  }
}

const changesFrom = (bases: Quote['bases'], value: number, decimals: number): Quote['changes'] =>
  Object.fromEntries(
    Object.entries(bases).map(([span, base]) => [span, priceChange(base, value, decimals)]),
  )

/** The quoted period of a series of delivery periods, and the price that it changed from. */
function deliveryQuote(
  { periodValues }: { periodValues?: PeriodValues },
  series: Series,
  terms: DeliveryTerms,
  { observedAt }: Observation,
) {
  const { quoted, before } = quotedDelivery(
    terms,
    observedAt,
    (from, to) => periodValues?.(series.id, from, to) ?? [],
  )
  return { quoted, before }
}

/** The inputs of a computed price, and until when they stay as they are. */
function formulaQuote(
  { text, legs, newerUnused }: NonNullable<ReturnType<FormulaOf>>,
  entryOf: (series: Series) => Entry,
) {
  const quotedLegs = legs.map(leg => {
    const { quote } = entryOf(leg)
    if (!quote) return { series: leg, observation: undefined, status: 'incomplete' as const }
    const { observation } = quote
    const statuses: FormulaStatus[] = [
      quote.status === 'stale' ? 'stale' : 'ok',
      newerUnused(leg, observation.observedAt) ?? 'ok',
      quote.formula?.status ?? 'ok',
    ]
    return { series: leg, observation, status: worstOf(statuses) }
  })
  return {
    quoted: { text, status: worstOf(quotedLegs.map(leg => leg.status)), legs: quotedLegs },
    /** A worse status of another leg does not hide it. */
    isStale: legs.some(leg => entryOf(leg).quote?.status === 'stale'),
    validUntil: Math.min(...legs.map(leg => entryOf(leg).validUntil)),
  }
}

/**
 * `attributed`: the series with the source of a value as its publisher; by default the source of
 * the newest value, which the catalogue knows.
 */
export function createLatestPrices(
  observations: LatestReads & {
    periodValues?: PeriodValues
    formulaOf?: FormulaOf
    averagedFor?: Formulas['averagedFor']
  },
  quarantine: QuarantineList,
  clock: Pick<Clock, 'now'>,
  attributed: (series: Series, observation: Observation) => Series = series => series,
) {
  const entries = new Map<number, Entry>()
  const newest = createNewest(observations, quarantine, clock)
  const earlier = createEarlierDays(observations, quarantine, newest.before)
  let changes = 0

  const quotedFormula = (...named: Parameters<FormulaOf>) => {
    const formula = observations.formulaOf?.(...named)
    return formula && formulaQuote(formula, entryOf)
  }

  const createEntry = (series: Series, now: number): Entry => {
    const observation = newest.of(series)
    const newestUntil = newest.until(series.id, now)
    if (!observation) return { quote: undefined, validUntil: newestUntil, texts: new Map() }
    const bases: Quote['bases'] = {}
    const earlierDays = earlier.of(series.id, observation.observedAt)
    for (const [span, base] of earlierDays.bases.of(series, observation.observedAt))
      bases[span] = base.value
    const delivered =
      series.delivery && deliveryQuote(observations, series, series.delivery, observation)
    if (delivered?.before !== undefined) bases['24h'] = delivered.before
    const formula = quotedFormula(series)
    const averageOf = observations.averagedFor?.(series, observation)
    const last = delivered && newest.before(series.id, Number.MAX_SAFE_INTEGER)
    const newestAt = last?.observedAt ?? observation.observedAt
    const { currentUntil, delayedUntil } = freshUntil(series, newestAt)
    const validUntil = Math.min(
      [currentUntil, delayedUntil].find(at => at >= now) ?? Number.POSITIVE_INFINITY,
      series.delivery ? periodAt(series.delivery, now).end - 1 : Number.POSITIVE_INFINITY,
      formula?.validUntil ?? Number.POSITIVE_INFINITY,
      newestUntil,
    )
    return {
      quote: {
        series: attributed(series, observation),
        observation,
        changes: changesFrom(bases, observation.value, series.decimals),
        bases,
        // However new its value is: a stale leg is in it.
        status: formula?.isStale ? 'stale' : dataStatus(series, newestAt, now),
        ...(delivered && { delivery: delivered.quoted }),
        ...(formula && { formula: formula.quoted }),
        ...(averageOf && { averageOf }),
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
    /** Runs reads of many series, of which each costs half when they are begun together. */
    together: <T>(reads: () => T): T =>
      observations.together ? observations.together(reads) : reads(),
    /** Undefined when the series has no observation outside quarantine. */
    quote: (series: Series): Quote | undefined => entryOf(series).quote,
    /** The legs of a series by formula, with or without a price; undefined for any other series. */
    formula: (...named: Parameters<FormulaOf>): QuotedFormula | undefined =>
      quotedFormula(...named)?.quoted,
    /** Its observation alone, which is found without those that its changes are against. */
    newest: newest.of,
    /**
     * The answer for one code, cached as bytes; `render` makes it, once for each change of the quote.
     */
    rendered(key: string, series: Series, render: (quote: Quote) => string): Rendered | undefined {
      const entry = entryOf(series)
      const cached = entry.texts.get(key)
      if (cached || !entry.quote) return cached
      const text = render(entry.quote)
      const etag = strongEtag(text)
      // One text for each name that answers differently: clients cannot add more.
      entry.texts.set(key, { text, etag, fresh: false })
      return { text, etag, fresh: true }
    },
    /**
     * Another number after any quote may have changed by a write; `validUntil` is when one next
     * changes by its age. A result of many quotes is valid as long as both are unchanged.
     */
    get changes() {
      return changes
    },
    /**
     * The result of `make` about the days before the one of a quote, cached until one of them changes
     * or a price of another day is the newest.
     */
    ofEarlierDays<T>(key: string, { series, observation }: Quote, make: () => T): T {
      const { made } = earlier.of(series.id, observation.observedAt)
      if (!made.has(key)) made.set(key, make())
      return made.get(key) as T
    },
    /** Unix ms; infinity: it does not age. */
    validUntil: (series: Series) => entryOf(series).validUntil,
    /** Everything of a series that was observed at `from` or later; without it, all. */
    forget(seriesId: number, from: number = Number.NEGATIVE_INFINITY) {
      changes += 1
      entries.delete(seriesId)
      newest.forget(seriesId)
      earlier.forget(seriesId, from)
    },
    /** Renders every quote again from the known prices, after the catalogue was reloaded. */
    renew() {
      changes += 1
      entries.clear()
    },
    forgetAll() {
      changes += 1
      entries.clear()
      newest.forgetAll()
      earlier.forgetAll()
    },
  }
}
