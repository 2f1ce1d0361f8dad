import type { MsgHdrs } from '@nats-io/transport-node'
import { schemaVersion } from '../../database/migrations.ts'
import type { Log } from '../../lib/log/log.ts'
import type { Nats } from '../nats/connection.ts'
import type { Delta } from '../store/delta.ts'

/** Followers fetch hundreds of messages ahead, so the pieces of a large change are small. */
const pieceBytesMax = 256 * 1024

/** Headers of the messages in the stream of changes. */
export const changeHeaders = {
  /** The epoch of the commits: another one begins a history that does not continue the last. */
  replicationEpoch: 'Wellhead-Lineage',
  /**
   * The replication epoch that it took over from, if any: replicas of that epoch continue with this
   * one.
   */
  continues: 'Wellhead-Continues',
  /**
   * Replication epochs that ended for this one, the newest first: who publishes as one of them is
   * replaced.
   */
  ends: 'Wellhead-Ends',
  /** The version of the schema that its rows are of. */
  schema: 'Wellhead-Schema',
  /** Up to which change the stream has everything with this message. */
  position: 'Wellhead-Position',
  /** Which of several messages this is, such as 2/5, where a change does not fit into one. */
  part: 'Wellhead-Part',
  /** The change that the last of several messages reaches. */
  reaches: 'Wellhead-Reaches',
} as const

/** The headers of a message in the stream of changes. */
export interface ChangeHead {
  replicationEpoch: string
  continues: string | undefined
  ends: readonly string[]
  position: number
  /** Undefined: an earlier version published it, without this header. */
  schema: number | undefined
}

/** A valid message of the stream of changes. */
export interface Change extends ChangeHead {
  delta: Delta
}

/** One of several consecutive messages whose bodies together are one change. */
export interface ChangePart extends ChangeHead {
  part: number
  parts: number
  /** The change that the last part reaches. */
  reaches: number
  body: Uint8Array
}

/** Why rows of another schema cannot be applied here; undefined: they are of this one. */
export function schemaFault({ schema }: ChangeHead): string | undefined {
  if (schema === undefined || schema === schemaVersion) return undefined
  const difference = `it is of schema ${schema}, and this program has schema ${schemaVersion}`
  return schema > schemaVersion
    ? `${difference}: run the version of the primary here`
    : `${difference}: run this version on the primary`
}

const epochForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const positionForm = /^\d{1,15}$/
const partForm = /^(\d{1,6})\/(\d{1,6})$/

/** Parses a message; returns a text with the reason when no instance can have published it. */
export function readMessage(
  headers: MsgHdrs | undefined,
  body: Uint8Array,
): Change | ChangePart | string {
  const head = headOf(headers)
  if (typeof head === 'string') return head
  const part = headers?.get(changeHeaders.part) ?? ''
  return part === '' ? changeOf(head, body) : partOf(head, part, headers, body)
}

function headOf(headers: MsgHdrs | undefined): ChangeHead | string {
  const header = (name: string) => headers?.get(name) ?? ''
  const replicationEpoch = header(changeHeaders.replicationEpoch)
  if (!epochForm.test(replicationEpoch))
    return `its ${changeHeaders.replicationEpoch} is not a replication epoch`
  const position = header(changeHeaders.position)
  if (!positionForm.test(position))
    return `its ${changeHeaders.position} is not the number of a change`
  const continued = header(changeHeaders.continues)
  return {
    replicationEpoch,
    continues: continued === '' ? undefined : continued,
    ends: header(changeHeaders.ends).split(' ').filter(Boolean),
    position: Number(position),
    schema: positionForm.test(header(changeHeaders.schema))
      ? Number(header(changeHeaders.schema))
      : undefined,
  }
}

function changeOf(head: ChangeHead, body: Uint8Array): Change | string {
  const delta = deltaOf(body)
  if (!delta) return 'its body is not a valid change'
  const reached = delta.isLast ? delta.upTo : delta.after
  return reached === head.position
    ? { ...head, delta }
    : `its body does not reach its ${changeHeaders.position}`
}

function partOf(
  head: ChangeHead,
  text: string,
  headers: MsgHdrs | undefined,
  body: Uint8Array,
): ChangePart | string {
  const [, part, parts] = (partForm.exec(text) ?? []).map(Number)
  const reaches = headers?.get(changeHeaders.reaches) ?? ''
  if (part === undefined || parts === undefined || part < 1 || part > parts)
    return `its ${changeHeaders.part} is not a part of a change`
  if (!positionForm.test(reaches))
    return `its ${changeHeaders.reaches} is not the number of a change`
  return { ...head, part, parts, reaches: Number(reaches), body }
}

/** The result of reading a message of the stream of changes in order. */
export type ReadChange =
  | { kind: 'change'; change: Change }
  /** More parts of the change follow. */
  | { kind: 'part' }
  /** The last part of a change of which the stream lacks an earlier one. */
  | { kind: 'incomplete'; part: ChangePart }
  | { kind: 'unknown'; why: string }

/**
 * Reads messages in their order and joins the parts of a change. A publisher that was interrupted
 * sends all parts again, so the first part discards what was collected before it. The last part
 * may be read again.
 */
export function createChangeReader(): (
  headers: MsgHdrs | undefined,
  body: Uint8Array,
) => ReadChange {
  let collected: ChangePart[] = []
  return (headers, body) => {
    const message = readMessage(headers, body)
    if (typeof message === 'string') return { kind: 'unknown', why: message }
    if (!('part' in message)) {
      collected = []
      return { kind: 'change', change: message }
    }
    const before = collected.slice(0, message.part - 1)
    const continuesAll = before.every(part => isOfSameChange(part, message))
    collected = before.length === message.part - 1 && continuesAll ? [...before, message] : []
    if (message.part < message.parts) return { kind: 'part' }
    if (collected.length < message.parts) return { kind: 'incomplete', part: message }
    const change = changeOf(message, Buffer.concat(collected.map(part => part.body)))
    return typeof change === 'string'
      ? { kind: 'unknown', why: change }
      : { kind: 'change', change }
  }
}

const isOfSameChange = (a: ChangePart, b: ChangePart): boolean =>
  a.replicationEpoch === b.replicationEpoch && a.reaches === b.reaches && a.parts === b.parts

/** A body in pieces that fit into a message each; one piece where it fits as a whole. */
export function piecesOf(body: Uint8Array, bytesMax: number): Uint8Array[] {
  if (body.length <= bytesMax) return [body]
  const size = Math.min(bytesMax, pieceBytesMax)
  return Array.from({ length: Math.ceil(body.length / size) }, (_, i) =>
    body.subarray(i * size, (i + 1) * size),
  )
}

function deltaOf(body: Uint8Array): Delta | undefined {
  let value: Partial<Delta> | null
  try {
    value = JSON.parse(new TextDecoder().decode(body)) as Partial<Delta> | null
  } catch {
    return undefined
  }
  const isDelta =
    typeof value === 'object' &&
    value !== null &&
    Number.isInteger(value.after) &&
    Number.isInteger(value.upTo) &&
    typeof value.isLast === 'boolean' &&
    Array.isArray(value.tables) &&
    Array.isArray(value.ranges) &&
    typeof value.counters === 'object'
  return isDelta ? (value as Delta) : undefined
}

/** Whether a change ends the given replication epoch. */
export const endsEpoch = ({ continues, ends }: ChangeHead, replicationEpoch: string): boolean =>
  continues === replicationEpoch || ends.includes(replicationEpoch)

/** Reports messages that no instance has published: each is logged once. */
export type NoteUnknownMessage = (stream: string, message: number, why: string) => void

const namedMax = 20

/** Names each message once, and of a flood the first ones. */
export function createUnknownMessageLog(log: Log): NoteUnknownMessage {
  let named = 0
  let until = 0
  return (stream, message, why) => {
    if (message <= until) return
    until = message
    named += 1
    if (named > namedMax) return
    log.warn('stream_message_skipped', {
      stream,
      sequence: message,
      message: `Message ${message} of the stream ${stream} was not published by Wellhead and is skipped: ${why}.${named === namedMax ? ' Further ones are skipped without a line.' : ''}`,
    })
  }
}

/** The end of the stream of changes, as a publisher sees it. */
export interface StreamEnd {
  /** When the stream was made: another one of the same name has another moment. */
  created: string
  /** The last message, regardless of who published it. */
  lastSequence: number
  /** Up to which change the stream has this instance's commits; undefined: it has none. */
  position: number | undefined
  /** The replication epoch of that change, which may be one that this instance's follows. */
  replicationEpoch: string | undefined
  /** That change is of a replication epoch that took over from another one. */
  hasTakenOver: boolean
  /** The replication epoch that took over from this instance's. */
  replacedBy: string | undefined
  /** The last replication epoch of another database, where nothing of this one is in the stream. */
  foreign: string | undefined
}

/** So many messages of others are looked through for the last one of this instance. */
const foreignMax = 1000

/** Looks from the end for the last change of a replication epoch, or of one that it follows. */
export async function endOfStream(
  { manager }: Pick<Nats, 'manager'>,
  stream: string,
  own: { replicationEpoch: string; previousEpochs: readonly string[] },
  noteUnknown: NoteUnknownMessage,
): Promise<StreamEnd> {
  const { state, created } = await manager.streams.info(stream)
  const end: StreamEnd = {
    created,
    lastSequence: state.last_seq,
    position: undefined,
    replicationEpoch: undefined,
    hasTakenOver: false,
    replacedBy: undefined,
    foreign: undefined,
  }
  const skipped: [number, string][] = []
  let others = 0
  for (let seq = state.last_seq; state.messages > 0 && seq >= state.first_seq; seq--) {
    const message = await manager.streams.getMessage(stream, { seq }).catch(() => null)
    // Taken out by someone.
    if (!message) continue
    const change = readMessage(message.header, message.data)
    if (typeof change === 'string') {
      skipped.push([seq, change])
      continue
    }
    const { replicationEpoch, position } = change
    if (
      replicationEpoch === own.replicationEpoch ||
      own.previousEpochs.includes(replicationEpoch)
    ) {
      end.position = position
      end.replicationEpoch = replicationEpoch
      end.hasTakenOver = change.continues !== undefined
      end.foreign = undefined
      break
    }
    if (endsEpoch(change, own.replicationEpoch)) {
      end.replacedBy = replicationEpoch
      break
    }
    end.foreign ??= replicationEpoch
    others += 1
    if (others >= foreignMax) break
  }
  for (const [seq, why] of skipped.reverse()) noteUnknown(stream, seq, why)
  return end
}
