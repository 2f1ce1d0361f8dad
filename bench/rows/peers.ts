import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { emptied, type Filled } from '../database.ts'
import { runDistinct } from '../distinct.ts'
import { median } from '../duel.ts'
import { openDuckdb } from '../peers/duckdb.ts'
import { openInflux } from '../peers/influx.ts'
import type { Asked, OpenPeer, Peer, PeerServer, Question } from '../peers/peer.ts'
import { rowsOfWindow, run, second, workedMs } from '../peers/peer.ts'
import { openPostgres } from '../peers/postgres.ts'
import { openSqlite } from '../peers/sqlite.ts'
import { openVictoria } from '../peers/victoria.ts'
import { type BenchOptions, type Line, perSecond } from '../row.ts'
import { built, serveWellhead } from '../server.ts'
import { distinctData, type Kind, pathsOf, windowKinds, yardstickSettings } from '../windows.ts'

const connections = 16
const answersPerSecondMax = 100_000
const comparedPaths = 10
const roundsMax = 3
const dayMs = 86_400_000
const megabyte = 2 ** 20

type PeerName = 'sqlite' | 'postgres' | 'victoria' | 'influx' | 'duckdb'

const peers: Readonly<Record<PeerName, OpenPeer>> = {
  sqlite: openSqlite,
  postgres: openPostgres,
  victoria: openVictoria,
  influx: openInflux,
  duckdb: openDuckdb,
}

/** The questions, with the least ratio to some of the peers. */
const bars: Readonly<Record<Question, Partial<Record<PeerName, number>>>> = {
  raw: { sqlite: 1, postgres: 1.2 },
  days: { victoria: 1 },
  latest: { sqlite: 0.7 },
}

/** The least ratio of an import with a running server, and without one. */
const loadBars = { served: { postgres: 1 }, alone: { sqlite: 1 } } satisfies Record<
  string,
  Partial<Record<PeerName, number>>
>

/** The same questions, no two alike, to Wellhead and to other databases with the same prices. */
export async function peerQuestions(options: BenchOptions): Promise<Line[]> {
  const { data, ours, settings, csv } = await opened(options)
  const lines: Line[] = []
  const served: { name: PeerName; peer: Peer; server: PeerServer }[] = []
  const all: [PeerName, Peer][] = []
  try {
    await openPeers(all, options, data, settings, lines)
    for (const [name, peer] of all) {
      options.say(`peers: loading ${peer.name}`)
      await peer.load(csv)
      served.push({ name, peer, server: await peer.serve() })
    }
    const oursServer: PeerServer = {
      port: ours.port,
      pathOf: ({ path }) => path,
      rowsIn: rowsOfWindow,
      pids: () => [ours.pid],
      stop: () => Promise.resolve(),
    }
    const kinds = windowKinds(data)
    for (const question of ['raw', 'days', 'latest'] as const) {
      const kind = kinds[question]
      await checkCounts(question, kind, data, [oursServer, ...served.map(({ server }) => server)])
      const runs = new Map<PeerServer, { rate: number; us: number }[]>()
      options.say(`peers: ${kind.name}`)
      for (let round = 0; round <= Math.min(options.rounds, roundsMax); round += 1)
        for (const server of [oursServer, ...served.map(each => each.server)]) {
          const figure = await measured(server, question, kind, data, options)
          if (round > 0) runs.set(server, [...(runs.get(server) ?? []), figure])
        }
      const of = (server: PeerServer) => {
        const figures = runs.get(server)!
        const [rate, us] = [median(figures.map(f => f.rate)), median(figures.map(f => f.us))]
        return { figures, shown: `${perSecond(rate)}, ${Math.round(us)} µs` }
      }
      for (const { name, peer, server } of served) {
        const [us, them] = [of(oursServer), of(server)]
        const ratio = median(us.figures.map(({ rate }, i) => rate / them.figures[i]!.rate))
        lines.push(
          line(`${kind.name}, against ${peer.name}`, us.shown, them.shown, {
            ratio,
            least: bars[question][name],
          }),
        )
      }
    }
    const memory = (pids: readonly number[]) => `${Math.round(residentMb(pids))} MB`
    const disk = (bytes: number) => `${Math.round(bytes / megabyte)} MB`
    const oursDisk = disk(Bun.file(join(data.dir, 'wellhead.db')).size)
    for (const { peer, server } of served)
      lines.push(
        line(
          `memory after the requests; disk, against ${peer.name}`,
          `${memory([ours.pid])}; ${oursDisk}`,
          `${memory(server.pids())}; ${disk(peer.bytes())}`,
        ),
      )
    return lines
  } finally {
    for (const { server } of served) await server.stop()
    for (const [, peer] of all) await peer.stop()
    await ours.stop()
    rmSync(join(options.dir, 'peers'), { recursive: true, force: true })
  }
}

/** The same CSV, loaded by each peer: into an empty database, from the command to its exit. */
export async function peerLoads(options: BenchOptions): Promise<Line[]> {
  const { data, ours, settings, csv } = await opened(options)
  await ours.stop()
  const lines: Line[] = []
  const all: [PeerName, Peer][] = []
  const count = (await Bun.file(csv).text()).split('\n').length - 2
  const target = join(options.dir, 'peers', 'wellhead')
  const rate = async (work: () => Promise<void>) => {
    const startedAt = performance.now()
    await work()
    return (count / (performance.now() - startedAt)) * 1000
  }
  const imported = () => run([...built(), 'import', csv, '--data', target])
  const rates = new Map<string, number[]>()
  const add = (name: string, figure: number) =>
    rates.set(name, [...(rates.get(name) ?? []), figure])
  try {
    await openPeers(all, options, data, settings, lines)
    for (let round = 1; round <= Math.min(options.rounds, roundsMax); round += 1) {
      options.say(`peers: load, round ${round}`)
      await emptied(target, options)
      const alone = await rate(async () => void (await imported()))
      await emptied(target, options)
      const server = await serveWellhead(target, 'serve', 'built')
      const served = await rate(async () => void (await imported()))
      await server.stop()
      add('alone', alone)
      add('served', served)
      // Without a bar, once is enough.
      for (const [name, peer] of all)
        if (round === 1 || name in loadBars.served || name in loadBars.alone)
          add(name, await rate(() => peer.load(csv)))
    }
  } finally {
    for (const [, peer] of all) await peer.stop()
    rmSync(join(options.dir, 'peers'), { recursive: true, force: true })
  }
  for (const [way, text] of [
    ['served', 'with a running server'],
    ['alone', 'without a server'],
  ] as const)
    for (const [name, peer] of all) {
      const [us, them] = [rates.get(way)!, rates.get(name)!]
      const least = (loadBars[way] as Partial<Record<PeerName, number>>)[name]
      const ratio = median(them.map((figure, i) => us[i]! / figure))
      lines.push(
        line(
          `import of ${count.toLocaleString('en-US')} rows ${text}, against ${peer.name}`,
          perSecond(median(us)),
          perSecond(median(them)),
          { ratio, least },
        ),
      )
    }
  return lines
}

async function opened(options: BenchOptions) {
  const data = await distinctData(options)
  const csv = writeCsv(options.dir, data)
  const ours = await serveWellhead(data.dir, 'serve', 'built')
  return { data, csv, ours, settings: await yardstickSettings(data, ours) }
}

/**
 * Opens the installed peers, and adds each at once, so that it is stopped if a later one fails; a
 * line names those that are missing.
 */
async function openPeers(
  into: [PeerName, Peer][],
  { dir }: BenchOptions,
  { lastAt }: Filled,
  settings: Awaited<ReturnType<typeof yardstickSettings>>,
  lines: Line[],
): Promise<void> {
  for (const [name, open] of Object.entries(peers) as [PeerName, OpenPeer][]) {
    const place = join(dir, 'peers', name)
    rmSync(place, { recursive: true, force: true })
    mkdirSync(place, { recursive: true })
    const peer = await open({ dir: place, lastAt, settings })
    if (peer) into.push([name, peer])
    else lines.push(line(`against ${name}`, '-', 'is not installed here'))
  }
}

/** All rows in order of time, over ten codes by turns, as a feed writes them. */
function writeCsv(dir: string, data: Filled): string {
  const file = join(dir, 'peers.csv')
  if (existsSync(file)) return file
  const db = new Database(join(data.dir, 'wellhead.db'), { readonly: true })
  const rows = db
    .query<{ code: string; at: number; value: number }, []>(
      `SELECT code, observed_at AS at, value FROM observations JOIN series ON id = series_id
       ORDER BY observed_at, series_id`,
    )
    .all()
  db.close()
  const sink = Bun.file(file).writer()
  sink.write('code,observed_at,price\n')
  for (const { code, at, value } of rows) sink.write(`${code},${second(at)},${value}\n`)
  sink.end()
  return file
}

function askedBy(path: string, question: Question): Asked {
  const { searchParams } = new URL(path, 'http://localhost')
  const [start, end] = [searchParams.get('start_date'), searchParams.get('end_date')]
  const endsAt = end === null ? 0 : Date.parse(end) + (end.length === 10 ? dayMs : 1000)
  const from = start === null ? 0 : Date.parse(start)
  return { path, question, code: searchParams.get('by_code')!, from, to: endsAt }
}

async function measured(
  server: PeerServer,
  question: Question,
  kind: Kind,
  data: Filled,
  { seconds, dir }: BenchOptions,
): Promise<{ rate: number; us: number }> {
  const pids = server.pids()
  const before = workedMs(pids)
  const { perSecond: rate, answers } = await runDistinct(
    { port: server.port, pid: pids[0]! },
    {
      paths: pathsOf(kind, answersPerSecondMax * seconds).map(path =>
        server.pathOf(askedBy(path, question)),
      ),
      connections,
      seconds: Math.ceil(seconds),
      headers: { Authorization: `Token ${data.tokens[0]}` },
      dir,
    },
  )
  return { rate, us: ((workedMs(pids) - before) * 1000) / answers }
}

/** All must return the same number of rows, or the ratio means nothing. */
async function checkCounts(
  question: Question,
  kind: Kind,
  data: Filled,
  servers: readonly PeerServer[],
): Promise<void> {
  for (const path of pathsOf(kind, comparedPaths)) {
    const asked = askedBy(path, question)
    const counts = await Promise.all(
      servers.map(async server => {
        const address = `http://127.0.0.1:${server.port}${server.pathOf(asked)}`
        const answer = await fetch(address, {
          headers: { authorization: `Token ${data.tokens[0]}` },
        })
        return { address, rows: server.rowsIn(await answer.text()) }
      }),
    )
    const other = counts.find(({ rows }) => rows !== counts[0]!.rows)
    if (other || counts[0]!.rows === 0)
      throw new Error(`${path} has ${counts[0]!.rows} rows; ${JSON.stringify(other)}`)
  }
}

const residentMb = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return sum + Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
  }, 0)

const line = (
  row: string,
  ours: string,
  yardstick: string,
  { ratio, least }: { ratio?: number; least?: number | undefined } = {},
): Line => ({
  row,
  ours,
  yardstick,
  ratio,
  atLeast: least === undefined ? '-' : least.toFixed(2),
  met: least === undefined || ratio === undefined ? undefined : ratio >= least,
})
