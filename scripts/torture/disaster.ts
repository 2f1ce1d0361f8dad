import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { standInBucket } from '../../test/support/servers/s3-server.ts'

/**
 * R31: a server takes 200 prices a second and makes a backup to S3 every five minutes; it is killed
 * and its directory deleted; how long it takes until another one answers from the backup, what of
 * the acknowledged is missing, and what a backup under way adds to a write. Prints one line of JSON.
 * Needs dist/wellhead.
 *
 *   bun scripts/torture/disaster.ts [seconds until the kill, else 480] [points before, else 200000]
 */

const [killAfterSeconds = 480, pointsBefore = 200_000] = process.argv.slice(2).map(Number)
const binary = resolve(import.meta.dir, '../../dist/wellhead')
const dir = mkdtempSync(join(tmpdir(), 'wellhead-disaster-'))
const data = join(dir, 'data')
const config = join(dir, 'wellhead.toml')
const ready = join(dir, 'ready')
const code = 'WTI_USD'
const everyMs = 5
const day = 86_400_000
const backMsMax = 30_000
const lostMsMax = 5 * 60_000
const addedMsMax = 10
// A server that falls behind shows its own queue in every latency, not what a backup adds.
const perSecondMin = 190

const bucket = standInBucket('backups')
writeFileSync(
  config,
  `plans = "unlimited"
[limits]
per_minute = 1000000
unauthenticated_per_minute = 1000000
[feeds]
enabled = false
[backups]
every = "5m"
key = "a long pass phrase"
s3_bucket = "backups"
s3_endpoint = "${bucket.endpoint}"
s3_access_key = "a"
s3_secret_key = "b"
`,
)

/** The bucket is in this process: it has to continue in the meantime. */
async function run(...args: string[]): Promise<string> {
  const child = Bun.spawn([binary, ...args, '--data', data, '--config', config], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(`${args[0]}: ${err}`)
  return out
}

async function serve() {
  rmSync(ready, { force: true })
  const child = Bun.spawn(
    [binary, 'serve', '--data', data, '--config', config, '--port', '0', '--ready-file', ready],
    { stdout: 'ignore', stderr: 'ignore' },
  )
  while (!existsSync(ready)) await Bun.sleep(5)
  const answer = JSON.parse(readFileSync(ready, 'utf8')) as { url: string; admin_token?: string }
  return { child, url: answer.url, token: answer.admin_token }
}

/** A backup is a child process of the server. */
function isBackingUp(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim() !== ''
  } catch {
    return false
  }
}

const p99 = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * 0.99))]!
const rounded = (value: number) => Math.round(value * 10) / 10

try {
  // Without prices the backup would be almost empty.
  const history = join(dir, 'history.csv')
  const past = Date.parse('2020-01-01T00:00:00Z')
  const lines = ['code,observed_at,price']
  for (let i = 0; i < pointsBefore; i += 1)
    lines.push(`${code},${new Date(past + i * 600_000).toISOString()},${70 + (i % 100) / 100}`)
  writeFileSync(history, lines.join('\n'))
  await run('import', '--create', history)

  const first = await serve()
  const { pid } = first.child
  const start = Math.floor((Date.now() - 20 * day) / 1000) * 1000
  const acknowledged: { at: number; number: number }[] = []
  const during: number[] = []
  const outside: number[] = []
  let refused = 0
  let isOver = false
  let backing = false
  const looking = setInterval(() => {
    backing = isBackingUp(pid)
  }, 20)
  const push = async (number: number) => {
    const began = performance.now()
    const wasBacking = backing
    try {
      const response = await fetch(`${first.url}/admin/v1/observations`, {
        method: 'POST',
        headers: { authorization: `Bearer ${first.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          observations: [
            {
              code,
              observed_at: new Date(start + number * 1000).toISOString(),
              price: 71 + (number % 50) / 100,
            },
          ],
        }),
      })
      await response.text()
      if (response.status !== 200) refused += 1
      else {
        acknowledged.push({ at: Date.now(), number })
        const took = performance.now() - began
        ;(wasBacking || backing ? during : outside).push(took)
      }
    } catch {
      if (!isOver) refused += 1
    }
  }
  const began = performance.now()
  const waiting = new Set<Promise<void>>()
  for (let number = 0; performance.now() - began < killAfterSeconds * 1000; number += 1) {
    const due = began + number * everyMs
    while (performance.now() < due) await Bun.sleep(1)
    const sending = push(number)
    waiting.add(sending)
    void sending.finally(() => waiting.delete(sending))
  }
  isOver = true
  first.child.kill('SIGKILL')
  const killedAt = Date.now()
  await first.child.exited
  clearInterval(looking)
  await Promise.all(waiting)

  // The key is stored apart from the backups, as the documentation requires.
  const key = join(dir, 'master.key')
  cpSync(join(data, 'master.key'), key)
  rmSync(data, { recursive: true })
  const backAt = performance.now()
  mkdirSync(data, { mode: 0o700 })
  cpSync(key, join(data, 'master.key'))
  await run('restore', '--from', 'latest')
  const second = await serve()
  const answer = await fetch(`${second.url}/v1/demo/prices`)
  const backMs = performance.now() - backAt
  second.child.kill('SIGTERM')
  await second.child.exited

  const rows = new Set(
    (await run('export', code))
      .split('\n')
      .slice(1)
      .map(line => Date.parse(line.split(',')[1] ?? '')),
  )
  const missing = acknowledged.filter(({ number }) => !rows.has(start + number * 1000))
  const lostMs = missing.length === 0 ? 0 : killedAt - Math.min(...missing.map(({ at }) => at))
  // Backups leave no hole behind them.
  const firstMissing = Math.min(...missing.map(({ number }) => number), Number.MAX_SAFE_INTEGER)
  const holes = missing.length - acknowledged.filter(({ number }) => number >= firstMissing).length
  const added = during.length > 0 ? p99(during) - p99(outside) : Number.NaN
  const isGood =
    answer.status === 200 &&
    refused === 0 &&
    acknowledged.length / killAfterSeconds >= perSecondMin &&
    backMs < backMsMax &&
    lostMs < lostMsMax &&
    missing.length < acknowledged.length &&
    added <= addedMsMax
  console.info(
    JSON.stringify({
      id: 'R31',
      n: acknowledged.length,
      failures: isGood ? 0 : 1,
      perSecond: rounded(acknowledged.length / killAfterSeconds),
      refused,
      backups: bucket.objects.size,
      backSeconds: rounded(backMs / 1000),
      missing: missing.length,
      lostSeconds: rounded(lostMs / 1000),
      holes: Math.abs(holes),
      duringBackup: during.length,
      p99WithoutMs: rounded(p99(outside)),
      p99DuringMs: during.length > 0 ? rounded(p99(during)) : null,
      load: rounded(loadavg()[0]!),
    }),
  )
  process.exitCode = isGood ? 0 : 1
} finally {
  await bucket.stop()
  rmSync(dir, { recursive: true, force: true })
}
