import type { Database } from 'bun:sqlite'
import { operatorKey } from '../../market/drilling/permits.ts'
import { type Circle, milesBetween } from '../../market/geography/geography.ts'
import { transact } from '../database.ts'
import type { WriteCounts } from '../prices/observations.ts'
import { statements } from '../statements.ts'
import { counted, type Outcome } from '../upsert.ts'
import { type FracFilter, fracClauses } from './frac-search.ts'

/** What was pumped into a well, as its operator disclosed it. */
export interface FracDisclosure {
  /** The registry's own id. */
  reference: string
  /** Fourteen digits. */
  apiNumber: string
  state: string
  county: string
  operator: string
  wellName: string
  startedOn: string
  endedOn: string
  latitude: number | null
  longitude: number | null
  /** Gallons. */
  waterGallons: number | null
  nonWaterGallons: number | null
  source: string
}

export interface StoredDisclosure extends FracDisclosure {
  id: number
  recordedAt: number
}

export interface DisclosureCount {
  name: string
  disclosures: number
  /** Newest day on which one of them ended. */
  newestOn: string
}

export interface FracDisclosureStore {
  /**
   * One transaction. The same disclosure again is unchanged; anything else under a known reference
   * replaces it.
   */
  write(disclosures: readonly FracDisclosure[], recordedAt: number): WriteCounts
  get(id: number): StoredDisclosure | undefined
  idOf(reference: string): number | undefined
  /** Of one well, oldest first. */
  ofWell(apiNumber: string): StoredDisclosure[]
  /** By the day on which the job ended, newest first. */
  page(
    filter: FracFilter,
    limit: number,
    offset: number,
  ): { rows: StoredDisclosure[]; total: number }
  total(): number
  /** Newest day of all; undefined without a disclosure. */
  newestOn(): string | undefined
  /** Largest first. */
  byState(): DisclosureCount[]
  byOperator(limit: number, offset: number): DisclosureCount[]
  operators(): number
}

interface Row {
  id: number
  reference: string
  api_number: string
  state_code: string
  county: string
  operator: string
  operator_key: string
  well_name: string
  started_on: string
  ended_on: string
  latitude: number | null
  longitude: number | null
  water_gallons: number | null
  non_water_gallons: number | null
  source: string
  recorded_at: number
}

const columns = [
  'reference',
  'api_number',
  'state_code',
  'county',
  'operator',
  'operator_key',
  'well_name',
  'started_on',
  'ended_on',
  'latitude',
  'longitude',
  'water_gallons',
  'non_water_gallons',
  'source',
] as const
const textColumns = ['operator', 'well_name', 'county'] as const
const read = `SELECT id, ${columns.join(', ')}, recorded_at FROM frac_disclosures`

const disclosureOf = (row: Row): StoredDisclosure => ({
  id: row.id,
  reference: row.reference,
  apiNumber: row.api_number,
  state: row.state_code,
  county: row.county,
  operator: row.operator,
  wellName: row.well_name,
  startedOn: row.started_on,
  endedOn: row.ended_on,
  latitude: row.latitude,
  longitude: row.longitude,
  waterGallons: row.water_gallons,
  nonWaterGallons: row.non_water_gallons,
  source: row.source,
  recordedAt: row.recorded_at,
})

const rowOf = (disclosure: FracDisclosure): Omit<Row, 'id' | 'recorded_at'> => ({
  reference: disclosure.reference,
  api_number: disclosure.apiNumber,
  state_code: disclosure.state,
  county: disclosure.county,
  operator: disclosure.operator,
  operator_key: operatorKey(disclosure.operator),
  well_name: disclosure.wellName,
  started_on: disclosure.startedOn,
  ended_on: disclosure.endedOn,
  latitude: disclosure.latitude,
  longitude: disclosure.longitude,
  water_gallons: disclosure.waterGallons,
  non_water_gallons: disclosure.nonWaterGallons,
  source: disclosure.source,
})

export function createFracDisclosureStore(db: Database): FracDisclosureStore {
  const prepared = statements(db)
  const write = disclosureWriter(db)
  const byId = db.query<Row, [number]>(`${read} WHERE id = ?`)
  const idOf = db.query<{ id: number }, [string]>(
    'SELECT id FROM frac_disclosures WHERE reference = ?',
  )
  const ofWell = db.query<Row, [string]>(`${read} WHERE api_number = ? ORDER BY ended_on, id`)
  const total = db.query<{ n: number }, []>('SELECT count(*) AS n FROM frac_disclosures')
  const newest = db.query<{ day: string | null }, []>(
    'SELECT max(ended_on) AS day FROM frac_disclosures',
  )
  const byState = db.query<DisclosureCount, []>(
    `SELECT state_code AS name, count(*) AS disclosures, max(ended_on) AS newestOn FROM frac_disclosures
     GROUP BY state_code ORDER BY disclosures DESC, name`,
  )
  // An operator is called what its newest disclosure calls it.
  const byOperator = db.query<DisclosureCount, [number, number]>(
    `SELECT (SELECT operator FROM frac_disclosures d WHERE d.operator_key = g.operator_key ORDER BY ended_on DESC, id DESC LIMIT 1) AS name,
       disclosures, newestOn
     FROM (SELECT operator_key, count(*) AS disclosures, max(ended_on) AS newestOn FROM frac_disclosures
       GROUP BY operator_key ORDER BY disclosures DESC, operator_key LIMIT ? OFFSET ?) g`,
  )
  const operators = db.query<{ n: number }, []>(
    'SELECT count(DISTINCT operator_key) AS n FROM frac_disclosures',
  )
  return {
    write: (disclosures, recordedAt) =>
      transact(db, () =>
        counted(disclosures.map(disclosure => write(rowOf(disclosure), recordedAt))),
      ),
    get(id) {
      const row = byId.get(id)
      return row ? disclosureOf(row) : undefined
    },
    idOf: reference => idOf.get(reference)?.id,
    ofWell: apiNumber => ofWell.all(apiNumber).map(disclosureOf),
    page(filter, limit, offset) {
      const { sql, values } = fracClauses(filter)
      const order = `${sql} ORDER BY ended_on DESC, id DESC`
      if (filter.circle) {
        const inside = idsInside(
          filter.circle,
          prepared<Row, (string | number)[]>(`${read} ${order}`).all(...values),
        )
        return {
          rows: inside.slice(offset, offset + limit).map(disclosureOf),
          total: inside.length,
        }
      }
      const count = prepared<{ n: number }, (string | number)[]>(
        `SELECT count(*) AS n FROM frac_disclosures ${sql}`,
      ).get(...values)!.n
      const rows = prepared<Row, (string | number)[]>(`${read} ${order} LIMIT ? OFFSET ?`).all(
        ...values,
        limit,
        offset,
      )
      return { rows: rows.map(disclosureOf), total: count }
    },
    total: () => total.get()!.n,
    newestOn: () => newest.get()?.day ?? undefined,
    byState: () => byState.all(),
    byOperator: (limit, offset) => byOperator.all(limit, offset),
    operators: () => operators.get()!.n,
  }
}

const idsInside = (circle: Circle, rows: readonly Row[]): Row[] =>
  rows.filter(
    ({ latitude, longitude }) =>
      latitude !== null &&
      longitude !== null &&
      milesBetween(circle, { latitude, longitude }) <= circle.radiusMiles,
  )

function disclosureWriter(db: Database) {
  const stored = db.query<Row, [string]>(`${read} WHERE reference = ?`)
  const add = db.query(
    `INSERT INTO frac_disclosures (${columns.join(', ')}, recorded_at) VALUES (${columns.map(() => '?').join(', ')}, ?)`,
  )
  const set = db.query(
    `UPDATE frac_disclosures SET ${columns.map(name => `${name} = ?`).join(', ')}, recorded_at = ? WHERE id = ?`,
  )
  const texts = textColumns.join(', ')
  const addText = db.query(`INSERT INTO frac_disclosure_text (rowid, ${texts}) VALUES (?, ?, ?, ?)`)
  // An index over another table's texts must be told what it forgets.
  const dropText = db.query(
    `INSERT INTO frac_disclosure_text (frac_disclosure_text, rowid, ${texts}) VALUES ('delete', ?, ?, ?, ?)`,
  )
  return (row: Omit<Row, 'id' | 'recorded_at'>, recordedAt: number): Outcome => {
    const old = stored.get(row.reference)
    if (!old) {
      const id = Number(add.run(...columns.map(name => row[name]), recordedAt).lastInsertRowid)
      addText.run(id, ...textColumns.map(name => row[name]))
      return 'inserted'
    }
    if (columns.every(name => old[name] === row[name])) return 'unchanged'
    dropText.run(old.id, ...textColumns.map(name => old[name]))
    set.run(...columns.map(name => row[name]), recordedAt, old.id)
    addText.run(old.id, ...textColumns.map(name => row[name]))
    return 'revised'
  }
}
