import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openDatabase, versionOf } from '../../../src/database/database.ts'
import { schemaVersion } from '../../../src/database/migrations.ts'
import { keepBeforeUpgrade } from '../../../src/database/upgrade.ts'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { command } from '../../support/instance/command.ts'

const root = temporaryDir()
afterAll(() => remove(root))

let places = 0
/** A directory with a database of the first schema. */
function old() {
  places += 1
  const dir = join(root, `data-${places}`)
  mkdirSync(dir)
  const db = new Database(join(dir, 'wellhead.db'), { create: true })
  db.run(readFileSync(resolve(import.meta.dir, '../../../fixtures/schema-1.sql'), 'utf8'))
  db.run('PRAGMA user_version = 1')
  db.close()
  return { dir, path: join(dir, 'wellhead.db') }
}
const versionAt = (path: string) => {
  const db = new Database(path, { readonly: true })
  const { user_version: version } = db.query('PRAGMA user_version').get() as {
    user_version: number
  }
  db.close()
  return version
}

test('a dry-run migration upgrades a duplicate and leaves the data directory unchanged', async () => {
  const { dir, path } = old()
  const before = readFileSync(path)
  const { code, out, err } = await command('migrate', '--dry-run', '--data', dir)
  expect({ code, out, err }).toEqual({
    code: 0,
    out: expect.stringContaining(`went from schema 1 to ${schemaVersion}`),
    err: '',
  })
  expect(readFileSync(path).equals(before)).toBe(true)
  expect(readdirSync(dir).filter(name => !/^wellhead\.db(-wal|-shm)?$/.test(name))).toEqual([])
})

test('migrate and verify agree about an older database, whether it is valid or not', async () => {
  const { dir, path } = old()
  const both = async () =>
    [await command('migrate', '--data', dir), await command('verify', '--data', dir)] as const
  const [valid, verified] = await both()
  expect({ validCode: valid.code, verifiedCode: verified.code, err: verified.err }).toEqual({
    validCode: 0,
    verifiedCode: 0,
    err: '',
  })
  const db = new Database(path)
  db.run('UPDATE bars SET close = close + 1, high = high + 1 WHERE span = 24')
  db.close()
  const [migrated, refused] = await both()
  expect({ migrated: migrated.code, refused: refused.code }).toEqual({ migrated: 1, refused: 1 })
  for (const { err } of [migrated, refused])
    expect(err).toContain('does not follow its observations')
  expect(readdirSync(dir).filter(name => /trial/.test(name))).toEqual([])
})

test('a backup of the first schema passes verify, and a restore brings it back', async () => {
  const { path } = old()
  const verified = await command('verify', path)
  expect({ code: verified.code, err: verified.err }).toEqual({ code: 0, err: '' })
  const dir = join(root, 'restored-from-the-first-schema')
  const restored = await command('restore', path, '--data', dir, '--create', '--without-master-key')
  expect({ code: restored.code, err: restored.err }).toEqual({ code: 0, err: '' })
  expect(versionAt(join(dir, 'wellhead.db'))).toBe(schemaVersion)
  const rows = [path, join(dir, 'wellhead.db')].map(file => {
    const db = new Database(file, { readonly: true })
    const found = db.query('SELECT * FROM accounts, api_keys ORDER BY 1, 2').values().length
    db.close()
    return found
  })
  expect(rows[0]).toBeGreaterThan(0)
  expect(rows[1]).toBe(rows[0]!)
})

test('the database before an upgrade is stored once, unchanged and readable only by its owner', () => {
  const { path } = old()
  const kept = keepBeforeUpgrade(path)
  expect(kept).toEqual({ keptAs: `${path}.schema-1`, from: 1 })
  const db = openDatabase(path)
  expect(versionOf(db)).toBe(schemaVersion)
  db.close()
  expect(versionAt(kept!.keptAs)).toBe(1)
  expect(statSync(kept!.keptAs).mode & 0o077).toBe(0)
  expect(keepBeforeUpgrade(path)).toBeUndefined()
})

test('an upgrade that was interrupted needs no room for a second copy', () => {
  const { path } = old()
  const { keptAs } = keepBeforeUpgrade(path)!
  const { size } = statSync(keptAs)
  expect(() => keepBeforeUpgrade(path, () => -size)).toThrow('free disk space for the copy')
  expect(existsSync(keptAs)).toBe(true)
  const room = () => (existsSync(keptAs) ? 0 : size)
  expect(keepBeforeUpgrade(path, room)).toEqual({ keptAs, from: 1 })
  expect(versionAt(keptAs)).toBe(1)
})

test('the upgrade after a rollback stores what the previous version has recorded since', () => {
  const { path } = old()
  const { keptAs } = keepBeforeUpgrade(path)!
  const db = new Database(path)
  db.run("UPDATE accounts SET plan = 'of the rollback'")
  db.close()
  expect(keepBeforeUpgrade(path)).toEqual({ keptAs, from: 1 })
  const kept = new Database(keptAs, { readonly: true })
  const rows = kept.query('SELECT DISTINCT plan FROM accounts').values()
  kept.close()
  expect(rows).toEqual([['of the rollback']])
})

test('a directory without a database has nothing to keep', () => {
  expect(keepBeforeUpgrade(join(root, 'wellhead.db'))).toBeUndefined()
})
