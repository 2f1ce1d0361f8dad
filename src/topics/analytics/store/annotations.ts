import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { lazy } from '../../../database/statement.ts'
import { type ColumnMap, selected, upsert } from '../../../database/upsert.ts'
import { countsOf } from '../../../database/write-counts.ts'

/** A note on a day of the markets. */
export interface Annotation {
  id: string
  on: string
  title: string
  description: string
  category: string
  /** Code of the commodity that it is about. */
  commodity: string | null
  source: string
}

export type AnnotationStore = ReturnType<typeof createAnnotationStore>

const columns: ColumnMap<Annotation> = {
  id: 'id',
  on: 'annotated_on',
  title: 'title',
  description: 'description',
  category: 'category',
  commodity: 'commodity_code',
  source: 'source',
}

export function createAnnotationStore(db: Database) {
  const page = lazy<Annotation, [string | null, number, number]>(
    db,
    `SELECT ${selected(columns)} FROM annotations WHERE ?1 IS NULL OR commodity_code = ?1 ORDER BY annotated_on DESC, id LIMIT ?2 OFFSET ?3`,
  )
  const count = lazy<{ n: number }, [string | null]>(
    db,
    'SELECT count(*) AS n FROM annotations WHERE ?1 IS NULL OR commodity_code = ?1',
  )
  const newest = lazy<{ day: string | null }, []>(
    db,
    'SELECT max(annotated_on) AS day FROM annotations',
  )
  const withId = lazy<{ id: string }, [string]>(db, 'SELECT id FROM annotations WHERE id = ?')
  const put = upsert(db, 'annotations', columns, ['id'])
  return {
    /**
     * One transaction. The same note again is unchanged; anything else under a known id replaces
     * it.
     */
    write: (rows: readonly Annotation[], recordedAt: number) =>
      transact(db, () => countsOf(rows.map(row => put(row, recordedAt)))),
    /** Newest day first; of one commodity if named. */
    page: (commodity: string | undefined, limit: number, offset: number) =>
      page.all(commodity ?? null, limit, offset),
    count: (commodity: string | undefined) => count.get(commodity ?? null)!.n,
    /** Newest day of all; undefined without a note. */
    newestOn: () => newest.get()?.day ?? undefined,
    has: (id: string) => withId.get(id) !== null,
  }
}
