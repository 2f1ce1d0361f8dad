import { afterAll, describe, expect, test } from 'bun:test'
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLogFile } from '../../../src/lib/files/log-file.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'
import { dayMs } from '../../../src/lib/time/instant.ts'
import { needs } from '../../support/needs.ts'

const root = mkdtempSync(join(tmpdir(), 'wellhead-log-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

function world(name: string, bytesMax = 100) {
  const dir = mkdtempSync(join(root, `${name}-`))
  const path = join(dir, 'wellhead.log')
  const clock = createManualClock(Date.parse('2026-11-22T18:04:05Z'))
  const instead: string[] = []
  const open = (wrongBy = () => 0) =>
    openLogFile({
      path,
      bytesMax,
      keepMs: 14 * dayMs,
      clock: { now: () => clock.now() + wrongBy(), monotonic: clock.monotonic },
      instead: line => void instead.push(line),
      onFault: reason => void instead.push(`why: ${reason}`),
    })
  return { dir, path, clock, instead, open, text: () => readFileSync(path, 'utf8') }
}

describe('a log file', () => {
  test('is its owner’s alone, also where it was there already, and is gone on with', () => {
    const { path, open, text } = world('mode')
    writeFileSync(path, 'before\n', { mode: 0o644 })
    const file = open()
    file.write('now\n')
    file.close()
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(text()).toBe('before\nnow\n')
  })
  test('a log that goes to a pipe is not put aside, however long it becomes', async () => {
    const { dir, path, open, instead } = world('pipe', 100)
    expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0)
    const reader = Bun.spawn(['cat', path], { stdout: 'pipe' })
    try {
      const file = open()
      for (let i = 0; i < 40; i += 1) file.write(`line ${i} of them\n`)
      file.close()
      expect(readdirSync(dir)).toEqual(['wellhead.log'])
      expect(lstatSync(path).isFIFO()).toBe(true)
      const text = await new Response(reader.stdout).text()
      expect(text.trimEnd().split('\n')).toHaveLength(40)
      expect(instead).toEqual([])
    } finally {
      reader.kill()
    }
  })
  test('a log that another program moves, deletes or empties is gone on with at its place', () => {
    const { path, open, text, instead } = world('moved', 100)
    const file = open()
    file.write('first\n')
    renameSync(path, `${path}.1`)
    file.write('second\n')
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('first\n')
    expect(text()).toBe('second\n')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    rmSync(path)
    file.write('third\n')
    expect(text()).toBe('third\n')
    truncateSync(path)
    file.write('fourth\n')
    expect(text()).toBe('fourth\n')
    file.close()
    expect(instead).toEqual([])
  })
  test('is put aside before it would grow beyond its size, and loses no line', () => {
    const { dir, clock, open } = world('size', 100)
    const file = open()
    const lines = Array.from({ length: 40 }, (_, i) => `line ${i} of them\n`)
    for (const line of lines) {
      file.write(line)
      clock.advance(300)
    }
    file.close()
    const names = readdirSync(dir)
    expect(names.length).toBeGreaterThan(5)
    for (const name of names) {
      expect(statSync(join(dir, name)).size).toBeLessThanOrEqual(100)
      expect(name).toMatch(/^wellhead\.log(\.2026-11-22T18-04-\d\dZ(\.\d+)?)?$/)
    }
    const all = names.flatMap(name => readFileSync(join(dir, name), 'utf8').trimEnd().split('\n'))
    expect(all.sort()).toEqual(lines.map(line => line.trimEnd()).sort())
  })
  test('takes a line that is longer than its size, alone', () => {
    const { open, text } = world('long', 10)
    const file = open()
    file.write('short\n')
    file.write(`${'x'.repeat(50)}\n`)
    expect(text()).toBe(`${'x'.repeat(50)}\n`)
    file.close()
  })
  test('rotated log files are removed by age, and no other file is removed', () => {
    const { dir, clock, open } = world('age')
    const old = new Date(clock.now() - 15 * dayMs)
    for (const name of [
      'wellhead.log.2026-11-01T00-00-00Z',
      'wellhead.log.2026-11-01T00-00-00Z.1',
      'wellhead.log.keep',
      'other.log.2026-11-01T00-00-00Z',
    ]) {
      writeFileSync(join(dir, name), 'x')
      utimesSync(join(dir, name), old, old)
    }
    writeFileSync(join(dir, 'wellhead.log.2026-11-20T00-00-00Z'), 'x')
    open().close()
    expect(readdirSync(dir).sort()).toEqual([
      'other.log.2026-11-01T00-00-00Z',
      'wellhead.log',
      'wellhead.log.2026-11-20T00-00-00Z',
      'wellhead.log.keep',
    ])
  })
  test.each(['before the start', 'while lines are written'])(
    'a clock that jumps a year ahead %s removes no rotated log files',
    when => {
      const { dir, path, clock, open } = world('jump', 10)
      const aside = join(dir, 'wellhead.log.2026-11-20T00-00-00Z')
      for (const [name, days] of [
        [path, 0],
        [aside, 2],
      ] as const) {
        writeFileSync(name, 'x')
        const at = new Date(clock.now() - days * dayMs)
        utimesSync(name, at, at)
      }
      let wrongBy = when === 'before the start' ? 365 * dayMs : 0
      const file = open(() => wrongBy)
      wrongBy = 365 * dayMs
      for (const line of ['a long line\n', 'another line\n']) file.write(line)
      file.close()
      expect(readdirSync(dir)).toContain('wellhead.log.2026-11-20T00-00-00Z')
      expect(readdirSync(dir).length).toBeGreaterThan(2)
    },
  )
  test('a disk that takes nothing more stops nothing: lines go elsewhere, with why, once', () => {
    const { dir, instead } = world('full')
    const file = openLogFile({
      path: '/dev/full',
      bytesMax: 1000,
      keepMs: dayMs,
      clock: createManualClock(0),
      instead: line => void instead.push(line),
      // What a log does: its line passes through the same file.
      onFault: reason => file.write(`why: ${reason}\n`),
    })
    file.write('one\n')
    file.write('two\n')
    file.close()
    expect(instead).toEqual(['why: Cannot write: the disk is full.\n', 'one\n', 'two\n'])
    expect(dir).toContain('full')
  })
  test('a log file that cannot be opened is reported at the start', () => {
    const { dir } = world('absent')
    expect(() =>
      openLogFile({
        path: join(dir, 'no', 'such.log'),
        bytesMax: 1000,
        keepMs: dayMs,
        clock: createManualClock(0),
        instead() {},
        onFault() {},
      }),
    ).toThrow('ENOENT')
  })
})

const disk = needs('mount')

disk.describe('a log file on a disk that becomes full', () => {
  /** A file system with so much room. */
  function mounted(name: string, room: string) {
    const { dir, ...others } = world(name, 5000)
    const { exitCode } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', room, 'none', dir])
    expect(exitCode).toBe(0)
    return { dir, ...others, [Symbol.dispose]: () => void Bun.spawnSync(['umount', '-l', dir]) }
  }
  const line = (letter: string) => `${letter.repeat(2999)}\n`

  test('a rotation that cannot create the next file is completed by a later line', () => {
    // For the directory and two files.
    using place = mounted('inodes', 'size=1m,nr_inodes=3')
    const { dir, instead, open, text } = place
    const ballast = join(dir, 'ballast')
    writeFileSync(ballast, '')
    const file = open()
    file.write(line('a'))
    file.write(line('b'))
    expect(instead).toEqual([expect.stringContaining('why: '), line('b')])
    rmSync(ballast)
    file.write(line('c'))
    file.close()
    expect(text()).toBe(line('c'))
    const [, aside] = readdirSync(dir).sort()
    expect(readFileSync(join(dir, aside!), 'utf8')).toBe(line('a'))
  })
  test('a line of which the disk took a part ends before the next one', () => {
    using place = mounted('part', 'size=8k')
    const { dir, instead, open, text } = place
    writeFileSync(join(dir, 'ballast'), Buffer.alloc(4096))
    const file = open()
    file.write(line('a'))
    file.write(line('b').slice(1500))
    expect(instead).toEqual([expect.stringContaining('why: '), line('b').slice(1500)])
    rmSync(join(dir, 'ballast'))
    file.write('c\n')
    file.write('d\n')
    file.close()
    expect(
      text()
        .split('\n')
        .map(each => each.slice(0, 1)),
    ).toEqual(['a', 'b', 'c', 'd', ''])
  })
})
