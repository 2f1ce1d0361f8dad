import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { openDatabase } from '../../../src/database/database.ts'
import { workingFile } from '../../../src/lib/files/working-file.ts'
import { isFull } from '../../support/full.ts'
import { startWith } from '../../support/instance/binary.ts'
import { backedUp, databaseIn, rowsIn, unsentIn } from '../../support/instance/restored.ts'

const { folder, file, directory, opened, command, close } = await backedUp()
afterAll(close)

/** A directory whose database has a different content than the backup. */
function inUse(): string {
  const dir = directory()
  opened(dir).close()
  const db = openDatabase(databaseIn(dir))
  db.run("INSERT INTO settings VALUES ('whose', 'old')")
  db.close()
  return dir
}
/** The files of a database after its process was killed: the newest commits are in the WAL. */
function leaveHalfDone(path: string): void {
  const from = databaseIn(inUse())
  const db = new Database(from)
  db.run('PRAGMA wal_autocheckpoint = 0')
  db.run("UPDATE settings SET value = 'in the log' WHERE name = 'whose'")
  for (const tail of ['', '-wal']) copyFileSync(from + tail, path + tail)
  db.close()
}
const whose = (path: string) =>
  rowsIn<{ value: string }>(path, "SELECT value FROM settings WHERE name = 'whose'")[0]?.value
const keptIn = (dir: string) =>
  readdirSync(dir).filter(name => /^wellhead\.db\.before-\d+$/.test(name))
const leftIn = (dir: string) => readdirSync(dir).filter(name => name.includes('.part'))

describe('restore: the database before', () => {
  /** Changes a copy of the backup. */
  function changed(name: string, change: (path: string) => void): string {
    const path = join(folder, name)
    copyFileSync(file, path)
    change(path)
    return path
  }
  const broken = () =>
    changed('broken.db', path => {
      const bytes = Buffer.from(readFileSync(path))
      bytes.fill(0xff, 4096 * 3, 4096 * 40)
      writeFileSync(path, bytes)
    })
  const withoutTexts = () =>
    changed('without-texts.db', path => {
      const db = new Database(path)
      db.run('DROP TABLE sms_messages')
      db.close()
    })
  const empty = () => {
    const path = join(folder, 'empty.db')
    writeFileSync(path, '')
    return path
  }
  const foreign = () => {
    const path = join(folder, 'foreign.db')
    const db = new Database(path)
    db.run('CREATE TABLE IF NOT EXISTS notes (text TEXT)')
    db.close()
    return path
  }
  test('its first credentials go with it, so that a start does not point to them', async () => {
    const dir = inUse()
    writeFileSync(join(dir, 'first-credentials'), 'of the database before')
    expect((await command('restore', file, '--data', dir)).code).toBe(0)
    expect(readdirSync(dir).filter(name => name.startsWith('first-'))).toEqual([
      expect.stringMatching(/^first-credentials\.before-\d+$/),
    ])
  })

  test.each([
    ['is not sound', broken],
    ['is an empty file', empty],
    ['is a database of another program', foreign],
    ['cannot be held', withoutTexts],
    ['is not there', () => join(folder, 'nothing.db')],
  ])('stays in place, whole and alone, when the backup %s', async (_, make) => {
    const dir = inUse()
    expect((await command('restore', '--data', dir, '--release-outbox', make())).code).toBe(1)
    expect((await command('restore', '--data', dir, make())).code).toBe(1)
    expect((await command('verify', make())).code).toBe(1)
    expect(whose(databaseIn(dir))).toBe('old')
    expect([...keptIn(dir), ...leftIn(dir)]).toEqual([])
    expect((await command('verify', '--data', dir)).code).toBe(0)
  })

  test('restore keeps the previous database with the commits that a killed process left in its WAL', async () => {
    const killed = directory()
    leaveHalfDone(databaseIn(killed))
    expect((await command('restore', '--data', killed, file)).code).toBe(0)
    expect(whose(join(killed, keptIn(killed)[0]!))).toBe('in the log')
    expect({
      whose: whose(databaseIn(killed)),
      unsent: unsentIn(databaseIn(killed)),
      left: leftIn(killed),
    }).toEqual({ whose: undefined, unsent: 0, left: [] })
  })

  test('restore keeps a previous database file unchanged even if it is corrupt', async () => {
    const dir = directory()
    for (const tail of ['', '-wal']) writeFileSync(databaseIn(dir) + tail, `ruins${tail}`)
    expect((await command('restore', '--data', dir, file)).code).toBe(0)
    const [name] = keptIn(dir)
    expect(readFileSync(join(dir, name!), 'utf8')).toBe('ruins')
    expect(readFileSync(join(dir, `${name}-wal`), 'utf8')).toBe('ruins-wal')
    expect((await command('verify', '--data', dir)).code).toBe(0)
  })
})

test('an incomplete earlier restore does not affect the next one, and a read-only backup becomes a database', async () => {
  const dir = directory()
  leaveHalfDone(`${databaseIn(dir)}.part`)
  const kept = join(folder, 'read-only.db')
  copyFileSync(file, kept)
  chmodSync(kept, 0o400)
  expect((await command('restore', '--data', dir, kept)).code).toBe(0)
  expect({
    whose: whose(databaseIn(dir)),
    unsent: unsentIn(databaseIn(dir)),
    left: leftIn(dir),
    mode: statSync(databaseIn(dir)).mode & 0o700,
  }).toEqual({ whose: undefined, unsent: 0, left: [], mode: 0o600 })
  expect({ unsent: unsentIn(kept), code: (await command('verify', '--data', dir)).code }).toEqual({
    unsent: 5,
    code: 0,
  })
})

test('a restore that is killed leaves the database before it, or the backup with everything held', async () => {
  const main = resolve(import.meta.dir, '../../../src/main.ts')
  const restoring = (dir: string) =>
    Bun.spawn([process.execPath, main, 'restore', '--data', dir, file], {
      cwd: folder,
      stdout: 'ignore',
      stderr: 'ignore',
    })
  // Each step is seen by the file that it makes: the lock, the copy, the database set aside.
  const steps = ['lock', '.part', '.before-']
  const killed: string[] = []
  for (const step of isFull ? [...steps, ...steps] : steps) {
    const dir = inUse()
    const child = restoring(dir)
    const isAtStep = () => readdirSync(dir).some(name => name.includes(step))
    // Without a pause between two looks: some steps take less than a millisecond.
    while (child.exitCode === null && !isAtStep()) await new Promise(setImmediate)
    child.kill('SIGKILL')
    await child.exited
    if (child.signalCode === 'SIGKILL') killed.push(step)
    const path = databaseIn(dir)
    const heldRows = rowsIn<unknown>(path, "SELECT 1 FROM outbox WHERE state = 'failed'").length
    expect([whose(path), unsentIn(path), heldRows]).toEqual(
      whose(path) === 'old' ? ['old', 0, 0] : [undefined, 0, 5],
    )
    expect((await command('verify', '--data', dir)).code).toBe(0)
    // And the next one goes through.
    expect((await command('restore', '--data', dir, file)).code).toBe(0)
    expect({ whose: whose(path), unsent: unsentIn(path), left: leftIn(dir) }).toEqual({
      whose: undefined,
      unsent: 0,
      left: [],
    })
  }
  expect(killed, 'restores that were killed while they ran').not.toBeEmpty()
  expect(killed, 'restores that were killed while they copied').toContain('.part')
}, 300_000)

test('a start removes the file of a restore that was killed, and says that nothing was restored', async () => {
  const parent = directory()
  const data = join(parent, 'data')
  mkdirSync(data)
  leaveHalfDone(join(data, 'wellhead.db.part'))
  const main = resolve(import.meta.dir, '../../../src/main.ts')
  const server = await startWith([process.execPath, main], 'serve', parent)
  const log = new Response(server.process.stderr as ReadableStream).text()
  expect(leftIn(data)).toEqual([])
  expect(await server.stop()).toBe(0)
  expect(await log).toContain('"msg":"restore_interrupted"')
}, 60_000)

test('a start removes the snapshot that a killed replica left, and reports no restore', async () => {
  const parent = directory()
  const data = join(parent, 'data')
  mkdirSync(data)
  const ended = Bun.spawn(['true'])
  await ended.exited
  const left = workingFile(data, 'snapshot').replace(`-${process.pid}.`, `-${ended.pid}.`)
  leaveHalfDone(left)
  const main = resolve(import.meta.dir, '../../../src/main.ts')
  const server = await startWith([process.execPath, main], 'serve', parent)
  const log = new Response(server.process.stderr as ReadableStream).text()
  expect(readdirSync(data).filter(name => name.includes('making'))).toEqual([])
  expect(await server.stop()).toBe(0)
  expect(await log).not.toContain('restore_interrupted')
}, 60_000)
