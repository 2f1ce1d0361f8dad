import { isoInstant, minuteMs } from '../../lib/instant.ts'
import type { OutboxStore } from '../../store/outbox/outbox.ts'
import type { Kind } from '../../store/outbox/rows.ts'
import type { Component } from '../condition/condition.ts'
import type { OutboxEngine, Registry } from './engine.ts'
import type { Settled } from './terms.ts'

export interface OutboxVitals {
  /** Waiting or under way, without those of parked lanes. */
  pending: number
  /** When the oldest of them became due (Unix ms). */
  oldestAt: number | undefined
  parked: number
  inFlight: number
  /** Attempts that ended since the start, by what became of the message. */
  ended: Readonly<Record<Settled['state'], number>>
  /**
   * Kinds that somebody sends, and when the oldest waiting message of each became due (Unix ms).
   */
  kinds: ReadonlyMap<Kind, number | undefined>
  /** Messages of each kind that have not ended, by state. */
  states: ReadonlyMap<Kind, { waiting: number; parked: number; underWay: number }>
  /** Receivers of webhooks whose secret does not open. */
  shut: number
}

export function vitalsOf(
  store: OutboxStore,
  registry: Registry,
  engine: OutboxEngine,
): OutboxVitals {
  const oldest = new Map<Kind, number>()
  let [pending, parked] = [0, 0]
  const states = new Map(
    [...registry.senders.keys()].map(kind => [kind, { waiting: 0, parked: 0, underWay: 0 }]),
  )
  for (const { kind, lane, waiting, dueAt } of store.backlog()) {
    const sums = states.get(kind)
    if (engine.policy(kind, lane)?.state === 'parked') {
      parked += waiting
      if (sums) sums.parked += waiting
    } else {
      if (sums) sums.waiting += waiting
      pending += waiting
      oldest.set(kind, Math.min(oldest.get(kind) ?? dueAt, dueAt))
    }
  }
  let [count, dueAt] = [0, Number.POSITIVE_INFINITY]
  for (const leased of store.underWay()) {
    count += leased.count
    dueAt = Math.min(dueAt, leased.dueAt)
    const sums = states.get(leased.kind)
    if (sums) sums.underWay = leased.count
  }
  const all = [...oldest.values(), ...(count === 0 ? [] : [dueAt])]
  return {
    pending: pending + count,
    oldestAt: all.length > 0 ? Math.min(...all) : undefined,
    parked,
    inFlight: count,
    ended: { ...registry.ended },
    shut: registry.shut.size,
    states,
    kinds: new Map([...registry.senders.keys()].map(kind => [kind, oldest.get(kind)])),
  }
}

const names: Readonly<Record<Kind, string>> = { webhook: 'webhooks', email: 'email', sms: 'sms' }

/** What waits this long beyond its time is not on its way. */
const lateMs = 15 * minuteMs

/** The parts that send, each judged by what waits for it. */
export function senderComponents(outbox: { vitals(): OutboxVitals }, now: number): Component[] {
  const { kinds, shut } = outbox.vitals()
  return (Object.keys(names) as Kind[]).map(kind => {
    const name = names[kind]
    const oldestAt = kinds.get(kind)
    if (!kinds.has(kind)) return { name, status: 'disabled' }
    if (kind === 'webhook' && shut > 0)
      return {
        name,
        status: 'degraded',
        message: `The secrets of ${shut} webhook receiver${shut === 1 ? '' : 's'} do not open with the master key.`,
      }
    if (oldestAt === undefined || oldestAt > now - lateMs) return { name, status: 'operational' }
    return { name, status: 'degraded', message: `Messages wait since ${isoInstant(oldestAt)}.` }
  })
}
