import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { imageAt } from '../../scripts/world-image.ts'
import { imageOf, takeImage } from '../../src/cli/server/first-image.ts'
import { claimDirectory, databasePath } from '../../src/instance/services/directory.ts'
import { dayMs } from '../../src/lib/time/instant.ts'
import { isIntraday } from '../../src/topics/catalogue/math/catalogue.ts'
import { families } from '../../src/topics/futures/math/families.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'

const now = Date.parse('2026-11-06T15:00:00Z')
/** As many days before as the small world has every permit of; a month of production comes out. */
const madeAt = now - 8 * dayMs
const small = { 'dev.world': 'small' }

let dir: string
let image: string
/** Begun with the image; begun when the image was made; begun now with nothing. */
let copies: Record<'imaged' | 'older' | 'plain', DemoInstance>

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'wellhead-image-test-'))
  image = join(dir, 'image.db')
  writeFileSync(image, await imageAt(madeAt, small))
  const older = demoInstance(madeAt, small)
  older.clock.set(now)
  older.running.feed!.advance(now)
  copies = {
    imaged: demoInstance(now, small, { database: image }),
    older,
    plain: demoInstance(now, small),
  }
}, 300_000)
afterAll(() => {
  for (const copy of Object.values(copies)) copy.remove()
  rmSync(dir, { recursive: true, force: true })
})

/** The register, and of its columns those that do not tell when this copy heard of a row. */
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

describe('a copy that begins with an image of a week ago', () => {
  test('need not write into the file before it has something to write', () => {
    // "Write-ahead log" for both who read and who write, by SQLite's file format.
    expect([...readFileSync(image).subarray(18, 20)]).toEqual([2, 2])
  })

  for (const [table, columns] of Object.entries(registers))
    test(`has the ${table} of a copy that has run since`, () => {
      const [imaged, older] = [copies.imaged, copies.older].map(copy =>
        rowsOf(copy.running.services.db, table, columns),
      )
      expect(imaged!.length).toBeGreaterThan(0)
      expect(imaged).toEqual(older!)
    })

  // Contracts are numbered in the order in which they were listed, so series go by their codes.
  const columns: Readonly<Record<string, string>> = {
    observations: 'code, observed_at AS at, value, recorded_at, source_id',
    bars: 'code, starts_at AS at, span, close, closed_at, recorded_at, open, high, low, sum, count',
  }
  const stored = (schema: string, table: string) =>
    `SELECT ${columns[table]} FROM ${schema}.${table} JOIN ${schema}.series ON series.id = series_id`
  /** Runs a query of the imaged copy with the one that began now beside it, as `plain`. */
  const compared = (sql: string): unknown[][] => {
    const { db } = copies.imaged.running.services
    db.run('ATTACH ? AS plain', [databasePath(copies.plain.dir)])
    const rows = db.query(sql).values()
    db.run('DETACH plain')
    return rows
  }

  test('lacks no price of a copy that began now', () => {
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

  // Of codes that are quoted during the day it has full hours and ticks of a week more, of the
  // others a week before.
  for (const table of ['observations', 'bars'])
    test(`has no ${table} besides, but within days and before the first of the other's`, () => {
      const quotedWithinDays = copies.plain.running.services.catalogue
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

  test('has the curves of a copy that has run since, most of which the image brought', () => {
    const [imaged, older] = [copies.imaged, copies.older].map(({ running }) =>
      families.map(({ code }) => running.services.futures.curve(code)),
    )
    expect(imaged!.every(curve => curve !== undefined && curve.points.length >= 12)).toBe(true)
    expect(imaged).toEqual(older!)
    const brought = new Database(image, { readonly: true })
    expect(brought.query('SELECT count(DISTINCT series_id) AS n FROM futures_days').get()).toEqual({
      n: families.length * 13,
    })
    brought.close()
  })

  test('is served, though it holds observations already', () => {
    const { services } = copies.imaged.running
    expect(claimDirectory(services)).toBeUndefined()
    expect(services.settings.get('directory.mode')).toBe('dev')
  })

  test('tells nobody what came out before it began', () => {
    const queued = ({ running }: DemoInstance) =>
      running.services.db.query('SELECT count(*) AS n FROM outbox').get()
    expect(queued(copies.imaged)).toEqual(queued(copies.plain))
  })
})

describe('an image is taken', () => {
  let packed: Blob
  beforeAll(async () => {
    packed = imageOf(new Uint8Array(readFileSync(image)), madeAt)
  })
  const whole = {
    mode: 'dev',
    dev: { world: 'whole', seed: 1 },
    brand: { exchangeWords: ['exch'] },
  }
  type Settings = Parameters<typeof takeImage>[1]
  const taken = async (config: object, at = now, into = mkdtempSync(join(dir, 'copy-'))) => {
    const isTaken = await takeImage(into, config as Settings, at, packed)
    return { isTaken, into }
  }

  test('by a new directory, byte for byte', async () => {
    const { isTaken, into } = await taken(whole)
    expect(isTaken).toBe(true)
    expect(readFileSync(databasePath(into))).toEqual(readFileSync(image))
    // Once: what is there is not replaced.
    expect((await taken(whole, now, into)).isTaken).toBe(false)
  })

  test('by none of another seed, world or mode, nor with other words for the exchange', async () => {
    for (const other of [
      { ...whole, dev: { world: 'whole', seed: 2 } },
      { ...whole, dev: { world: 'small', seed: 1 } },
      { ...whole, mode: 'serve' },
      { ...whole, brand: { exchangeWords: ['bourse'] } },
    ]) {
      const { isTaken, into } = await taken(other)
      expect(isTaken).toBe(false)
      expect(existsSync(databasePath(into))).toBe(false)
    }
  })

  test('by none whose clock stands before it, or more than a year after', async () => {
    expect((await taken(whole, madeAt - 1)).isTaken).toBe(false)
    expect((await taken(whole, madeAt + 401 * dayMs)).isTaken).toBe(false)
  })
})
