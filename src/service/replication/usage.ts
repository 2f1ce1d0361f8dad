import { every } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { hourMs } from '../../lib/instant.ts'
import type { Nats } from '../../send/nats/connection.ts'
import type { ForeignUsage, Meter } from '../keys/meter.ts'
import { usageStream } from './subjects.ts'

const sendEachMs = 1000

/** What a replica has answered, on its way to the primary: each request in one message. */
export interface UsageReports {
  /** The meter that reports what it counts. */
  meter: Meter
  /** Sends what waits, once. */
  send(): Promise<void>
  stop(): void
}

/**
 * Reports every second. What the stream does not take is sent again under the same number, so that
 * it is counted once; what waits when the process dies is not counted.
 */
export function createUsageReports(
  nats: Pick<Nats, 'jetstream'>,
  meter: Meter,
  { ids, now }: { ids: Ids; now(): number },
): UsageReports {
  const node = ids.uuid()
  let waiting = new Map<string, ForeignUsage>()
  let underWay: { number: number; text: string } | undefined
  let number = 0
  let isSending = false

  const note = (keyId: string, endpoint: string, status: number, counted: boolean, ms: number) => {
    const at = now()
    const [hourAt, statusClass] = [at - (at % hourMs), Math.floor(status / 100)]
    const name = `${keyId} ${hourAt} ${statusClass} ${endpoint}`
    const usage = waiting.get(name) ?? {
      keyId,
      hourAt,
      endpoint,
      statusClass,
      requests: 0,
      metered: 0,
      durationUs: 0,
      lastUsedAt: at,
    }
    usage.requests += 1
    usage.metered += Number(counted)
    usage.durationUs += Math.round(ms * 1000)
    usage.lastUsedAt = at
    waiting.set(name, usage)
  }
  const send = async () => {
    if (isSending) return
    if (!underWay && waiting.size > 0) {
      number += 1
      underWay = { number, text: JSON.stringify([...waiting.values()]) }
      waiting = new Map()
    }
    if (!underWay) return
    isSending = true
    try {
      await nats.jetstream.publish(usageStream, underWay.text, {
        msgID: `${node}.${underWay.number}`,
      })
      underWay = undefined
    } catch {
      // It waits for the next time.
    } finally {
      isSending = false
    }
  }
  const stop = every(sendEachMs, () => void send())
  return {
    meter: {
      ...meter,
      record(key, endpoint, status, metered, durationMs, at) {
        note(key.key.id, endpoint, status, metered, durationMs)
        return meter.record(key, endpoint, status, metered, durationMs, at)
      },
    },
    send,
    stop,
  }
}

/** Hands on what replicas report behind a message of their stream, in its order; throws at its end. */
export async function receiveUsage(
  { manager, jetstream }: Pick<Nats, 'manager' | 'jetstream'>,
  after: number,
  received: (message: number, usage: readonly ForeignUsage[]) => void,
): Promise<void> {
  const { state } = await manager.streams.info(usageStream)
  const consumer = await jetstream.consumers.get(usageStream, {
    opt_start_seq: Math.max(after + 1, state.first_seq, 1),
  })
  for await (const message of await consumer.consume())
    received(message.seq, message.json<ForeignUsage[]>())
}
