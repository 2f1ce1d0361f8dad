import { existsSync } from 'node:fs'
import type { Server } from 'bun'
import { listeningUrl } from '../../config/address.ts'
import type { Config } from '../../config/config.ts'
import { fileFaults, readyFileFaults } from '../../config/paths.ts'
import { connectionsOf, type SocketData } from '../../http/cable.ts'
import { front } from '../../http/front.ts'
import { makeDirectory } from '../../instance/services/directory.ts'
import { refusePaths } from '../../instance/services/refusals.ts'
import type { Lock } from '../../lib/files/directory-lock.ts'
import { errorText } from '../../lib/files/error-text.ts'
import { writeStateFile } from '../../lib/files/side-file.ts'
import { masterKeyPath } from '../../lib/secrets/master-key.ts'
import { sleep, within } from '../../lib/time/clock.ts'
import { reachable } from '../../replication/cluster.ts'
import { connectNats, type Nats, natsSettings } from '../../replication/nats/connection.ts'
import {
  fetchReplica,
  openReplica,
  type Replica,
  refuseOtherDatabase,
  replaceReplica,
} from '../../replication/replica.ts'
import { createLeaseView, type HeldLease, type LeaseView } from '../../replication/service/lease.ts'
import { NoSnapshot } from '../../replication/service/snapshots.ts'
import { createPrimaryClient } from '../../send/primary.ts'
import { exitCodes } from '../exit-codes.ts'
import { promoteReplica } from '../replication/promote.ts'
import { whileLocked } from './locked-directory.ts'
import {
  type Answer,
  firstStop,
  frontOf,
  listen,
  type ServeEnvironment,
  serve,
  startingUp,
} from './serve.ts'

const retryMs = 1000

/** Serves a replica until the process receives a signal to stop. Returns the exit code. */
export async function serveReplica(env: ServeEnvironment): Promise<number> {
  const { runtime, dir } = env
  const { config } = runtime
  const missing = missingSetting(config, dir)
  if (missing !== undefined) {
    env.err(missing)
    return exitCodes.failed
  }
  refusePaths([...fileFaults(config), ...readyFileFaults(config)])
  const isNew = !existsSync(dir)
  makeDirectory(dir)
  return whileLocked(env, {
    role: 'replica',
    isNew,
    inUse: () => `${dir} is in use by another process: name another directory with --data.`,
    serve: lock => serveLocked(env, lock),
  })
}

/** Serves a replica in a directory that this process has locked. */
async function serveLocked(env: ServeEnvironment, lock: Lock): Promise<number> {
  const { runtime, dir } = env
  const { config, log } = runtime
  refuseOtherDatabase(dir)
  let isStopping = false
  const stopRequested = firstStop(env).then(() => {
    isStopping = true
  })
  const originals = new WeakMap<Request, Request>()
  let answer: Answer | undefined
  const server: Server<SocketData> = listen(
    config,
    (request, self) => answer?.(request, self) ?? startingUp(),
  )
  const nats = await connected(config)
  const peer = {
    requestIP: (request: Request) => server.requestIP(originals.get(request) ?? request),
  }
  const standby = createStandby(nats, env, () => isStopping)
  void standby.watch()
  const connections = connectionsOf(() => server, originals, new WeakSet())
  let replica: Replica | undefined
  // Forwards requests during a change of the primary.
  const passOn = createPrimaryClient(
    standby.primary,
    request => peer.requestIP(request)?.address ?? undefined,
  )
  const fetch = front({
    handle: request => replica?.answer(request) ?? passOn(request).catch(startingUp),
    ...frontOf(runtime, server, originals),
  })
  const url = listeningUrl({ host: config.server.host, port: server.port! })
  const announce = () => {
    if (answer) return
    answer = request => fetch(request)
    lock.announce(url)
    if (config.server.readyFile)
      writeStateFile(config.server.readyFile, `${JSON.stringify({ url })}\n`)
    env.out(`${config.brand.serviceName} replica at ${url} of ${config.replica.primary}`)
    log.info('server_listening', { url, data: dir, mode: 'replica' })
  }
  const follow = async () => {
    let isWaiting = false
    while (!isStopping) {
      try {
        replica ??= await openReplica({
          runtime,
          dir,
          nats,
          peer,
          connections,
          isStopping: () => isStopping,
          url: () => config.nats.address || reachable(url),
          primary: standby.primary,
        })
        announce()
        const why = await Promise.race([replica.ended, stopRequested, standby.taken])
        if (why === undefined || typeof why === 'object') return why
        log.warn('replica_restarts', { message: `${why}: it starts from a new snapshot.` })
        // The replica continues to answer reads until the next snapshot is fetched.
        await fetchReplica(dir, nats, config.nats.copies)
        const ended = replica
        replica = undefined
        await ended.close()
        replaceReplica(dir)
      } catch (error) {
        if (!(error instanceof NoSnapshot)) log.error('replica_failed', { message: String(error) })
        else if (!isWaiting)
          log.info('replica_waits', {
            message: `${error.message} yet: the primary writes one when it starts to publish.`,
          })
        isWaiting = error instanceof NoSnapshot
      }
      await within(retryMs, stopRequested)
    }
  }
  const heldLease = await follow()
  if (heldLease) {
    log.warn('standby_takes_over', { epoch: heldLease.lease.epoch })
    const ended = replica
    // Reads are answered until the next instance takes over.
    ended?.stopFollowing()
    const change = await standby.promote(heldLease)
    log.warn('promoted', { change, epoch: heldLease.lease.epoch })
    const port = server.port ?? config.server.port
    replica = undefined
    ended?.endStreams()
    await server.stop(true)
    // Its last reports are sent in the meantime; writes do not wait for them.
    void (ended?.close() ?? Promise.resolve()).finally(() => nats.close())
    lock.release()
    return await serve({
      ...env,
      runtime: { ...runtime, config: { ...config, server: { ...config.server, port } } },
    })
  }
  log.info('server_stopping')
  if (config.server.stopNoticeMs > 0) await sleep(config.server.stopNoticeMs)
  replica?.endStreams()
  await within(config.server.drainMs, server.stop(false))
  await server.stop(true)
  await replica?.close()
  await nats.close()
  log.info('server_stopped')
  return exitCodes.done
}

/** Connects to NATS; an error names the setting. */
async function connected({ nats }: Config): Promise<Nats> {
  try {
    return await connectNats(natsSettings(nats, 'wellhead replica'))
  } catch (error) {
    throw new Error(
      `nats.servers must name servers that accept a connection; ${nats.servers.join(', ')}: ${errorText(error)}.`,
      { cause: error },
    )
  }
}

const missingSetting = (
  { nats, replica, secrets }: ServeEnvironment['runtime']['config'],
  dir: string,
) => {
  if (nats.servers.length === 0)
    return 'nats.servers must name the servers that the primary publishes to; it is empty.'
  if (replica.primary === '')
    return 'replica.primary is empty: name the address of the primary, such as http://10.0.0.5:8470.'
  if (
    nats.standby === 'auto' &&
    secrets.masterKey.reveal() === '' &&
    !existsSync(masterKeyPath(dir))
  )
    return `A standby needs the master key of the primary: set secrets.master_key, or copy it to ${masterKeyPath(dir)}.`
  return undefined
}

const refreshEachMs = 250
const renewEachMs = 500

/** Watches the lease of the primary, and takes it where it is not renewed and this instance may. */
function createStandby(
  nats: Nats,
  { runtime: { config, clock, ids, log }, dir }: ServeEnvironment,
  isStopping: () => boolean,
) {
  const isStandby = config.nats.standby === 'auto'
  let view: LeaseView | undefined
  let isDone = false
  let take: (held: HeldLease) => void = () => {}
  const taken = new Promise<HeldLease>(done => {
    take = done
  })
  const refresh = async () => {
    view ??= createLeaseView(await nats.bucket(nats.names.lease, config.nats.copies, 0), clock)
    await view.refresh()
    if (!isStandby || !view.current() || !view.isAbandoned()) return
    const heldLease = await view.take(ids.uuid(), config.nats.address)
    if (!heldLease) return
    isDone = true
    take(heldLease)
  }
  return {
    /** Resolves with the lease when it is this instance's. */
    taken,
    primary: () => view?.current()?.url || config.replica.primary,
    async watch() {
      while (!isDone && !isStopping()) {
        await refresh().catch(error => log.debug('lease_not_seen', { message: `${error}` }))
        await sleep(refreshEachMs)
      }
    },
    /** Applies what is left of the stream; tries until it is done, as long as the lease is kept. */
    async promote(held: HeldLease): Promise<number> {
      let isKept = true
      let isPromoted = false
      // Keeps the lease during a long attempt, so that no other standby takes it.
      const keeping = async () => {
        while (isKept && !isPromoted) {
          isKept = await held.renew().catch(() => true)
          await sleep(renewEachMs)
        }
      }
      void keeping()
      for (;;) {
        if (!isKept)
          throw new Error('another instance holds the lease: restart this one as a replica')
        try {
          const change = await promoteReplica(
            dir,
            nats,
            { replicationEpoch: held.lease.holder, readAt: clock.now() },
            log,
          )
          isPromoted = true
          return change
        } catch (error) {
          log.error('promotion_failed', { message: String(error) })
        }
        await sleep(retryMs)
      }
    },
  }
}
