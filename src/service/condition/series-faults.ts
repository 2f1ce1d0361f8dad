import { dayMs, isoDay, parseDay, startOfDay } from '../../lib/instant.ts'
import { dataStatus } from '../../market/calendars/freshness.ts'
import {
  type FrozenRun,
  frozenRun,
  mayBeFrozen,
  unitBreakOf,
} from '../../market/condition/faults.ts'
import { missingSlots, slotStart, windowDays } from '../../market/condition/quality.ts'
import type { Series } from '../../store/catalogue/series.ts'
import type { QualityStore } from '../../store/condition/quality.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { QuarantineList } from '../prices/quarantine.ts'

/**
 * frozen: its value has stood still for too long. unit_break: its level changed by the ratio of two
 * units. missing: no value where its calendar has one.
 */
export const seriesFaultKinds = ['frozen', 'unit_break', 'missing'] as const
export type SeriesFaultKind = (typeof seriesFaultKinds)[number]

export interface SeriesFault {
  /** As listed. */
  code: string
  kind: SeriesFaultKind
  /** The day since which it is so; of missing values the newest one. */
  sinceOn: string
  /** Days with a value that are concerned; of missing ones how many. */
  points: number
  /** A sentence for the operator. */
  description: string
}

/**
 * What is wrong with the values of series themselves, however fresh they are. From the daily closes
 * alone, kept until the series or the day changes: cheap enough for a status page.
 */
export interface SeriesFaults {
  /** The value that a series has stood at for too long. */
  frozen(series: Series): FrozenRun | undefined
  of(listed: Series): readonly SeriesFault[]
  /** Of every code that has data, in the order of the catalogue. */
  all(): SeriesFault[]
  /** The codes that are frozen, and those that have changed their unit. */
  codes(): { frozen: string[]; broken: string[] }
  forget(seriesId: number): void
}

/** Days that a run is compared with: some twenty years of trading. */
const pastDays = 5000

export interface SeriesFaultDeps {
  store: Pick<QualityStore, 'closes'>
  catalogue: Catalogue
  quarantine: QuarantineList
  now(): number
}

export function createSeriesFaults({
  store,
  catalogue,
  quarantine,
  now,
}: SeriesFaultDeps): SeriesFaults {
  const cache = new Map<number, { of: Series; day: number; faults: readonly SeriesFault[] }>()

  const frozen = (series: Series): FrozenRun | undefined => {
    const guards = series.terms?.guards as Readonly<Record<string, string>> | undefined
    if (guards?.repeat === 'off') return undefined
    const from = Number.MIN_SAFE_INTEGER
    return mayBeFrozen(store.closes(series.id, from, 10))
      ? frozenRun(store.closes(series.id, from, pastDays))
      : undefined
  }

  const assess = (code: string, series: Series, at: number): SeriesFault[] => {
    const extent = catalogue.extent(series)
    if (!extent) return []
    const faults: SeriesFault[] = []
    const run = frozen(series)
    if (run)
      faults.push({
        code,
        kind: 'frozen',
        sinceOn: isoDay(run.sinceAt),
        points: run.days,
        description: `${code} is ${run.value} in every value since ${isoDay(run.sinceAt)} (${run.days})`,
      })
    const from = startOfDay(at - windowDays(series.cadence) * dayMs)
    const quarantined = quarantine.within(series.id, from, at).days
    const excluded = new Set(quarantined.map(day => parseDay(day)!))
    const days = store.closes(series.id, from, pastDays).filter(day => !excluded.has(day.startsAt))
    const unitBreak = unitBreakOf(days)
    if (unitBreak)
      faults.push({
        code,
        kind: 'unit_break',
        sinceOn: isoDay(unitBreak.startsAt),
        points: unitBreak.days,
        description: `${code} seems to be in another unit from ${isoDay(unitBreak.startsAt)} on, as between ${unitBreak.name}`,
      })
    const status = dataStatus(series, extent.lastAt, at)
    const gaps = missingSlots(
      { listing: series, days, quarantined, lastAt: extent.lastAt, now: at },
      Math.max(from, slotStart(series, extent.firstAt)),
      status,
    )
    // That a stale series has stopped is told where its age is; here are the gaps before that.
    const missing =
      status === 'stale' ? gaps.missing.filter(slot => slot.from < extent.lastAt) : gaps.missing
    const last = missing.at(-1)
    if (last)
      faults.push({
        code,
        kind: 'missing',
        sinceOn: isoDay(last.from),
        points: missing.length,
        description: `${code} lacks ${missing.length} ${missing.length === 1 ? 'value' : 'values'} of its calendar, the last of ${isoDay(last.from)}`,
      })
    return faults
  }

  const of = (listed: Series): readonly SeriesFault[] => {
    if (listed.unavailableReason !== null) return []
    const at = now()
    const { series } = catalogue.resolve(listed.code, at)!
    const day = startOfDay(at)
    const cached = cache.get(series.id)
    // Other terms make another series of it.
    if (cached?.of === series && cached.day === day) return cached.faults
    const faults = assess(listed.code, series, at)
    cache.set(series.id, { of: series, day, faults })
    return faults
  }

  const all = () => catalogue.list().flatMap(of)
  return {
    frozen,
    of,
    all,
    codes() {
      const codesOf = (kind: SeriesFaultKind) =>
        all().flatMap(fault => (fault.kind === kind ? [fault.code] : []))
      return { frozen: codesOf('frozen'), broken: codesOf('unit_break') }
    },
    forget: seriesId => void cache.delete(seriesId),
  }
}
