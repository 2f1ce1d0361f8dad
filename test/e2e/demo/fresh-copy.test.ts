import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { remove, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { interfaceRows } from '../../support/interface/interface.ts'
import { until } from '../../support/until.ts'

const dir = temporaryDir()
let server: Server
beforeAll(async () => {
  server = await start('dev', dir, '--clock', '2026-11-20T15:00:00Z')
})
afterAll(async () => {
  await server.stop()
  remove(dir)
})

/** One of each family of data, and the lists of all codes. */
const paths = [
  '/v1/commodities',
  '/v1/prices/all',
  '/v1/data-quality/reports',
  '/v1/prices/past_year',
  '/v1/futures/{slug}/curve',
  '/v1/spreads/crack/historical',
  '/v1/storage/cushing',
  '/v1/ei/well-permits/latest',
  '/v1/ei/rig_counts',
  '/v1/ei/opec_productions',
  '/v1/forecasts/monthly',
  '/v1/fuel-surcharge',
  '/v1/well-production/cycle-time',
  '/v1/indicators/cftc-positioning',
]

test('every operation works as soon as the server announces its address', async () => {
  const rows = paths.map(
    path => interfaceRows.find(row => row.path === path && row.method === 'GET')!,
  )
  const answers = await Promise.all(
    rows.map(async ({ path, sample }) => {
      const response = await server.get(sample!, { authorization: `Token ${server.apiKey}` })
      const text = await response.text()
      return { path, status: response.status, isLong: text.length > 250 }
    }),
  )
  expect(answers).toEqual(paths.map(path => ({ path, status: 200, isLong: true })))
})

/** The disk space of directories; a file with several links counts once. */
const bytesOf = (...places: string[]) => {
  const files = places
    .flatMap(place => readdirSync(place).map(name => statSync(join(place, name))))
    .filter(file => file.isFile())
  const sizes = new Map(files.map(({ ino, size }) => [ino, size]))
  return [...sizes.values()].reduce((sum, size) => sum + size, 0)
}

test('a new demo instance has its whole history when it reports ready and uses less than 250 MB of disk', async () => {
  const own = temporaryDir()
  const data = join(own, 'data')
  // By the real clock, shortly after the build: with the world of the binary.
  const instance = await start('dev', own)
  try {
    const db = new Database(join(data, 'wellhead.db'), { readonly: true })
    const count = (table: string) =>
      db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n
    expect(count('observations')).toBeGreaterThan(1_000_000)
    expect(count('well_permits')).toBeGreaterThan(5000)
    expect(count('well_production')).toBeGreaterThan(10_000)
    db.close()
    // The initial state, which a reset restores, is written next to the database.
    const state = join(data, 'snapshots', '.start.state')
    await until('the start is stored', () => existsSync(state), 20_000)
    expect(bytesOf(data, join(data, 'snapshots'))).toBeLessThan(250e6)
  } finally {
    await instance.stop()
    remove(own)
  }
}, 120_000)
