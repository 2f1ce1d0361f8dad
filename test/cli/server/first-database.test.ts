import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { usualConfig } from '../../../scripts/document.ts'
import { firstDatabase } from '../../../scripts/first-database.ts'
import { firstDatabaseOf, takeFirstDatabase } from '../../../src/cli/first-database.ts'
import { type Config, loadConfig } from '../../../src/config/config.ts'
import { databasePath, openDirectory } from '../../../src/instance/services/directory.ts'
import { shippedFile } from '../../../src/lib/files/shipped-file.ts'
import { createRandomIds } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'

const first = firstDatabase()
const shipped = firstDatabaseOf(first)
let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'wellhead-first-test-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const newDir = () => mkdtempSync(join(root, 'dir-'))

/** Opens a directory as `serve` does, and closes it; the words of its log. */
function openOnce(dir: string, config: Config): string[] {
  const clock = createManualClock(Date.parse('2026-11-27T14:00:00Z'))
  const said: string[] = []
  const log = createLog({ level: 'info', format: 'text', write: line => said.push(line), clock })
  const { services } = openDirectory({
    runtime: { config, clock, ids: createRandomIds(), log },
    dir,
    serving: true,
  })
  services.db.close()
  return said
}

/** All contents of a database, and the fields of its header. */
function contentOf(dir: string) {
  const db = new Database(databasePath(dir), { readonly: true })
  const names = db
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
    .all()
    .map(({ name }) => name)
  const pragma = (name: string) => db.query(`PRAGMA ${name}`).values()
  const content = {
    schema: db.query('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2').all(),
    rows: Object.fromEntries(names.map(name => [name, db.query(`SELECT * FROM "${name}"`).all()])),
    header: ['user_version', 'application_id', 'page_size', 'auto_vacuum', 'journal_mode'].map(
      pragma,
    ),
  }
  db.close()
  return content
}

const words = (exchange: string) =>
  loadConfig({
    flags: { 'brand.exchange_words': exchange },
    env: {},
    files: { directory: '/' },
    readFile: () => undefined,
  })

describe('a first database', () => {
  test('is begun with, and makes the same directory as the statements do', async () => {
    const [taken, made] = [newDir(), newDir()]
    expect(await takeFirstDatabase(taken, usualConfig(), shipped)).toBe(true)
    expect(statSync(databasePath(taken)).mode & 0o777).toBe(0o600)
    expect(openOnce(taken, usualConfig())).toEqual(openOnce(made, usualConfig()))
    const content = contentOf(taken)
    const [taking, making] = [content, contentOf(made)].map(({ rows }) => rows.change_lines)
    expect(taking).not.toEqual(making)
    content.rows.change_lines = making!
    expect(content).toEqual(contentOf(made))
    expect(content.rows.series!.length).toBeGreaterThan(800)
    expect(content.header.at(-1)).toEqual([['wal']])
  })

  test('has a different line of changes in each directory', async () => {
    const dirs = [newDir(), newDir()]
    for (const dir of dirs) await takeFirstDatabase(dir, usualConfig(), shipped)
    const [one, other] = dirs.map(dir => contentOf(dir).rows.change_lines)
    expect(one).toHaveLength(1)
    expect(one).not.toEqual(other)
  })

  test('takes the place of no database that is there', async () => {
    const dir = newDir()
    writeFileSync(databasePath(dir), '')
    expect(await takeFirstDatabase(dir, usualConfig(), shipped)).toBe(false)
    expect(statSync(databasePath(dir)).size).toBe(0)
  })

  test('is of no use with other words for the exchange, of another version, or from source', async () => {
    const older = shippedFile('1', first)
    for (const [config, file] of [
      [words('bourse'), shipped],
      [words('exch,bourse'), shipped],
      [usualConfig(), older],
      [usualConfig(), undefined],
    ] as const) {
      const dir = newDir()
      expect(await takeFirstDatabase(dir, config, file)).toBe(false)
      expect(existsSync(databasePath(dir))).toBe(false)
    }
  })
})
