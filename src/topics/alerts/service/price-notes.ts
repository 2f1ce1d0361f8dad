import { startOfDay } from '../../../lib/time/instant.ts'
import { isNews } from '../../calendars/math/news.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { Observation } from '../../prices/math/bars.ts'
import type { QuarantineList } from '../../prices/service/quarantine.ts'
import type { Change } from '../../prices/store/observations.ts'
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
  quarantine: QuarantineList
}

/**
 * Notes the prices in changes that may fire an alert, in the transaction that records them. Answers
 * whether there was any.
 */
export function createPriceNotes(deps: PriceNotesDeps) {
  const { prices, catalogue } = deps
  const newsOf = createNewsReader(deps)
  const mayFire = createFiringTest(deps)
  return (changes: readonly Change[], at: number): boolean => {
    let hasNoted = false
    for (const change of changes) {
      const series = catalogue.byId(change.seriesId)
      const news = newsOf(change, series, at)
      if (!news) continue
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
    }
    return hasNoted
  }
}

/** Whether a price may fire an alert of a code, or that takes longer than a moment to find out. */
const createFiringTest =
  ({ alerts, prices, passes }: PriceNotesDeps) =>
  (watched: Series, { observedAt, value }: Observation, at: number): boolean => {
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
 * newest. What lies further back, in quarantine, or so long ago that it is history, is none.
 */
function createNewsReader({ catalogue, quarantine }: PriceNotesDeps) {
  return ({ inserted, revised }: Change, series: Series, now: number): Observation | undefined => {
    const lastAt = catalogue.extent(series)?.lastAt ?? Number.NEGATIVE_INFINITY
    const newestAt = Math.max(lastAt, inserted.at(-1)?.observedAt ?? lastAt)
    // One write may correct what it inserts.
    const newest =
      revised.findLast(observation => observation.observedAt === newestAt) ??
      inserted.findLast(observation => observation.observedAt === newestAt)
    if (!newest || !isNews(series, newestAt, now)) return undefined
    return quarantine.clear(series.id, newestAt, newestAt + 1).length > 0 ? newest : undefined
  }
}
