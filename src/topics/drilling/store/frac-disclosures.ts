import type { Database } from 'bun:sqlite'
import { selected } from '../../../database/clause.ts'
import { transact } from '../../../database/database.ts'
import { readsNow } from '../../../database/dataset-reads.ts'
import { datasetStore } from '../../../database/dataset-store.ts'
import { lazy, rowsOnce } from '../../../database/statement.ts'
import { countsOf, type WriteOutcome } from '../../../database/write-counts.ts'
import { type Circle, milesBetween } from '../../geography/math/geography.ts'
import { fracDisclosures as declared, type FracDisclosure } from '../dataset/frac.ts'
import { operatorKey } from '../math/permits.ts'
import { type FracFilter, fracWhere } from './frac-search.ts'

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

export type FracDisclosureStore = ReturnType<typeof createFracDisclosureStore>

type Row = FracDisclosure & { operatorKey: string }

const columns = { ...declared.stored, operatorKey: 'operator_key' } as Readonly<
  Record<keyof Row, string>
>
const fields = Object.keys(columns) as (keyof Row)[]
const textFields = ['operator', 'wellName', 'county'] as const
export function createFracDisclosureStore(db: Database) {
  const write = disclosureWriter(db)
  const store = datasetStore<FracDisclosure>(readsNow(db), declared)
  const read = `SELECT ${store.columns}, t.id, t.recorded_at AS recordedAt FROM frac_disclosures t`
  const byId = store.stored<[number], { id: number }>('WHERE id = ?', 't.id')
  const ofWell = store.stored<[string], { id: number }>(
    'WHERE api_number = ? ORDER BY ended_on, id',
    't.id',
  )
  const byState = lazy<DisclosureCount, []>(
    db,
    `SELECT state_code AS name, count(*) AS disclosures, max(ended_on) AS newestOn FROM frac_disclosures
     GROUP BY state_code ORDER BY disclosures DESC, name`,
  )
  // An operator is called what its newest disclosure calls it.
  const byOperator = lazy<DisclosureCount, [number, number]>(
    db,
    `SELECT (SELECT operator FROM frac_disclosures d WHERE d.operator_key = g.operator_key ORDER BY ended_on DESC, id DESC LIMIT 1) AS name,
       disclosures, newestOn
     FROM (SELECT operator_key, count(*) AS disclosures, max(ended_on) AS newestOn FROM frac_disclosures
       GROUP BY operator_key ORDER BY disclosures DESC, operator_key LIMIT ? OFFSET ?) g`,
  )
  const operators = store.value<number>('count(DISTINCT operator_key)')
  return {
    /**
     * One transaction. The same disclosure again is unchanged; anything else under a known reference
     * replaces it.
     */
    write: (disclosures: readonly FracDisclosure[], recordedAt: number) =>
      transact(db, () => countsOf(disclosures.map(disclosure => write(disclosure, recordedAt)))),
    get: (id: number) => byId.get(id),
    idOf: store.value<number>('id', 'WHERE reference = ?'),
    /** The disclosures of one well, oldest first. */
    ofWell: (apiNumber: string) => ofWell.all(apiNumber),
    /** By the day on which the job ended, newest first. */
    page(filter: FracFilter, limit: number, offset: number) {
      const { sql, values } = fracWhere(filter)
      const order = `${sql} ORDER BY ended_on DESC, id DESC`
      if (filter.circle) {
        const inside = idsInside(
          filter.circle,
          rowsOnce<StoredDisclosure>(db, `${read} ${order}`, values),
        )
        return {
          rows: inside.slice(offset, offset + limit),
          total: inside.length,
        }
      }
      const [counted] = rowsOnce<{ n: number }>(
        db,
        `SELECT count(*) AS n FROM frac_disclosures ${sql}`,
        values,
      )
      const paged = [...values, limit, offset]
      const rows = rowsOnce<StoredDisclosure>(db, `${read} ${order} LIMIT ? OFFSET ?`, paged)
      return { rows, total: counted!.n }
    },
    total: store.count(),
    /** Newest day of all; undefined without a disclosure. */
    newestOn: store.value<string>('max(ended_on)'),
    /** Largest first. */
    byState: () => byState.all(),
    byOperator: (limit: number, offset: number) => byOperator.all(limit, offset),
    operators: () => operators()!,
  }
}

const idsInside = (circle: Circle, rows: readonly StoredDisclosure[]): StoredDisclosure[] =>
  rows.filter(
    ({ latitude, longitude }) =>
      latitude !== null &&
      longitude !== null &&
      milesBetween(circle, { latitude, longitude }) <= circle.radiusMiles,
  )

function disclosureWriter(db: Database) {
  const names = fields.map(field => columns[field])
  const stored = lazy<Row & { id: number }, [string]>(
    db,
    `SELECT id, ${selected(columns)} FROM frac_disclosures WHERE reference = ?`,
  )
  // Instead of an UPDATE, which would collect its rows in a temporary table where there are
  // triggers.
  const put = lazy(
    db,
    `INSERT INTO frac_disclosures (${names.join(', ')}, recorded_at) VALUES (${names.map(() => '?').join(', ')}, ?)
     ON CONFLICT (reference) DO UPDATE SET
       ${[...names, 'recorded_at'].map(name => `${name} = excluded.${name}`).join(', ')}`,
  )
  const texts = textFields.map(field => columns[field]).join(', ')
  const addText = lazy(db, `INSERT INTO frac_disclosure_text (rowid, ${texts}) VALUES (?, ?, ?, ?)`)
  // The full-text index keeps no texts, so a deletion must repeat them.
  const dropText = lazy(
    db,
    `INSERT INTO frac_disclosure_text (frac_disclosure_text, rowid, ${texts}) VALUES ('delete', ?, ?, ?, ?)`,
  )
  return (disclosure: FracDisclosure, recordedAt: number): WriteOutcome => {
    const row: Row = { ...disclosure, operatorKey: operatorKey(disclosure.operator) }
    const old = stored.get(row.reference)
    if (!old) {
      const id = Number(put.run(...fields.map(field => row[field]), recordedAt).lastInsertRowid)
      addText.run(id, ...textFields.map(field => row[field]))
      return 'inserted'
    }
    if (fields.every(field => old[field] === row[field])) return 'unchanged'
    dropText.run(old.id, ...textFields.map(field => old[field]))
    put.run(...fields.map(field => row[field]), recordedAt)
    addText.run(old.id, ...textFields.map(field => row[field]))
    return 'revised'
  }
}
