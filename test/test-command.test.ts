import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { until } from './support/until.ts'

const script = resolve(import.meta.dir, '../scripts/test.ts')
const dir = mkdtempSync(join(tmpdir(), 'wellhead-test-command-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function file(name: string, text: string): string {
  const path = join(dir, name)
  writeFileSync(path, `import { describe, expect, test } from 'bun:test'\n${text}\n`)
  return path
}

function start(...args: string[]) {
  const child = Bun.spawn([process.execPath, script, ...args], { stdout: 'pipe', stderr: 'pipe' })
  const ended = Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]).then(([out, err, code]) => ({ out, err, code }))
  return { child, ended }
}
const run = (...args: string[]) => start(...args).ended

const passing = file(
  'passing.test.ts',
  `test('adds', () => { expect(1 + 1).toBe(2) })\ntest('says much', () => {})`,
)

describe('the test command', () => {
  test('prints no line for a test that passes, and the totals as its last line', async () => {
    const { out, err, code } = await run(passing)
    expect(code).toBe(0)
    expect(out + err).not.toContain('says much')
    expect(out.trimEnd().split('\n').at(-1)).toBe('2 passed, 0 failed, 0 skipped')
  })

  test('repeats every failure with its file at the end and ends with 1', async () => {
    const failing = file(
      'failing.test.ts',
      `describe('sums', () => { test('are < 3', () => { expect(1 + 2).toBe(2) }) })`,
    )
    const { out, code } = await run(failing, passing)
    expect(code).toBe(1)
    const end = out.slice(out.indexOf('\nFailed:'))
    expect(end).toContain(`${failing}: sums > are < 3\n    expect(received).toBe(expected)`)
    expect(end.trimEnd().split('\n').at(-1)).toBe('2 passed, 1 failed, 0 skipped')
  })

  test('counts a file that cannot be loaded, and a process that ends, as failures', async () => {
    const broken = file('broken.test.ts', `import './nowhere.ts'`)
    const ending = file('ending.test.ts', `test('ends', () => { process.exit(0) })`)
    const { out, code } = await run(broken, ending, passing)
    expect(code).toBe(1)
    expect(out).toContain(`${broken}: (no test ran)`)
    expect(out).toContain(`${ending}: (worker crashed)`)
    expect(out.trimEnd().split('\n').at(-1)).toBe('2 passed, 2 failed, 0 skipped')
  })

  test('reports the file that ends its process, and runs the others, in many files too', async () => {
    const many = Array.from({ length: 30 }, (_, i) =>
      file(`many-${i}.test.ts`, `test('runs', () => {${i === 7 ? 'process.exit(0)' : ''}})`),
    )
    const { out, code } = await run(...many)
    expect(code).toBe(1)
    expect(out).toContain(`${many[7]}: (no test ran)`)
    expect(out.trimEnd().split('\n').at(-1)).toBe('29 passed, 1 failed, 0 skipped')
  })

  test('runs a few failed files of many again, alone, and names the failures that did not repeat', async () => {
    const many = Array.from({ length: 30 }, (_, i) =>
      file(`calm-${i}.test.ts`, `test('runs', () => {})`),
    )
    const mark = join(dir, 'mark')
    const once = file(
      'once.test.ts',
      `import { existsSync, writeFileSync } from 'node:fs'
      test('fails once', () => {
        const isSecond = existsSync('${mark}')
        writeFileSync('${mark}', '')
        expect(isSecond).toBe(true)
      })`,
    )
    const passed = await run(...many, once)
    expect(passed.code).toBe(0)
    expect(passed.out).toContain(`Failed among other tests, passed alone:\n  ${once}: fails once`)
    expect(passed.out.trimEnd().split('\n').at(-1)).toBe('31 passed, 0 failed, 0 skipped')

    const always = file('always.test.ts', `test('fails', () => { expect(1).toBe(2) })`)
    const failed = await run(...many, always)
    expect(failed.code).toBe(1)
    expect(failed.out).toContain(`\nFailed:\n  ${always}: fails`)
    expect(failed.out).not.toContain('passed alone:')
    expect(failed.out.trimEnd().split('\n').at(-1)).toBe('30 passed, 1 failed, 0 skipped')
  })

  test('the test command lists each missing requirement with the number of tests that need it', async () => {
    const needing = file(
      'needing.test.ts',
      `describe.skip('a page (skipped: needs chromium)', () => {
         test('opens', () => {})
         test('closes (skipped: needs nginx and curl)', () => {})
       })`,
    )
    const { out, code } = await run(needing)
    expect(code).toBe(0)
    expect(out).toMatch(/^chromium +2 {2}apt-get install chromium$/m)
    expect(out).toMatch(/^nginx +1 {2}apt-get install nginx$/m)
    expect(out).toMatch(/^curl +1 {2}apt-get install curl$/m)
    expect(out.trimEnd().split('\n').at(-1)).toBe('0 passed, 0 failed, 2 skipped')
  })

  test('passes flags on: -t runs the tests whose name matches', async () => {
    const { out, code } = await run(passing, '-t', 'adds')
    expect(code).toBe(0)
    expect(out.trimEnd().split('\n').at(-1)).toBe('1 passed, 0 failed, 0 skipped')
  })

  test('ends with 1 where no test file matches', async () => {
    const { err, code } = await run('no/such/place')
    expect(code).toBe(1)
    expect(err.trim()).toBe('No test file has no/such/place in its path.')
  })

  test('stops the tests and what they started when it is interrupted', async () => {
    const pids = join(dir, 'pids')
    mkdirSync(pids)
    const waiting = file(
      'waiting.test.ts',
      `test('waits', async () => {
         const child = Bun.spawn(['sleep', '600'])
         await Bun.write('${pids}/' + child.pid, '')
         await child.exited
       }, 600_000)`,
    )
    const { child, ended } = start(waiting, passing)
    const started = () => [...new Bun.Glob('*').scanSync(pids)].map(Number)
    await until('the test has started its program', () => started().length > 0, 30_000)
    child.kill('SIGINT')
    const { out, code } = await ended
    expect(code).toBe(130)
    expect(out).toContain('(interrupted)')
    await until('the program is stopped', () => !isAlive(started()[0]!), 10_000)
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
