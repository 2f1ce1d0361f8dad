import type { Ids } from '../../lib/ids.ts'
import { objectIn } from '../../lib/text/json.ts'
import { every } from '../../lib/time/clock.ts'
import { startOfHour } from '../../lib/time/instant.ts'
import { quotaState } from '../../plans/quota.ts'
import type { KeyState } from '../../topics/keys/service/keyring.ts'
import type { Meter, QuotaUsage } from '../../topics/keys/service/meter.ts'
import { isHourOf, newHour } from '../../topics/keys/service/meter-counts.ts'
import type { ForeignUsage, SetAside } from '../../topics/keys/service/replica-usage.ts'
import type { Nats } from '../nats/connection.ts'
import type { NoteUnknownMessage } from './changes.ts'
import type { QuotaSlices } from './quota-slices.ts'
import { consumeEach } from './subjects.ts'

const sendEachMs = 1000

/** A message of the stream of usage. */
export interface UsageReport {
  usage: readonly ForeignUsage[]
  /** The parts of quotas that were set aside and not needed. */
  returned: readonly SetAside[]
}

/** Reports of a replica to the primary about answered requests: each request in one message. */
export interface UsageReports {
  /** The meter that takes from slices where there is a quota, and reports what it counts. */
  meter: Meter
  /** Whether this instance may answer a charged request of a key. */
  mayAnswer(key: KeyState): boolean
  /** Waits a while until it may; false where no slice of the quota comes. */
  comesToAnswer(key: KeyState, withinMs: number): Promise<boolean>
  /** Sends what waits, once. */
  send(): Promise<void>
  /** Gives up every slice, so that the next message returns them. */
  giveUp(): Promise<void>
  stop(): void
}

/**
 * Reports every second. Reports that the stream does not accept are sent again under the same
 * number, so that they are counted once; reports still unsent when the process dies are lost.
 */
export function createUsageReports(
  nats: Pick<Nats, 'jetstream' | 'names' | 'messageBytesMax'>,
  meter: Meter,
  slices: QuotaSlices,
  { ids, now }: { ids: Ids; now(): number },
): UsageReports {
  const node = ids.uuid()
  /** By key: hours, endpoints and classes of status, of which a key has few at a time. */
  let waiting = new Map<string, ForeignUsage[]>()
  let returned: SetAside[] = []
  let inProgress: { number: number; text: string } | undefined
  let number = 0
  let sending: Promise<void> | undefined

  const note = (
    keyId: string,
    endpoint: string,
    status: number,
    { counted, prepaid, ms }: { counted: boolean; prepaid: boolean; ms: number },
  ) => {
    const at = now()
    const name = { endpoint, hourAt: startOfHour(at), statusClass: Math.floor(status / 100) }
    const ofKey = waiting.get(keyId)
    let usage = ofKey?.find(other => isHourOf(other, name))
    if (!usage) {
      usage = { ...newHour(keyId, name), lastUsedAt: at, prepaid: 0 }
      if (ofKey) ofKey.push(usage)
      else waiting.set(keyId, [usage])
    }
    usage.requests += 1
    usage.metered += Number(counted)
    usage.prepaid += Number(prepaid)
    usage.durationUs += Math.round(ms * 1000)
    usage.lastUsedAt = at
  }
  /** As many of the waiting entries as fit into one message, in order. */
  const nextReport = (): UsageReport => {
    const usage = [...waiting.values()].flat()
    const count = fitting([...usage, ...returned], nats.messageBytesMax())
    const report = {
      usage: usage.slice(0, count),
      returned: returned.slice(0, Math.max(0, count - usage.length)),
    }
    waiting = Map.groupBy(usage.slice(count), part => part.keyId)
    returned = returned.slice(report.returned.length)
    return report
  }
  const sendOnce = async () => {
    returned.push(...slices.giveUp('idle'))
    for (let isMore = true; isMore; ) {
      isMore = inProgress !== undefined
      if (!inProgress && (waiting.size > 0 || returned.length > 0)) {
        number += 1
        inProgress = { number, text: JSON.stringify(nextReport()) }
        // The rest follows now; new usage waits for the next time.
        isMore = waiting.size > 0 || returned.length > 0
      }
      if (!inProgress) return
      try {
        await nats.jetstream.publish(nats.names.usage.subject, inProgress.text, {
          msgID: `${node}.${inProgress.number}`,
        })
        inProgress = undefined
      } catch {
        // It waits for the next time.
        return
      }
    }
  }
  const send = () => {
    sending ??= sendOnce().finally(() => {
      sending = undefined
    })
    return sending
  }
  const stop = every(sendEachMs, () => void send())
  /** The quota is already charged with the whole slice, so its unused part is subtracted. */
  const withSlice = (key: KeyState, quotaUsage: QuotaUsage): QuotaUsage => {
    const { window, entitled } = quotaUsage
    if (window.limit === null) return quotaUsage
    const used = Math.min(quotaUsage.used, window.limit) - slices.left(key.key.id, window)
    return { ...quotaUsage, used, state: quotaState(entitled, window, used) }
  }
  return {
    meter: {
      ...meter,
      quotaUsage: (key, at) => withSlice(key, meter.quotaUsage(key, at)),
      reserve(key, at) {
        const { window } = meter.quotaUsage(key, at)
        if (window.limit === null) return meter.reserve(key, at)
        return slices.take(key.key.id, window) ? window : undefined
      },
      refund(key, window) {
        if (window.limit === null) meter.refund(key, window)
        else slices.putBack(key.key.id, window)
      },
      record(key, endpoint, status, metered, durationMs, at) {
        const quotaUsage = meter.record(key, endpoint, status, metered, durationMs, at)
        const prepaid = metered && quotaUsage.window.limit !== null
        note(key.key.id, endpoint, status, { counted: metered, prepaid, ms: durationMs })
        return withSlice(key, quotaUsage)
      },
    },
    mayAnswer(key) {
      const { window } = meter.quotaUsage(key)
      return window.limit === null || slices.left(key.key.id, window) > 0
    },
    async comesToAnswer(key, withinMs) {
      const { window } = meter.quotaUsage(key)
      return window.limit === null || (await slices.comes(key.key.id, window, withinMs))
    },
    async giveUp() {
      returned.push(...slices.giveUp('all'))
      await slices.settled()
      // A message on its way may have been written before the last slice arrived.
      await sending
    },
    send,
    stop,
  }
}

/** The text of a report without what it reports. */
const emptyReportBytes = 64

/** How many parts, one at least, a message of so many bytes takes. */
function fitting(parts: readonly object[], bytesMax: number): number {
  let room = bytesMax - emptyReportBytes
  const tooMany = parts.findIndex(part => {
    room -= Buffer.byteLength(JSON.stringify(part)) + 1
    return room < 0
  })
  return tooMany === -1 ? parts.length : Math.max(1, tooMany)
}

/** A message of the stream of usage. */
export interface UsagePlace {
  message: number
  /** When the stream was made, another one of the same name counts again; undefined: not known. */
  stream: string | undefined
}

/** Hands on what replicas report behind a message of their stream, in its order; throws at its end. */
export async function receiveUsage(
  { manager, jetstream, names }: Pick<Nats, 'manager' | 'jetstream' | 'names'>,
  after: UsagePlace,
  received: (place: UsagePlace, report: UsageReport) => void,
  noteUnknown: NoteUnknownMessage,
): Promise<void> {
  const { stream } = names.usage
  const { state, created } = await manager.streams.info(stream)
  const isSame = (after.stream ?? created) === created && after.message <= state.last_seq
  const consumer = await jetstream.consumers.get(stream, {
    opt_start_seq: Math.max((isSame ? after.message : 0) + 1, state.first_seq, 1),
  })
  for await (const message of await consumer.consume(consumeEach)) {
    const report = readReport(message.string())
    if (report) received({ message: message.seq, stream: created }, report)
    else noteUnknown(stream, message.seq, 'its body is not what a replica has answered')
  }
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0

/** A report as a replica sends it; undefined where none has sent it. */
function readReport(text: string): UsageReport | undefined {
  const { usage, returned } = objectIn(text) ?? {}
  if (!Array.isArray(usage) || !Array.isArray(returned)) return undefined
  const isUsage = usage.every(
    (part: Partial<ForeignUsage> | null) =>
      typeof part?.keyId === 'string' &&
      typeof part.endpoint === 'string' &&
      [
        part.hourAt,
        part.statusClass,
        part.requests,
        part.metered,
        part.durationUs,
        part.lastUsedAt,
        part.prepaid,
      ].every(isCount),
  )
  const isReturned = returned.every(
    (part: Partial<SetAside> | null) =>
      typeof part?.keyId === 'string' &&
      typeof part.kind === 'string' &&
      isCount(part.startsAt) &&
      isCount(part.requests),
  )
  return isUsage && isReturned ? { usage, returned } : undefined
}
