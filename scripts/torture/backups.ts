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

/**
 * R23: fifty backups of a server that takes one price after another. Each is restored into an empty
 * directory: it must hold a prefix of the prices, with everything that was acknowledged before the
 * backup began; and the time that a backup under way adds to the 99th percentile of a write is
 * reported. Prints one line of JSON. Needs dist/wellhead.
 *
 * bun scripts/torture/backups.ts [backups, else 50] [points before, else 200000]
 */

const [backups = 50, pointsBefore = 200_000] = process.argv.slice(2).map(Number)
const binary = resolve(import.meta.dir, '../../dist/wellhead')
const dir = mkdtempSync(join(tmpdir(), 'wellhead-backups-'))
const data = join(dir, 'data')
const config = join(dir, 'wellhead.toml')
const code = 'WTI_USD'
const day = 86_400_000
const everyMs = 10
const addedMsMax = 10

writeFileSync(config, 'plans = "unlimited"\nlimits.per_minute = 1000000\nfeeds.enabled = false\n')

async function run(...args: string[]): Promise<string> {
  const child = Bun.spawn([binary, ...args, '--config', config], { stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(`${args.join(' ')}: ${err}`)
  return out
}

const p99 = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * 0.99))]!
const rounded = (value: number) => Math.round(value * 10) / 10

const failed: string[] = []
try {
  // Without prices the backup would be almost empty.
  const history = join(dir, 'history.csv')
  const past = Date.parse('2020-01-01T00:00:00Z')
  const lines = ['code,observed_at,price']
  for (let i = 0; i < pointsBefore; i += 1)
    lines.push(`${code},${new Date(past + i * 600_000).toISOString()},${70 + (i % 100) / 100}`)
  writeFileSync(history, lines.join('\n'))
  await run('import', '--create', history, '--data', data)

  const ready = join(dir, 'ready')
  const server = Bun.spawn(
    [binary, 'serve', '--data', data, '--config', config, '--port', '0', '--ready-file', ready],
    { stdout: 'ignore', stderr: 'ignore' },
  )
  while (!existsSync(ready)) await Bun.sleep(5)
  const { url, admin_token } = JSON.parse(readFileSync(ready, 'utf8')) as Record<string, string>

  const start = Math.floor((Date.now() - 20 * day) / 1000) * 1000
  const during: number[] = []
  const outside: number[] = []
  let isBackingUp = false
  let isOver = false
  let sent = 0
  let acknowledged = 0
  const writing = (async () => {
    while (!isOver) {
      const began = performance.now()
      const wasBackingUp = isBackingUp
      sent += 1
      const response = await fetch(`${url}/admin/v1/observations`, {
        method: 'POST',
        headers: { authorization: `Bearer ${admin_token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          observations: [
            {
              code,
              observed_at: new Date(start + sent * 1000).toISOString(),
              price: 71 + (sent % 50) / 100,
            },
          ],
        }),
      })
      await response.text()
      if (response.status !== 200) failed.push(`a write was answered with ${response.status}`)
      else acknowledged = sent
      const took = performance.now() - began
      ;(wasBackingUp || isBackingUp ? during : outside).push(took)
      await Bun.sleep(Math.max(0, everyMs - took))
    }
  })()

  for (let n = 0; n < backups; n += 1) {
    await Bun.sleep(500)
    const file = join(dir, 'backup.db')
    const before = acknowledged
    isBackingUp = true
    await run('backup', file, '--data', data)
    isBackingUp = false
    const after = sent

    const copy = join(dir, 'copy')
    mkdirSync(copy)
    cpSync(join(data, 'master.key'), join(copy, 'master.key'))
    await run('restore', file, '--data', copy)
    const numbers = (await run('export', code, '--data', copy))
      .split('\n')
      .map(line => (Date.parse(line.split(',')[1] ?? '') - start) / 1000)
      .filter(number => number >= 1)
      .sort((a, b) => a - b)
    if (numbers.some((number, place) => number !== place + 1))
      failed.push(`backup ${n}: no prefix of what was written`)
    if (numbers.length < before || numbers.length > after)
      failed.push(`backup ${n}: ${numbers.length} prices, not ${before} to ${after}`)
    rmSync(copy, { recursive: true })
    rmSync(file)
  }
  isOver = true
  await writing
  server.kill('SIGTERM')
  await server.exited
  const added = p99(during) - p99(outside)
  if (added > addedMsMax) failed.push(`a backup adds ${rounded(added)} ms to a write`)
  console.log(
    JSON.stringify({
      id: 'R23',
      n: backups,
      failures: failed.length,
      writes: sent,
      during_backup: during.length,
      p99_without_ms: rounded(p99(outside)),
      p99_during_ms: rounded(p99(during)),
      load: rounded(loadavg()[0]!),
      ...(failed.length > 0 && { failed: failed.slice(0, 5) }),
    }),
  )
} finally {
  rmSync(dir, { recursive: true, force: true })
}
process.exit(failed.length > 0 ? 1 : 0)
