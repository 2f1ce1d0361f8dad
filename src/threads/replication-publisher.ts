import { transact } from '../database/database.ts'
import { workerConfig } from '../http/query-workers/config-copy.ts'
import type { Services } from '../instance/services/services.ts'
import { workerErrorMessage } from '../lib/process/worker-error.ts'
import { sleep } from '../lib/time/clock.ts'
import { minuteMs, secondMs } from '../lib/time/instant.ts'
import { natsSettings } from '../replication/nats/connection.ts'
import type { UsagePlace, UsageReport } from '../replication/service/usage.ts'
import type { ReplicationView } from '../replication/service/view.ts'
import { createChangeLog } from '../replication/store/change-log.ts'
import {
  beginEpoch,
  createReplicationState,
  endedEpochs,
  pastTheFence,
  previousEpochs,
} from '../replication/store/state.ts'
import type { FromPublisher, PublisherStart } from './replication-publisher.thread.ts'
import { spawnThread } from './thread.ts'

/** The thread that publishes the commits of this instance, and its duties. */
export type Publishing = ReturnType<typeof startPublishing>

const noteEachMs = 10 * secondMs
const forgottenMax = 500
/** How long a write waits for the stream. */
const reachMaxMs = 5 * secondMs
const reachEachMs = 5
/** A snapshot that did not come about is tried again after this. */
const retryMs = 5 * secondMs
const inProgressMaxMs = 30 * minuteMs

/**
 * Starts publishing the commits of a database. What the stream has already is found there; a
 * database that was restored to an earlier state continues as a new replication epoch, which
 * replicas join from a snapshot. `lastChange` is the last change when this process opened the
 * database.
 */
export function startPublishing(services: Services, databasePath: string, lastChange: number) {
  const { db, config, clock, log } = services
  const { nats } = config
  const changes = createChangeLog(db)
  const replicationEpoch = createEpoch(services)
  const usage = createForeignUsage(services)
  let view: ReplicationView = {
    state: 'connecting',
    position: undefined,
    backlog: undefined,
    snapshot: undefined,
    fault: undefined,
    faultSince: undefined,
    lagMs: 0,
    epoch: undefined,
  }
  let wholeAt = clock.monotonic()
  let isStopped = false

  const threadOf = createThreads(services, databasePath, () => ({
    ...replicationEpoch.current(),
    lastChange,
    usageTaken: usage.taken(),
  }))
  const snapshots = createSnapshots(services, threadOf, snapshot => {
    view = { ...view, snapshot }
  })

  const beginAnew = (why: string) => {
    log.warn('replication_epoch_started', {
      message: `The stream has changes that this database does not have: ${why}. It continues as a new replication epoch, and replicas restart from a snapshot.`,
    })
    replicationEpoch.begin()
    publisher.terminate()
    publisher = threadOf('publish', onMessage)
    snapshots.takeNext()
  }
  const yieldTurn = (to: string) => {
    replicationEpoch.yieldTurn(to)
    // From here on no statement of this process writes.
    db.run('PRAGMA query_only = ON')
    log.error('replaced', {
      message: `Another instance took over: ${to}. This instance no longer writes; changes that are not in the stream are only in this database. "wellhead promote" or a new directory starts from the stream; "wellhead promote --from-here" makes this database the primary again.`,
    })
  }
  const onMessage = (message: FromPublisher) => {
    if (isStopped) return
    if (message.kind === 'position') {
      if (view.state !== 'publishing') log.info('publishing', { position: message.position })
      const backlog = Math.max(0, message.last - message.position)
      if (backlog === 0) wholeAt = clock.monotonic()
      const { position } = message
      view = {
        ...view,
        state: 'publishing',
        position,
        backlog,
        fault: undefined,
        faultSince: undefined,
      }
      return
    }
    if (message.kind === 'usage') return usage.take(message.place, message.report)
    if (message.kind === 'snapshot_missing') return snapshots.takeNext()
    if (message.kind !== 'fault') return
    const { conflict } = message
    if (conflict === 'ahead') return beginAnew(message.message)
    if (conflict === 'replaced') yieldTurn(message.message)
    else if (view.fault !== message.message)
      log.error('not_publishing', { message: faultText(message.message, conflict === 'foreign') })
    view = {
      ...view,
      state: conflict ? 'stopped' : 'connecting',
      fault: message.message,
      faultSince: view.faultSince ?? clock.now(),
    }
  }
  let publisher = threadOf('publish', onMessage)

  const isReached = (sequence: number) =>
    view.state === 'publishing' && (view.position ?? -1) >= sequence
  const waitWhile = async (isOpen: () => boolean, withinMs: number): Promise<void> => {
    const until = clock.monotonic() + withinMs
    while (isOpen() && clock.monotonic() < until) await sleep(reachEachMs)
  }
  let notedAt = Number.NEGATIVE_INFINITY
  return {
    /** Whether the stream has everything that is committed now; waits a while until it has. */
    async reached(withinMs: number = reachMaxMs): Promise<boolean> {
      const sequence = changes.last()
      await waitWhile(() => !isReached(sequence) && view.state !== 'stopped', withinMs)
      return isReached(sequence)
    },
    /** Waits a while until the stream was read at the start, or could not be. */
    begun: (): Promise<void> =>
      waitWhile(
        () => view.state === 'connecting' && view.fault === undefined && !isStopped,
        reachMaxMs,
      ),
    /** The last change that is committed here. */
    sequence: changes.last,
    /** Whether the stream has a change, and everything before it. */
    has: isReached,
    view(): ReplicationView {
      const { position, backlog = 0 } = view
      if (position === undefined) return view
      const open = Math.max(backlog, changes.last() - position)
      const lagMs = open === 0 ? 0 : clock.monotonic() - wholeAt
      return { ...view, backlog: open, lagMs }
    },
    job: {
      name: 'replication',
      pass() {
        if (replicationEpoch.hasYieldedTurn()) return
        const now = clock.now()
        if (view.state === 'publishing') {
          if (view.position !== undefined && now - notedAt >= noteEachMs) {
            notedAt = now
            changes.notePublished(view.position, now)
          }
          snapshots.pass(now)
        }
        changes.forget(now - nats.keepMs, forgottenMax)
      },
    },
    stop() {
      isStopped = true
      publisher.terminate()
      snapshots.stop()
    },
  }
}

const faultText = (message: string, isForeign: boolean): string =>
  isForeign
    ? `${message}, not of this database: nothing is published. Another database publishes there; give this one its own NATS account, or delete the stream if it is not needed.`
    : `Nothing is published until NATS answers again: ${message}`

const usageTakenSetting = 'replication.usage_taken'

/** Counts what replicas have answered; counts and place in their stream are one transaction. */
function createForeignUsage({
  db,
  meter,
  settings,
  log,
}: Pick<Services, 'db' | 'meter' | 'settings' | 'log'>) {
  const [message = '0', stream] = settings.get(usageTakenSetting)?.split(' ') ?? []
  let taken: UsagePlace = { message: Number(message), stream }
  let isNotified = false
  return {
    taken: () => taken,
    take(place: UsagePlace, { usage, returned }: UsageReport) {
      if (place.stream === taken.stream && place.message <= taken.message) return
      taken = place
      meter.take(usage)
      for (const part of returned) meter.putBack(part)
      try {
        transact(db, () => {
          meter.flush()
          settings.set(usageTakenSetting, `${place.message} ${place.stream}`)
        })
        isNotified = false
      } catch (error) {
        if (isNotified) return
        isNotified = true
        log.error('usage_not_written', {
          message: 'What replicas have answered is counted, and written with what comes next.',
          error,
        })
      }
    },
  }
}

/** Why the stream cannot go on with what a database logs from here on. */
const gapReasons = {
  restored: 'A backup was restored over this database.',
  unlogged: 'This database was served without NATS, so that commits are missing in its log.',
} as const

/** The replication epoch that a database continues with: its history of commits. */
function createEpoch({ db, ids, log }: Pick<Services, 'db' | 'ids' | 'log'>) {
  const state = createReplicationState(db)
  const begin = () => pastTheFence(db, () => transact(db, () => beginEpoch(state, ids.uuid())))
  if (state.get('lineage') === undefined) begin()
  else {
    const gaps = (['restored', 'unlogged'] as const).filter(name => state.get(name) !== undefined)
    for (const name of gaps)
      log.warn('replication_epoch_started', {
        message: `${gapReasons[name]} It continues as a new replication epoch, and replicas restart from a snapshot.`,
      })
    if (gaps.length > 0) begin()
    for (const name of gaps) state.remove(name)
  }
  return {
    begin,
    current: () => ({
      replicationEpoch: state.get('lineage')!,
      previousEpochs: previousEpochs(state),
      continues: state.get('continues'),
      endedEpochs: endedEpochs(state),
    }),
    yieldTurn: (to: string) => pastTheFence(db, () => state.set('replaced_by', to)),
    hasYieldedTurn: () => state.get('replaced_by') !== undefined,
  }
}

type OnMessage = (message: FromPublisher) => void
type Threads = (task: PublisherStart['task'], onMessage: OnMessage) => Worker

/** Starts threads that talk to NATS, each with the state at its start. */
function createThreads(
  { config }: Pick<Services, 'config'>,
  databasePath: string,
  current: () => Pick<
    PublisherStart,
    | 'replicationEpoch'
    | 'previousEpochs'
    | 'continues'
    | 'endedEpochs'
    | 'lastChange'
    | 'usageTaken'
  >,
): Threads {
  const { nats } = config
  const replicatedConfig = workerConfig(config)
  return (task, onMessage) => {
    const worker = spawnThread('replication-publisher')
    worker.onmessage = event => onMessage(event.data as FromPublisher)
    worker.onerror = event =>
      onMessage({ kind: 'fault', message: workerErrorMessage(event.message) })
    const start: PublisherStart = {
      task,
      databasePath,
      config: replicatedConfig,
      nats: natsSettings(nats, 'wellhead primary'),
      ...current(),
    }
    worker.postMessage(start)
    return worker
  }
}

/** Snapshots for new replicas: one after the other, each made in its own thread. */
function createSnapshots(
  { config: { nats }, clock, log }: Pick<Services, 'config' | 'clock' | 'log'>,
  threadOf: Threads,
  stored: (snapshot: { sequence: number; storedAt: number }) => void,
) {
  const eachMs = Math.min(nats.snapshotEveryMs, nats.keepMs / 2)
  let dueAt = Number.NEGATIVE_INFINITY
  let begunAt = 0
  let inProgress: Worker | undefined
  const stop = () => {
    inProgress?.terminate()
    inProgress = undefined
  }
  const take = () => {
    begunAt = clock.now()
    dueAt = begunAt + eachMs
    inProgress = threadOf('snapshot', message => {
      stop()
      if (message.kind === 'snapshot') {
        stored({ sequence: message.sequence, storedAt: clock.now() })
        log.info('snapshot_stored', { sequence: message.sequence })
      } else if (message.kind === 'fault') {
        dueAt = clock.now() + retryMs
        log.error('snapshot_failed', { message: message.message })
      }
    })
  }
  return {
    /** The next pass takes one. */
    takeNext() {
      dueAt = Number.NEGATIVE_INFINITY
    },
    pass(now: number) {
      // One that NATS never answered would be the last.
      if (inProgress && now - begunAt > inProgressMaxMs) stop()
      if (now >= dueAt && !inProgress) take()
    },
    stop,
  }
}
