import type { Database } from 'bun:sqlite'
import { readsNow } from '../../../database/dataset-reads.ts'
import { datasetStore } from '../../../database/dataset-store.ts'
import { type Annotation, annotations } from '../dataset/annotations.ts'

export type AnnotationStore = ReturnType<typeof createAnnotationStore>

export function createAnnotationStore(db: Database) {
  const store = datasetStore<Annotation>(readsNow(db), annotations)
  const matching = '?1 IS NULL OR commodity_code = ?1'
  const page = store.records<[string | null, number, number]>(
    `WHERE ${matching} ORDER BY annotated_on DESC, id LIMIT ?2 OFFSET ?3`,
  )
  const count = store.count<[string | null]>(matching)
  const withId = store.value<string>('id', 'WHERE id = ?')
  return {
    write: store.write,
    /** Newest day first; of one commodity if named. */
    page: (commodity: string | undefined, limit: number, offset: number) =>
      page.all(commodity ?? null, limit, offset),
    count: (commodity: string | undefined) => count(commodity ?? null),
    /** Newest day of all; undefined without a note. */
    newestOn: store.value<string>('max(annotated_on)'),
    has: (id: string) => withId(id) !== undefined,
  }
}
