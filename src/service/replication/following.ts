import type { Log } from '../../lib/log/log.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { sleep } from '../../lib/time/clock.ts'
import type { Nats } from '../../send/nats/connection.ts'
import type { Delta } from '../../store/replication/delta.ts'
import { changeHeaders, changesStream, consumeEach } from './subjects.ts'

/** A copy that the stream is applied to as it comes. */
export interface FollowingCopy {
  lineage: string
  /** The change it is at. */
  applied: number
  /** The message of the stream that it is at; 0: not known. */
  message: number
  /** In one transaction with the message that it came by. */
  apply(delta: Delta, message: number, lineage: string): void
}

/** Applies the stream to a copy, message by message, for as long as it runs. */
export interface Following {
  /** The change that the copy is at. */
  applied(): number
  /** Since when it is not known to have everything that the stream has, ms. */
  lagMs(): number
  /** Whether the copy comes to have a change within a while. */
  reaches(sequence: number, withinMs: number): Promise<boolean>
  /** Resolves, with the reason, when the stream goes on with what does not follow this copy. */
  ended: Promise<string>
  stop(): void
}

const pollMs = 100
const retryMs = 1000
const waitEachMs = 5
const fetchedMax = 500

/** Begins behind what the copy has. A server that does not answer is asked again, for ever. */
export function followStream(
  nats: Pick<Nats, 'jetstream' | 'manager'>,
  copy: FollowingCopy,
  { clock, log }: { clock: Pick<Clock, 'monotonic'>; log: Log },
): Following {
  let { lineage, applied, message: at } = copy
  let carriedLast: string | undefined
  let isStopped = false
  let wholeAt = Number.NEGATIVE_INFINITY
  let interrupt = () => {}
  let end: (why: string) => void = () => {}
  const ended = new Promise<string>(done => {
    end = done
  })
  const finish = (why: string) => {
    isStopped = true
    interrupt()
    end(why)
  }

  const take = (text: () => string, seq: number, carried: string, continued: string) => {
    carriedLast = carried
    if (carried !== lineage) {
      if (continued !== lineage) return
      lineage = carried
    }
    const delta = JSON.parse(text()) as Delta
    if (delta.upTo <= applied) return
    if (delta.after > applied)
      return finish(`the stream begins after change ${delta.after}, this copy is at ${applied}`)
    copy.apply(delta, seq, lineage)
    if (delta.isLast) applied = delta.upTo
  }
  const consume = async () => {
    const { state } = await nats.manager.streams.info(changesStream)
    const consumer = await nats.jetstream.consumers.get(changesStream, {
      opt_start_seq: Math.max(at + 1, state.first_seq, 1),
    })
    const messages = await consumer.consume({ max_messages: fetchedMax, ...consumeEach })
    interrupt = () => messages.stop()
    for await (const message of messages) {
      if (isStopped) return
      const { headers, seq } = message
      const header = (name: string) => headers?.get(name) ?? ''
      take(
        () => message.string(),
        seq,
        header(changeHeaders.lineage),
        header(changeHeaders.continues),
      )
      at = seq
      if (message.info.pending === 0) wholeAt = clock.monotonic()
    }
  }
  const run = async () => {
    while (!isStopped) {
      try {
        await consume()
      } catch (error) {
        if (!isStopped) log.warn('replica_interrupted', { message: `${error}` })
      }
      if (!isStopped) await sleep(retryMs)
    }
  }
  const poll = async () => {
    while (!isStopped) {
      const askedAt = clock.monotonic()
      try {
        const { state } = await nats.manager.streams.info(changesStream)
        if (at >= state.last_seq) {
          wholeAt = Math.max(wholeAt, askedAt)
          // Only at the end of the stream: what comes before a snapshot may be of lineages before it.
          if (carriedLast !== undefined && carriedLast !== lineage)
            finish(`the stream has gone on as lineage ${carriedLast}`)
        }
      } catch {
        // The lag tells it.
      }
      await sleep(pollMs)
    }
  }
  void run()
  void poll()
  return {
    applied: () => applied,
    lagMs: () => clock.monotonic() - wholeAt,
    async reaches(sequence, withinMs) {
      const until = clock.monotonic() + withinMs
      while (applied < sequence && !isStopped && clock.monotonic() < until) await sleep(waitEachMs)
      return applied >= sequence
    },
    ended,
    stop() {
      isStopped = true
      interrupt()
    },
  }
}
