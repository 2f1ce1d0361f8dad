import { existsSync } from 'node:fs'
import { codeLookupOf } from '../../feed/catalogue/lookup.ts'
import { viewFeeds } from '../../feed/publishers/publishers.ts'
import { databasePath } from '../../instance.ts'
import { createSeriesStore } from '../../store/catalogue/series.ts'
import { openDatabase } from '../../store/database.ts'
import { observationPages } from '../../store/prices/export.ts'
import { createObservationStore } from '../../store/prices/observations.ts'
import { createValueSourceStore } from '../../store/prices/value-sources.ts'
import { createSourceFilter, createWithheld } from '../../store/prices/withheld.ts'
import type { ExportEnvironment } from './export.ts'

/**
 * What an export reads: the database itself, without writing to it, so also beside a running
 * server.
 */
export function exportSource(
  dir: string,
  name?: string,
): Pick<ExportEnvironment, 'catalogue' | 'pages' | 'withheldCount'> & { close(): void } {
  const path = databasePath(dir)
  if (!existsSync(path))
    throw new Error(`${path} does not exist: nothing has been recorded in ${dir}`)
  const db = openDatabase(path, { readonly: true })
  const all = createSeriesStore(db).all()
  const byId = new Map(all.map(series => [series.id, series]))
  const observations = createObservationStore(db)
  const withheldOf = createWithheld(db, viewFeeds)
  const ofSource = name === undefined ? undefined : createSourceFilter(db, name)
  if (name !== undefined && !ofSource) {
    const names = new Set(
      createValueSourceStore(db)
        .all()
        .map(source => source.name),
    )
    db.close()
    throw new Error(
      `--source ${name}: no value is of it${names.size > 0 ? `; there are ${[...names].join(', ')}` : ''}`,
    )
  }
  let withheldCount = 0
  const withheld = (seriesId: number) => {
    const left = withheldOf(seriesId)
    withheldCount += left?.size ?? 0
    return left
  }
  return {
    withheldCount: () => withheldCount,
    catalogue: codeLookupOf(all),
    pages: series =>
      observationPages(
        observations,
        series?.map(listed => byId.get(listed.id)!) ?? all,
        withheld,
        ofSource,
      ),
    close: () => db.close(),
  }
}
