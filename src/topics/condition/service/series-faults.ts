import { inSlices } from '../../../lib/process/slices.ts'
import { dayMs, isoDay, isoInstant, parseDay, startOfDay } from '../../../lib/time/instant.ts'
import {
  type DataStatus,
  type FreshUntil,
  freshUntil,
  statusAt,
} from '../../calendars/math/freshness.ts'
import { scheduleOf } from '../../calendars/math/schedule.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Extent, Series } from '../../catalogue/store/series.ts'
import { type GuardRule, type GuardTerms, guardAction } from '../../prices/math/guards.ts'
import type { QuarantineList } from '../../prices/service/quarantine.ts'
import type { LatestPrices } from '../../prices/service/reads/latest-prices.ts'
import {
  type DayClose,
  type FrozenRun,
  frozenRun,
  mayBeFrozen,
  type UnitBreak,
  unitBreakOf,
} from '../math/faults.ts'
import { type IntradayGaps, intradayGaps, intradaySessions } from '../math/intraday.ts'
import { missingSlots, type Slot, slotStart, windowDays } from '../math/quality.ts'
import type { QualityStore } from '../store/quality.ts'
import { feedNameOf } from './freshness.ts'

/**
 * stopped: no value comes any more. frozen: its value has not changed for too long. unit_break: its
 * level changed by the ratio of two units. missing: no value where its calendar has one. gap: none
 * for a while within a session, of a series that is quoted all day.
 */
export const seriesFaultKinds = ['stopped', 'frozen', 'unit_break', 'missing', 'gap'] as const
export type SeriesFaultKind = (typeof seriesFaultKinds)[number]

export interface SeriesFault {
  /** As listed. */
  code: string
  kind: SeriesFaultKind
  /** The day since which it is so; of missing values the newest one, of a stop the last value's. */
  sinceOn: string
  /** Days with a value that are concerned; of missing ones, also after a stop, how many. */
  points: number
  /** A sentence for the operator. */
  description: string
}

/** Codes by what is wrong with them, in the order of the catalogue. */
export interface FaultyCodes {
  stopped: string[]
  /** Those of them that have stopped where other codes of their feed continue. */
  stoppedAlone: string[]
  frozen: string[]
  /** They have changed their unit. */
  broken: string[]
}

/**
 * Faults in the values of series, however fresh they are. Derived from the daily closes alone, and
 * cached until the series or the day changes: cheap enough for a status page.
 */
export type SeriesFaults = ReturnType<typeof createSeriesFaults>

interface CachedFaults {
  of: Series
  lastAt: number
  /** Until when the value at `lastAt` is fresh. */
  until: FreshUntil
  day: number
  status: DataStatus
  /** The gaps of a session grow by themselves. */
  validUntil: number
  faults: readonly SeriesFault[]
}

/** Whether the operator has switched a rule off for the series. */
const isOff = ({ terms }: Series, rule: GuardRule): boolean =>
  guardAction(rule, terms?.guards as GuardTerms | undefined) === 'off'

/** How long one slice may block the event loop. */
const sliceMs = 5

/** The number of newest days by which a series may count as frozen. */
const judgedDays = 10
/** Days that a run is compared with: some twenty years of trading. */
const pastDays = 5000

export interface SeriesFaultDeps {
  store: Pick<QualityStore, 'closes' | 'times'>
  catalogue: Catalogue
  /** Reads of many series cost less together. */
  together?: LatestPrices['together']
  quarantine: QuarantineList
  now(): number
}

/** A fault, with what its description says of the code. */
type FoundFault = Omit<SeriesFault, 'code' | 'description'> & { predicate: string }

const frozenFault = ({ value, days, sinceAt }: FrozenRun): FoundFault => ({
  kind: 'frozen',
  sinceOn: isoDay(sinceAt),
  points: days,
  predicate: `is ${value} in every value since ${isoDay(sinceAt)} (${days})`,
})

const unitBreakFault = ({ startsAt, name, days }: UnitBreak): FoundFault => ({
  kind: 'unit_break',
  sinceOn: isoDay(startsAt),
  points: days,
  predicate: `seems to be in another unit from ${isoDay(startsAt)} on, as ${name}`,
})

const stopFault = (lastAt: number, points: number): FoundFault => ({
  kind: 'stopped',
  sinceOn: isoDay(lastAt),
  points,
  predicate: `has stopped: its last value is from ${isoDay(lastAt)}`,
})

function missingFault(missing: readonly Slot[]): FoundFault | undefined {
  const last = missing.at(-1)
  return (
    last && {
      kind: 'missing',
      sinceOn: isoDay(last.from),
      points: missing.length,
      predicate: `lacks ${missing.length} ${missing.length === 1 ? 'value' : 'values'} of its calendar, the last of ${isoDay(last.from)}`,
    }
  )
}

function gapFault(gaps: IntradayGaps | undefined): FoundFault | undefined {
  const stretch = gaps?.stretches.at(-1)
  return gaps && stretch
    ? {
        kind: 'gap',
        sinceOn: isoDay(stretch.from),
        points: gaps.missing,
        predicate: `lacks ${gaps.missing} of ${gaps.expected} values of its cadence, the last before ${isoInstant(stretch.to)}`,
      }
    : undefined
}

export function createSeriesFaults({
  store,
  catalogue,
  together,
  quarantine,
  now,
}: SeriesFaultDeps) {
  const cache = new Map<number, CachedFaults>()

  const frozen = (series: Series, newest: readonly DayClose[]): FrozenRun | undefined => {
    if (isOff(series, 'repeat')) return undefined
    const from = Number.MIN_SAFE_INTEGER
    const last =
      newest.length >= judgedDays
        ? newest.slice(-judgedDays)
        : store.closes(series.id, from, judgedDays)
    return mayBeFrozen(last) ? frozenRun(store.closes(series.id, from, pastDays)) : undefined
  }

  const intraday = (series: Series): IntradayGaps | undefined => {
    // A contract has a price when someone trades it.
    if (series.contractOf !== null) return undefined
    const at = now()
    const first = intradaySessions(series, at)[0]
    if (!first) return undefined
    const from = startOfDay(first.opensAt)
    const quarantined = new Set(quarantine.within(series.id, from, at).days.map(parseDay))
    return intradayGaps(series, store.times(series.id, first.opensAt), at, day =>
      quarantined.has(day),
    )
  }

  const assess = (
    code: string,
    series: Series,
    extent: Extent,
    status: DataStatus,
    at: number,
  ): SeriesFault[] => {
    const from = startOfDay(at - windowDays(series.cadence) * dayMs)
    const storedDays = store.closes(series.id, from, pastDays)
    const run = frozen(series, storedDays)
    const quarantined = quarantine.within(series.id, from, at).days
    const excluded = new Set(quarantined.map(day => parseDay(day)!))
    const days = storedDays.filter(day => !excluded.has(day.startsAt))
    const unitBreak = unitBreakOf(days)
    const gaps = missingSlots(
      { listing: series, days, quarantined, lastAt: extent.lastAt, now: at },
      Math.max(from, slotStart(series, extent.firstAt)),
      status,
    )
    const isStale = status === 'stale'
    // Values missing since a series has stopped do not count as a gap.
    const missing = isStale ? gaps.missing.filter(slot => slot.from < extent.lastAt) : gaps.missing
    const faults = [
      run && frozenFault(run),
      unitBreak && unitBreakFault(unitBreak),
      isStale && !isOff(series, 'stop')
        ? stopFault(extent.lastAt, gaps.missing.length - missing.length)
        : undefined,
      missingFault(missing),
      // A stopped series lacks every value, so no gap is reported.
      isStale ? undefined : gapFault(intraday(series)),
    ]
    return faults
      .filter(fault => fault !== undefined)
      .map(({ predicate, ...fault }) => ({ code, ...fault, description: `${code} ${predicate}` }))
  }

  const faultsOf = (listed: Series): readonly SeriesFault[] => {
    if (listed.unavailableReason !== null) return []
    const at = now()
    const { series } = catalogue.resolve(listed.code, at)!
    const extent = catalogue.extent(series)
    if (!extent) return []
    const day = startOfDay(at)
    const earlier = cache.get(series.id)
    // Other terms make another series of it.
    const cached = earlier?.of === series && earlier.lastAt === extent.lastAt ? earlier : undefined
    const until = cached?.until ?? freshUntil(series, extent.lastAt)
    const status = statusAt(until, at)
    if (cached?.day === day && cached.status === status && at < cached.validUntil)
      return cached.faults
    const faults = assess(listed.code, series, extent, status, at)
    const { stepMs } = scheduleOf(series)
    const validUntil = stepMs > 0 ? at + stepMs : Number.POSITIVE_INFINITY
    const { lastAt } = extent
    cache.set(series.id, { of: series, lastAt, until, day, status, validUntil, faults })
    return faults
  }

  const all = (): SeriesFault[] => catalogue.list().flatMap(faultsOf)
  const renew = () => inSlices(catalogue.list(), faultsOf, sliceMs, { together })
  return {
    /** The value that a series has stood at for too long. `newest`: as many of its days as are read already. */
    frozen,
    /** Missing values inside the newest sessions of a series that is quoted all day. */
    intraday,
    of: faultsOf,
    /** The faults of every code that has data, in the order of the catalogue. */
    all,
    /**
     * Computes all faults that are not cached, in slices, so that other requests are served in
     * between.
     */
    renew,
    codes: () => faultyCodes(catalogue, faultsOf),
    forget: (seriesId: number) => void cache.delete(seriesId),
  }
}

function faultyCodes(
  catalogue: Catalogue,
  faultsOf: (series: Series) => readonly SeriesFault[],
): FaultyCodes {
  const codes: FaultyCodes = { stopped: [], stoppedAlone: [], frozen: [], broken: [] }
  const going = new Set<string>()
  for (const series of catalogue.list()) {
    const kinds = new Set(faultsOf(series).map(fault => fault.kind))
    if (kinds.has('stopped')) codes.stopped.push(series.code)
    else if (catalogue.hasData(series)) going.add(feedNameOf(series))
    if (kinds.has('frozen')) codes.frozen.push(series.code)
    if (kinds.has('unit_break')) codes.broken.push(series.code)
  }
  codes.stoppedAlone = codes.stopped.filter(code => going.has(feedNameOf(catalogue.named(code)!)))
  return codes
}
