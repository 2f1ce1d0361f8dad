import { dehydrated } from './http/readers/config-copy.ts'
import type { Job } from './jobs/job.ts'
import { sleep } from './lib/clock.ts'
import { minuteMs, secondMs } from './lib/instant.ts'
import type { FromPublisher, PublisherStart } from './publisher.ts'
import type { ReplicationView } from './service/replication/view.ts'
import type { Services } from './services.ts'
import { transact } from './store/database.ts'
import { createChangeLog } from './store/replication/change-log.ts'
import { createReplicationState } from './store/replication/state.ts'

/** The thread that publishes what this copy commits, and the duties that go with it. */
export interface Publishing {
  view(): ReplicationView
  /** Whether the stream has everything that is committed now; waits a while until it has. */
  reached(): Promise<boolean>
  job: Job
  stop(): void
}

const noteEachMs = 10 * secondMs
const forgottenMax = 500
/** How long a write waits for the stream. */
const reachMaxMs = 5 * secondMs
const reachEachMs = 5
/** A snapshot that did not come about is tried again after this. */
const retryMs = minuteMs

/**
 * Starts publishing the commits of a database. What the stream has already is found there; a
 * database that was restored to an earlier state goes on as a new lineage, of which copies begin
 * with a snapshot. `lastChange` is the last one when this process opened the database.
 */
export function startPublishing(
  services: Services,
  databasePath: string,
  lastChange: number,
): Publishing {
  const { db, config, clock, ids, log } = services
  const { nats } = config
  const changes = createChangeLog(db)
  const state = createReplicationState(db)
  const configCopy = dehydrated(config)
  const takeLineage = (previous: string | undefined) =>
    transact(db, () => {
      state.set('lineage', ids.uuid())
      if (previous !== undefined) state.set('previous_lineage', previous)
    })
  if (state.get('lineage') === undefined) takeLineage(undefined)

  let view: ReplicationView = {
    state: 'connecting',
    position: changes.first() - 1,
    backlog: 0,
    snapshot: undefined,
    trouble: undefined,
  }
  let [notedAt, snapshotDueAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let snapshotting: Worker | undefined
  let stopped = false

  const startOf = (task: PublisherStart['task']): PublisherStart => ({
    task,
    databasePath,
    config: configCopy,
    nats: {
      servers: nats.servers,
      credentialsFile: nats.credentialsFile,
      token: nats.token.reveal(),
      name: 'wellhead primary',
    },
    lineage: state.get('lineage')!,
    previousLineage: state.get('previous_lineage'),
    continues: state.get('continues'),
    hasPublished: changes.hasPublished(),
    lastChange,
  })
  const thread = (task: PublisherStart['task'], hear: (message: FromPublisher) => void) => {
    const worker = new Worker(new URL('./publisher.ts', import.meta.url).href)
    worker.onmessage = event => hear(event.data as FromPublisher)
    worker.onerror = event => hear({ kind: 'trouble', message: event.message })
    worker.postMessage(startOf(task))
    return worker
  }

  const hear = (message: FromPublisher) => {
    if (stopped) return
    if (message.kind === 'position') {
      if (view.state !== 'publishing') log.info('publishing', { position: message.position })
      const backlog = Math.max(0, message.last - message.position)
      const { position } = message
      view = { ...view, state: 'publishing', position, backlog, trouble: undefined }
      return
    }
    if (message.kind !== 'trouble') return
    const { conflict } = message
    if (conflict === 'ahead') {
      log.warn('lineage_begun', {
        message: `The stream knows more than this database, which was restored: ${message.message}. It goes on as a new lineage, and copies begin anew with a snapshot.`,
      })
      takeLineage(state.get('lineage'))
      publisher.terminate()
      publisher = thread('publish', hear)
      snapshotDueAt = Number.NEGATIVE_INFINITY
      return
    }
    if (conflict === 'replaced') {
      state.set('replaced_by', message.message)
      // From here on no statement of this process writes.
      db.run('PRAGMA query_only = ON')
      log.error('replaced', {
        message: `Another copy took over: ${message.message}. Nothing is written here any more; what was committed here after change ${view.position} is only in this database. "wellhead promote" or a new directory begins with what the stream has.`,
      })
    } else if (view.trouble !== message.message)
      log.error('not_publishing', {
        message:
          conflict === 'foreign'
            ? `${message.message}, not of this database: nothing is published. Another database publishes there; give this one a NATS account of its own, or delete the stream if nobody needs it.`
            : `Nothing is published until NATS answers again: ${message.message}`,
      })
    view = { ...view, state: conflict ? 'stopped' : 'connecting', trouble: message.message }
  }
  let publisher = thread('publish', hear)

  const snapshotEachMs = Math.min(nats.snapshotEveryMs, nats.keepMs / 2)
  const takeSnapshot = () => {
    snapshotDueAt = clock.now() + snapshotEachMs
    snapshotting = thread('snapshot', message => {
      snapshotting?.terminate()
      snapshotting = undefined
      if (message.kind === 'snapshot') {
        view = { ...view, snapshot: { sequence: message.sequence, storedAt: clock.now() } }
        log.info('snapshot_stored', { sequence: message.sequence })
      } else if (message.kind === 'trouble') {
        snapshotDueAt = clock.now() + retryMs
        log.error('snapshot_failed', { message: message.message })
      }
    })
  }

  const isReached = (sequence: number) => view.state === 'publishing' && view.position >= sequence
  return {
    async reached() {
      const sequence = changes.last()
      const until = clock.monotonic() + reachMaxMs
      while (!isReached(sequence) && view.state !== 'stopped' && clock.monotonic() < until)
        await sleep(reachEachMs)
      return isReached(sequence)
    },
    view: () => ({ ...view, backlog: Math.max(view.backlog, changes.last() - view.position) }),
    job: {
      name: 'replication',
      pass() {
        if (state.get('replaced_by') !== undefined) return
        const now = clock.now()
        if (view.state === 'publishing') {
          if (now - notedAt >= noteEachMs) {
            notedAt = now
            changes.notePublished(view.position, now)
          }
          if (now >= snapshotDueAt && !snapshotting) takeSnapshot()
        }
        changes.forget(now - nats.keepMs, forgottenMax)
      },
    },
    stop() {
      stopped = true
      publisher.terminate()
      snapshotting?.terminate()
    },
  }
}
