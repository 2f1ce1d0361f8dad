import { Database } from 'bun:sqlite'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { schemaVersion } from '../../src/database/migrations.ts'

/**
 * R22: a database of the first schema is served by this version, which is killed at each write of
 * the upgrade in turn (strace); the database then has the old schema or the new one, and the next
 * start completes the upgrade with the rows of an undisturbed one. A kill between two statements is
 * one between two writes. Prints one line of JSON. Needs dist/wellhead and strace.
 *
 * bun scripts/torture/upgrade-kills.ts [kills at most, else 400]
 */

const [most = 400] = process.argv.slice(2).map(Number)
const root = resolve(import.meta.dir, '../..')
const binary = join(root, 'dist/wellhead')
const work = mkdtempSync(join(tmpdir(), 'wellhead-upgrade-kills-'))
const old = join(work, 'old.db')
const failed: string[] = []

function makeOld() {
  const db = new Database(old, { create: true })
  db.run('PRAGMA journal_mode = WAL')
  db.run(readFileSync(join(root, 'fixtures/schema-1.sql'), 'utf8'))
  db.run('PRAGMA user_version = 1')
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

function fresh(): string {
  const data = join(work, 'data')
  rmSync(data, { recursive: true, force: true })
  mkdirSync(data)
  copyFileSync(old, join(data, 'wellhead.db'))
  return data
}

/** Serves until it listens, or until it is killed at a write; whether it came to listen. */
async function serve(data: string, tracing: readonly string[]): Promise<boolean> {
  const ready = join(data, 'ready')
  rmSync(ready, { force: true })
  const child = Bun.spawn(
    [
      ...tracing,
      binary,
      'serve',
      '--data',
      data,
      '--port',
      '0',
      '--ready-file',
      ready,
      '--new-master-key',
    ],
    {
      stdout: 'ignore',
      stderr: 'ignore',
      env: { PATH: process.env.PATH, WELLHEAD_FEEDS_ENABLED: 'false' },
    },
  )
  while (!existsSync(ready) && child.exitCode === null && child.signalCode === null)
    await Bun.sleep(5)
  const hasListened = existsSync(ready)
  if (hasListened) {
    const { pid } = JSON.parse(readFileSync(join(data, 'lock.json'), 'utf8')) as { pid: number }
    process.kill(pid, 'SIGKILL')
  }
  await child.exited
  return hasListened
}

const versionOf = (db: Database) =>
  (db.query('PRAGMA user_version').get() as { user_version: number }).user_version

const tablesOf = (db: Database) =>
  (
    db
      .query(
        "SELECT name FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
      )
      .all() as { name: string }[]
  ).map(table => table.name)

/** The state of the database: its schema, and the number of rows of each table. */
function stateOf(data: string) {
  const db = new Database(join(data, 'wellhead.db'), { readwrite: true })
  const { integrity_check: sound } = db.query('PRAGMA integrity_check').get() as {
    integrity_check: string
  }
  const rows = Object.fromEntries(
    tablesOf(db).map(name => [
      name,
      (db.query(`SELECT count(*) AS n FROM "${name}"`).get() as { n: number }).n,
    ]),
  )
  const result = { version: versionOf(db), sound, rows }
  db.close()
  return result
}

makeOld()
const before = (() => {
  const data = fresh()
  return stateOf(data)
})()
const data = fresh()
const trace = join(work, 'trace')
await serve(data, ['strace', '-f', '-e', 'trace=pwrite64', '-o', trace])
const writes = readFileSync(trace, 'utf8')
  .split('\n')
  .filter(line => line.includes('pwrite64(')).length
const whole = stateOf(data)
/** A start tries at once what waits to be sent, and a kill may come after that. */
const triesTable = 'outbox_attempts'
/** Not one that a start writes besides, in its own time. */
const isSteady = (name: string) =>
  name !== triesTable && before.rows[name] !== undefined && whole.rows[name] !== undefined

const ends = { old: 0, new: 0 }
const step = Math.max(1, writes / most)
let kills = 0
for (let at = 1; at <= writes; at += step) {
  const data = fresh()
  const n = Math.floor(at)
  const wasUp = await serve(data, [
    'strace',
    '-f',
    '-qq',
    '-e',
    'trace=pwrite64',
    '-e',
    `inject=pwrite64:signal=SIGKILL:when=${n}`,
    '-o',
    '/dev/null',
  ])
  kills += 1
  const wrong = (why: string) => void failed.push(`killed at write ${n}: ${why}`)
  const then = stateOf(data)
  if (then.sound !== 'ok') wrong(then.sound)
  if (then.version === 1) ends.old += 1
  else if (then.version === schemaVersion) ends.new += 1
  else wrong(`schema ${then.version}`)
  if (then.version === 1 && JSON.stringify(then.rows) !== JSON.stringify(before.rows))
    wrong('the old database has other rows')
  if (!wasUp && !(await serve(data, []))) wrong('the next start did not listen')
  const after = stateOf(data)
  if (after.version !== schemaVersion || after.sound !== 'ok')
    wrong(`after the next start: schema ${after.version}, ${after.sound}`)
  for (const name of Object.keys(whole.rows).filter(isSteady))
    if (after.rows[name] !== whole.rows[name])
      wrong(`${name} has ${after.rows[name]} rows, not ${whole.rows[name]}`)
}
console.log(
  JSON.stringify({
    id: 'R22',
    n: kills,
    failures: failed.length,
    writes,
    ended_as: ends,
    ...(failed.length > 0 && { failed: failed.slice(0, 5) }),
  }),
)
rmSync(work, { recursive: true, force: true })
process.exit(failed.length > 0 ? 1 : 0)
