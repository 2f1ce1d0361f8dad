import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createOutput, type OutputFault } from '../../../src/lib/process/output.ts'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/until.ts'

const root = temporaryDir()
afterAll(() => remove(root))

/** A stream whose disk is full or not. */
function stream() {
  const written: string[] = []
  let error: NodeJS.ErrnoException | undefined
  return {
    written,
    fails: (code: string | undefined) => {
      error = code === undefined ? undefined : Object.assign(new Error(code), { code })
    },
    on: () => undefined,
    write(text: string, done?: (error?: Error | null) => void) {
      if (!error) written.push(text)
      done?.(error)
      return true
    },
  }
}
const outputOf = (to: ReturnType<typeof stream>) =>
  createOutput(to as unknown as NodeJS.WriteStream, 'Standard error')

test('an output on a full disk counts the lines that it lost, and reports them when there is space', async () => {
  const to = stream()
  const output = outputOf(to)
  const reports: [string, number][] = []
  output.onLost((why, count) => void reports.push([why, count]))
  output.put('one\n')
  to.fails('ENOSPC')
  output.put('two\n')
  const refused = await output.write('three\n').catch((fault: OutputFault) => fault)
  expect(refused).toMatchObject({
    message: 'Standard error cannot be written: the disk is full.',
    isClosed: false,
  })
  to.fails(undefined)
  output.put('four\n')
  output.put('five\n')
  await output.settled()
  expect(to.written).toEqual(['one\n', 'four\n', 'five\n'])
  expect(reports).toEqual([['Standard error cannot be written: the disk is full.', 2]])
})

test('an output without a listener has only what was written', async () => {
  const to = stream()
  const output = outputOf(to)
  to.fails('ENOSPC')
  output.put('{"rows":1}\n')
  to.fails(undefined)
  output.put('{"rows":2}\n')
  await output.settled()
  expect(to.written).toEqual(['{"rows":2}\n'])
})

const disk = needs('mount')
disk.test(
  'a server whose disk was full reports the lost lines as a line of its log',
  async () => {
    const [small, ready] = [join(root, 'small'), join(root, 'ready-small.json')]
    mkdirSync(small)
    Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', small])
    try {
      const log = join(small, 'log')
      const child = shell(
        `wellhead serve --data ${join(root, 'small-data')} --port 0 --ready-file ${ready} 2>> ${log}`,
      )
      await until('the server listens', () => existsSync(ready), 30_000)
      const { url, admin_token } = JSON.parse(readFileSync(ready, 'utf8')) as Record<string, string>
      /** Each request of the operator is logged. */
      const request = (n: number) =>
        fetch(`${url}/admin/v1/accounts`, {
          method: 'POST',
          headers: { authorization: `Bearer ${admin_token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ email: `lost-${n}@example.com` }),
        })
      const ballast = join(small, 'ballast')
      Bun.spawnSync(['dd', 'if=/dev/zero', `of=${ballast}`, 'bs=1k'])
      // The last page of the log may have room for some lines.
      for (let n = 0; n < 40; n += 1) await request(n)
      rmSync(ballast)
      for (let n = 40; n < 42; n += 1) await request(n)
      child.kill('SIGTERM')
      await child.exited
      const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
      // A line of which the disk took a part is followed by the next one.
      const parsed = lines.flatMap(line => {
        try {
          return [JSON.parse(line) as Record<string, unknown>]
        } catch {
          return []
        }
      })
      expect(parsed.find(({ msg }) => msg === 'log_lines_lost')).toMatchObject({
        level: 'error',
        count: expect.any(Number),
        message: 'Standard error cannot be written: the disk is full.',
      })
      expect(lines.filter(line => /^[^{].*lost/.test(line))).toEqual([])
    } finally {
      Bun.spawnSync(['umount', '-l', small])
    }
  },
  60_000,
)

const main = resolve(import.meta.dir, '../../../src/main.ts')
/** Runs a command line of a shell; `wellhead` is this program. */
const shell = (line: string) =>
  Bun.spawn(['bash', '-c', line.replace('wellhead', `exec ${process.execPath} ${main}`)], {
    env: { PATH: process.env.PATH },
    cwd: root,
    stdout: 'pipe',
    stderr: 'pipe',
  })

test('a command whose output does not reach its file fails, and says why', async () => {
  const child = shell('wellhead completion bash > /dev/full')
  expect({ exitCode: await child.exited, stderr: await new Response(child.stderr).text() }).toEqual(
    { exitCode: 1, stderr: 'Standard output cannot be written: the disk is full.\n' },
  )
})

test('a command whose reader has enough succeeds', async () => {
  const child = shell('set -o pipefail; ( wellhead openapi ) | head -c 10')
  expect({
    stdout: await new Response(child.stdout).text(),
    stderr: await new Response(child.stderr).text(),
  }).toEqual({ stdout: '{"openapi"', stderr: '' })
  expect(await child.exited).toBe(0)
}, 30_000)

test('a server whose log cannot be written continues to serve, and stops regularly', async () => {
  const ready = join(root, 'ready.json')
  const child = shell(
    `wellhead serve --data ${join(root, 'data')} --port 0 --ready-file ${ready} > /dev/full 2>&1`,
  )
  await until('the server listens', () => existsSync(ready), 30_000)
  const { url, admin_token } = JSON.parse(readFileSync(ready, 'utf8')) as Record<string, string>
  // Each request of the operator is logged.
  for (let n = 0; n < 5; n += 1) {
    const made = await fetch(`${url}/admin/v1/accounts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${admin_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email: `person-${n}@example.com` }),
    })
    expect(made.status).toBe(201)
  }
  child.kill('SIGTERM')
  await child.exited
  expect(child.signalCode).toBe(null)
}, 60_000)
