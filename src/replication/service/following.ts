import type { JsMsg } from '@nats-io/jetstream'
import { schemaVersion } from '../../database/migrations.ts'
import type { Log } from '../../lib/log/log.ts'
import { type Clock, sleep } from '../../lib/time/clock.ts'
import { secondMs } from '../../lib/time/instant.ts'
import type { Nats } from '../nats/connection.ts'
import type { Delta } from '../store/delta.ts'
import {
  type Change,
  type ChangePart,
  createChangeReader,
  createUnknownMessageLog,
  schemaFault,
} from './changes.ts'
import { changesOf } from './earlier-streams.ts'
import { consumeEach } from './subjects.ts'

/** A replica that applies the stream. */
export interface FollowingReplica {
  replicationEpoch: string
  /** The change it is at. */
  applied: number
  /** The message of the stream that it is at; 0: not known. */
  message: number
  /** When the stream of that message was made; undefined: not known. */
  stream: string | undefined
  /** In one transaction with the message that it came by. */
  apply(delta: Delta, at: StreamPlace): void
}

/** The message that a change came by. */
export interface StreamPlace {
  message: number
  stream: string | undefined
  replicationEpoch: string
}

/** Why a replica does not follow at present. */
export interface FollowFault {
  kind: 'cannot_apply' | 'gap' | 'other_lineage'
  message: string
}

/** The snapshot that is needed to continue where the stream does not. */
interface Wanted {
  replicationEpoch: string
  change: number
}

const pollMs = 100
const retryMs = 1000
const waitEachMs = 5
const fetchedMax = 500
const snapshotEachMs = secondMs

export interface FollowDeps {
  clock: Pick<Clock, 'monotonic'>
  log: Log
  /** The snapshots in the object store, the newest first. */
  snapshots(): Promise<readonly { replicationEpoch: string; sequence: number }[]>
}

/**
 * Begins after the last change that the replica has. A server that does not answer is retried
 * forever. A change that cannot be applied is retried until it can be, or until a snapshot contains
 * it.
 */
export function followStream(
  nats: Pick<Nats, 'jetstream' | 'manager' | 'names'>,
  copy: FollowingReplica,
  { clock, log, snapshots }: FollowDeps,
) {
  let { stream } = nats.names.changes
  const noteUnknown = createUnknownMessageLog(log)
  const read = createChangeReader()
  let { replicationEpoch, applied, message: at, stream: created } = copy
  let fault: FollowFault | undefined
  let wanted: Wanted | undefined
  /** The replication epoch of the last change, if it does not continue that of this replica. */
  let other: string | undefined
  let isStopped = false
  let wholeAt = Number.NEGATIVE_INFINITY
  let interrupt = () => {}
  let end: (why: string) => void = () => {}
  /**
   * Resolves, with the reason, when replication can continue only from a newer snapshot, and there
   * is one.
   */
  const ended = new Promise<string>(done => {
    end = done
  })
  const finish = (why: string) => {
    isStopped = true
    interrupt()
    end(why)
  }
  const fail = (kind: FollowFault['kind'], message: string, lacks: Wanted | undefined) => {
    if (fault?.message !== message) log.error('replica_not_following', { reason: kind, message })
    fault = { kind, message }
    if (wanted?.replicationEpoch !== lacks?.replicationEpoch || wanted?.change !== lacks?.change)
      wanted = lacks
  }
  const recover = () => {
    if (fault) log.info('replica_follows', { change: applied })
    fault = undefined
    wanted = undefined
  }

  /** Whether the replica has the message now. */
  const take = (change: Change, seq: number): boolean => {
    const { replicationEpoch: carried, continues, delta } = change
    other = carried !== replicationEpoch && continues !== replicationEpoch ? carried : undefined
    if (other !== undefined) return true
    if (delta.upTo > applied && delta.after > applied) {
      fail('gap', `The stream begins after change ${delta.after}, this instance is at ${applied}`, {
        replicationEpoch: carried,
        change: delta.after,
      })
      return false
    }
    replicationEpoch = carried
    if (delta.upTo > applied) {
      const refusal = schemaFault(change)
      // This version reads neither changes nor snapshots of a newer schema.
      const isNewer = (change.schema ?? 0) > schemaVersion
      const lacks = isNewer ? undefined : { replicationEpoch, change: delta.upTo }
      if (refusal !== undefined) {
        fail('cannot_apply', `Message ${seq} of the stream cannot be applied: ${refusal}`, lacks)
        return false
      }
      try {
        copy.apply(delta, { message: seq, stream: created, replicationEpoch })
      } catch (error) {
        fail('cannot_apply', `Message ${seq} of the stream cannot be applied: ${error}`, lacks)
        return false
      }
      if (delta.isLast) applied = delta.upTo
    }
    recover()
    return true
  }
  /** Whether the replica needs nothing more of a change with missing parts. */
  const passOver = ({ replicationEpoch: carried, continues, reaches }: ChangePart): boolean => {
    const isOther = carried !== replicationEpoch && continues !== replicationEpoch
    if (isOther) other = carried
    if (isOther || reaches <= applied) return true
    fail('gap', `The stream lacks parts of change ${reaches}, this instance is at ${applied}`, {
      replicationEpoch: carried,
      change: reaches,
    })
    return false
  }
  /** Another replication epoch is a fault only at the end: earlier epochs may come before. */
  const reachEnd = (since: number) => {
    if (other !== undefined)
      fail(
        'other_lineage',
        `The stream has continued as replication epoch ${other}, this instance belongs to ${replicationEpoch}`,
        {
          replicationEpoch: other,
          change: 0,
        },
      )
    if (!fault) wholeAt = Math.max(wholeAt, since)
  }
  const consume = async () => {
    stream = (await changesOf(nats, { replicationEpoch, previousEpochs: [] }, noteUnknown)).stream
    const info = await nats.manager.streams.info(stream)
    // A stream that was made again under the same name numbers its messages from 1.
    if ((created !== undefined && info.created !== created) || info.state.last_seq < at) at = 0
    created = info.created
    const consumer = await nats.jetstream.consumers.get(stream, {
      opt_start_seq: Math.max(at + 1, info.state.first_seq, 1),
    })
    const messages = await consumer.consume({ max_messages: fetchedMax, ...consumeEach })
    // A consumer may wait for messages forever after its stream was deleted.
    const interrupted = new Promise<undefined>(done => {
      interrupt = () => done(undefined)
    })
    const iterator = messages[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await Promise.race([iterator.next(), interrupted])
        if (!next || next.done || isStopped || !takeMessage(next.value)) return
      }
    } finally {
      void Promise.resolve(messages.close()).catch(() => undefined)
    }
  }
  const takeMessage = (message: JsMsg): boolean => {
    const { headers, data, seq } = message
    const next = read(headers, data)
    if (next.kind === 'unknown') noteUnknown(stream, seq, next.why)
    else if (next.kind === 'incomplete' && !passOver(next.part)) return false
    else if (next.kind === 'change' && !take(next.change, seq)) return false
    at = seq
    if (message.info.pending === 0) reachEnd(clock.monotonic())
    return true
  }
  const run = async () => {
    while (!isStopped) {
      try {
        await consume()
      } catch (error) {
        if (!isStopped) log.warn('replica_interrupted', { message: `${error}` })
      }
      interrupt = () => {}
      if (!isStopped) await sleep(retryMs)
    }
  }
  const poll = async () => {
    while (!isStopped) {
      const askedAt = clock.monotonic()
      try {
        const { state, created: current } = await nats.manager.streams.info(stream)
        if (current !== created || state.last_seq < at) interrupt()
        else if (at >= state.last_seq) reachEnd(askedAt)
      } catch {
        // The lag grows until NATS answers.
      }
      await sleep(pollMs)
    }
  }
  const lookForSnapshot = async () => {
    while (!isStopped) {
      const lacks = wanted
      if (lacks) {
        const stored = await snapshots().catch(() => [])
        const leads = stored.some(
          snapshot =>
            snapshot.replicationEpoch === lacks.replicationEpoch &&
            snapshot.sequence >= lacks.change,
        )
        if (leads && wanted === lacks && fault) finish(fault.message)
      }
      await sleep(snapshotEachMs)
    }
  }
  void run()
  void poll()
  void lookForSnapshot()
  return {
    /** The last change that the replica has applied. */
    applied: () => applied,
    /** Time since the replica last had everything that the stream has, ms. */
    lagMs: () => clock.monotonic() - wholeAt,
    /** Why the replica does not follow; undefined where it does. */
    fault: () => fault,
    /** Whether the replica reaches a change within a time. */
    async reaches(sequence: number, withinMs: number) {
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
