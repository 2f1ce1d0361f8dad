import { Database } from 'bun:sqlite'
import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { schemaVersion } from '../../src/database/migrations.ts'

/**
 * R32: a database of the first schema with 20,000,000 points is served by this version while
 * clients continue their requests: how long no request is answered, and the state after a kill at
 * ten moments of the upgrade. Prints one line of JSON. Needs dist/wellhead.
 *
 * bun scripts/torture/upgrades.ts [points, else 20000000] [kills, else 10]
 */

const [points = 20_000_000, kills = 10] = process.argv.slice(2).map(Number)
const root = resolve(import.meta.dir, '../..')
const binary = join(root, 'dist/wellhead')
const dir = mkdtempSync(join(tmpdir(), 'wellhead-upgrades-'))
const old = join(dir, 'old.db')
const seriesCount = 50
const clients = 8

/** The first schema with its rows, and a history of minutes. */
function makeOld() {
  const db = new Database(old, { create: true })
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA synchronous = OFF')
  db.run(readFileSync(join(root, 'fixtures/schema-1.sql'), 'utf8'))
  const ids = db.query('SELECT id FROM series ORDER BY id LIMIT ?').all(seriesCount) as {
    id: number
  }[]
  const each = Math.ceil(points / ids.length)
  const since = Date.parse('2024-01-01T00:00:00Z')
  const hour = 3_600_000
  for (const { id } of ids) {
    db.query(
      `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
       INSERT OR IGNORE INTO observations SELECT ?1, ?3 + i * 60000, 70 + (i % 100) / 100.0, ?3 + i * 60000 FROM n`,
    ).run(id, each, since)
    for (const span of [1, 24])
      db.query(
        `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
         INSERT OR IGNORE INTO bars SELECT ?1, ?4, ?3 + i * ?5, 70, 70.99, 70, 70.5, 70.5 * 60 * ?4, 60 * ?4, ?4,
           ?3 + (i + 1) * ?5 - 60000, ?3 + (i + 1) * ?5 - 60000, ?3 + i * ?5 FROM n`,
      ).run(id, Math.ceil(each / 60 / span), since, span, span * hour)
  }
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  const { n } = db.query('SELECT count(*) AS n FROM observations').get() as { n: number }
  db.close()
  return n
}

const dataOf = (name: string) => {
  const data = join(dir, name)
  mkdirSync(data)
  copyFileSync(old, join(data, 'wellhead.db'), constants.COPYFILE_FICLONE)
  return data
}

function serve(data: string) {
  const ready = join(data, 'ready')
  rmSync(ready, { force: true })
  const child = Bun.spawn(
    [binary, 'serve', '--data', data, '--port', '0', '--ready-file', ready, '--new-master-key'],
    {
      stdout: 'ignore',
      stderr: 'ignore',
      env: { PATH: process.env.PATH, WELLHEAD_FEEDS_ENABLED: 'false' },
    },
  )
  return { child, ready }
}

async function readyAfter(data: string) {
  const began = performance.now()
  const { child, ready } = serve(data)
  while (!existsSync(ready)) {
    if (child.exitCode !== null) throw new Error(`serve ended with ${child.exitCode}`)
    await Bun.sleep(5)
  }
  return { child, url: (JSON.parse(readFileSync(ready, 'utf8')) as { url: string }).url, began }
}

/** The content of a directory after a kill: a schema, and all of the points. */
function stateOf(data: string) {
  const db = new Database(join(data, 'wellhead.db'))
  const { user_version: version } = db.query('PRAGMA user_version').get() as {
    user_version: number
  }
  const { n } = db.query('SELECT count(*) AS n FROM observations').get() as { n: number }
  db.close()
  return { version, n }
}

try {
  const total = makeOld()
  const data = dataOf('whole')
  const { child, url, began } = await readyAfter(data)
  const readyMs = performance.now() - began
  let answered = 0
  let failed = 0
  // Under way at once, from many sides.
  const until = performance.now() + 5000
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < until) {
        const response = await fetch(`${url}/health`)
        await response.text()
        if (response.status === 200) answered += 1
        else failed += 1
      }
    }),
  )
  child.kill('SIGTERM')
  await child.exited
  const whole = stateOf(data)
  rmSync(data, { recursive: true })

  const endings: Record<string, number> = { old: 0, new: 0, neither: 0, again: 0 }
  for (let kill = 1; kill <= kills; kill += 1) {
    const tried = dataOf(`kill-${kill}`)
    const { child: killed } = serve(tried)
    await Bun.sleep((readyMs * kill) / (kills + 1))
    killed.kill('SIGKILL')
    await killed.exited
    const { version, n } = stateOf(tried)
    const name = version === 1 ? 'old' : version === schemaVersion ? 'new' : 'neither'
    endings[n === total ? name : 'neither']! += 1
    const again = await readyAfter(tried)
    again.child.kill('SIGTERM')
    await again.child.exited
    const after = stateOf(tried)
    if (after.version === schemaVersion && after.n === total) endings.again! += 1
    rmSync(tried, { recursive: true })
  }
  const isGood =
    whole.version === schemaVersion &&
    whole.n === total &&
    failed === 0 &&
    endings.neither === 0 &&
    endings.again === kills
  console.info(
    JSON.stringify({
      id: 'R32',
      n: kills + 1,
      failures: isGood ? 0 : 1,
      points: total,
      megabytes: Math.round(statSync(old).size / 2 ** 20),
      unansweredSeconds: Math.round(readyMs / 100) / 10,
      answered,
      endings,
      load: Math.round(loadavg()[0]! * 10) / 10,
    }),
  )
  process.exitCode = isGood ? 0 : 1
} finally {
  rmSync(dir, { recursive: true, force: true })
}
