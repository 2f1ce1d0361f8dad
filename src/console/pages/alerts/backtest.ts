import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import type { BacktestShape } from '../../../topics/alerts/operations/tests.ts'
import { ask, useLoaded } from '../../parts/requests/ask.ts'
import { now } from '../../parts/requests/boot.ts'

export const yearMs = 366 * dayMs

export interface Backtest extends BacktestShape {
  /** The alert that was tested. */
  alert: string
}

/** When an alert, as JSON, would have fired in the past year; nothing is tested until it is wanted. */
export const useBacktest = (alert: string | undefined, isWanted = true) =>
  useLoaded(isWanted ? alert : undefined, async (signal): Promise<Backtest> => {
    const body = {
      price_alert: JSON.parse(alert!),
      start_date: isoDay(now() - yearMs),
      end_date: isoDay(now()),
    }
    const options = { method: 'POST', body, signal } as const
    return { ...(await ask<BacktestShape>('/v1/alerts/backtest', options)), alert: alert! }
  })
