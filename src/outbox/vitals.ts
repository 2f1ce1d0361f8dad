import { isoInstant, minuteMs, secondMs } from '../lib/time/instant.ts'
import type { Component } from '../topics/condition/service/component.ts'
import type { OutboxEngine, Registry } from './engine.ts'
import type { Settled } from './message.ts'
import type { OutboxStore } from './store/outbox.ts'
import type { Kind } from './store/rows.ts'

export interface OutboxVitals {
  /** Waiting or in flight, without those of parked lanes. */
  pending: number
  /** When the oldest of them became due (Unix ms). */
  oldestAt: number | undefined
  parked: number
  inFlight: number
  /** Attempts that ended since the start, by what became of the message. */
  ended: Readonly<Record<Settled['state'], number>>
  /**
   * Kinds that someone sends, and when the oldest waiting message of each became due (Unix ms).
   */
  kinds: ReadonlyMap<Kind, number | undefined>
  /** Messages of each kind that have not ended, by state. */
  states: ReadonlyMap<Kind, { waiting: number; parked: number; inProgress: number }>
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
    [...registry.senders.keys()].map(kind => [kind, { waiting: 0, parked: 0, inProgress: 0 }]),
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
  for (const leased of store.inProgress()) {
    count += leased.count
    dueAt = Math.min(dueAt, leased.dueAt)
    const sums = states.get(leased.kind)
    if (sums) sums.inProgress = leased.count
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

const labels = { email: 'E-mails are not sent', sms: 'Text messages are not sent' } as const

/** A message that waits this long for slots of others counts as delayed. */
const heldUpMs = 5 * secondMs
/** A message that is overdue by this much, for any reason, counts as not being sent. */
const lateMs = 15 * minuteMs

/** The state of the process that sends messages. */
export interface SendingState {
  /**
   * Since when messages of a kind wait for slots that others hold (Unix ms); undefined: none waits.
   */
  waitingSince(kind: Kind): number | undefined
  /** Whether what was sent lately of a kind must be tried again. */
  isFailing(kind: Kind): boolean
}

/**
 * The status of the parts that send messages, judged by the messages that wait. A slow webhook
 * receiver only delays its own messages, which is not a fault of the service; messages that wait
 * because of other receivers are. Without `sending`, when this process sends nothing, every late
 * message counts. `providerFaults`: errors that the providers report.
 */
export function senderComponents(
  outbox: { vitals(): OutboxVitals },
  now: number,
  sending?: SendingState,
  providerFaults?: Readonly<Record<'email' | 'sms', () => string | undefined>>,
): Component[] {
  const { kinds, shut } = outbox.vitals()
  const lateSince = (kind: Kind, oldestAt: number | undefined): number | undefined => {
    const heldUpAt = sending?.waitingSince(kind)
    if (heldUpAt !== undefined && heldUpAt <= now - heldUpMs) return heldUpAt
    if (kind === 'webhook' && sending) return undefined
    return oldestAt !== undefined && oldestAt <= now - lateMs ? oldestAt : undefined
  }
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
    if (kind !== 'webhook' && providerFaults?.[kind]() !== undefined)
      return {
        name,
        status: 'degraded',
        message: `${labels[kind]}: the provider fails or refuses them.`,
      }
    const since = lateSince(kind, oldestAt)
    if (since !== undefined)
      return { name, status: 'degraded', message: `Messages wait since ${isoInstant(since)}.` }
    if (kind !== 'webhook' && sending?.isFailing(kind))
      return {
        name,
        status: 'degraded',
        message: 'The last messages were not delivered and are retried.',
      }
    return { name, status: 'operational' }
  })
}
