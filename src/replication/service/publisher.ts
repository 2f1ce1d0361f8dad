import type { MsgHdrs } from '@nats-io/transport-node'
import { schemaVersion } from '../../database/migrations.ts'
import { isWrongSequence, type Nats } from '../nats/connection.ts'
import type { Delta } from '../store/delta.ts'
import {
  changeHeaders,
  endOfStream,
  type NoteUnknownMessage,
  piecesOf,
  type StreamEnd,
} from './changes.ts'

/** replaced: another instance took over from this one. */
export type ConflictKind = 'foreign' | 'ahead' | 'replaced'

/** The stream carries the commits of another database, or ones that this database has lost. */
export class StreamConflict extends Error {
  readonly kind: ConflictKind
  constructor(kind: ConflictKind, message: string) {
    super(message)
    this.name = 'StreamConflict'
    this.kind = kind
  }
}

export interface PublisherDeps {
  nats: Pick<Nats, 'jetstream' | 'manager' | 'names' | 'headers' | 'messageBytesMax'>
  reader: { first(): number; last(): number; after(sequence: number): Generator<Delta> }
  replicationEpoch: string
  /**
   * Replication epochs that this one follows: it continues the stream of whichever published last.
   */
  previousEpochs: readonly string[]
  /** The replication epoch that this one took over from, if it did. */
  continues: string | undefined
  /** Replication epochs that ended for this one. */
  endedEpochs: readonly string[]
  /** The last change that the stream may have: what this process wrote itself it has not seen. */
  lastChange: number
  /** Called after each message that the stream has accepted. */
  published(delta: Delta): Promise<void>
  noteUnknown: NoteUnknownMessage
}

/** Puts the log into the stream, in its order and each change once. */
export interface Publisher {
  /** Up to which change the stream has everything. */
  position(): number
  /** Publishes everything that is logged; throws where the stream does not take it. */
  pass(): Promise<number>
  /** Throws where the stream is not the one any more that this publisher knows. */
  check(): Promise<void>
}

/**
 * Others may publish between reading the end of the stream and publishing a message; the most
 * retries.
 */
const triesMax = 20
const encoder = new TextEncoder()

/**
 * Continues at the end of the stream, whatever happened to the process before. Each message must
 * follow the last one that this publisher knows: of two publishers one is refused. A foreign
 * message between two messages changes nothing.
 */
export async function createPublisher({
  nats,
  reader,
  replicationEpoch,
  previousEpochs,
  continues,
  endedEpochs,
  lastChange,
  published,
  noteUnknown,
}: PublisherDeps): Promise<Publisher> {
  const { stream, subject } = nats.names.changes
  const meet = async (newest: number): Promise<StreamEnd> => {
    const end = await endOfStream(nats, stream, { replicationEpoch, previousEpochs }, noteUnknown)
    if (end.replacedBy !== undefined)
      throw new StreamConflict(
        'replaced',
        `the stream has gone on as replication epoch ${end.replacedBy}`,
      )
    if (end.position === undefined && end.foreign !== undefined)
      throw new StreamConflict(
        'foreign',
        `the stream ${stream} is of replication epoch ${end.foreign}`,
      )
    if (
      end.replicationEpoch === replicationEpoch &&
      end.position !== undefined &&
      end.position > newest
    )
      throw new StreamConflict(
        'ahead',
        `the stream has changes up to ${end.position}, this database up to ${newest}`,
      )
    return end
  }
  const met = await meet(lastChange)
  const { created } = met
  let { lastSequence } = met
  let position = Math.max(
    reader.first() - 1,
    met.replicationEpoch === replicationEpoch ? (met.position ?? 0) : 0,
  )
  let hasPut = met.replicationEpoch === replicationEpoch

  const headers = (reached: number, more: Readonly<Record<string, string>> = {}) =>
    nats.headers({
      [changeHeaders.replicationEpoch]: replicationEpoch,
      [changeHeaders.position]: String(reached),
      [changeHeaders.schema]: String(schemaVersion),
      ...(continues !== undefined && { [changeHeaders.continues]: continues }),
      ...(endedEpochs.length > 0 && { [changeHeaders.ends]: endedEpochs.join(' ') }),
      ...more,
    })
  /** Only the last part reaches anything. */
  const partHeaders = (delta: Delta, part: number, parts: number, reached = delta.after) =>
    headers(reached, {
      [changeHeaders.part]: `${part}/${parts}`,
      [changeHeaders.reaches]: String(delta.upTo),
    })
  /** Whether nothing but messages of others came behind the last one that is known. */
  const passOver = async (): Promise<boolean> => {
    const end = await meet(reader.last())
    const isSame = end.created === created && end.lastSequence >= lastSequence
    // Only this publisher has this epoch, so the change at the end of the stream is forged.
    if (isSame && end.replicationEpoch === replicationEpoch && (end.position ?? 0) > position)
      throw new StreamConflict(
        'ahead',
        `the stream has a change up to ${end.position} that this instance did not publish`,
      )
    if (
      !isSame ||
      (hasPut && (end.replicationEpoch !== replicationEpoch || end.position !== position))
    )
      return false
    lastSequence = end.lastSequence
    return true
  }
  const put = async (delta: Delta) => {
    const pieces = piecesOf(encoder.encode(JSON.stringify(delta)), nats.messageBytesMax())
    for (const [i, piece] of pieces.slice(0, -1).entries())
      await send(piece, partHeaders(delta, i + 1, pieces.length))
    const reached = delta.isLast ? delta.upTo : delta.after
    // Parts may be cut otherwise when they are sent again, so only what ends them has an id.
    const id = delta.isLast ? `${replicationEpoch}.${delta.upTo}` : undefined
    const last =
      pieces.length === 1
        ? headers(reached)
        : partHeaders(delta, pieces.length, pieces.length, reached)
    await send(pieces.at(-1)!, last, id)
    position = reached
  }
  const send = async (body: Uint8Array, messageHeaders: MsgHdrs, msgID?: string) => {
    let id = msgID
    for (let tries = 1; ; tries++) {
      try {
        const ack = await nats.jetstream.publish(subject, body, {
          ...(id !== undefined && { msgID: id }),
          headers: messageHeaders,
          expect: { lastSequence },
        })
        if (!ack.duplicate || ack.seq > lastSequence) {
          lastSequence = Math.max(lastSequence, ack.seq)
          break
        }
        // It was there and was taken out: the stream remembers its id only.
        id = undefined
      } catch (error) {
        if (!isWrongSequence(error) || tries >= triesMax || !(await passOver())) throw error
      }
    }
    hasPut = true
  }

  return {
    position: () => position,
    async pass() {
      let messages = 0
      for (let before = -1; before !== position; ) {
        before = position
        for (const delta of reader.after(position)) {
          await put(delta)
          await published(delta)
          messages += 1
        }
      }
      return messages
    },
    async check() {
      const info = await nats.manager.streams.info(stream)
      const isSame = info.created === created && info.state.last_seq >= lastSequence
      if (isSame && info.state.last_seq === lastSequence) return
      if (!isSame || !(await passOver())) throw new Error(`the stream ${stream} was recreated`)
    },
  }
}
