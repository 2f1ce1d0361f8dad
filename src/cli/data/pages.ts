import type { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { openDatabase } from '../../database/database.ts'
import { datasetNamed, declaredDatasets } from '../../database/datasets.ts'
import { viewFeeds } from '../../feeds/publishers/publishers.ts'
import { databasePath } from '../../instance/services/directory.ts'
import { snakeCase } from '../../lib/text/name-case.ts'
import { codeLookupOf } from '../../topics/catalogue/math/lookup.ts'
import { createSeriesStore } from '../../topics/catalogue/store/series.ts'
import { type DatasetRow, datasetRows } from '../../topics/operator/store/dataset-rows.ts'
import { createEarlierRowStore } from '../../topics/operator/store/earlier-rows.ts'
import { createDatedRows } from '../../topics/prices/files/dated-rows.ts'
import type { DatedExportPages } from '../../topics/prices/files/export.ts'
import { observationPages } from '../../topics/prices/store/export.ts'
import { createObservationStore } from '../../topics/prices/store/observations.ts'
import { createQuarantineStore } from '../../topics/prices/store/quarantine.ts'
import { createValueSourceStore } from '../../topics/prices/store/value-sources.ts'
import {
  createSourceFilter,
  createValueWithheld,
  createViewOnly,
  createWithheld,
} from '../../topics/prices/store/withheld.ts'
import type { ExportEnvironment } from './export.ts'

/** Opens the database of a directory for reading; throws where there is none. */
function openRecorded(dir: string): Database {
  const path = databasePath(dir)
  if (!existsSync(path))
    throw new Error(`${path} does not exist: nothing has been recorded in ${dir}`)
  return openDatabase(path, { readonly: true })
}

/**
 * The source of an export: the database itself, read-only, so that a server may run at the same
 * time.
 */
export function exportSource(
  dir: string,
  name?: string,
): Pick<ExportEnvironment, 'catalogue' | 'pages' | 'datedPages' | 'withheldCount'> & {
  close(): void
} {
  const db = openRecorded(dir)
  const all = createSeriesStore(db).all()
  const byId = new Map(all.map(series => [series.id, series]))
  const observations = createObservationStore(db)
  const isViewOnly = createViewOnly(db)
  const withheldOf = createWithheld(db, viewFeeds, isViewOnly)
  const ofSource = name === undefined ? undefined : createSourceFilter(db, name)
  if (name !== undefined && !ofSource) {
    const names = new Set(
      createValueSourceStore(db)
        .all()
        .map(source => source.name),
    )
    db.close()
    throw new Error(
      `--source ${name}: no value has this source${names.size > 0 ? `; there are ${[...names].join(', ')}` : ''}`,
    )
  }
  let withheldCount = 0
  const withheld = (seriesId: number) => {
    const left = withheldOf(seriesId)
    withheldCount += left?.size ?? 0
    return left
  }
  const named = name?.toLowerCase()
  const dated = createDatedRows(
    db,
    createValueWithheld(db, viewFeeds, isViewOnly),
    (source, isWithheld) => {
      if (isWithheld) withheldCount += 1
      return !isWithheld && (named === undefined || source?.name.toLowerCase() === named)
    },
  )
  return {
    datedPages: series => dated.pages(series?.map(listed => byId.get(listed.id)!) ?? all, true),
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

/** The source of an export of everything: a snapshot of the database. */
export type ArchiveSource = ReturnType<typeof archiveSource>

/** Opens a database for an export of everything, as a snapshot: later writes are not included. */
export function openArchiveSource(dir: string): ArchiveSource & { close(): void } {
  const db = openRecorded(dir)
  db.run('BEGIN')
  return {
    ...archiveSource(db),
    close() {
      db.run('COMMIT')
      db.close()
    },
  }
}

export function archiveSource(db: Database) {
  const all = createSeriesStore(db).all()
  const byId = new Map(all.map(series => [series.id, series]))
  const dated = createDatedRows(db, createValueWithheld(db, viewFeeds, createViewOnly(db)))
  const earlier = createEarlierRowStore(db)
  return {
    /** Attributes of series that differ from the shipped catalogue. */
    *series(): Iterable<{ code: string; own: boolean; terms: Record<string, unknown> }> {
      for (const { code, own, terms } of all)
        if (terms) yield { code, own: own === true, terms: wireTerms(terms) }
    },
    datasets: declaredDatasets.map(({ name }) => name),
    hasRows: (dataset: string) => !datasetRows(db, dataset)[Symbol.iterator]().next().done,
    columns: (dataset: string): string[] =>
      datasetNamed(dataset).exported.columns.map(([column]) => column),
    rows: (dataset: string): Iterable<DatasetRow> => datasetRows(db, dataset),
    /** Datasets that have rows that were replaced or taken out, and these. */
    earlierDatasets: (): readonly string[] =>
      earlier.datasets.filter(dataset => !earlier.rows(dataset)[Symbol.iterator]().next().done),
    earlierRows: earlier.rows,
    prices: (history: boolean): DatedExportPages => dated.pages(all, history),
    *quarantine(): Iterable<{ code: string; from: string; to: string; reason: string }> {
      for (const range of createQuarantineStore(db).all())
        yield {
          code: byId.get(range.seriesId)!.code,
          from: range.fromOn,
          to: range.toOn,
          reason: range.reason,
        }
    },
    /** How many prices may be viewed but not passed on. */
    viewOnly: dated.viewOnly,
  }
}

/** The terms of a series as its interface takes them. */
const wireTerms = (terms: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(terms)
      .map(([name, value]) => [snakeCase(name), value] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
