import { join, resolve } from 'node:path'
import { type TortureRow, tortureRows } from './torture/rows.ts'

/**
 * Runs the rows of reliability at full size, one after another, and prints a line of JSON for each:
 * how much was tried, how much failed, how long it took. The exit code is 1 where anything failed.
 *
 *   bun run torture [ids…, else all]
 */

const root = resolve(import.meta.dir, '..')

interface Figure {
  id: string
  /** Assertions of tests, or tries of a script; 0: nothing does it yet. */
  n: number
  failures: number
  seconds: number
  [more: string]: unknown
}

async function run(command: readonly string[]): Promise<{ code: number; text: string }> {
  const child = Bun.spawn([process.execPath, ...command], {
    cwd: root,
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, WELLHEAD_TORTURE: '1', TEST_SCOPE: 'full' },
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, text: out + err }
}

const count = (text: string, word: string) =>
  Number(new RegExp(`^ *(\\d+) ${word}`, 'm').exec(text)?.[1] ?? 0)

async function figureOf({ id, tests, script, open }: TortureRow): Promise<Figure> {
  const began = performance.now()
  const seconds = () => Math.round((performance.now() - began) / 100) / 10
  if (script) {
    const [file, ...args] = script
    const { code, text } = await run([join('scripts/torture', file!), ...args])
    const line = text.split('\n').find(line => line.startsWith('{'))
    if (!line) return { id, n: 0, failures: 1, seconds: seconds(), code, error: text.slice(-300) }
    const figure = { ...(JSON.parse(line) as Figure), seconds: seconds() }
    if (!tests) return figure
    const tested = await testsOf(id, tests)
    return { ...figure, failures: figure.failures + tested.failures, tests: tested }
  }
  return tests ? await testsOf(id, tests, open) : { id, n: 0, failures: 0, seconds: 0, open }
}

async function testsOf(id: string, tests: readonly string[], open?: string): Promise<Figure> {
  const began = performance.now()
  const seconds = () => Math.round((performance.now() - began) / 100) / 10
  const { code, text } = await run(['test', '--timeout', '3600000', ...tests])
  const failed = [...text.matchAll(/^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/gm)].map(match => match[1])
  return {
    id,
    n: count(text, 'expect\\(\\) calls'),
    // A file that could not be read fails without a test that does.
    failures: Math.max(new Set(failed).size, code === 0 ? 0 : 1),
    seconds: seconds(),
    tests: count(text, 'pass') + count(text, 'fail'),
    ...(failed.length > 0 && { failed: [...new Set(failed)] }),
    ...(open !== undefined && { open }),
  }
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter(id => !tortureRows.some(row => row.id === id))
if (unknown.length > 0) {
  console.error(
    `no such row: ${unknown.join(', ')}; there are ${tortureRows.map(row => row.id).join(' ')}`,
  )
  process.exit(2)
}
const built = await run(['scripts/build.ts'])
if (built.code !== 0) {
  console.error(built.text)
  process.exit(2)
}
let failures = 0
for (const row of tortureRows) {
  if (wanted.length > 0 && !wanted.includes(row.id)) continue
  const figure = await figureOf(row)
  failures += figure.failures
  console.log(JSON.stringify(figure))
}
process.exit(failures > 0 ? 1 : 0)
