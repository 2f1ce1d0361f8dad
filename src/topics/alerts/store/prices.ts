import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

/** A price that alerts have still to be judged by. */
export interface PendingPrice {
  number: number
  /** The code that alerts watch. */
  seriesId: number
  /** The series that was priced: another one where a futures family is watched. */
  sourceId: number
  observedAt: number
  value: number
  /** The recording time. */
  at: number
}

export type AlertPriceStore = ReturnType<typeof createAlertPriceStore>

const columns =
  'number, series_id AS seriesId, priced_series_id AS sourceId, observed_at AS observedAt, value, received_at AS at'

export function createAlertPriceStore(db: Database) {
  const sql = statements(db)
  const add = sql`
    INSERT INTO alert_prices (series_id, priced_series_id, observed_at, value, received_at) VALUES (?, ?, ?, ?, ?)`
  const heads = sql<PendingPrice, []>`
    SELECT ${columns} FROM alert_prices WHERE number IN (SELECT min(number) FROM alert_prices GROUP BY series_id) ORDER BY number`
  const first = sql<{ number: number }, [number]>`
    SELECT number FROM alert_prices WHERE series_id = ? LIMIT 1`
  const last = sql<{ number: number | null }, [number]>`
    SELECT max(number) AS number FROM alert_prices WHERE series_id = ?`
  const remove = sql`DELETE FROM alert_prices WHERE number = ?`
  const clear = sql`DELETE FROM alert_prices`
  return {
    add: (price: Omit<PendingPrice, 'number'>) =>
      void add.run(price.seriesId, price.sourceId, price.observedAt, price.value, price.at),
    /** The oldest of each code. */
    heads: () => heads.all(),
    isPending: (seriesId: number) => first.get(seriesId) !== undefined,
    /** The number of the newest of a code. */
    last: (seriesId: number) => last.get(seriesId)?.number ?? undefined,
    remove: (number: number) => void remove.run(number),
    /** Drops all; how many. */
    clear: () => clear.run().changes,
  }
}
