import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { guardRules } from '../../src/topics/prices/math/guards.ts'
import { emptied } from '../database.ts'
import { duel } from '../duel.ts'
import { type BenchOptions, type Line, ratioLine } from '../row.ts'
import { binary, built, spawned } from '../server.ts'
import { csv, importCodes, rowCount } from './import.ts'

/** Guards may cost a tenth. */
const leastRatio = 0.9
const rounds = 5

/**
 * The import of a million rows, with the guards as usual and with every guard of the four codes
 * switched off.
 */
export async function guarding(options: BenchOptions): Promise<Line[]> {
  const { dir, say } = options
  const name = `import of ${rowCount.toLocaleString('en-US')} rows, guards on against off (${built()[0] === binary ? 'binary' : 'source'})`
  const file = await csv(dir)
  const target = join(dir, 'guards')
  say(name)
  const off = guardRules.map(rule => `${rule}=off`).join(',')
  const result = await duel(
    rounds,
    () => timed(options, target, file, 'jump=hold'),
    () => timed(options, target, file, off),
  )
  rmSync(target, { recursive: true, force: true })
  return [ratioLine(name, result, leastRatio)]
}

/** Rows a second of the import into a directory whose codes have these guards. */
async function timed(
  options: BenchOptions,
  target: string,
  file: string,
  guards: string,
): Promise<number> {
  await emptied(target, options)
  for (const code of importCodes)
    await run(['series', 'edit', code, '--guards', guards, '--data', target])
  const startedAt = performance.now()
  await run(['import', file, '--data', target])
  return rowCount / ((performance.now() - startedAt) / 1000)
}

async function run(args: readonly string[]): Promise<void> {
  const child = spawned([...built(), ...args])
  const [code] = await Promise.all([child.exited, new Response(child.stdout).text()])
  if (code !== 0) throw new Error(`${args.join(' ')} ended with exit code ${code}`)
}
