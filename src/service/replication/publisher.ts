import type { Nats } from '../../send/nats/connection.ts'
import type { Delta } from '../../store/replication/delta.ts'
import { changeHeaders, changesStream } from './subjects.ts'

/** replaced: another copy took over from this one. */
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
  nats: Nats
  reader: { first(): number; last(): number; after(sequence: number): Generator<Delta> }
  lineage: string
  /** Lineages that this one follows: it continues the stream of whichever published last. */
  previousLineages: readonly string[]
  /** The lineage that this one took over from, if it did. */
  continues: string | undefined
  /** Something of this database was in the stream before. */
  hasPublished: boolean
  /** The last change that the stream may have: what this process wrote itself it has not seen. */
  lastChange: number
  /** After each message that the stream has: what follows from it. */
  published(delta: Delta): Promise<void>
}

/** Puts the log into the stream, in its order and each change once. */
export interface Publisher {
  /** Up to which change the stream has everything. */
  position(): number
  /** Publishes everything that is logged; throws where the stream does not take it. */
  pass(): Promise<number>
}

/**
 * Continues where the stream itself says that it ended, whatever became of the process before. Each
 * message must follow the last one that this publisher knows: of two publishers one is refused.
 */
export async function createPublisher({
  nats,
  reader,
  lineage,
  previousLineages,
  continues,
  hasPublished,
  lastChange,
  published,
}: PublisherDeps): Promise<Publisher> {
  const { state } = await nats.manager.streams.info(changesStream)
  let lastSequence = state.last_seq
  let position = reader.first() - 1
  if (state.messages > 0) {
    const last = await nats.manager.streams.getMessage(changesStream, { seq: lastSequence })
    const carried = last?.header.get(changeHeaders.lineage) ?? ''
    const carriedPosition = Number(last?.header.get(changeHeaders.position))
    if (carried === lineage) {
      if (carriedPosition > lastChange)
        throw new StreamConflict(
          'ahead',
          `the stream has changes up to ${carriedPosition}, this database up to ${lastChange}`,
        )
      position = Math.max(position, carriedPosition)
    } else if (hasPublished && !previousLineages.includes(carried))
      throw new StreamConflict('replaced', `the stream has gone on as lineage ${carried}`)
    else if (!previousLineages.includes(carried))
      throw new StreamConflict('foreign', `the stream ${changesStream} is of lineage ${carried}`)
  }

  const put = async (delta: Delta) => {
    const reached = delta.isLast ? delta.upTo : delta.after
    const ack = await nats.jetstream.publish(changesStream, JSON.stringify(delta), {
      // Parts may be cut otherwise when they are sent again, so only what ends them has an id.
      ...(delta.isLast && { msgID: `${lineage}.${delta.upTo}` }),
      headers: nats.headers({
        [changeHeaders.lineage]: lineage,
        [changeHeaders.position]: String(reached),
        ...(continues !== undefined && { [changeHeaders.continues]: continues }),
      }),
      expect: { lastSequence },
    })
    lastSequence = Math.max(lastSequence, ack.seq)
    position = reached
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
  }
}
