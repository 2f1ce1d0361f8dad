import type { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packedWorld } from '../../scripts/demo-worlds.ts'
import { loadConfig } from '../../src/config/config.ts'
import { generateWorld, unpackWorld } from '../../src/demo/file.ts'
import { databasePath } from '../../src/instance/services/directory.ts'
import { conflictOf } from '../../src/instance/services/refusals.ts'
import { createSeededIds } from '../../src/lib/ids.ts'
import { createLog } from '../../src/lib/log/log.ts'
import { createManualClock } from '../../src/lib/time/clock.ts'
import { dayMs } from '../../src/lib/time/instant.ts'
import { isIntraday } from '../../src/topics/catalogue/math/catalogue.ts'
import { families } from '../../src/topics/futures/math/families.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'

const now = Date.parse('2026-11-06T15:00:00Z')
/** As many days before as the small world has every permit of; a month of production comes out. */
const madeAt = now - 8 * dayMs

const configOf = (flags: Record<string, string> = {}) =>
  loadConfig({
    mode: 'dev',
    flags: { 'dev.world': 'small', ...flags },
    env: {},
    files: { directory: '/' },
    readFile: () => undefined,
  })

let dir: string
let packed: Blob
/** Begun with the file; begun when the file was made, and run since; generated now. */
let instances: Record<'unpacked' | 'older' | 'plain', DemoInstance>

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'wellhead-world-file-'))
  packed = await packedWorld(madeAt, { 'dev.world': 'small' })
  const database = join(dir, 'unpacked.db')
  await unpackWorld(database, configOf(), now, packed)
  const older = demoInstance(madeAt)
  older.clock.set(now)
  older.running.feed!.advance(now + 1)
  instances = { unpacked: demoInstance(now, {}, { database }), older, plain: demoInstance(now) }
}, 60_000)
afterAll(() => {
  for (const instance of Object.values(instances)) instance.remove()
  rmSync(dir, { recursive: true, force: true })
})

/** Tables, and their columns without the time at which this instance wrote a row. */
const registers: Readonly<Record<string, string>> = {
  rig_counts: '*',
  frac_spreads: '*',
  duc_wells: '*',
  drilling_productivities: '*',
  opec_productions: '*',
  outlook_forecasts: '*',
  monthly_forecasts: '*',
  cot_reports: 'market, reported_on, open_interest, managed_money_long, managed_money_short',
  annotations: 'id, title, description',
  storage_capacities: 'series_id, effective_on, capacity',
  well_permits: 'permit_on, state_id, operator_id, permit_type_id',
  wells: 'api_number, spud_on, completed_on, first_production_on',
  frac_disclosures: 'reference, ended_on, water_gallons',
  frac_chemicals: 'disclosure_id, substance_id, mass_lbs',
  well_production: 'api_number, month, oil_bbl, gas_mcf',
  inventory_records: 'series_id, starts_at',
  state_production: 'state_code, month, oil_bbl, provisional',
}

const rowsOf = (db: Database, table: string, columns: string): string[] =>
  db
    .query(`SELECT ${columns} FROM ${table}`)
    .values()
    .map(row => JSON.stringify(row))
    .sort()

describe('a demo instance that begins with a file of a week ago', () => {
  for (const [table, columns] of Object.entries(registers))
    test(`has the ${table} of an instance that has run since`, () => {
      const [unpacked, older] = [instances.unpacked, instances.older].map(({ running }) =>
        rowsOf(running.services.db, table, columns),
      )
      expect(unpacked!.length).toBeGreaterThan(0)
      expect(unpacked).toEqual(older!)
    })

  // Contracts are numbered in the order in which they were listed, so series go by their codes.
  const columns: Readonly<Record<string, string>> = {
    observations: 'code, observed_at AS at, value, recorded_at, source_id',
    bars: 'code, starts_at AS at, span, close, closed_at, recorded_at, open, high, low, sum, count',
  }
  const stored = (schema: string, table: string) =>
    `SELECT ${columns[table]} FROM ${schema}.${table} JOIN ${schema}.series ON series.id = series_id`
  /** Runs a query over the unpacked instance, with the one that was generated now as `plain`. */
  const compared = (sql: string): unknown[][] => {
    const { db } = instances.unpacked.running.services
    db.run('ATTACH ? AS plain', [databasePath(instances.plain.dir)])
    const rows = db.query(sql).values()
    db.run('DETACH plain')
    return rows
  }

  test('lacks no price of an instance that was generated now', () => {
    const kept = compared('SELECT count(*) FROM plain.observations')
    expect(kept[0]![0]).toBeGreaterThan(10_000)
    const missing = compared(
      `${stored('plain', 'observations')} EXCEPT ${stored('main', 'observations')}`,
    )
    // It has the ticks of sessions that the other has the close of.
    expect(missing.filter(([code]) => !String(code).includes('_FUTURES_'))).toEqual([])
    const days = (schema: string) =>
      `SELECT code, at FROM (${stored(schema, 'bars')}) WHERE span = 24`
    expect(compared(`${days('plain')} EXCEPT ${days('main')}`)).toEqual([])
  })

  // For codes that are quoted during the day the larger file has full hours and ticks of one more
  // week, for the others the week before.
  for (const table of ['observations', 'bars'])
    test(`has no ${table} besides, but within days and before the first of the other's`, () => {
      const quotedWithinDays = instances.plain.running.services.catalogue
        .list()
        .filter(({ cadence }) => isIntraday(cadence) || cadence === 'twice_daily')
        .map(({ code }) => `'${code}'`)
      const besides = compared(
        `SELECT * FROM (${stored('main', table)} EXCEPT ${stored('plain', table)}) AS more
         WHERE code NOT IN (${quotedWithinDays}) AND code NOT LIKE '%_FUTURES_%'
           AND at > ${dayMs} + (SELECT min(at) FROM (${stored('plain', table)}) WHERE code = more.code)`,
      )
      expect(besides).toEqual([])
    })

  test('has the curves of an instance that has run since', () => {
    const [unpacked, older] = [instances.unpacked, instances.older].map(({ running }) =>
      families.map(({ code }) => running.services.futures.curve(code)),
    )
    expect(unpacked!.every(curve => curve !== undefined && curve.points.length >= 12)).toBe(true)
    expect(unpacked).toEqual(older!)
  })

  test('is served, although it has observations already', () => {
    const { services } = instances.unpacked.running
    expect(conflictOf({ ...services, hasObservations: () => true })).toBeUndefined()
    expect(services.settings.get('directory.mode')).toBe('dev')
  })

  test('a demo instance that starts from a week-old file sends nothing about earlier publications', () => {
    const queued = ({ running }: DemoInstance) =>
      running.services.db.query('SELECT count(*) AS n FROM outbox').get()
    expect(queued(instances.unpacked)).toEqual(queued(instances.plain))
  })
})

describe('a packed world', () => {
  const unpacked = async (flags: Record<string, string> = {}, at = now) => {
    const path = join(mkdtempSync(join(dir, 'own-')), 'data', 'wellhead.db')
    return { isTaken: await unpackWorld(path, configOf(flags), at, packed), path }
  }

  test('becomes the database of a new directory, in which nothing is switched to a WAL first', async () => {
    const { isTaken, path } = await unpacked()
    expect(isTaken).toBe(true)
    // Both the read and the write version are "write-ahead log", by SQLite's file format.
    expect([...readFileSync(path).subarray(18, 20)]).toEqual([2, 2])
    expect(readdirSync(join(path, '..'))).toEqual(['wellhead.db'])
  })

  test('a packed world replaces no database that is there', async () => {
    const { path } = await unpacked()
    expect(await unpackWorld(path, configOf(), now, packed)).toBe(false)
  })

  test('is not taken for another seed, nor by a clock before it or months after it', async () => {
    for (const [flags, at] of [
      [{ 'dev.seed': '2' }, now],
      [{}, madeAt - 1],
      [{}, madeAt + 61 * dayMs],
    ] as const) {
      const { isTaken, path } = await unpacked(flags, at)
      expect(isTaken).toBe(false)
      expect(existsSync(path)).toBe(false)
    }
  })
})

describe('generating a world', () => {
  const runtime = () => {
    const clock = createManualClock(now)
    const log = createLog({ level: 'error', format: 'text', write: console.error, clock })
    return { config: configOf(), clock, ids: createSeededIds(1), log }
  }

  test('that is stopped leaves nothing behind', async () => {
    const own = mkdtempSync(join(dir, 'stopped-'))
    const shares: number[] = []
    const isWhole = await generateWorld(databasePath(own), runtime(), {
      onProgress: share => void shares.push(share),
      isStopped: () => shares.length === 3,
    })
    expect(isWhole).toBe(false)
    expect(shares).toHaveLength(3)
    expect(readdirSync(own)).toEqual([])
  })

  test('makes the same rows each time', async () => {
    const own = mkdtempSync(join(dir, 'again-'))
    expect(await generateWorld(databasePath(own), runtime())).toBe(true)
    const again = demoInstance(now, {}, { database: databasePath(own) })
    const { db: first } = instances.plain.running.services
    const { db: second } = again.running.services
    const tables = tablesOf(first)
    expect(tables.length).toBeGreaterThan(20)
    for (const table of tables)
      expect({ table, hash: hashOf(second, table) }).toEqual({ table, hash: hashOf(first, table) })
    again.remove()
  })
})

/** Tables of generated data. */
const generated =
  /^(series|observations|observation_revisions|bars|futures|outlook|monthly|opec|storage|inventory|stations?|surcharge|carrier|cot|annotations|rig|duc|frac|drilling|product|well|state)/

const tablesOf = (db: Database): string[] =>
  db
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    )
    .all()
    .map(table => table.name)
    .filter(name => generated.test(name))

const hashOf = (db: Database, table: string): string =>
  Bun.hash(JSON.stringify(rowsOf(db, table, '*'))).toString(36)
