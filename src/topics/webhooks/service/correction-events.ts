import { isoInstant, minuteMs } from '../../../lib/time/instant.ts'
import { isComputed } from '../../catalogue/store/series.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { RemovalListener } from '../../prices/service/writes/ingest.ts'
import type { Change } from '../../prices/store/observations.ts'
import { type PriceEventsDeps, speaksIn } from './price-events.ts'

/** A file may correct a million values: of each write and series, only the newest have events. */
export const correctionsMax = 100
/** What became known earlier is history, such as a file of vintages: no one had read the value. */
const historyMs = minuteMs

/** Undefined: the point has no value, or had none. */
interface Correction {
  observedAt: number
  recordedAt: number
  value: number | undefined
  previous: number | undefined
}

/**
 * Creates the events of values that are corrected, restored or deleted, inside the transaction that
 * does it. Values that reads do not show yet or leave out have none.
 */
export function createCorrectionEvents({
  events,
  webhooks,
  catalogue,
  quarantine,
  clock,
}: Pick<PriceEventsDeps, 'events' | 'webhooks' | 'catalogue' | 'quarantine' | 'clock'>) {
  const speaks = speaksIn(catalogue, clock)
  const isSubscribed = () => webhooks.subscribed('price.corrected').length > 0

  const emit = (seriesId: number, corrections: readonly Correction[]) => {
    const series = catalogue.byId(seriesId)
    if (corrections.length === 0 || isComputed(series) || !speaks(series)) return
    const now = clock.now()
    const shown = corrections
      .filter(
        ({ observedAt: at, recordedAt }) =>
          recordedAt > now - historyMs &&
          (at <= now || series.delivery) &&
          quarantine.clear(seriesId, at, at + 1).length > 0,
      )
      .toSorted((a, b) => a.observedAt - b.observedAt)
    const { code, name, currency, unit, decimals } = series
    const rounded = (value?: number) => (value === undefined ? null : roundTo(value, decimals))
    for (const { observedAt, recordedAt, value, previous } of shown.slice(-correctionsMax))
      events.emit({
        type: 'price.corrected',
        data: {
          commodity: code,
          commodity_code: code,
          name,
          kind: value === undefined ? 'deleted' : 'revised',
          value: rounded(value),
          previous_value: rounded(previous),
          currency,
          unit,
          observed_at: isoInstant(observedAt),
          recorded_at: isoInstant(recordedAt),
          corrections: shown.length,
        },
        at: now,
        // Two corrections of one millisecond have one time of recording.
        dedupe: `${code}${series.terms?.owner ?? ''} ${observedAt} ${recordedAt} ${value}`,
        commodity: code,
        series,
      })
  }
  return {
    changed(changes: readonly Change[]): void {
      if (!isSubscribed()) return
      for (const { seriesId, inserted, revised, replaced, reborn } of changes) {
        if (revised.length + reborn.length === 0) continue
        // A write has one event for a point: from the value before it to the last one.
        const points = new Map<number, Correction>(
          reborn.map(point => [point.observedAt, { ...point, previous: undefined }]),
        )
        // A file of vintages corrects values that it inserts, which no one has read before.
        const fresh = new Set(inserted.map(({ observedAt }) => observedAt))
        for (const [i, point] of revised.entries()) {
          const known = points.get(point.observedAt)
          if (!known && fresh.has(point.observedAt)) continue
          points.set(point.observedAt, { ...point, previous: known ? known.previous : replaced[i] })
        }
        emit(seriesId, [...points.values()])
      }
    },
    removed: ((seriesId, removed) => {
      if (isSubscribed())
        emit(
          seriesId,
          removed.map(point => ({ ...point, value: undefined, previous: point.value })),
        )
    }) satisfies RemovalListener,
  }
}
