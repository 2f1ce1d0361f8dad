import { type Clock, createSystemClock, sleep } from '../../lib/clock.ts'
import { isoDay, startOfDay } from '../../lib/instant.ts'
import {
  type AlertCondition,
  alertMoment,
  evaluate,
  isCooling,
} from '../../market/alerts/condition.ts'
import type { Close } from '../../market/prices/window.ts'
import type { Series } from '../../store/catalogue/series.ts'
import type { ObservationStore } from '../../store/prices/observations.ts'
import type { Closes } from '../prices/closes.ts'
import type { QuarantineList } from '../prices/quarantine.ts'
import { answeredPrice } from './moment.ts'

export interface BacktestQuestion {
  condition: AlertCondition
  cooldownMinutes: number
  series: Series
  /** The half-open range of observations, Unix ms. */
  from: number
  to: number
}

export interface BacktestResult {
  observations: number
  triggerCount: number
  /** The first of them, oldest first. */
  triggers: { triggeredAt: number; value: number }[]
  /** Observations that would have fired but for the cooldown. */
  cooldownSuppressed: number
}

/**
 * Judges every observation of a range as if it had come in when it was made, by the rule and
 * cooldown of live alerts.
 */
export interface Backtests {
  run(question: BacktestQuestion): Promise<BacktestResult>
}

const triggersShown = 500
const rowsEach = 2000
/** What other requests wait for at most, beside one page of observations. */
const sliceMs = 10

export function createBacktests(deps: {
  observations: Pick<ObservationStore, 'after'>
  quarantine: QuarantineList
  closes: Pick<Closes, 'of'>
  stopwatch?: Clock
}): Backtests {
  const { observations, quarantine, closes, stopwatch = createSystemClock() } = deps
  return {
    async run({ condition, cooldownMinutes, series, from, to }) {
      const result: BacktestResult = {
        observations: 0,
        triggerCount: 0,
        triggers: [],
        cooldownSuppressed: 0,
      }
      const day = growingCloses(condition.kind === 'price' ? [] : closes.of(series.id), from)
      let firedAt: number | null = null
      let firedOn = Number.NaN
      let until = stopwatch.monotonic() + sliceMs

      const judge = (observedAt: number, value: number) => {
        const price = answeredPrice(series, value)
        const closesSoFar = condition.kind === 'price' ? [] : day.with(observedAt, value)
        result.observations += 1
        // A daily value fires once, whatever the cooldown.
        if (condition.kind !== 'price' && startOfDay(observedAt) === firedOn) return
        const judged = evaluate(
          condition,
          alertMoment(price, () => closesSoFar),
        )
        if (!judged.enough || !judged.value.holds) return
        if (isCooling(firedAt, cooldownMinutes, observedAt)) {
          result.cooldownSuppressed += 1
          return
        }
        firedAt = observedAt
        firedOn = startOfDay(observedAt)
        result.triggerCount += 1
        if (result.triggers.length < triggersShown)
          result.triggers.push({ triggeredAt: observedAt, value: price })
      }

      for (const stretch of quarantine.clear(series.id, from, to)) {
        let after = stretch.from - 1
        while (after < stretch.to) {
          const rows = observations.after(series.id, after, rowsEach)
          for (const { observedAt, value } of rows) {
            after = observedAt
            if (observedAt >= stretch.to) break
            judge(observedAt, value)
            if (stopwatch.monotonic() < until) continue
            await sleep(0)
            until = stopwatch.monotonic() + sliceMs
          }
          if (rows.length < rowsEach) break
        }
      }
      return result
    },
  }
}

/**
 * The closes as they grew: those of the days before the range, then the last observation so far of
 * each day in it.
 */
function growingCloses(allCloses: readonly Close[], from: number) {
  const first = isoDay(from)
  const closes = allCloses.filter(close => close.day < first)
  return {
    with(observedAt: number, value: number): readonly Close[] {
      const day = isoDay(observedAt)
      if (closes.at(-1)?.day === day) closes.pop()
      closes.push({ day, value })
      return closes
    },
  }
}
