import { schemaVersion } from '../../database/migrations.ts'
import { isWrongSequence, type Nats } from '../nats/connection.ts'
import type { Delta } from '../store/delta.ts'
import {
  type Change,
  type ChangePart,
  changeHeaders,
  createChangeReader,
  endsEpoch,
  type NoteUnknownMessage,
  schemaFault,
} from './changes.ts'
import { changesOf } from './earlier-streams.ts'

/** A replica that the stream is applied to. */
export interface TakenOver {
  replicationEpoch: string
  /** The change it is at. */
  applied: number
  /** The message of the stream that it is at; 0: not known. */
  message: number
  /** When the stream of that message was made; undefined: not known. */
  stream: string | undefined
  apply(delta: Delta): void
  /** Throws where what the stream leads to must not be the next primary: nothing is changed then. */
  admit?(): void
}

const fetchedMax = 200
const waitMs = 2000

/**
 * Brings a replica up to the end of the stream and ends its replication epoch: the last message
 * names the next one. The former primary is refused from then on, because it does not know that
 * message; everything it published before is in the replica. Returns the change that both share,
 * and the replication epoch that ended.
 */
export async function takeOver(
  nats: Nats,
  copy: TakenOver,
  next: { replicationEpoch: string; readAt: number },
  noteUnknown: NoteUnknownMessage,
): Promise<{ position: number; ended: string }> {
  const { stream, subject } = await changesOf(
    nats,
    { replicationEpoch: copy.replicationEpoch, previousEpochs: [] },
    noteUnknown,
  )
  let { replicationEpoch, applied } = copy
  let sequence = copy.message
  /** The last change that is of another replication epoch and ended this one. */
  let later: string | undefined
  const take = (change: Change) => {
    const { replicationEpoch: carried, continues, delta } = change
    if (carried !== replicationEpoch && continues !== replicationEpoch) {
      if (endsEpoch(change, replicationEpoch)) later = carried
      return
    }
    replicationEpoch = carried
    later = undefined
    if (delta.upTo <= applied) return
    if (delta.after > applied)
      throw new Error(
        `the stream begins after change ${delta.after} and the newest snapshot is at ${applied}: what is between them is lost`,
      )
    const fault = schemaFault(change)
    if (fault !== undefined) throw new Error(`a change cannot be applied: ${fault}`)
    copy.apply(delta)
    if (delta.isLast) applied = delta.upTo
  }
  const passOver = ({ replicationEpoch: carried, continues, reaches }: ChangePart) => {
    const isOther = carried !== replicationEpoch && continues !== replicationEpoch
    if (!isOther && reaches > applied)
      throw new Error(`the stream lacks parts of change ${reaches}: what is in them is lost`)
  }
  const read = createChangeReader()
  for (;;) {
    const { state, created } = await nats.manager.streams.info(stream)
    // Another stream of the same name counts its messages again.
    if ((copy.stream !== undefined && created !== copy.stream) || state.last_seq < sequence)
      sequence = 0
    if (state.messages > 0 && sequence < state.last_seq) {
      const consumer = await nats.jetstream.consumers.get(stream, {
        opt_start_seq: Math.max(sequence + 1, state.first_seq),
      })
      while (sequence < state.last_seq) {
        const messages = await consumer.fetch({ max_messages: fetchedMax, expires: waitMs })
        for await (const message of messages) {
          sequence = message.seq
          const received = read(message.headers, message.data)
          if (received.kind === 'unknown') noteUnknown(stream, sequence, received.why)
          else if (received.kind === 'incomplete') passOver(received.part)
          else if (received.kind === 'change') take(received.change)
          if (sequence >= state.last_seq) break
        }
      }
    }
    if (later !== undefined)
      throw new Error(
        `the stream has gone on as replication epoch ${later}, of which there is no snapshot yet; try again when there is one`,
      )
    copy.admit?.()
    const marker: Delta = {
      after: applied,
      upTo: applied,
      isLast: true,
      readAt: next.readAt,
      tables: [],
      ranges: [],
      counters: {},
    }
    try {
      await nats.jetstream.publish(subject, JSON.stringify(marker), {
        msgID: `${next.replicationEpoch}.begins`,
        headers: nats.headers({
          [changeHeaders.replicationEpoch]: next.replicationEpoch,
          [changeHeaders.continues]: replicationEpoch,
          [changeHeaders.position]: String(applied),
          [changeHeaders.schema]: String(schemaVersion),
        }),
        expect: { lastSequence: state.last_seq },
      })
      return { position: applied, ended: replicationEpoch }
    } catch (error) {
      // Another client has published in the meantime: the replica needs that message too.
      if (!isWrongSequence(error)) throw error
    }
  }
}
