import { inSlices } from '../../../lib/process/slices.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { dayMs, parseDay, startOfDay } from '../../../lib/time/instant.ts'
import { freshUntil } from '../../calendars/math/freshness.ts'
import { scheduleOf } from '../../calendars/math/schedule.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { QuarantineList } from '../../prices/service/quarantine.ts'
import type { LatestPrices } from '../../prices/service/reads/latest-prices.ts'
import { type QualityReport, qualityOf, windowDays } from '../math/quality.ts'
import type { QualityStore } from '../store/quality.ts'
import type { SeriesFaults } from './series-faults.ts'

/** The quality of the series that answers for a code. */
export interface CodeQuality {
  /** The code as listed; a futures family is judged by its front contract. */
  code: string
  series: Series
  report: QualityReport
  generatedAt: number
  /** When the newest observation was recorded. */
  updatedAt: number
}

/** How long one slice may block the event loop. */
const sliceMs = 15

interface CachedQuality {
  quality: CodeQuality | undefined
  validUntil: number
}

/**
 * The quality of the stored series, computed on demand and cached until the series or the day
 * changes.
 */
export function createQuality(deps: {
  store: Pick<QualityStore, 'days'>
  seriesFaults?: Pick<SeriesFaults, 'frozen' | 'intraday'>
  catalogue: Catalogue
  latestPrices: LatestPrices
  quarantine: QuarantineList
  clock: Pick<Clock, 'now'>
  /** Measures slices in real time, because the service's own clock may be stopped. */
  stopwatch?: Pick<Clock, 'monotonic'>
}) {
  const { store, seriesFaults, catalogue, latestPrices, quarantine, clock, stopwatch } = deps
  /** The days of a series that are not in quarantine and its newest observation outside of it. */
  const storedOf = (series: Series, from: number, excluded: ReadonlySet<number>) => {
    const { days, newest } = store.days(series.id, from)
    const isClear = newest && !excluded.has(startOfDay(newest.observedAt))
    return {
      all: days,
      clear: days.filter(day => !excluded.has(day.startsAt)),
      newest: isClear ? newest : latestPrices.newest(series),
    }
  }
  const cache = new Map<number, CachedQuality>()

  const assess = (code: string, series: Series, now: number): CachedQuality => {
    const midnight = startOfDay(now) + dayMs
    const extent = catalogue.extent(series)
    if (!extent) return { quality: undefined, validUntil: midnight }
    const from = startOfDay(now - windowDays(series.cadence) * dayMs)
    const quarantined = quarantine.within(series.id, from, now).days
    const excluded = new Set(quarantined.map(day => parseDay(day)!))
    const stored = storedOf(series, from, excluded)
    const { newest } = stored
    if (!newest) return { quality: undefined, validUntil: midnight }
    const report = qualityOf({
      listing: series,
      decimals: series.decimals,
      days: stored.clear,
      quarantined,
      firstAt: extent.firstAt,
      lastAt: newest.observedAt,
      now,
      frozen: seriesFaults?.frozen(series, stored.all),
      intraday: seriesFaults?.intraday(series),
    })
    const until = freshUntil(series, newest.observedAt)
    const { stepMs } = scheduleOf(series)
    const changesAt = [
      until.currentUntil + 1,
      until.delayedUntil + 1,
      midnight,
      // The gaps of a session grow by themselves.
      ...(stepMs > 0 ? [now + stepMs] : []),
    ].filter(at => at > now)
    return {
      quality: { code, series, report, generatedAt: now, updatedAt: newest.recordedAt },
      validUntil: Math.min(...changesAt),
    }
  }

  /** Undefined for a series without an observation outside quarantine. */
  const codeQuality = (listed: Series): CodeQuality | undefined => {
    if (listed.unavailableReason !== null) return undefined
    const now = clock.now()
    const { series } = catalogue.resolve(listed.code, now)!
    const cached = cache.get(series.id)
    if (cached && now < cached.validUntil && (!cached.quality || cached.quality.generatedAt <= now))
      return cached.quality
    const assessed = assess(listed.code, series, now)
    cache.set(series.id, assessed)
    return assessed.quality
  }

  return {
    of: codeQuality,
    /**
     * Every code of the catalogue that has data, in its order; computed in slices, so that other
     * requests continue in the meantime.
     */
    async all() {
      const qualities: CodeQuality[] = []
      const judge = (series: Series) => {
        const quality = codeQuality(series)
        if (quality) qualities.push(quality)
      }
      await inSlices(catalogue.list(), judge, sliceMs, {
        stopwatch,
        together: latestPrices.together,
      })
      return qualities
    },
    forget: (seriesId: number) => void cache.delete(seriesId),
  }
}
