import { existsSync } from 'node:fs'
import type { Server } from 'bun'
import { listeningUrl } from '../../config/address.ts'
import type { Config } from '../../config/config.ts'
import { servedPathFaults } from '../../config/paths.ts'
import type { ProcessRuntime } from '../../config/runtime.ts'
import { type AccessLog, createAccessLog } from '../../http/access-log.ts'
import { createEncoder } from '../../http/answer/encoding.ts'
import { connectionsOf, idleSeconds, type SocketData, sockets } from '../../http/cable.ts'
import { front, withSniffingOff } from '../../http/front.ts'
import { linker } from '../../http/problem/links.ts'
import { varyOf } from '../../http/profiles/profiles.ts'
import type { Instance } from '../../instance/instance.ts'
import { prepareDirectory, startReserveOf } from '../../instance/services/directory.ts'
import { refusePaths, refuseSettings } from '../../instance/services/refusals.ts'
import type { Lock } from '../../lib/files/directory-lock.ts'
import { writeStateFile } from '../../lib/files/side-file.ts'
import { chanceOf } from '../../lib/ids.ts'
import { endAtOnce } from '../../lib/process/end-at-once.ts'
import { createTurnQueue } from '../../lib/process/loop-turns.ts'
import { isLoopbackName } from '../../lib/text/loopback.ts'
import { shellQuoted } from '../../lib/text/shell.ts'
import { shownValue } from '../../lib/text/wrong-value.ts'
import { createSystemClock, sleep, within } from '../../lib/time/clock.ts'
import { linkUrl } from '../../topics/account/service/sign-in.ts'
import type { CommandOutcome } from '../../topics/operator/service/backup-record.ts'
import { exitCodes } from '../exit-codes.ts'
import { listenLocally } from '../socket.ts'
import { openDemoInstance } from './demo-directory.ts'
import { prepareDemoWorld } from './demo-world.ts'
import {
  credentialLines,
  evaluationKeys,
  type FirstKeys,
  keepCredentials,
  productionKeys,
  remindOfCredentials,
} from './first-start.ts'
import { whileLocked } from './locked-directory.ts'

/** Requests may be answered for so long before the event loop checks its sockets again. */
const turnBudgetMs = 5
/** Time for requests that have arrived and are unread when the stop signal comes. */
const unreadMs = 100

/** How long a fault of a demo instance may delay an answer. */
const faultSeconds = 120

export interface ServeEnvironment {
  runtime: ProcessRuntime
  dir: string
  /** Runs a command of this program on the same directory, in its own process. */
  command?: (...args: string[]) => Promise<CommandOutcome>
  out(line: string): void
  err(line: string): void
  /** Output goes to a terminal; otherwise it may be stored in a log for years. */
  isTerminal: boolean
  /** The terminal that progress is drawn on; undefined where there is none. */
  terminal?: NodeJS.WritableStream | undefined
  /**
   * Calls back on the signal to stop, and again on a second signal, which stops the process at
   * once.
   */
  onStop(listener: () => void): void
}

/** Serves a data directory until the process receives a signal to stop. */
export async function serve(env: ServeEnvironment): Promise<number> {
  const { runtime, dir } = env
  const { config } = runtime
  if (config.mode === 'dev' && !isLoopbackName(config.server.host)) {
    env.err(
      `server.host: ${config.server.host} must be a loopback address for the command dev. Use the command serve for others.`,
    )
    return exitCodes.failed
  }
  refuseSettings(runtime, dir)
  refusePaths(servedPathFaults(config))
  const isNew = !existsSync(dir)
  prepareDirectory(dir, runtime)
  const reserve = startReserveOf(dir, config.data.reserveMb)
  if (reserve.free() < reserve.bytes) reserve.giveBack()
  return whileLocked(env, {
    role: config.mode,
    isNew,
    inUse(heldBy) {
      const holder = heldBy ? `"${heldBy.role}", process ${heldBy.pid}` : 'another process'
      return `${dir} is in use by ${holder}. One process writes a data directory; stop it first, or name another directory with --data.`
    },
    serve: lock => serveLocked(env, lock),
  })
}

/** Serves a data directory that this process has locked. */
async function serveLocked(env: ServeEnvironment, lock: Lock): Promise<number> {
  const { runtime, dir } = env
  const { config, log } = runtime
  // From here on a process that has read the ready file can stop the server regularly.
  let isStopRequested = false
  const stopRequested = firstStop(env).then(() => {
    isStopRequested = true
  })
  const local = new WeakSet<Request>()
  const originals = new WeakMap<Request, Request>()
  let network: Server<SocketData> | undefined
  const peer = {
    requestIP: (request: Request) => network?.requestIP(originals.get(request) ?? request) ?? null,
  }
  let url: string | undefined
  const connections = connectionsOf(() => network, originals, local)
  let answer: Answer | undefined
  // Before anything is written: what keeps a server from listening must not leave an account behind
  // whose key no one has seen.
  let handle: Handler | undefined
  const metrics = listenForScrapers(config, local, request => handle?.(request) ?? startingUp())
  const server = listen(config, (request, self) => answer?.(request, self) ?? startingUp())
  network = server
  if (config.mode !== 'serve' && !(await prepareDemoWorld(env, () => isStopRequested))) {
    await Promise.all([server.stop(true), metrics?.stop(true)])
    return exitCodes.done
  }
  const accessLog = accessLogOf(runtime)
  const opened = openDemoInstance({
    runtime,
    dir,
    serving: true,
    peer,
    local,
    url: () => url,
    connections,
    ...(accessLog && { requestContexts: accessLog.requestContexts }),
    ...(env.command && { command: env.command }),
  })
  const { instance } = opened
  await instance.begun
  const keys =
    config.mode === 'dev'
      ? evaluationKeys(instance.services, dir)
      : productionKeys(instance.services)
  handle = request => opened.instance.app.fetch(request)
  const fetch = front({
    handle,
    acknowledged: instance.acknowledged,
    charged: instance.charged,
    refusal: instance.refusal,
    sequence: instance.sequence,
    ...frontOf(runtime, server, originals),
    ...(accessLog && { accessLog }),
  })
  answer = (request, self) => {
    // Longer than a connection may idle: moving the clock a year, a fault that answers slowly.
    if (instance.feed) self.timeout(request, request.url.includes('/_dev/') ? 0 : faultSeconds)
    return fetch(request)
  }
  const socket = listenLocally(dir, local, handle)
  url = listeningUrl({ host: config.server.host, port: server.port! })
  lock.announce(url)
  if (config.mode === 'serve') remindOfCredentials(dir, log)
  announce(env, url, keys, instance)
  instance.runner.start()
  log.info('server_listening', { url, data: dir, mode: config.mode })
  if (instance.feed) opened.begin()

  await stopRequested
  log.info('server_stopping')
  // From here on the health check returns 503 while requests are still answered: a load balancer
  // needs a moment to send them elsewhere. A second signal ends the process at once.
  opened.instance.stopping = true
  // Even without a notice there is one turn for what clients had sent when the signal came: it lies
  // unread in connections that seem idle, and those are closed next.
  await sleep(Math.max(config.server.stopNoticeMs, unreadMs))
  opened.instance.services.streams.stop()
  // Running requests and messages under way finish; what continues beyond the drain is cut.
  await within(
    config.server.drainMs,
    Promise.all([server.stop(false), opened.instance.sending.drain()]),
  )
  await Promise.all([server.stop(true), metrics?.stop(true), socket.stop(), opened.settled()])
  // Closed last, because writes until then may be checkpointed.
  await opened.instance.settled()
  opened.instance.close()
  log.info('server_stopped')
  return exitCodes.done
}

/** Resolves on the first signal to stop; a second one ends the process at once. */
export const firstStop = (env: ServeEnvironment) =>
  new Promise<void>(stopped => {
    let isStopping = false
    env.onStop(() => {
      if (isStopping) endAtOnce()
      isStopping = true
      stopped()
    })
  })

/** Undefined where none is requested: then nothing of it is on the way of a request. */
function accessLogOf({ config, log, ids }: ProcessRuntime): AccessLog | undefined {
  const share = config.log.access
  if (share === 0) return undefined
  return createAccessLog({
    log,
    share,
    chance: () => chanceOf(ids),
    now: createSystemClock().monotonic,
  })
}

export type Answer = (
  request: Request,
  server: Server<SocketData>,
) => Response | Promise<Response> | undefined

/** The front of a server, and of a replica. */
export const frontOf = (
  { config, ids }: Pick<ProcessRuntime, 'config' | 'ids'>,
  server: Pick<Server<SocketData>, 'requestIP'>,
  originals: WeakMap<Request, Request>,
) => ({
  ids,
  links: linker(config),
  corsOrigins: config.cors.origins,
  isSecure: config.server.baseUrl.startsWith('https:'),
  headerPrefix: config.brand.headerPrefix,
  vary: varyOf(config.clientProfiles),
  originals,
  encoder: createEncoder(),
  turns: createTurnQueue<Request>(createSystemClock(), turnBudgetMs, request => {
    const peer = server.requestIP(request)
    return peer ? `${peer.address} ${peer.port}` : undefined
  }),
})

/** Binds the address, or throws. */
export const listen = (
  config: Config,
  answer: (...of: Parameters<Answer>) => Response | Promise<Response>,
) =>
  bound('server.port', config.server, 'name another with --port; --port 0 takes a free one', () =>
    Bun.serve<SocketData>({
      hostname: config.server.host,
      port: config.server.port,
      // Two writers on one database must not share a port.
      reusePort: false,
      development: false,
      idleTimeout: idleSeconds,
      maxRequestBodySize: 32 * 2 ** 20,
      fetch: answer,
      error: () => withSniffingOff(new Response('', { status: 500 })),
      websocket: sockets,
    }),
  )

/** Binds an address; an error names the remedy. */
function bound<T>(
  setting: string,
  { host, port }: { host: string; port: number },
  advice: string,
  bind: () => T,
): T {
  try {
    return bind()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(
      code === 'EADDRINUSE'
        ? `${setting} must be a free port; another process listens on ${host}:${port}. Stop it, or ${advice}.`
        : code === 'EACCES'
          ? `${setting} must be a port that this user may listen on, usually above 1023; got ${port}.`
          : `${setting.replace('port', 'host')} must be an address of this machine; got ${shownValue(host)}.`,
      { cause: error },
    )
  }
}

type Handler = (request: Request) => Response | Promise<Response>

/** A port that serves only metrics, without authentication. */
function listenForScrapers({ metrics }: Config, local: WeakSet<Request>, answer: Handler) {
  if (metrics.port === 0) return undefined
  return bound('metrics.port', metrics, 'set another', () =>
    Bun.serve({
      hostname: metrics.host,
      port: metrics.port,
      reusePort: false,
      development: false,
      idleTimeout: idleSeconds,
      fetch({ url, method }) {
        if (method !== 'GET' || new URL(url).pathname !== '/metrics')
          return new Response('', { status: 404 })
        const request = new Request('http://localhost/metrics')
        local.add(request)
        return answer(request)
      },
    }),
  )
}

/** The address is bound and the instance is being opened. */
export const startingUp = () =>
  withSniffingOff(
    new Response('', { status: 503, headers: { 'retry-after': '1', connection: 'close' } }),
  )

function announce(env: ServeEnvironment, url: string, keys: FirstKeys, instance: Instance): void {
  const { config } = env.runtime
  const { apiKey, adminToken, linkToken } = keys
  const signInUrl = linkToken && linkUrl(config.server.baseUrl || url, linkToken)
  const lines = credentialLines({ apiKey, adminToken, signInUrl })
  const isKept = config.mode === 'serve' && !env.isTerminal && lines.length > 0
  const path = isKept ? keepCredentials(env.dir, lines) : undefined
  if (config.server.readyFile) {
    const text = JSON.stringify({
      url,
      ...(apiKey && { api_key: apiKey }),
      ...(adminToken && { admin_token: adminToken }),
    })
    // Anyone who waits for the file must find it whole.
    writeStateFile(config.server.readyFile, `${text}\n`)
  }
  const name = config.brand.serviceName
  env.out(
    config.mode === 'dev'
      ? `${name} demo instance at ${url}   documentation: ${url}/docs   ${config.limits.perMinute} requests a minute`
      : `${name} at ${url}`,
  )
  if (path === undefined) for (const line of lines) env.out(line)
  else {
    env.out(`The first API key, the admin token and a link for signing in are in ${path},`)
    env.out('readable only by this user and never logged. Delete it after reading.')
  }
  if (config.mode !== 'dev' && path === undefined && apiKey)
    env.out('These are shown only once; only hashes are stored.')
  if (apiKey && path === undefined)
    env.out(
      `Try:          curl -H "Authorization: Token ${apiKey}" "${url}/v1/prices/latest?by_code=BRENT_CRUDE_USD"`,
    )
  if (config.mode !== 'dev' && hasNothingToCome(instance)) {
    // A pasted command must reach this directory.
    const isNamed = config.provenance.get('data.dir') === 'flag --data'
    const where = isNamed ? ` --data ${shellQuoted(env.dir)}` : ''
    env.out('No prices yet. Public feeds that need no key:')
    for (const feed of ['ecb', 'eia_bulk'])
      env.out(`              wellhead feeds add ${feed}${where}`)
  }
}

/** No prices are there, and no feed brings any. */
function hasNothingToCome({ services: { catalogue, feeds } }: Instance): boolean {
  return feeds.active().length === 0 && !catalogue.list().some(series => catalogue.extent(series))
}
