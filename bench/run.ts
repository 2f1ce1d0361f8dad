import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { machineLine } from './machine.ts'
import { type BenchOptions, type Row, table } from './row.ts'
import { alerts } from './rows/alerts.ts'
import { board } from './rows/board.ts'
import { cluster } from './rows/cluster.ts'
import { exporting } from './rows/export.ts'
import { feeds } from './rows/feeds.ts'
import { growth } from './rows/growth.ts'
import { guarding } from './rows/guards.ts'
import { importing } from './rows/import.ts'
import { latest } from './rows/latest.ts'
import { correlation, curve, ohlc } from './rows/markets.ts'
import { memory } from './rows/memory.ts'
import { mix, mixRepeated } from './rows/mix.ts'
import { page } from './rows/page.ts'
import { pageRepeated } from './rows/page-repeated.ts'
import { peerLoads, peerQuestions } from './rows/peers.ts'
import { permitsFilters, permitsRadius } from './rows/permits.ts'
import { ready } from './rows/ready.ts'
import { routes } from './rows/routes.ts'
import { sizing } from './rows/sizing.ts'
import { start } from './rows/start.ts'
import { states } from './rows/states.ts'
import { webhooks } from './rows/webhooks.ts'
import { work } from './rows/work.ts'
import { wrk } from './rows/wrk.ts'

const rows: Readonly<Record<string, Row>> = {
  latest,
  wrk,
  page,
  'page-repeated': pageRepeated,
  peers: peerQuestions,
  'peers-load': peerLoads,
  import: importing,
  guards: guarding,
  export: exporting,
  feeds,
  start,
  sizing,
  growth,
  curve,
  correlation,
  ohlc,
  alerts,
  webhooks,
  mix,
  memory,
  'mix-repeated': mixRepeated,
  work,
  routes,
  ready,
  states,
  board,
  cluster,
  'permits-radius': permitsRadius,
  'permits-filters': permitsFilters,
}

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: Object.keys(rows).join(',') },
    points: { type: 'string', default: '20000000' },
    permits: { type: 'string', default: '2000000' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '7' },
    keep: { type: 'string' },
  },
})

const wanted = values.rows.split(',').filter(Boolean)
const unknown = wanted.filter(name => !(name in rows))
if (unknown.length > 0)
  throw new Error(`--rows ${unknown.join(',')}: the rows are ${Object.keys(rows).join(', ')}`)

const dir =
  values.keep === undefined ? mkdtempSync(join(tmpdir(), 'wellhead-bench-')) : resolve(values.keep)
mkdirSync(dir, { recursive: true })
// PostgreSQL runs as another user, and has its files in here.
chmodSync(dir, 0o755)
const options: BenchOptions = {
  dir,
  points: Number(values.points),
  permits: Number(values.permits),
  seconds: Number(values.seconds),
  rounds: Number(values.rounds),
  say: text => process.stderr.write(`${text}\n`),
}
try {
  // Each row is printed as soon as it is measured: one that fails later takes nothing away.
  for (const name of wanted) process.stdout.write(`${table(await rows[name]!(options))}\n\n`)
} finally {
  if (values.keep === undefined) rmSync(dir, { recursive: true, force: true })
}
process.stdout.write(`${new Date().toISOString().slice(0, 10)}; ${machineLine()}\n`)
