import type { Services } from '../instance/services/services.ts'
import { every, sleep, within } from '../lib/time/clock.ts'
import { secondMs } from '../lib/time/instant.ts'
import { version } from '../version.ts'
import { connectNats, type Nats, natsSettings } from './nats/connection.ts'
import { createUnknownMessageLog, endOfStream } from './service/changes.ts'
import { type LateReplica, lateReplicas } from './service/condition.ts'
import { createLeaseView, type HeldLease } from './service/lease.ts'
import {
  announceNode,
  type HeldQuotas,
  nodesTtlMs,
  type Topology,
  topologyOf,
} from './service/nodes.ts'
import { createQuotaGrants, type QuotaGrants } from './service/quota-grants.ts'
import { createReplicationState, previousEpochs } from './store/state.ts'

/**
 * The agreement of a primary with other instances over NATS, in addition to the stream of its
 * commits.
 */
export type Cluster = ReturnType<typeof startCluster>

/** Facts about this instance from the stream. */
export interface ClusterDeps {
  /** Whether the stream has everything that is committed now; waits a while until it has. */
  reached(): Promise<boolean>
  /** The stream continues with what this instance commits. */
  isPublishing(): boolean
  /** Up to which change the stream has everything. */
  position(): number
  /** The address that the server listens on, once it does. */
  url?: (() => string | undefined) | undefined
}

const retryMs = secondMs
const renewEachMs = 500
const renewWithinMs = secondMs
const fenceEachMs = 100
const checkEachMs = 5 * secondMs

/** An address that is every address of its machine leads the others to themselves. */
export const reachable = (url: string) => (/\/\/(?:0\.0\.0\.0|\[::\])[:/]/.test(url) ? '' : url)

type Parts = Pick<Services, 'db' | 'config' | 'keys' | 'meter' | 'clock' | 'ids' | 'log'>

/** Meets the others for as long as the process runs; without NATS it tries again, for ever. */
export function startCluster(services: Parts, deps: ClusterDeps) {
  const { config, clock, ids, log } = services
  const { nats: settings } = config
  let isStopped = false
  let nats: Nats | undefined
  let grants: QuotaGrants | undefined
  let stopAnnouncing: (() => void) | undefined
  const leasing = settings.standby === 'auto' ? createLeasing(services, deps) : undefined
  /** Over a connection that comes back by itself; what fails begins again. */
  const lasting = async (work: () => Promise<void>) => {
    while (!isStopped) {
      await work().catch(error => {
        if (!isStopped) log.warn('cluster_interrupted', { message: `${error}` })
      })
      if (!isStopped) await sleep(retryMs)
    }
  }
  const granting = async () => {
    const bucket = await nats!.bucket(nats!.names.quotas, settings.copies, 0)
    grants = createQuotaGrants({ ...services, bucket, reached: deps.reached })
    await grants.run()
  }
  const startedAt = clock.now()
  const id = ids.uuid()
  const noPools: HeldQuotas = { keys: 0, requests: 0 }
  const announcing = async (connection: Nats) => {
    const bucket = await connection.bucket(connection.names.nodes, settings.copies, nodesTtlMs)
    stopAnnouncing = announceNode(bucket, id, () => ({
      role: 'primary',
      url: settings.address || reachable(deps.url?.() ?? ''),
      version,
      isStandby: settings.standby === 'auto',
      startedAt,
      toldAt: clock.now(),
      change: deps.position(),
      lagMs: null,
      quotas: grants?.held() ?? noPools,
    }))
    await connection.connection.closed()
  }
  const run = async () => {
    await lasting(async () => {
      nats = await connectNats(natsSettings(settings, 'wellhead primary, lease and quotas'))
      if (isStopped) return await nats.close()
      const connection = nats
      await Promise.all([
        lasting(granting),
        lasting(() => announcing(connection)),
        ...(leasing ? [lasting(() => leasing.run(connection))] : []),
      ])
    })
  }
  void run()
  let late: readonly LateReplica[] = []
  let checkedAt = Number.NEGATIVE_INFINITY
  const checkForLate = () => {
    if (!nats || clock.monotonic() - checkedAt < checkEachMs) return
    checkedAt = clock.monotonic()
    topologyOf(nats, settings.copies)
      .then(({ nodes }) => {
        late = lateReplicas(nodes)
      })
      // Without a response the earlier status remains.
      .catch(() => undefined)
  }
  return {
    /** The replicas that serve possibly stale reads, as they last reported. */
    lateReplicas: (): readonly LateReplica[] => late,
    /** Why nothing may be written now; undefined where it may be. */
    refusal: leasing?.refusal ?? (() => undefined),
    /** The epoch of the lease that this instance has; undefined: none. */
    epoch: leasing?.epoch ?? (() => undefined),
    job: {
      name: 'quotas',
      pass() {
        checkForLate()
        grants?.reclaim().catch(error => log.warn('quota_not_reclaimed', { message: `${error}` }))
      },
    },
    /** The requests in quota pools. */
    pools: (): HeldQuotas => grants?.held() ?? noPools,
    /** The running instances; rejects where NATS does not respond. */
    async topology(): Promise<Topology> {
      if (!nats) throw new Error('NATS has not answered yet')
      return await topologyOf(nats, settings.copies)
    },
    stop() {
      isStopped = true
      leasing?.stop()
      stopAnnouncing?.()
      void nats?.close().catch(() => undefined)
    },
  }
}

/**
 * Holds the lease, and lets this instance write only while it has the lease and the stream has
 * confirmed that no one took over.
 */
function createLeasing({ db, config, clock, log }: Parts, deps: ClusterDeps) {
  const state = createReplicationState(db)
  let held: HeldLease | undefined
  let why = 'it has not met NATS yet, and so does not know whether it is the primary'
  let hasPublished = false
  /** Undefined until it is known whether this instance has the lease. */
  let isFenced: boolean | undefined
  const refusal = (): string | undefined => {
    hasPublished ||= deps.isPublishing()
    if (state.get('replaced_by') !== undefined)
      return `another instance took over: ${state.get('replaced_by')}`
    if (!held?.isValid()) return why
    return hasPublished
      ? undefined
      : 'the stream has not yet confirmed that no other instance took over'
  }
  const fence = () => {
    // A replaced instance stays fenced, whichever instance holds the lease.
    if (state.get('replaced_by') !== undefined) return
    const isClosed = held === undefined || !held.isValid()
    if (isClosed === isFenced) return
    isFenced = isClosed
    // No statement of this process writes: no job, no message, no command by the socket.
    db.run(`PRAGMA query_only = ${isClosed ? 'ON' : 'OFF'}`)
    if (isClosed) log.error('lease_not_held', { message: `Nothing is written: ${why}.` })
    else log.info('lease_held', { epoch: held?.lease.epoch })
  }
  const stopFencing = every(fenceEachMs, fence)
  const isOwn = (holder: string) =>
    [state.get('lineage'), ...previousEpochs(state)].includes(holder)
  const isReplaced = () => state.get('replaced_by') !== undefined
  const noteUnknown = createUnknownMessageLog(log)
  /** The replication epoch that took over according to the stream. */
  const successor = async (nats: Nats) => {
    const epochs = {
      replicationEpoch: state.get('lineage') ?? '',
      previousEpochs: previousEpochs(state),
    }
    const { stream } = nats.names.changes
    return (await endOfStream(nats, stream, epochs, noteUnknown)).replacedBy
  }
  /**
   * Whether another instance took over in the stream: a lease holder that the stream does not
   * continue with would keep the lease from the right one.
   */
  const isOutrun = async (nats: Nats) =>
    isReplaced() || (await successor(nats).catch(() => undefined)) !== undefined
  const acquire = async (nats: Nats): Promise<HeldLease> => {
    const view = createLeaseView(await nats.bucket(nats.names.lease, config.nats.copies, 0), clock)
    for (;;) {
      await view.refresh()
      const current = view.current()
      const isFree = !current || isOwn(current.holder) || view.isAbandoned()
      if (!isFree)
        why = `the lease of epoch ${current.epoch} belongs to another instance${current.url ? `, ${current.url}` : ''}`
      else if (await isOutrun(nats)) why = 'the stream continues with commits of another instance'
      else {
        const url = config.nats.address || reachable(deps.url?.() ?? '')
        const taken = await view.take(state.get('lineage') ?? '', url)
        if (taken) return taken
      }
      await sleep(renewEachMs)
    }
  }
  return {
    refusal,
    epoch: () => (held?.isValid() ? held.lease.epoch : undefined),
    async run(nats: Nats) {
      held = await acquire(nats)
      why = 'the lease was not renewed: NATS does not answer'
      fence()
      for (;;) {
        await sleep(renewEachMs)
        if (isReplaced()) {
          why = 'another instance took over'
          const next = await successor(nats)
          if (next !== undefined) await held.handTo(next)
          held = await acquire(nats)
        }
        // Without a response it is renewed again, whatever the outcome was.
        const renewed = held.renew().catch(() => true)
        const isKept = (await within(renewWithinMs, renewed)) ?? true
        if (!isKept) {
          why = 'another instance holds the lease'
          fence()
          held = await acquire(nats)
          fence()
        } else if (!held.isValid()) {
          // The bucket itself may be gone: it is made again, and the lease taken again.
          held = await acquire(nats)
          fence()
        }
      }
    },
    stop: stopFencing,
  }
}
