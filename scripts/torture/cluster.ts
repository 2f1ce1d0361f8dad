import { Database } from 'bun:sqlite'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectNats } from '../../src/replication/nats/connection.ts'
import { binary } from '../../test/support/instance/binary.ts'
import { contentOf } from '../../test/support/topics/replication.ts'

/**
 * Three NATS servers that keep three copies of each stream, a primary and two replicas as compiled
 * binaries, each of which takes over by itself. Observations are pushed; then any process is killed
 * at random while prices are pushed and read and a quota is used up. A separate program notes every
 * message of prices and events. Prints one line of JSON; on SIGTERM it stops killing and evaluates
 * the results so far.
 *
 * bun scripts/torture/cluster.ts [kills, else 200] [observations, else 1,000,000]
 */

const kills = Number(process.argv[2] ?? 200)
const observations = Number(process.argv[3] ?? 1_000_000)
const dir = mkdtempSync(join(tmpdir(), 'wellhead-cluster-'))
// A separate copy: the run takes half an hour, in which another one may be built.
const program = join(dir, 'wellhead')
copyFileSync(binary(), program)
const say = (text: string) =>
  process.stderr.write(`${new Date().toISOString()} load ${loadavg()[0]!.toFixed(1)}: ${text}\n`)

const words = (text: string) => text.split(' ')
const freePort = () => {
  const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = probe
  probe.stop(true)
  return port!
}
const ports = Array.from({ length: 9 }, freePort)
const [clientPorts, routePorts, nodePorts] = [ports.slice(0, 3), ports.slice(3, 6), ports.slice(6)]
const routes = routePorts.map(port => `nats://127.0.0.1:${port}`).join(',')
const natsServers = clientPorts.map(port => `nats://127.0.0.1:${port}`)

const startNats = (i: number) =>
  Bun.spawn(
    words(
      `nats-server -js -sd ${join(dir, `nats${i}`)} -a 127.0.0.1 -p ${clientPorts[i]} --name n${i} --cluster_name torture --cluster nats://127.0.0.1:${routePorts[i]} --routes ${routes}`,
    ),
    { stdout: 'ignore', stderr: 'ignore' },
  )

interface Node {
  url: string
  dir: string
  process: Bun.Subprocess | undefined
  isUp: boolean
}
const nodes: Node[] = nodePorts.map((port, i) => ({
  url: `http://127.0.0.1:${port}`,
  dir: join(dir, `node${i}`),
  process: undefined,
  isUp: false,
}))

let starts = 0
async function startNode(node: Node, isReplica: boolean): Promise<Record<string, string>> {
  mkdirSync(node.dir, { recursive: true })
  starts += 1
  const ready = join(node.dir, `ready-${Bun.nanoseconds()}`)
  const child = Bun.spawn(
    words(
      `${program} serve --standby auto${isReplica ? ' --replica' : ''} --data ${node.dir} --port ${new URL(node.url).port} --ready-file ${ready}`,
    ),
    {
      env: {
        PATH: process.env.PATH,
        WELLHEAD_NATS_SERVERS: natsServers.join(','),
        WELLHEAD_NATS_COPIES: '3',
        WELLHEAD_NATS_SYNC: 'commit',
        WELLHEAD_NATS_EVENTS: 'true',
        WELLHEAD_NATS_ADDRESS: node.url,
        WELLHEAD_NATS_SNAPSHOT_EVERY: '1m',
        WELLHEAD_REPLICA_PRIMARY: nodes[0]!.url,
        WELLHEAD_SECRETS_MASTER_KEY: 'a master key that is long enough for torture 0123456789',
        WELLHEAD_LIMITS_PER_MINUTE: '1000000',
        WELLHEAD_DATA_RESERVE_MB: '0',
        WELLHEAD_READERS_THREADS: '1',
      },
      stdout: 'ignore',
      stderr: Bun.file(join(dir, `${node.dir.split('/').pop()}-${starts}.log`)),
    },
  )
  node.process = child
  for (let i = 0; !(await Bun.file(ready).exists()); i++) {
    if (i > 6000 || child.exitCode !== null) throw new Error(`${node.dir} did not start`)
    await Bun.sleep(20)
  }
  node.isUp = true
  return (await Bun.file(ready).json()) as Record<string, string>
}

const natsProcesses = [0, 1, 2].map(startNats)
process.on('exit', () => {
  for (const child of [...natsProcesses, ...nodes.map(node => node.process)]) child?.kill('SIGKILL')
})
await Bun.sleep(3000)
const connect = () =>
  connectNats({ servers: natsServers, credentialsFile: '', token: '', name: 'torture' })
let nats: Awaited<ReturnType<typeof connect>> | undefined
while (!nats) {
  const connection = await connect().catch(() => undefined)
  if (connection && (await connection.bucket('ready', 3, 0).catch(() => undefined)))
    nats = connection
  else await Bun.sleep(500)
}
const lease = await nats.bucket('wellhead-lease', 3, 0)
const { admin_token: adminToken } = await startNode(nodes[0]!, false)

const admin = (url: string, path: string, body: unknown) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminToken}`,
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(15_000),
  }).catch(() => undefined)
const keyOf = async (plan: string): Promise<string> => {
  for (;;) {
    const email = `${plan}-${Bun.nanoseconds()}@example.com`
    const answer = await admin(nodes[0]!.url, '/admin/v1/accounts', { email, plan })
    const token = /"(?:plain_)?token":"([^"]+)"/.exec((await answer?.text()) ?? '')?.[1]
    if (answer?.status === 201 && token) return token
    await Bun.sleep(200)
  }
}
const [free, limited] = [await keyOf('enterprise'), await keyOf('developer')]
const endpoint = await fetch(`${nodes[0]!.url}/v1/webhooks`, {
  method: 'POST',
  headers: { authorization: `Token ${free}`, 'content-type': 'application/json' },
  body: JSON.stringify({ url: 'https://hooks.example.com/a', events: ['price.updated'] }),
})
const { data: hook } = (await endpoint.json()) as { data: { id: string } }
say(`endpoint ${endpoint.status}`)
await Promise.all([startNode(nodes[1]!, true), startNode(nodes[2]!, true)])
say('three nodes are up')

// A million observations, then the replicas are compared row by row.
let isOver = false
const firstAt = Date.now() - 300 * 86_400_000
const pushBegan = performance.now()
for (let done = 0; done < observations; done += 5000) {
  const part = Array.from({ length: Math.min(5000, observations - done) }, (_, i) => ({
    code: 'BRENT_CRUDE_USD',
    observed_at: new Date(firstAt + (done + i) * 20_000).toISOString(),
    price: 60 + ((done + i) % 997) / 100,
  }))
  const answer = await admin(nodes[0]!.url, '/admin/v1/observations', { observations: part })
  if (answer?.status !== 200)
    throw new Error(`a push failed: ${answer?.status} ${await answer?.text()}`)
}
const pushSeconds = (performance.now() - pushBegan) / 1000
say(`pushed ${observations} in ${pushSeconds.toFixed(1)} s`)
/** Names of tables in which a replica differs from the primary, once they have come to rest. */
const differing = async (): Promise<string[]> => {
  let names: string[] = []
  for (let i = 0; i < 40; i++) {
    const contents = nodes.map(node => {
      const db = new Database(join(node.dir, 'wellhead.db'), { readonly: true })
      const content = Object.fromEntries(contentOf(db))
      db.close()
      return content
    })
    const [first, ...rest] = contents
    names = Object.keys(first!).filter(name => rest.some(content => content[name] !== first![name]))
    if (names.length === 0) break
    await Bun.sleep(1000)
  }
  return names
}
const differingAfterPush = await differing()
say(`differing tables after the push: ${differingAfterPush.length}`)

// The messages that an ordinary consumer of prices and events receives, from first to last.
const messages = { events: new Map<string, number>(), prices: new Map<string, number>() }
const listening = async (stream: 'events' | 'prices') => {
  let after = 0
  while (!isOver) {
    try {
      const consumer = await nats!.jetstream.consumers.get(`wellhead-${stream}`, {
        opt_start_seq: after + 1,
      })
      const received = await consumer.consume({ expires: 5000, idle_heartbeat: 1000 })
      for await (const message of received) {
        if (message.seq <= after) continue
        after = message.seq
        // A price has the id of its change, an event its own.
        const id = message.headers?.get('Nats-Msg-Id') ?? `none ${message.seq}`
        messages[stream].set(id, (messages[stream].get(id) ?? 0) + 1)
        if (isOver) break
      }
    } catch {
      await Bun.sleep(200)
    }
  }
}
/** Every stream has a leader and two servers that have what it has: one of three may be lost. */
const natsIsWhole = async () => {
  try {
    for await (const { cluster } of nats!.manager.streams.list()) {
      const others = cluster?.replicas ?? []
      if (!cluster?.leader || others.some(other => !other.current || other.offline)) return false
    }
    return true
  } catch {
    return false
  }
}
const acknowledged = new Map<number, number>()
let [pushed, reads, readsFailed, quotaAnswered] = [0, 0, 0, 0]
const up = () => nodes.filter(node => node.isUp)
const pushedFrom = Date.now() - 6 * 3_600_000
const pushing = async () => {
  while (!isOver) {
    pushed += 1
    const [at, price] = [pushedFrom + pushed * 100, 50 + pushed / 1000]
    const observation = { code: 'WTI_USD', observed_at: new Date(at).toISOString(), price }
    const node = up()[pushed % up().length]!
    const answer = await admin(node.url, '/admin/v1/observations', { observations: [observation] })
    if (answer?.ok) acknowledged.set(at, price)
    else await Bun.sleep(50)
  }
}
const latest = (node: Node, token: string) =>
  fetch(`${node.url}/v1/prices/latest?by_code=BRENT_CRUDE_USD`, {
    headers: { authorization: `Token ${token}` },
    signal: AbortSignal.timeout(3000),
  }).catch(() => undefined)
const readsMs: number[] = []
/** As a balancer does: the next node where one does not answer. */
const reading = async () => {
  for (let turn = 0; !isOver; turn++) {
    reads += 1
    let isAnswered = false
    const askedAt = performance.now()
    const statuses: (number | undefined)[] = []
    for (let i = 0; i < nodes.length && !isAnswered; i++) {
      const answer = await latest(nodes[(turn + i) % nodes.length]!, free)
      isAnswered = answer?.status === 200
      statuses.push(answer?.status)
      await answer?.text()
    }
    readsMs.push(performance.now() - askedAt)
    if (!isAnswered) {
      readsFailed += 1
      say(`a read was not answered: ${statuses.join(' ')}, up ${nodes.map(node => node.isUp)}`)
    }
    await Bun.sleep(5)
  }
}
const spending = async () => {
  for (let turn = 0; !isOver; turn++) {
    const answer = await latest(up()[turn % up().length]!, limited)
    await answer?.text()
    if (answer?.status === 200) quotaAnswered += 1
    await Bun.sleep(2)
  }
}
const load = [pushing(), reading(), spending()]
void listening('events')
void listening('prices')

const primaryUrl = async () => {
  for (;;) {
    const entry = await lease.get('primary').catch(() => undefined)
    if (entry) return (JSON.parse(entry.text) as { url: string }).url
    await Bun.sleep(100)
  }
}
/** A primary that lost the lease without being killed is fenced: it begins again as a replica. */
let leader = await primaryUrl()
const rejoin = async () => {
  const now = await primaryUrl()
  const fenced = nodes.find(node => node.url === leader)
  if (now === '' || now === leader || !fenced) return
  say(`${leader} gave way to ${now}`)
  yieldedTurn += 1
  leader = now
  fenced.isUp = false
  fenced.process!.kill('SIGKILL')
  await fenced.process!.exited
  rmSync(fenced.dir, { recursive: true })
  await startNode(fenced, true)
}
let yieldedTurn = 0
let isToldToEnd = false
process.on('SIGTERM', () => {
  isToldToEnd = true
})
const runBegan = performance.now()
const killed = { primary: 0, replica: 0, nats: 0 }
const promotionsMs: number[] = []
let kill = 0
for (; kill < kills && !isToldToEnd; kill++) {
  await Bun.sleep(300 + Math.random() * 1200)
  await rejoin()
  const which = Math.floor(Math.random() * 6)
  if (which < 3) {
    killed.nats += 1
    natsProcesses[which]!.kill('SIGKILL')
    await Bun.sleep(500 + Math.random() * 1000)
    natsProcesses[which] = startNats(which)
    // Two of three stay up: the next is killed when this one has caught up.
    for (let i = 0; i < 300 && !(await natsIsWhole()); i++) await Bun.sleep(200)
    continue
  }
  const node = nodes[which - 3]!
  const isPrimary = (await primaryUrl()) === node.url
  node.isUp = false
  node.process!.kill('SIGKILL')
  await node.process!.exited
  if (isPrimary) {
    killed.primary += 1
    const began = performance.now()
    let next: Response | undefined
    while (!next?.ok) {
      if (performance.now() - began > 60_000) throw new Error('no instance took over')
      next = await admin(up()[0]!.url, '/admin/v1/observations', {
        observations: [{ code: 'WTI_USD', observed_at: new Date().toISOString(), price: 99 }],
      })
      await Bun.sleep(50)
    }
    promotionsMs.push(Math.round(performance.now() - began))
    say(`kill ${kill}: the primary; the next took over in ${promotionsMs.at(-1)} ms`)
    leader = await primaryUrl()
    // A replaced instance starts again as a replica.
    rmSync(node.dir, { recursive: true })
  } else killed.replica += 1
  await startNode(node, true)
}
await rejoin()
isOver = true
await Promise.all(load)
const isNotified = async () => {
  const { state } = await nats.manager.streams.info('wellhead-events')
  return messages.events.size >= state.messages
}
for (let i = 0; i < 100 && !(await isNotified().catch(() => false)); i++) await Bun.sleep(100)
// The quota is used up to its end, at every node.
for (let refused = 0; refused < 30; ) {
  for (const node of nodes) {
    const answer = await latest(node, limited)
    await answer?.text()
    if (answer?.status === 200) {
      quotaAnswered += 1
      refused = 0
    } else refused += 1
  }
}
// No one answers at its address: messages would be tried on for hours, and each try is written.
for (let done = false; !done; ) {
  const answer = await fetch(`${nodes[0]!.url}/v1/webhooks/${hook.id}`, {
    method: 'PATCH',
    headers: { authorization: `Token ${free}`, 'content-type': 'application/json' },
    body: JSON.stringify({ status: 'disabled' }),
    signal: AbortSignal.timeout(15_000),
  }).catch(() => undefined)
  done = answer?.ok === true
  if (!done) await Bun.sleep(500)
}
const differingAtEnd = await differing()
const valuesOf = (node: Node) => {
  const db = new Database(join(node.dir, 'wellhead.db'), { readonly: true })
  const rows = db
    .query<{ at: number; value: number }, []>(
      `SELECT o.observed_at AS at, o.value FROM observations o JOIN series s ON s.id = o.series_id
       WHERE s.code = 'WTI_USD'`,
    )
    .all()
  db.close()
  return new Map(rows.map(({ at, value }) => [at, value]))
}
const lost = nodes.map(node => {
  const values = valuesOf(node)
  return [...acknowledged].filter(([at, price]) => values.get(at) !== price).length
})
const twice = (times: Map<string, number>) =>
  [...times.values()].reduce((sum, count) => sum + count - 1, 0)
const eventsTwice = twice(messages.events)
const pricesTwice = twice(messages.prices)
for (const node of nodes) node.process?.kill('SIGKILL')
await nats.close()
for (const server of natsProcesses) server.kill('SIGKILL')
await Bun.sleep(300)
if (process.env.WELLHEAD_KEEP === undefined) rmSync(dir, { recursive: true, force: true })
readsMs.sort((a, b) => a - b)
const readMs = (share: number) => Math.round(readsMs[Math.ceil(readsMs.length * share) - 1] ?? 0)
const quota = 10_000
const overshoot = Math.max(0, quotaAnswered - quota)
const failures =
  Math.max(...lost) +
  overshoot +
  eventsTwice +
  pricesTwice +
  Number(messages.events.size === 0) +
  readsFailed +
  differingAfterPush.length +
  differingAtEnd.length +
  promotionsMs.filter(ms => ms > 10_000).length
console.log(
  JSON.stringify({
    id: 'cluster',
    n: kill,
    failures,
    observations,
    push_per_second: Math.round(observations / pushSeconds),
    killed,
    minutes: Math.round((performance.now() - runBegan) / 60_000),
    acknowledged: acknowledged.size,
    lost,
    differing: [...new Set([...differingAfterPush, ...differingAtEnd])],
    gave_way: yieldedTurn,
    promotion_ms: { max: Math.max(0, ...promotionsMs), all: promotionsMs },
    reads,
    reads_failed: readsFailed,
    read_ms: { p50: readMs(0.5), p99: readMs(0.99), max: readMs(1) },
    quota_answered: quotaAnswered,
    quota_overshoot: overshoot,
    events: messages.events.size,
    events_twice: eventsTwice,
    prices: messages.prices.size,
    prices_twice: pricesTwice,
  }),
)
process.exit(failures === 0 ? 0 : 1)
