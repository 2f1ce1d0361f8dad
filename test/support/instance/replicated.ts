import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../../src/config/config.ts'
import { connectionsOf, type SocketData, sockets } from '../../../src/http/cable.ts'
import { type Instance, openInstance } from '../../../src/instance/instance.ts'
import { createRandomIds } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createSystemClock } from '../../../src/lib/time/clock.ts'
import { connectNats, type Nats } from '../../../src/replication/nats/connection.ts'
import {
  fetchReplica,
  openReplica,
  type Replica,
  replaceReplica,
} from '../../../src/replication/replica.ts'
import { snapshots } from '../../../src/replication/service/snapshots.ts'
import { type NatsServer, type NatsServerOptions, natsServer } from '../servers/nats.ts'
import { until as waitUntil } from '../until.ts'

/** A primary and a replica in this process, with a separate NATS server. */
export interface Replicated {
  server: NatsServer
  nats: Nats
  dir: string
  log: string[]
  token: string
  primary(): Instance
  /** Stops the primary and starts it again over its directory. */
  restartPrimary(): void
  /** The primary does not answer HTTP any more. */
  cutPrimary(): Promise<void>
  replica(): Replica
  startReplica(name?: string): Promise<Replica>
  record(code: string, price: number): void
  /** A request of a key without a quota to the replica. */
  ask(path: string, headers?: Record<string, string>): Promise<Response>
  /** The requests that the replica answers itself, or forwards. */
  latest(
    code?: string,
  ): Promise<{ price: number | undefined; lag: string | null; stale: string | null }>
  operate(path: string): Promise<string>
  until(what: string, isSo: () => unknown): Promise<unknown>
  close(): Promise<void>
}

const deadlineMs = 90_000

export async function replicated(
  flags: Record<string, string> = {},
  natsOptions: NatsServerOptions = {},
): Promise<Replicated> {
  const server = await natsServer(natsOptions)
  const nats = await connectNats({
    servers: [server.url],
    credentialsFile: '',
    token: '',
    name: 'test',
  })
  const dir = mkdtempSync(join(tmpdir(), 'wellhead-replicated-'))
  const log: string[] = []
  const local = new WeakSet<Request>()
  let primary: Instance
  let replica: Replica | undefined
  const primaryHttp = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    development: false,
    fetch: request => primary.app.handle(request),
  })
  const primaryUrl = `http://127.0.0.1:${primaryHttp.port}`
  const runtime = () => {
    const clock = createSystemClock()
    return {
      config: loadConfig({
        flags: {
          'nats.servers': server.url,
          'readers.threads': '0',
          'data.reserve_mb': '0',
          'limits.per_minute': '100000',
          'replica.primary': primaryUrl,
          ...flags,
        },
        env: {},
        files: { directory: '/' },
        readFile: () => 'client_profiles = []',
      }),
      clock,
      ids: createRandomIds(),
      log: createLog({ level: 'info', format: 'json', write: line => void log.push(line), clock }),
    }
  }
  const open = () => {
    primary = openInstance({ runtime: runtime(), dir: join(dir, 'primary'), serving: true, local })
    primary.runner.start()
  }
  open()
  const { keys, ids } = primary!.services
  const now = Date.now()
  const { token } = keys.addKey(
    keys.putAccount({
      id: ids.uuid(),
      email: 'desk@example.com',
      plan: 'enterprise',
      addOns: [],
      trialStartedAt: null,
      trialEndsAt: null,
      emailConfirmedAt: now,
      suspendedAt: null,
      createdAt: now,
    }),
  )
  const http = Bun.serve<SocketData>({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 10,
    development: false,
    fetch: request => replica!.answer(request),
    websocket: sockets,
  })
  const connections = connectionsOf(() => http, new WeakMap(), new WeakSet())
  const until = (what: string, isSo: () => unknown) =>
    waitUntil(what, isSo, deadlineMs, () => `the log says:\n${log.slice(-20).join('')}`)
  const startReplica = async (name = 'replica'): Promise<Replica> => {
    const opened = await openReplica({
      runtime: runtime(),
      dir: join(dir, name),
      nats,
      peer: null,
      connections,
      isStopping: () => false,
      url: () => 'http://127.0.0.1:2',
      primary: () => primaryUrl,
    })
    replica = opened
    // As the command does it.
    void opened.ended.then(async () => {
      if (replica !== opened) return
      await fetchReplica(join(dir, name), nats, 1)
      await opened.close()
      replaceReplica(join(dir, name))
      await startReplica(name)
      log.push('rebuilt from a snapshot\n')
    })
    return opened
  }
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${http.port}${path}`, {
      headers: { authorization: `Token ${token}`, ...headers },
    })
  const latest = async (code = 'BRENT_CRUDE_USD') => {
    const answer = await ask(`/v1/prices/latest?by_code=${code}`)
    const body = (await answer.json()) as { data?: { price: number } }
    return {
      price: body.data?.price,
      lag: answer.headers.get('x-service-replica-lag'),
      stale: answer.headers.get('x-service-replica-stale'),
    }
  }
  const record = (code: string, price: number) => {
    const { series } = primary.services.catalogue.resolve(code, Date.now())!
    primary.services.ingest.write([{ seriesId: series.id, observedAt: Date.now(), value: price }])
  }
  record('BRENT_CRUDE_USD', 80)
  await until('a snapshot', async () => (await snapshots(nats, 1).catch(() => [])).length > 0)
  await startReplica()
  await until('the price', async () => {
    const { price, lag, stale } = await latest()
    return price === 80 && lag !== null && stale === null
  })
  return {
    server,
    nats,
    dir,
    log,
    token,
    primary: () => primary,
    restartPrimary() {
      primary.close()
      open()
    },
    cutPrimary: () => primaryHttp.stop(true),
    replica: () => replica!,
    startReplica,
    record,
    ask,
    latest,
    async operate(path) {
      const request = new Request(`http://localhost${path}`)
      local.add(request)
      return await (await primary.app.handle(request)).text()
    },
    until,
    async close() {
      await replica?.close().catch(() => undefined)
      await http.stop(true)
      await primaryHttp.stop(true)
      primary.close()
      await nats.close()
      await server.remove()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
