import { Database } from 'bun:sqlite'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { binary, startWith } from '../../test/support/instance/binary.ts'
import { natsServer } from '../../test/support/servers/nats.ts'

/**
 * Kills the primary while values are pushed under nats.sync = commit, every fourth time with NATS
 * stopped before; then promotes another directory, which must have every value that was
 * acknowledged. Prints one line of JSON.
 *
 *   bun scripts/torture/replication.ts [kills, else 200]
 */

const kills = Number(process.argv[2] ?? 200)
const program = [binary()]
const nats = await natsServer()
const dir = mkdtempSync(join(tmpdir(), 'wellhead-replication-'))
mkdirSync(join(dir, 'data'))
await Bun.write(
  join(dir, 'data/wellhead.toml'),
  `[nats]\nservers = ["${nats.url}"]\nsync = "commit"\n`,
)
const acknowledged = new Map<number, number>()
const firstAt = Date.now() - 20 * 86_400_000
let pushed = 0
let server = await startWith(program, 'serve', dir)

async function push(): Promise<void> {
  pushed += 1
  const [at, price] = [firstAt + pushed * 1000, 50 + pushed / 1000]
  const observations = [{ code: 'WTI_USD', observed_at: new Date(at).toISOString(), price }]
  const answer = await fetch(`${server.url}/admin/v1/observations`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.adminToken}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ observations }),
  }).catch(() => undefined)
  if (answer?.ok) acknowledged.set(at, price)
}

// The first snapshot is there.
await Bun.sleep(3000)
for (let kill = 0; kill < kills; kill++) {
  let isOver = false
  const pushing = (async () => {
    while (!isOver) await push()
  })()
  await Bun.sleep(300 + Math.random() * 700)
  const withNats = kill % 4 === 3
  if (withNats) await nats.stop()
  server.process.kill('SIGKILL')
  await server.process.exited
  isOver = true
  await pushing
  if (withNats) await nats.start()
  if (kill < kills - 1) server = await startWith(program, 'serve', dir)
}

const next = join(dir, 'next')
const began = performance.now()
const outcome = Bun.spawnSync([...program, 'promote', '--data', next], {
  env: { PATH: process.env.PATH, WELLHEAD_NATS_SERVERS: nats.url },
})
const promoteMs = Math.round(performance.now() - began)
const db = new Database(join(next, 'wellhead.db'), { readonly: true })
const rows = db
  .query<{ at: number; value: number }, []>(
    `SELECT o.observed_at AS at, o.value FROM observations o JOIN series s ON s.id = o.series_id
     WHERE s.code = 'WTI_USD'`,
  )
  .all()
const values = new Map(rows.map(({ at, value }) => [at, value]))
const lost = [...acknowledged].filter(([at, price]) => values.get(at) !== price).length
db.close()
await nats.remove()
rmSync(dir, { recursive: true })
console.log(
  JSON.stringify({
    id: 'replication',
    n: kills,
    failures: lost + (outcome.exitCode === 0 ? 0 : 1),
    pushed,
    acknowledged: acknowledged.size,
    promote_ms: promoteMs,
  }),
)
