import { existsSync } from 'node:fs'
import { codeLookupOf } from '../feed/catalogue/lookup.ts'
import { databasePath } from '../instance.ts'
import { createSeriesStore } from '../store/catalogue/series.ts'
import { openDatabase } from '../store/database.ts'
import { observationPages } from '../store/prices/export.ts'
import { createObservationStore } from '../store/prices/observations.ts'
import type { ExportEnvironment } from './export.ts'

/**
 * What an export reads: the database itself, without writing to it, so also beside a running
 * server.
 */
export function exportSource(
  dir: string,
): Pick<ExportEnvironment, 'catalogue' | 'pages'> & { close(): void } {
  const path = databasePath(dir)
  if (!existsSync(path))
    throw new Error(`${path} does not exist: nothing has been recorded in ${dir}`)
  const db = openDatabase(path, { readonly: true })
  const all = createSeriesStore(db).all()
  const byId = new Map(all.map(series => [series.id, series]))
  const observations = createObservationStore(db)
  return {
    catalogue: codeLookupOf(all),
    pages: series =>
      observationPages(observations, series?.map(listed => byId.get(listed.id)!) ?? all),
    close: () => db.close(),
  }
}
