import type { BacktestShape } from '../../../topics/alerts/operations/tests.ts'
import { ask, useLoaded } from '../../parts/requests/ask.ts'
import { dayAgo } from '../../parts/requests/boot.ts'

/** The first day of the year that alerts are tested with. */
export const testStart = (): string => dayAgo(366)

export interface Backtest extends BacktestShape {
  /** The alert that was tested. */
  alert: string
}

/** When an alert, as JSON, would have fired in the past year; nothing is tested until it is wanted. */
export const useBacktest = (alert: string | undefined, isWanted = true) =>
  useLoaded(isWanted ? alert : undefined, async (signal): Promise<Backtest> => {
    const body = { price_alert: JSON.parse(alert!), start_date: testStart(), end_date: dayAgo(0) }
    const options = { method: 'POST', body, signal } as const
    return { ...(await ask<BacktestShape>('/v1/alerts/backtest', options)), alert: alert! }
  })
