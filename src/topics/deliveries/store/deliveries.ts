import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'
import { statements } from '../../../database/statement.ts'
import type { DeliveryMoment, DeliverySchedule } from '../../../plans/messages/delivery-schedule.ts'

/** The editable fields of a delivery. */
export interface DeliverySettings extends DeliverySchedule {
  name: string | null
  /** In the order of the lines. */
  commodityCodes: readonly string[]
  /** Null: the account's own address. */
  recipientEmail: string | null
  enabled: boolean
}

export interface Delivery extends DeliverySettings {
  /** Rises with creation. */
  number: number
  id: string
  accountId: string
  /** The channel that made it, such as `api`. */
  source: string
  deliveriesCount: number
  lastDeliveredOn: string | null
  /** Null while paused. */
  next: DeliveryMoment | null
  createdAt: number
  updatedAt: number
}

/** The position in the order of due runs from which a search continues. */
export type DuePlace = Pick<DeliveryMoment, 'at'> & Pick<Delivery, 'number'>

type Row = Omit<Delivery, 'next'> & { nextAt: number | null; nextOn: string | null }

const deliveryOf = ({ nextAt, nextOn, ...row }: Row): Delivery => ({
  ...row,
  next: nextAt === null ? null : { at: nextAt, day: nextOn! },
})

const rowOf = <D extends Pick<Delivery, 'next'>>({ next, ...delivery }: D) => ({
  ...delivery,
  nextAt: next?.at ?? null,
  nextOn: next?.day ?? null,
})

/** An enabled delivery whose last e-mail was not sent, and why. */
export interface FailingDelivery {
  id: string
  accountId: string
  name: string | null
  error: string
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>

export function createDeliveryStore(db: Database) {
  const sql = statements(db)
  const table = recordTable<Row>(db, 'scheduled_deliveries', {
    columns: `number, id, account_id, name, commodity_codes, cadence, weekday, delivery_time,
      time_zone, recipient_email, enabled, source, deliveries_count, last_delivered_on,
      next_delivery_at AS nextAt, next_on, created_at, updated_at`,
    flags: ['enabled'],
    json: ['commodityCodes'],
  })
  const ofAccount = table.where<[string]>('WHERE account_id = ? ORDER BY number')
  const count = sql<{ n: number }, [string]>`
    SELECT count(*) AS n FROM scheduled_deliveries WHERE account_id = ?`
  const byId = table.where<[string]>('WHERE id = ?')
  const failing = sql<FailingDelivery, [number]>`
    SELECT d.id, d.account_id AS accountId, d.name, r.error
    FROM scheduled_deliveries d JOIN scheduled_delivery_runs r ON r.number = (
      SELECT max(number) FROM scheduled_delivery_runs WHERE delivery_number = d.number)
    WHERE d.enabled = 1 AND r.status <> 'sent' AND r.error IS NOT NULL ORDER BY r.number DESC LIMIT ?`
  const add = table.insert('number', 'deliveriesCount', 'lastDeliveredOn')
  const put = table.update(
    'TRUE',
    'id',
    'accountId',
    'source',
    'deliveriesCount',
    'lastDeliveredOn',
    'createdAt',
  )
  const remove = sql`DELETE FROM scheduled_deliveries WHERE number = ?`
  const due = table.where<[number, number, number, number]>(
    `WHERE next_delivery_at <= ?1 AND (next_delivery_at, number) > (?2, ?3)
     ORDER BY next_delivery_at, number LIMIT ?4`,
  )
  const dueAfter = table.where<[number]>('WHERE next_delivery_at > ?')
  const nextDue = sql<{ at: number | null }, []>`
    SELECT min(next_delivery_at) AS at FROM scheduled_deliveries WHERE next_delivery_at IS NOT NULL`
  const schedule = sql`
    UPDATE scheduled_deliveries SET next_delivery_at = ?2, next_on = ?3 WHERE number = ?1`
  const delivered = sql`
    UPDATE scheduled_deliveries SET deliveries_count = deliveries_count + 1, last_delivered_on = max(ifnull(last_delivered_on, ''), ?2)
    WHERE number = ?1`
  return {
    /** By creation. */
    ofAccount: (accountId: string) => ofAccount.all(accountId).map(deliveryOf),
    count: (accountId: string) => count.get(accountId)!.n,
    failing: (limit: number) => failing.all(limit),
    byId(id: string) {
      const row = byId.get(id)
      return row ? deliveryOf(row) : undefined
    },
    add: (delivery: Omit<Delivery, 'number' | 'deliveriesCount' | 'lastDeliveredOn'>) =>
      void add(rowOf(delivery)),
    /** Replaces what may be set, the next moment and when it was changed. */
    put: (delivery: Delivery) => void put(rowOf(delivery)),
    /** With its runs. */
    remove: (number: number) => void remove.run(number),
    /** Deliveries due at `now` after a place, in order of time; at most `limit`. */
    due: (now: number, after: DuePlace, limit: number) =>
      due.all(now, after.at, after.number, limit).map(deliveryOf),
    /** Deliveries due after a moment. */
    dueAfter: (at: number) => dueAfter.all(at).map(deliveryOf),
    /** Undefined while nothing is scheduled. */
    nextDueAt: () => nextDue.get()!.at ?? undefined,
    schedule: (number: number, { at, day }: DeliveryMoment) => void schedule.run(number, at, day),
    /** Counts a sent delivery. */
    delivered: (number: number, day: string) => void delivered.run(number, day),
  }
}
