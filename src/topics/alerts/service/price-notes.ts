import { startOfDay } from '../../../lib/time/instant.ts'
import { isNews } from '../../calendars/math/news.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { periodAt } from '../../delivery/math/days.ts'
import { completedDays, isDelivery } from '../../delivery/service/market-days.ts'
import type { Observation } from '../../prices/math/bars.ts'
import type { QuarantineList } from '../../prices/service/quarantine.ts'
import type { PeriodValues } from '../../prices/service/reads/period-values.ts'
import { createNewestTime, valueAt } from '../../prices/service/writes/newest-time.ts'
import type { Change, ObservationStore } from '../../prices/store/observations.ts'
import type { AlertStore } from '../store/alerts.ts'
import type { AlertPriceStore } from '../store/prices.ts'
import type { CodePasses } from './code-passes.ts'
import { entriesEach } from './judge.ts'
import { answeredPrice } from './moment.ts'

export interface PriceNotesDeps {
  alerts: AlertStore
  prices: AlertPriceStore
  passes: CodePasses
  catalogue: Catalogue
  observations: Pick<ObservationStore, 'newest'>
  quarantine: QuarantineList
  periodValues: PeriodValues
}

/**
 * Notes the prices that may fire an alert: those of changes in the transaction that records them,
 * the market days that they complete, and prices whose delivery begins. Each returns whether there
 * was any. A note of a period that has not begun covers its whole market day.
 */
export function createPriceNotes(deps: PriceNotesDeps) {
  const { prices, catalogue } = deps
  const newsOf = createNewsReader(deps)
  const mayFire = createFiringTest(deps)
  const noteOne = (series: Series, news: Pick<Observation, 'observedAt' | 'value'>, at: number) => {
    let hasNoted = false
    for (const watched of watchedBy(catalogue, series, at)) {
      if (!mayFire(watched, news, at)) continue
      prices.add({
        seriesId: watched.id,
        sourceId: series.id,
        observedAt: news.observedAt,
        value: news.value,
        at,
      })
      hasNoted = true
    }
    return hasNoted
  }
  /** The start of the period of each series whose price was noted when its delivery began. */
  const begun = new Map<number, number>()
  return {
    changed(changes: readonly Change[], at: number): boolean {
      let hasNoted = false
      for (const change of changes) {
        const series = catalogue.byId(change.seriesId)
        const news = newsOf(change, series, at)
        if (news && noteOne(series, news, at)) hasNoted = true
        if (!isDelivery(series) || !deps.alerts.isWatched(series.id)) continue
        for (const day of completedDays(series, change.inserted, at, deps.periodValues))
          if (day.from > at) {
            const note = { observedAt: day.from, value: day.figures.base! }
            if (noteOne(series, note, at)) hasNoted = true
          }
      }
      return hasNoted
    },
    /** Notes prices whose delivery has begun, which were recorded before that. */
    delivered(now: number): boolean {
      let hasNoted = false
      for (const series of catalogue.list()) {
        if (!isDelivery(series) || !deps.alerts.isWatched(series.id)) continue
        const { start } = periodAt(series.delivery, now)
        if (begun.get(series.id) === start) continue
        begun.set(series.id, start)
        const [news] = deps.periodValues(series.id, start, start + 1)
        if (news && news.recordedAt < start && noteOne(series, news, start)) hasNoted = true
      }
      return hasNoted
    },
    /** When the next delivery begins that an alert watches. */
    nextDelivery(after: number): number {
      let next = Number.POSITIVE_INFINITY
      for (const series of catalogue.list())
        if (isDelivery(series) && deps.alerts.isWatched(series.id))
          next = Math.min(next, periodAt(series.delivery, after).end)
      return next
    },
  }
}

/** Whether a price may fire an alert of a code, or that takes longer than a moment to find out. */
const createFiringTest =
  ({ alerts, prices, passes }: PriceNotesDeps) =>
  (
    watched: Series,
    { observedAt, value }: Pick<Observation, 'observedAt' | 'value'>,
    at: number,
  ): boolean => {
    const { id } = watched
    if (!alerts.isWatched(id)) return false
    const takesLong =
      passes.isResting(id) || prices.isPending(id) || alerts.reach(id, 0, entriesEach) !== undefined
    if (takesLong) return true
    const [candidate] = alerts.candidates(
      { seriesId: id, observedAt, at },
      answeredPrice(watched, value),
      startOfDay(observedAt),
      0,
      Number.MAX_SAFE_INTEGER,
      1,
    )
    return candidate !== undefined
  }

/**
 * The codes whose alerts a price of a series is for: its own, and the futures family that it speaks
 * for at present.
 */
function watchedBy(catalogue: Catalogue, series: Series, now: number): Series[] {
  const family = series.contractOf === null ? undefined : catalogue.named(series.contractOf)
  return family && catalogue.resolve(family.code, now)?.series.id === series.id
    ? [series, family]
    : [series]
}

/**
 * The new price in a change: an observation newer than all before it, or a correction of the
 * newest; of a delivery series that of the period being delivered. What lies further back, in the
 * future, in quarantine, or so long ago that it is history, is none.
 */
function createNewsReader({ quarantine, ...deps }: PriceNotesDeps) {
  const newestTime = createNewestTime(deps)
  return (change: Change, series: Series, now: number): Observation | undefined => {
    const { inserted, revised } = change
    const newestAt = series.delivery
      ? periodAt(series.delivery, now).start
      : newestTime(change, series, now)
    // One write may correct what it inserts.
    const newest =
      revised.findLast(observation => observation.observedAt === newestAt) ??
      valueAt(inserted, newestAt)
    if (!newest || !isNews(series, newestAt, now)) return undefined
    return quarantine.clear(series.id, newestAt, newestAt + 1).length > 0 ? newest : undefined
  }
}
