import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { guardRules } from '../../src/topics/prices/math/guards.ts'
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
export async function guarding({ dir, say }: BenchOptions): Promise<Line[]> {
  const name = `import of ${rowCount.toLocaleString('en-US')} rows, guards on against off (${built()[0] === binary ? 'binary' : 'source'})`
  const file = await csv(dir)
  const target = join(dir, 'guards')
  say(name)
  const off = guardRules.map(rule => `${rule}=off`).join(',')
  const result = await duel(
    rounds,
    () => timed(target, file, 'jump=hold'),
    () => timed(target, file, off),
  )
  rmSync(target, { recursive: true, force: true })
  return [ratioLine(name, result, leastRatio)]
}

/** Rows a second of the import into a directory whose codes have these guards. */
async function timed(target: string, file: string, guards: string): Promise<number> {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target)
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
