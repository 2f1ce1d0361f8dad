import type { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import { interfaceRows, type Row } from '../support/interface/interface.ts'

const boundless = { 'limits.unauthenticated_per_minute': '100000', 'demo.limit_per_hour': '100000' }

/** What goes on is not read to its end, and what a process says of itself differs. */
const isAnswer = ({ method, sample, path }: Row) =>
  method === 'GET' &&
  sample !== null &&
  !/stream|\/cable|metrics$|_health$|condition$|audit/.test(path)
const gets = interfaceRows.filter(isAnswer)

let untouched: DemoInstance
let filled: DemoInstance
beforeAll(() => {
  untouched = demoInstance(undefined, boundless, { unfilled: true })
  filled = demoInstance(undefined, boundless)
}, 120_000)
afterAll(() => {
  untouched.remove()
  filled.remove()
})

async function answer(copy: DemoInstance, { access, sample }: Row): Promise<string> {
  const response = await copy.ask('GET', sample!, {
    key: access === 'key' || access === 'key-header-only' ? copy.apiKey : null,
    headers: access === 'operator' ? { authorization: `Bearer ${copy.adminToken}` } : {},
  })
  const text = await response.text()
  return `${response.status} ${text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+/g, 'an id')
    .replace(/"(query_time_ms|uptime\w*|took\w*)":[\d.]+/g, '"$1":0')}`
}

test('an untouched copy answers every GET as one whose data is all there', async () => {
  const different: string[] = []
  for (const row of gets) {
    const [first, whole] = [await answer(untouched, row), await answer(filled, row)]
    if (first !== whole) different.push(`${row.path}: ${first.slice(0, 300)}`)
  }
  expect(gets.length).toBeGreaterThan(200)
  expect(different).toEqual([])
}, 120_000)

const ofEveryCode = [
  '/admin/v1/series',
  '/product-facts.json',
  '/status.json',
  '/v1/commodities/categories',
  '/v1/data-quality/reports',
  '/v1/data-quality/summary',
  '/v1/demo/commodities',
  '/v1/prices/all',
  '/v1/prices/all/health',
  '/v1/prices/board',
  '/v1/prices/excel-latest',
  '/v1/status',
]

test('what lists every code is whole as the first answer of a copy', async () => {
  for (const path of ofEveryCode) {
    const row = gets.find(row => row.path === path)!
    const fresh = demoInstance(undefined, boundless, { unfilled: true })
    const first = await answer(fresh, row)
    fresh.remove()
    expect({ path, first }).toEqual({ path, first: await answer(filled, row) })
  }
}, 120_000)

test('the quality of a code is whole as the first answer of a copy, whatever it is published by', async () => {
  const row = gets.find(({ path }) => path === '/v1/data-quality/reports/{code}')!
  for (const code of [
    'WTI_USD',
    'HENRY_HUB_USD',
    'US_CRUDE_PRODUCTION',
    'CUSHING_STORAGE',
    'BRENT_FUTURES',
  ]) {
    const asked = { ...row, sample: row.sample!.replace('WTI_USD', code) }
    const fresh = demoInstance(undefined, boundless, { unfilled: true })
    const first = await answer(fresh, asked)
    fresh.remove()
    expect(first).toStartWith('200 ')
    expect({ code, first }).toEqual({ code, first: await answer(filled, asked) })
  }
}, 60_000)

/** What nobody has asked for, but what the world has written. */
const kept =
  /^(series|observations|observation_revisions|bars|futures|outlook|monthly|opec|storage|inventory|stations?|surcharge|carrier|cot|annotations|rig|duc|frac|drilling|product|well|state)/

const tablesOf = (db: Database): string[] =>
  db
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
    )
    .all()
    .map(table => table.name)
    .filter(name => kept.test(name))

/** How many rows a table has, and a number that tells their values. */
function dumpOf(db: Database, table: string): { rows: number; hash: string } {
  const columns = db
    .query<{ name: string }, [string]>(
      'SELECT name FROM pragma_table_info(?) ORDER BY pk DESC, cid',
    )
    .all(table)
    .map(column => `"${column.name}"`)
  const rows = db.query(`SELECT * FROM "${table}" ORDER BY ${columns.join(', ')}`).values()
  return { rows: rows.length, hash: Bun.hash(JSON.stringify(rows)).toString(36) }
}

test('filled by requests first, a copy ends with the rows of one that was filled in the background', () => {
  while (untouched.running.feed!.step(1_000));
  const [asked, plain] = [untouched.running.services.db, filled.running.services.db]
  const tables = tablesOf(plain)
  expect(tables.length).toBeGreaterThan(20)
  for (const table of tables)
    expect({ table, ...dumpOf(asked, table) }).toEqual({ table, ...dumpOf(plain, table) })
}, 120_000)
