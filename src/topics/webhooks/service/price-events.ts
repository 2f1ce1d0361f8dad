import type { Clock } from '../../../lib/time/clock.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import {
  boundText,
  type Condition,
  conditionMet,
  type Reading,
  timeframesMs,
} from '../../alerts/math/threshold.ts'
import { isNews } from '../../calendars/math/news.ts'
import { sourceOf } from '../../catalogue/math/catalogue.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { Observation } from '../../prices/math/bars.ts'
import { changePercent } from '../../prices/math/change.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { QuarantineList } from '../../prices/service/quarantine.ts'
import { createSeriesRows } from '../../prices/service/reads/series-rows.ts'
import { createNewestTime, valueAt } from '../../prices/service/writes/newest-time.ts'
import type { Change, ObservationStore } from '../../prices/store/observations.ts'
import type { Endpoint } from '../store/webhooks.ts'
import type { Events } from './events.ts'
import type { Webhooks } from './webhooks.ts'

export interface PriceEventsDeps {
  events: Events
  webhooks: Webhooks
  catalogue: Catalogue
  observations: ObservationStore
  quarantine: QuarantineList
  /** The series with the publisher of a value. */
  attributed(series: Series, value: Observation): Series
  clock: Clock
}

/** Above this many percent between consecutive observations a change is significant. */
export const significantPercent = 5

const anyTime = Number.MAX_SAFE_INTEGER

/**
 * Whether a series has price events: a futures contract speaks for its family while it is the front
 * one and is silent otherwise, and drilling data has separate events.
 */
export const speaksIn =
  (catalogue: Pick<Catalogue, 'resolve'>, clock: Clock) =>
  (series: Series): boolean =>
    series.category !== 'drilling' &&
    (series.contractOf === null ||
      catalogue.resolve(series.contractOf, clock.now())?.code === series.code)

/**
 * Creates price events inside the transaction that writes the prices, so that neither exists
 * without the other. Only the newest observation of a series makes an event, and only when it is
 * newer than all earlier ones and not itself history: old rows and imports of millions of rows notify
 * no one. A price with a time in the future makes one when that has come.
 */
export function createPriceEvents(deps: PriceEventsDeps) {
  const { events, webhooks, catalogue, clock } = deps
  const { newestBefore, readingOf, readingAt, newsOf } = priceReader(deps)

  const speaks = speaksIn(catalogue, clock)
  const conditionedOn = (series: Series): readonly Endpoint[] => {
    const conditioned = webhooks
      .conditionedOn(series.code)
      .filter(({ accountId }) => (series.terms?.owner ?? accountId) === accountId)
    return series.contractOf === null
      ? conditioned
      : [...new Set([...conditioned, ...webhooks.conditionedOn(series.contractOf)])]
  }

  /** Which condition of an endpoint a new price meets; looked up once for each endpoint. */
  const conditionsAt = (series: Series, news: Observation) => {
    const reading = readingOf(series, news)
    const isOwn = (code: string) => code === series.code || code === series.contractOf
    const conditionsById = new Map<string, Condition | undefined>()
    return ({ id, accountId, conditions, conditionLogic }: Endpoint): Condition | undefined => {
      if (conditionsById.has(id)) return conditionsById.get(id)
      // Conditions on the family are conditions on the contract that speaks for it.
      const named = conditions.map(condition =>
        isOwn(condition.commodity) ? { ...condition, commodity: series.code } : condition,
      )
      const met = conditionMet(named, conditionLogic, series.code, code =>
        isOwn(code) ? reading : readingAt(code, accountId),
      )
      conditionsById.set(id, met)
      return met
    }
  }

  const emitThresholds = (
    endpoints: readonly Endpoint[],
    series: Series,
    news: Observation,
    base: PriceData,
    metBy: (endpoint: Endpoint) => Condition | undefined,
  ) => {
    for (const endpoint of endpoints) {
      const { conditionLogic } = endpoint
      const met = metBy(endpoint)
      if (!met) continue
      const { change_percent: _percent, source: _source, timestamp, ...data } = base
      events.emitToEndpoint(endpoint, {
        type: 'price.threshold',
        data: {
          ...data,
          condition_triggered: conditionRow(met),
          condition_logic: conditionLogic,
          timestamp,
        },
        ...aboutOf(series, news),
      })
    }
  }

  const aboutOf = (series: Series, news: Observation) => ({
    at: clock.now(),
    // Two accounts may have one code.
    dedupe: `${series.code}${series.terms?.owner ?? ''} ${news.observedAt}`,
    commodity: series.code,
    series,
  })

  return (changes: readonly Change[]): void => {
    const wantsUpdates = webhooks.subscribed('price.updated').length > 0
    const wantsJumps = webhooks.subscribed('price.significant_change').length > 0
    for (const change of changes) {
      const series = catalogue.byId(change.seriesId)
      const conditioned = conditionedOn(series)
      if (!wantsUpdates && !wantsJumps && conditioned.length === 0) continue
      const news = speaks(series) ? newsOf(change, series) : undefined
      if (!news) continue
      const previous = newestBefore(series.id, news.observedAt)?.value
      const percent = previous === undefined ? undefined : changePercent(previous, news.value)
      const data = priceData(deps.attributed(series, news), news, previous, percent)
      const metBy = conditionsAt(series, news)
      const about = {
        ...aboutOf(series, news),
        conditionsHold: (endpoint: Endpoint) => metBy(endpoint) !== undefined,
      }
      if (wantsUpdates) events.emit({ type: 'price.updated', data, ...about })
      if (wantsJumps && percent !== undefined && Math.abs(percent) > significantPercent) {
        const jump = {
          threshold_exceeded: `${significantPercent}%`,
          alert_type: percent > 0 ? 'surge' : 'drop',
        }
        events.emit({ type: 'price.significant_change', data: { ...data, ...jump }, ...about })
      }
      if (conditioned.length > 0) emitThresholds(conditioned, series, news, data, metBy)
    }
  }
}

/**
 * The observations that events are made of, without quarantined days, as the transaction sees them.
 */
function priceReader({ catalogue, observations, quarantine, clock }: PriceEventsDeps) {
  const rows = createSeriesRows(observations, quarantine)
  const newestTime = createNewestTime({ catalogue, observations })
  const newestBefore = (seriesId: number, before: number): Observation | undefined =>
    rows.raw(seriesId, Number.MIN_SAFE_INTEGER, before, 1, anyTime)[0]

  const readingOf = (
    series: Series,
    newest: Pick<Observation, 'observedAt' | 'value'>,
  ): Reading => ({
    value: newest.value,
    previous: newestBefore(series.id, newest.observedAt)?.value,
    before: timeframe =>
      newestBefore(series.id, newest.observedAt - timeframesMs[timeframe] + 1)?.value,
  })
  return {
    newestBefore,
    readingOf,
    /** For a futures family the reading of its front contract. */
    readingAt(code: string, accountId: string): Reading | undefined {
      const series = catalogue.resolve(code, clock.now(), accountId)?.series
      if (series && !catalogue.isVisible(series, accountId)) return undefined
      const newest = series && newestBefore(series.id, clock.now() + 1)
      return series && newest && readingOf(series, newest)
    },
    /** Undefined for a change without an event. */
    newsOf({ inserted, revised }: Change, series: Series): Observation | undefined {
      const now = clock.now()
      const observedAt = newestTime({ inserted }, series, now)
      const newest = valueAt(inserted, observedAt)
      if (!newest || !isNews(series, observedAt, now)) return undefined
      if (quarantine.clear(series.id, observedAt, observedAt + 1).length === 0) return undefined
      // One write may correct what it inserts.
      return revised.findLast(point => point.observedAt === observedAt) ?? newest
    },
  }
}

type PriceData = ReturnType<typeof priceData>

function priceData(series: Series, news: Observation, previous?: number, percent?: number) {
  const { code, name, currency, unit, decimals } = series
  const value = roundTo(news.value, decimals)
  return {
    commodity: code,
    commodity_code: code,
    name,
    value,
    price: value,
    currency,
    unit,
    change_percent: percent === undefined ? null : roundTo(percent, 2),
    previous_value: previous === undefined ? null : roundTo(previous, decimals),
    source: sourceOf(series).name,
    ...(series.terms?.formula !== undefined && { derived: true }),
    timestamp: isoInstant(news.observedAt),
  }
}

const conditionRow = (condition: Condition) => ({
  operator: condition.operator,
  threshold: boundText(condition),
  value: 'value' in condition ? condition.value : null,
  min_value: 'minValue' in condition ? condition.minValue : null,
  max_value: 'maxValue' in condition ? condition.maxValue : null,
  timeframe: ('timeframe' in condition ? condition.timeframe : undefined) ?? null,
  trigger_on: ('triggerOn' in condition ? condition.triggerOn : undefined) ?? null,
})
