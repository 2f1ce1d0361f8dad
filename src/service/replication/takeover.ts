import { isWrongSequence, type Nats } from '../../send/nats/connection.ts'
import type { Delta } from '../../store/replication/delta.ts'
import { changeHeaders, changesStream } from './subjects.ts'

/** Rows of a copy that the stream is applied to. */
export interface TakenOver {
  lineage: string
  /** The change it is at. */
  applied: number
  /** The message of the stream that it is at; 0: not known. */
  message: number
  apply(delta: Delta): void
}

const fetchedMax = 200
const waitMs = 2000

/**
 * Brings a copy up to the end of the stream and ends the lineage that it is of: the last message
 * names the next one. Who published so far is refused from then on, because it does not know that
 * message; what it had published until then is in the copy. Answers the change that both
 * share, and the lineage that ended.
 */
export async function takeOver(
  nats: Nats,
  copy: TakenOver,
  next: string,
  readAt: number,
): Promise<{ position: number; ended: string }> {
  let { lineage, applied } = copy
  let sequence = copy.message
  const take = (text: string, carried: string, continued: string) => {
    if (carried !== lineage) {
      if (continued !== lineage) return
      lineage = carried
    }
    const delta = JSON.parse(text) as Delta
    if (delta.upTo <= applied) return
    if (delta.after > applied)
      throw new Error(
        `the stream begins after change ${delta.after} and the newest snapshot is at ${applied}: what is between them is lost`,
      )
    copy.apply(delta)
    if (delta.isLast) applied = delta.upTo
  }
  for (;;) {
    const { state } = await nats.manager.streams.info(changesStream)
    if (state.messages > 0 && sequence < state.last_seq) {
      const consumer = await nats.jetstream.consumers.get(changesStream, {
        opt_start_seq: Math.max(sequence + 1, state.first_seq),
      })
      while (sequence < state.last_seq) {
        const messages = await consumer.fetch({ max_messages: fetchedMax, expires: waitMs })
        for await (const message of messages) {
          sequence = message.seq
          const { headers } = message
          take(
            message.string(),
            headers?.get(changeHeaders.lineage) ?? '',
            headers?.get(changeHeaders.continues) ?? '',
          )
          if (sequence >= state.last_seq) break
        }
      }
    }
    const last = await nats.manager.streams
      .getMessage(changesStream, { last_by_subj: changesStream })
      .catch(() => null)
    const carried = last?.header.get(changeHeaders.lineage)
    if (carried !== undefined && carried !== lineage)
      throw new Error(
        `the stream has gone on as lineage ${carried}, of which there is no snapshot yet; try again when there is one`,
      )
    const marker: Delta = {
      after: applied,
      upTo: applied,
      isLast: true,
      readAt,
      tables: [],
      ranges: [],
      counters: {},
    }
    try {
      await nats.jetstream.publish(changesStream, JSON.stringify(marker), {
        msgID: `${next}.begins`,
        headers: nats.headers({
          [changeHeaders.lineage]: next,
          [changeHeaders.continues]: lineage,
          [changeHeaders.position]: String(applied),
        }),
        expect: { lastSequence: state.last_seq },
      })
      return { position: applied, ended: lineage }
    } catch (error) {
      // Somebody has published meanwhile: that belongs to the copy, too.
      if (!isWrongSequence(error)) throw error
    }
  }
}
