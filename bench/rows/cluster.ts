import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { filled } from '../database.ts'
import { duel } from '../duel.ts'
import { type BenchOptions, type Line, ratioLine } from '../row.ts'
import { binary, serveWellhead, spawned, stopped, withServers } from '../server.ts'
import { csv, rowCount } from './import.ts'
import { perSecond, scriptOf } from './wrk.ts'

const leastRatio = 0.95
const importRounds = 5
const lag = { batches: 300, observations: 500, eachMs: 100, mostMs: 100 }

/**
 * The cost of a replica, and how far it is behind: compiled binaries with one `nats-server`, all on
 * this machine.
 */
export async function cluster(options: BenchOptions): Promise<Line[]> {
  for (const program of ['nats-server', 'wrk'])
    if (!Bun.which(program)) throw new Error(`the row cluster needs the program ${program}`)
  if (!existsSync(binary)) throw new Error('the row cluster needs dist/wellhead: bun run build')
  const dir = join(options.dir, 'cluster')
  rmSync(dir, { recursive: true, force: true })
  const lines: Line[] = []
  const parts = [behind, answering, writing]
  for (const [i, part] of parts.entries()) {
    const own = join(dir, String(i))
    mkdirSync(own, { recursive: true })
    const nats = await startNats(join(own, 'nats'))
    try {
      lines.push(...(await part(options, own, nats.env)))
    } finally {
      await stopped(nats.child)
    }
  }
  rmSync(dir, { recursive: true, force: true })
  return lines
}

type Env = Readonly<Record<string, string>>

/** From the push of 500 prices, ten times a second, to the newest of them at a replica. */
async function behind({ say }: BenchOptions, dir: string, env: Env): Promise<Line[]> {
  say('lag of a replica at 5,000 observations a second')
  const primaryDir = join(dir, 'primary')
  mkdirSync(primaryDir)
  return withServers([serveWellhead(primaryDir, 'serve', 'built', { env })], async primary => {
    const origin = `http://127.0.0.1:${primary.port}`
    const push = (path: string, body: unknown) =>
      fetch(`${origin}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${primary.adminToken}`,
          'content-type': 'application/json',
          'idempotency-key': crypto.randomUUID(),
        },
        body: JSON.stringify(body),
      })
    const made = await push('/admin/v1/accounts', { email: 'desk@example.com', plan: 'enterprise' })
    const token = /"(?:plain_)?token":"([^"]+)"/.exec(await made.text())?.[1]
    if (!token) throw new Error(`no key: ${made.status}`)
    return withServers([serveReplica(join(dir, 'replica'), env, origin)], async replica => {
      const newest = async () => {
        const answer = await fetch(
          `http://127.0.0.1:${replica.port}/v1/prices/latest?by_code=WTI_USD`,
          { headers: { authorization: `Token ${token}` } },
        )
        const text = await answer.text()
        return answer.ok ? Number(/"price":([\d.]+)/.exec(text)?.[1]) : undefined
      }
      const firstAt = Date.now() - 2 * 86_400_000
      const waits: number[] = []
      const acknowledgements: number[] = []
      for (let batch = 0; batch < lag.batches; batch += 1) {
        const price = 60 + (batch % 500) / 100
        const observations = Array.from({ length: lag.observations }, (_, i) => ({
          code: 'WTI_USD',
          observed_at: new Date(firstAt + (batch * lag.observations + i) * 1000).toISOString(),
          price,
        }))
        const sentAt = performance.now()
        const answered = push('/admin/v1/observations', { observations }).then(async answer => {
          acknowledgements.push(performance.now() - sentAt)
          if (!answer.ok) throw new Error(`a push was answered ${answer.status}`)
          await answer.text()
        })
        while ((await newest()) !== price) {
          if (performance.now() - sentAt > 30_000) throw new Error('a price never came')
          await Bun.sleep(1)
        }
        // The first ones meet programs that have compiled nothing yet.
        if (batch >= lag.batches / 10) waits.push(performance.now() - sentAt)
        await answered
        await Bun.sleep(Math.max(0, lag.eachMs - (performance.now() - sentAt)))
      }
      const p99 = shareOf(waits, 0.99)
      return [
        {
          row: `push of ${lag.observations} prices ten times a second to the price at a replica (binary)`,
          ours: `median ${shareOf(waits, 0.5)} ms, p99 ${p99} ms`,
          yardstick: `its answer: median ${shareOf(acknowledgements, 0.5)} ms, p99 ${shareOf(acknowledgements, 0.99)} ms`,
          ratio: undefined,
          atLeast: `p99 ${lag.mostMs} ms`,
          met: p99 < lag.mostMs,
        },
      ]
    })
  })
}

/** `latest` of a replica, and of a primary that publishes, against a standalone server. */
async function answering(options: BenchOptions, dir: string, env: Env): Promise<Line[]> {
  const copy = await filled('cluster', { points: 200_000, keys: 1 }, options)
  const [aloneDir, primaryDir] = [join(dir, 'alone'), join(dir, 'primary')]
  for (const target of [aloneDir, primaryDir]) cpSync(copy.dir, target, { recursive: true })
  const script = join(dir, 'wrk.lua')
  const paths = copy.codes.map(code => `/v1/prices/latest?by_code=${code}`)
  await Bun.write(script, scriptOf(paths, copy.tokens))
  const both = [
    serveWellhead(aloneDir, 'serve', 'built'),
    serveWellhead(primaryDir, 'serve', 'built', { env }),
  ]
  return withServers(both, async (alone, primary) => {
    const origin = `http://127.0.0.1:${primary!.port}`
    return withServers([serveReplica(join(dir, 'replica'), env, origin)], async replica => {
      const run = (port: number) => () => perSecond(port, script, options.seconds)
      const lines: Line[] = []
      for (const [name, { port }] of [
        ['a replica', replica],
        ['a primary with nats.servers', primary!],
      ] as const) {
        options.say(`latest of ${name}`)
        const rates = await duel(options.rounds, run(port), run(alone!.port))
        lines.push(
          ratioLine(`latest of ${name} by wrk, against one alone (binary)`, rates, leastRatio),
        )
      }
      return lines
    })
  })
}

/**
 * `import` of a million rows into a directory whose server published, and into one that never
 * published. Processor time is compared, because other programs use the disk too.
 */
async function writing({ say }: BenchOptions, dir: string, env: Env): Promise<Line[]> {
  say('import with nats.servers')
  const file = await csv(dir)
  const served = async (name: string, of?: Env) => {
    const path = join(dir, name)
    mkdirSync(path)
    const server = await serveWellhead(path, 'serve', 'built', of && { env: of })
    await server.stop()
    return path
  }
  const [published, alone] = [await served('published', env), await served('alone')]
  const target = join(dir, 'import')
  const run = (from: string, of?: Env) => async () => {
    rmSync(target, { recursive: true, force: true })
    cpSync(from, target, { recursive: true })
    const child = spawned([binary, 'import', file, '--data', target], of)
    const [code] = await Promise.all([child.exited, new Response(child.stdout).text()])
    if (code !== 0) throw new Error(`the import ended with exit code ${code}`)
    return rowCount / (Number(child.resourceUsage()!.cpuTime.total) / 1_000_000)
  }
  const rates = await duel(importRounds, run(published, env), run(alone))
  return [
    ratioLine(
      'import of 1,000,000 rows with nats.servers, against without (binary, rows a second of processor time)',
      rates,
      leastRatio,
    ),
  ]
}

async function serveReplica(dir: string, env: Env, origin: string) {
  mkdirSync(dir, { recursive: true })
  return await serveWellhead(dir, 'serve', 'built', {
    env: { ...env, WELLHEAD_REPLICA_PRIMARY: origin },
    args: ['--replica'],
  })
}

async function startNats(dir: string): Promise<{ child: Subprocess; env: Env }> {
  const port = await freePort()
  const child = spawned([
    'nats-server',
    '-js',
    '-sd',
    dir,
    '-a',
    '127.0.0.1',
    '-p',
    String(port),
    '-l',
    `${dir}.log`,
  ])
  while (!(existsSync(`${dir}.log`) && readFileSync(`${dir}.log`, 'utf8').includes('ready'))) {
    if (child.exitCode !== null) throw new Error('nats-server did not start')
    await Bun.sleep(20)
  }
  return {
    child,
    env: {
      WELLHEAD_NATS_SERVERS: `nats://127.0.0.1:${port}`,
      WELLHEAD_DATA_RESERVE_MB: '0',
    },
  }
}

const freePort = () =>
  new Promise<number>(done => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      const port = typeof address === 'object' && address ? address.port : 0
      probe.close(() => done(port))
    })
  })

/** Whole milliseconds below which a share of the values lies. */
function shareOf(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN)
}
