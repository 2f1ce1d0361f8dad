import type { JsMsg } from '@nats-io/jetstream'
import type { Log } from '../../lib/log/log.ts'
import { isWrongSequence, type Nats } from '../nats/connection.ts'
import { natsNames, type StreamName } from '../nats/names.ts'
import { endOfStream, type NoteUnknownMessage, readMessage } from './changes.ts'
import { StreamConflict } from './publisher.ts'
import { streamNames } from './subjects.ts'
import type { UsagePlace } from './usage.ts'

interface Own {
  replicationEpoch: string
  previousEpochs: readonly string[]
}

/** The names of the streams before they had a prefix. */
const earlier = natsNames('')

/** In the header of a message that was moved: its number in the stream that it was moved from. */
const movedHeader = 'Wellhead-Moved'
const fetchedMax = 200
const waitMs = 2000
const triesMax = 20

/**
 * The stream of changes, under its name in earlier versions where it was not renamed yet and
 * contains the replica's epoch.
 */
export async function changesOf(
  nats: Pick<Nats, 'manager' | 'names'>,
  own: Own,
  noteUnknown: NoteUnknownMessage,
): Promise<StreamName> {
  const { changes } = nats.names
  const present = await streamNames(nats)
  if (present.has(changes.stream) || !present.has(earlier.changes.stream)) return changes
  const { position, replacedBy } = await endOfStream(nats, earlier.changes.stream, own, noteUnknown)
  return position === undefined && replacedBy === undefined ? changes : earlier.changes
}

/**
 * Moves the streams of an earlier version, where they are of this database, to their present names:
 * their messages are copied in order, and then they are deleted. An interrupted move continues
 * where it stopped.
 */
export async function moveEarlierStreams(
  nats: Nats,
  own: Own,
  usageTaken: UsagePlace,
  { log, noteUnknown }: { log: Log; noteUnknown: NoteUnknownMessage },
): Promise<void> {
  const { names } = nats
  if (names.changes.stream === earlier.changes.stream) return
  const present = await streamNames(nats)
  if (!present.has(earlier.changes.stream)) return
  const end = await endOfStream(nats, earlier.changes.stream, own, noteUnknown)
  if (end.replacedBy !== undefined)
    throw new StreamConflict(
      'replaced',
      `the stream has gone on as replication epoch ${end.replacedBy}`,
    )
  if (end.position === undefined) return
  const usage = present.has(earlier.usage.stream)
    ? await nats.manager.streams.info(earlier.usage.stream)
    : undefined
  const isCounted = (usageTaken.stream ?? usage?.created) === usage?.created
  const after = (name: string) => (name === 'usage' && isCounted ? usageTaken.message : 0)
  // The one of changes is the last: as long as it is there, the others are looked for again.
  for (const name of ['usage', 'prices', 'events', 'changes'] as const) {
    const from = earlier[name]
    if (!present.has(from.stream) || !(await isAlone(nats, from))) continue
    const messages = await copyStream(nats, name, from, names[name], after(name))
    // The replaced instance runs an earlier version too, and must find that its epoch ended.
    if (name === 'changes' && end.hasTakenOver) {
      log.info('stream_copied', { from: from.stream, to: names[name].stream, messages })
      continue
    }
    await nats.manager.streams.delete(from.stream)
    log.info('stream_moved', { from: from.stream, to: names[name].stream, messages })
  }
}

/** Whether a stream has the subjects that an earlier version gave it, and no others. */
async function isAlone({ manager }: Nats, { stream, subject }: StreamName): Promise<boolean> {
  const { config } = await manager.streams.info(stream)
  const [only, ...more] = config.subjects ?? []
  return more.length === 0 && (only === subject || only === `${subject}.>`)
}

type StreamKind = 'usage' | 'prices' | 'events' | 'changes'

/**
 * The last message of the earlier stream that was moved already; undefined where all were, because
 * the publisher has published after them. Replicas report usage whether or not the move is over,
 * and other clients may have published after it.
 */
async function lastMoved(
  { manager }: Nats,
  kind: StreamKind,
  to: StreamName,
): Promise<number | undefined> {
  const { state } = await manager.streams.info(to.stream)
  for (let seq = state.last_seq; state.messages > 0 && seq >= state.first_seq; seq--) {
    const message = await manager.streams.getMessage(to.stream, { seq }).catch(() => null)
    if (!message) continue
    const moved = message.header.get(movedHeader)
    if (moved) return Number(moved)
    const isOver = kind === 'changes' ? isChange(message.header, message.data) : kind !== 'usage'
    if (isOver) return undefined
  }
  return 0
}

const isChange = (...message: Parameters<typeof readMessage>) =>
  typeof readMessage(...message) !== 'string'

async function copyStream(
  nats: Nats,
  kind: StreamKind,
  from: StreamName,
  to: StreamName,
  after: number,
): Promise<number> {
  const moved = await lastMoved(nats, kind, to)
  if (moved === undefined) return 0
  const { state } = await nats.manager.streams.info(from.stream)
  let sequence = Math.max(after, moved, state.first_seq - 1)
  let messages = 0
  if (state.messages === 0 || sequence >= state.last_seq) return messages
  const consumer = await nats.jetstream.consumers.get(from.stream, {
    opt_start_seq: sequence + 1,
  })
  while (sequence < state.last_seq) {
    const batch: JsMsg[] = []
    for await (const message of await consumer.fetch({
      max_messages: fetchedMax,
      expires: waitMs,
    })) {
      sequence = message.seq
      batch.push(message)
      if (sequence >= state.last_seq) break
    }
    // The remaining messages were deleted in the meantime.
    if (batch.length === 0) break
    await copyMessages(nats, batch, from, to)
    messages += batch.length
  }
  return messages
}

/**
 * Each message must follow the one before it, so that one that is lost on the way leaves no hole
 * behind which an interrupted move would resume.
 */
async function copyMessages(
  nats: Nats,
  messages: readonly JsMsg[],
  from: StreamName,
  to: StreamName,
): Promise<void> {
  for (let copied = 0, tries = 0; copied < messages.length; ) {
    const { state } = await nats.manager.streams.info(to.stream)
    const results = await Promise.allSettled(
      messages.slice(copied).map((message, n) => {
        const { headers } = message
        const carried = Object.fromEntries(
          [...(headers?.keys() ?? [])]
            .filter(name => name.startsWith('Wellhead-'))
            .map(name => [name, headers!.get(name)]),
        )
        const msgID = headers?.get('Nats-Msg-Id')
        const subject = to.subject + message.subject.slice(from.subject.length)
        return nats.jetstream.publish(subject, message.data, {
          ...(msgID && { msgID }),
          headers: nats.headers({ ...carried, [movedHeader]: String(message.seq) }),
          expect: { lastSequence: state.last_seq + n },
        })
      }),
    )
    const failed = results.findIndex(({ status }) => status === 'rejected')
    if (failed === -1) return
    const { reason } = results[failed] as PromiseRejectedResult
    // A replica has reported in the meantime, or a message was a duplicate, which gets no sequence
    // number.
    tries = failed > 0 ? 0 : tries + 1
    if (!isWrongSequence(reason) || tries >= triesMax) throw reason
    copied += failed
  }
}
