import { dehydrated } from './http/readers/config-copy.ts'
import type { Job } from './jobs/job.ts'
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
  job: Job
  stop(): void
}

const noteEachMs = 10 * secondMs
const forgottenMax = 500
/** A snapshot that did not come about is tried again after this. */
const retryMs = minuteMs

/**
 * Starts publishing the commits of a database. What the stream has already is found there; a
 * database that was restored to an earlier state goes on as a new lineage, of which copies begin
 * with a snapshot.
 */
export function startPublishing(services: Services, databasePath: string): Publishing {
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
    if (view.trouble !== message.message)
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

  return {
    view: () => ({ ...view, backlog: Math.max(view.backlog, changes.last() - view.position) }),
    job: {
      name: 'replication',
      pass() {
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
