import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Holder } from '../../../src/lib/files/directory-lock.ts'
import { holderOf, lockDataDir } from '../../../src/lib/files/directory-lock.ts'
import { needs } from '../../support/needs.ts'

const module = join(import.meta.dir, '../../../src/lib/files/directory-lock.ts')
const startedAt = Date.UTC(2026, 10, 21, 19, 30)
const mine: Holder = { pid: process.pid, role: 'test', startedAt }

/** Takes the lock if it can, prints the result, and stays until its input ends. */
const program = (dir: string, role: string) => `
  import { lockDataDir } from ${JSON.stringify(module)}
  const taken = lockDataDir(${JSON.stringify(dir)}, { pid: process.pid, role: ${JSON.stringify(role)}, startedAt: ${startedAt} })
  console.log(JSON.stringify('release' in taken ? 'held' : taken))
  for await (const _ of Bun.stdin.stream());
  if ('release' in taken) taken.release()`

let dir: string
let children: ReturnType<typeof start>[] = []

function start(role: string) {
  const child = Bun.spawn([process.execPath, '-e', program(dir, role)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const stdout = child.stdout
    .getReader()
    .read()
    .then(({ value }) => JSON.parse(new TextDecoder().decode(value)) as unknown)
  return { child, stdout }
}

function run(role: string) {
  const started = start(role)
  children.push(started)
  return started
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'wellhead-lock-'))
  children = []
})

afterEach(async () => {
  for (const { child } of children) child.kill('SIGKILL')
  await Promise.all(children.map(({ child }) => child.exited))
  rmSync(dir, { recursive: true, force: true })
})

const take = () => {
  const taken = lockDataDir(dir, mine)
  if (!('release' in taken)) throw new Error(`held by ${JSON.stringify(taken.heldBy)}`)
  return taken
}

describe('lockDataDir between processes', () => {
  needs('linux').test('deleting the lock file lets no second process in', async () => {
    const taken = take()
    rmSync(join(dir, 'lock'))
    expect(await run('second').stdout).toEqual({ heldBy: mine })
    taken.release()
    expect(await run('third').stdout).toBe('held')
  })

  needs('linux').test('a new directory is free while another has the name of its inode', () => {
    // The kernel may close the socket of a killed process after its files, and give the inode of its
    // deleted directory to a new one in between.
    const { dev, ino } = statSync(dir)
    const listener = Bun.listen({ unix: `\0wellhead-${dev}-${ino}`, socket: { data() {} } })
    take().release()
    listener.stop(true)
  })

  test('a second process is notified of the process that holds the lock', async () => {
    const first = run('serve')
    expect(await first.stdout).toBe('held')
    const holder = { pid: first.child.pid, role: 'serve', startedAt }
    expect(lockDataDir(dir, mine)).toEqual({ heldBy: holder })
    expect(await run('import').stdout).toEqual({ heldBy: holder })
  })

  test('the holder of the lock can be queried without taking the lock from anyone', async () => {
    expect(holderOf(dir)).toBeUndefined()
    const first = run('serve')
    expect(await first.stdout).toBe('held')
    expect(holderOf(dir)).toEqual({ heldBy: { pid: first.child.pid, role: 'serve', startedAt } })
    expect(await run('import').stdout).toEqual({
      heldBy: { pid: first.child.pid, role: 'serve', startedAt },
    })
    first.child.kill('SIGKILL')
    await first.child.exited
    expect(holderOf(dir)).toBeUndefined()
    const own = take()
    expect(holderOf(dir)).toEqual({ heldBy: mine })
    expect(await run('import').stdout).toEqual({ heldBy: mine })
    own.release()
    expect(holderOf(dir)).toBeUndefined()
  })

  test('of many that start at once exactly one gets it', async () => {
    const outcomes = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(role => run(role).stdout))
    expect(outcomes.filter(outcome => outcome === 'held')).toHaveLength(1)
  })

  test('after SIGKILL of the holder the lock can be taken at once', async () => {
    for (const role of ['serve', 'import', 'serve']) {
      const holder = run(role)
      expect(await holder.stdout).toBe('held')
      holder.child.kill('SIGKILL')
      await holder.child.exited
      const taken = take()
      expect(JSON.parse(readFileSync(join(dir, 'lock.json'), 'utf8'))).toEqual({
        pid: process.pid,
        role: 'test',
        started_at: '2026-11-21T19:30:00Z',
      })
      taken.release()
    }
  })

  test('a process that only tests the lock keeps no other from taking it', async () => {
    writeFileSync(join(dir, 'lock'), '')
    const tests = `
      import { Database } from 'bun:sqlite'
      const db = new Database(${JSON.stringify(join(dir, 'lock'))}, { readonly: true })
      db.run('BEGIN')
      db.query('SELECT count(*) FROM sqlite_master').get()
      console.log('testing')
      Bun.sleepSync(20)`
    const child = Bun.spawn([process.execPath, '-e', tests], { stdout: 'pipe' })
    await child.stdout.getReader().read()
    const taken = lockDataDir(dir, mine)
    expect(taken).toHaveProperty('release')
    if ('release' in taken) taken.release()
    await child.exited
  })
  test('a holder that ends in order leaves no name behind', async () => {
    const holder = run('serve')
    expect(await holder.stdout).toBe('held')
    holder.child.stdin.end()
    expect(await holder.child.exited).toBe(0)
    expect(await Bun.file(join(dir, 'lock.json')).exists()).toBe(false)
    take().release()
  })

  test('a lock without any remaining reference is still held', async () => {
    take()
    Bun.gc(true)
    expect(await run('serve').stdout).toEqual({ heldBy: mine })
  })
})

test('one process cannot take the lock twice and can take it again after a release', () => {
  const first = take()
  expect(lockDataDir(dir, mine)).toEqual({ heldBy: mine })
  first.release()
  const second = take()
  first.release()
  expect(lockDataDir(dir, mine)).toEqual({ heldBy: mine })
  second.release()
  take().release()
})

test('a holder whose name cannot be read is unknown, and the lock is held all the same', () => {
  const taken = take()
  for (const text of ['', '{', 'null', '{"pid":"x"}']) {
    writeFileSync(join(dir, 'lock.json'), text)
    expect(lockDataDir(dir, mine)).toEqual({ heldBy: undefined })
  }
  taken.release()
})

test('a directory that is not there is an error, not a held lock', () => {
  expect(() => lockDataDir(join(dir, 'none'), mine)).toThrow(
    `cannot lock the data directory through ${join(dir, 'none', 'lock')}`,
  )
})
