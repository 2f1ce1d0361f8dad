import type { Database } from 'bun:sqlite'
import { readsNow } from '../../../database/dataset-reads.ts'
import { datasetStore } from '../../../database/dataset-store.ts'
import { type Annotation, annotations } from '../dataset/annotations.ts'

export type AnnotationStore = ReturnType<typeof createAnnotationStore>

/** `isSeen`: whether the viewer sees the series of a code; notes on others do not exist for them. */
export function createAnnotationStore(db: Database, isSeen: (code: string) => boolean) {
  const store = datasetStore<Annotation>(readsNow(db), annotations)
  const codes = store.values<string>('DISTINCT commodity_code', 'WHERE commodity_code IS NOT NULL')
  const hidden = (): string => JSON.stringify(codes().filter(code => !isSeen(code)))
  const seen = '(commodity_code IS NULL OR commodity_code NOT IN (SELECT value FROM json_each(?1)))'
  const matching = `${seen} AND (?2 IS NULL OR commodity_code = ?2)`
  const page = store.records<[string, string | null, number, number]>(
    `WHERE ${matching} ORDER BY annotated_on DESC, id LIMIT ?3 OFFSET ?4`,
  )
  const count = store.count<[string, string | null]>(matching)
  const newestOn = store.value<string>('max(annotated_on)', `WHERE ${seen}`)
  const withId = store.value<string>('id', 'WHERE id = ?')
  return {
    write: store.write,
    /** Newest day first; of one commodity if named. */
    page: (commodity: string | undefined, limit: number, offset: number) =>
      page.all(hidden(), commodity ?? null, limit, offset),
    count: (commodity: string | undefined) => count(hidden(), commodity ?? null),
    /** Newest day of all; undefined without a note. */
    newestOn: () => newestOn(hidden()),
    has: (id: string) => withId(id) !== undefined,
  }
}
