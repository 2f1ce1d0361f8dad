import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { emptied } from '../database.ts'
import { duel } from '../duel.ts'
import { type BenchOptions, type Line, ratioLine } from '../row.ts'
import { binary, built, spawned } from '../server.ts'

const leastRatio = 1
export const rowCount = 1_000_000
/** A round takes seconds, so few are enough. */
const rounds = 3
const stepMs = 300_000
/** With a price that each moves around. */
const codes = {
  WTI_USD: 70,
  BRENT_CRUDE_USD: 74,
  NATURAL_GAS_USD: 3.4,
  HEATING_OIL_USD: 2.3,
} as const
export const importCodes = Object.keys(codes)
const firstAt = Date.UTC(2024, 0, 1)

/**
 * The whole command, from its start to its exit, on a file of a million rows and an empty
 * directory.
 */
export async function importing(options: BenchOptions): Promise<Line[]> {
  const { dir, say } = options
  const shell = Bun.which('sqlite3')
  const name = `import of ${rowCount.toLocaleString('en-US')} rows (${built()[0] === binary ? 'binary' : 'source'})`
  if (!shell)
    return [
      {
        row: name,
        ours: '-',
        yardstick: 'no sqlite3 here',
        ratio: undefined,
        atLeast: leastRatio.toFixed(2),
        met: undefined,
      },
    ]
  const file = await csv(dir)
  const target = join(dir, 'import')
  const create = 'create table t(code text, at text, price real, primary key(code,at))'
  say(name)
  const result = await duel(
    rounds,
    () => timed(options, target, [...built(), 'import', file, '--data', target]),
    () =>
      timed(options, target, [
        shell,
        join(target, 'bare.db'),
        create,
        `.import --csv --skip 1 ${file} t`,
      ]),
  )
  rmSync(target, { recursive: true, force: true })
  return [ratioLine(name, result, leastRatio)]
}

/** Rows a second of a command that fills the directory of an empty instance. */
async function timed(options: BenchOptions, target: string, command: string[]): Promise<number> {
  await emptied(target, options)
  const startedAt = performance.now()
  const child = spawned(command)
  const [code] = await Promise.all([child.exited, new Response(child.stdout).text()])
  const seconds = (performance.now() - startedAt) / 1000
  if (code !== 0) throw new Error(`${command.join(' ')} ended with exit code ${code}`)
  return rowCount / seconds
}

/** Written once: four codes one after the other, each every five minutes, as an export has them. */
export async function csv(dir: string): Promise<string> {
  const file = join(dir, `prices-${rowCount}.csv`)
  if (existsSync(file)) return file
  const levels = Object.entries(codes)
  const each = rowCount / levels.length
  const rows = levels.flatMap(([code, level]) =>
    Array.from({ length: each }, (_, i) => {
      const price = level * (1 + 0.1 * Math.sin(i / 5000) + (((i * 7919) % 200) - 100) / 10_000)
      return `${code},${new Date(firstAt + i * stepMs).toISOString()},${price.toFixed(3)}`
    }),
  )
  await Bun.write(file, `code,observed_at,price\n${rows.join('\n')}\n`)
  return file
}
