import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'
import type { ObservationStore } from './observations.ts'
import type { OfSource, Withheld } from './withheld.ts'

const pageRows = 5_000

export interface ExportedRow {
  code: string
  observedAt: number
  value: number
  currency: string | null
}

/**
 * The current values of series, by code and time, page by page, without those that are withheld,
 * and with `ofSource` only those of one source: no statement stays open between two pages.
 */
export function* observationPages(
  observations: ObservationStore,
  series: readonly { id: number; code: string; currency: string | null }[],
  withheld: Withheld,
  ofSource?: OfSource,
): Generator<ExportedRow[]> {
  for (const { id, code, currency } of [...series].sort((a, b) => (a.code < b.code ? -1 : 1))) {
    let after = Number.MIN_SAFE_INTEGER
    const left = withheld(id)
    const only = ofSource?.(id)
    if (only?.size === 0) continue
    for (;;) {
      const page = observations.after(id, after, pageRows)
      const kept =
        left || only
          ? page.filter(row => !left?.has(row.observedAt) && only?.has(row.observedAt) !== false)
          : page
      if (kept.length > 0)
        yield kept.map(({ observedAt, value }) => ({ code, observedAt, value, currency }))
      if (page.length < pageRows) break
      after = page.at(-1)!.observedAt
    }
  }
}

/** A value as it came to be known, or that a point has none any more. */
export interface DatedRow extends ExportedRow {
  recordedAt: number
  sourceId: number
  batchId: number
  /** When another value, or none, replaced it. */
  replacedAt?: number
  /** From `recordedAt` on the point has no value; `value` is ignored. */
  isDeleted: boolean
}

/**
 * The current values of series with the time at which they were recorded and their source, and
 * `withPast` every value that was ever replaced or taken out: by code, time and recording, page by
 * page. `isWanted` selects the sources.
 */
export function createDatedPages(
  db: Database,
  isWanted: (sourceId: number, seriesId: number) => boolean,
) {
  const sql = statements(db)
  const current = sql<StoredRow, number[]>`
    SELECT ${datedColumns} FROM observations
    WHERE series_id = ? AND observed_at > ? AND observed_at < ? ORDER BY observed_at LIMIT ?`
  const replaced = sql<StoredRow & { replacedAt: number }, number[]>`
    SELECT ${datedColumns}, replaced_at AS replacedAt FROM observation_revisions WHERE series_id = ? AND observed_at > ? AND observed_at <= ?
    ORDER BY observed_at, recorded_at`
  return function* (
    series: readonly { id: number; code: string; currency: string | null }[],
    withPast: boolean,
    { from, to } = { from: Number.MIN_SAFE_INTEGER + 1, to: Number.MAX_SAFE_INTEGER },
  ): Generator<DatedRow[]> {
    for (const { id, code, currency } of [...series].sort((a, b) => (a.code < b.code ? -1 : 1))) {
      let after = from - 1
      for (;;) {
        const page = current.all(id, after, to, pageRows)
        const isLast = page.length < pageRows
        const until = isLast ? to - 1 : page.at(-1)!.observedAt
        const past = withPast ? replaced.all(id, after, until) : []
        const rows = past.length === 0 ? page.map(recordOf) : inTime(page, past)
        const kept = rows.filter(row => isWanted(row.sourceId, id))
        if (kept.length > 0) yield kept.map(row => ({ ...row, code, currency }))
        if (isLast) break
        after = until
      }
    }
  }
}

const datedColumns = `observed_at AS observedAt, value, recorded_at AS recordedAt,
  source_id AS sourceId, batch_id AS batchId`

interface StoredRow {
  observedAt: number
  value: number
  recordedAt: number
  sourceId: number
  batchId: number
}

const recordOf = (row: StoredRow & { replacedAt?: number }) => ({
  observedAt: row.observedAt,
  value: row.value,
  recordedAt: row.recordedAt,
  sourceId: row.sourceId,
  batchId: row.batchId,
  ...(row.replacedAt !== undefined && { replacedAt: row.replacedAt }),
  isDeleted: false,
})

/** Values in the order of their points and recordings; where none follows at once, it was deleted. */
function inTime(page: readonly StoredRow[], past: readonly (StoredRow & { replacedAt: number })[]) {
  const rows: ReturnType<typeof recordOf>[] = []
  const all: (StoredRow & { replacedAt?: number })[] = [...past, ...page].sort(
    (a, b) => a.observedAt - b.observedAt || a.recordedAt - b.recordedAt,
  )
  for (const [i, row] of all.entries()) {
    rows.push(recordOf(row))
    const next = all[i + 1]
    if (row.replacedAt === undefined) continue
    const follows = next?.observedAt === row.observedAt ? next : undefined
    // The same value again at the same moment: without the deletion it would be one value.
    if (follows?.recordedAt === row.replacedAt && follows.value !== row.value) continue
    rows.push({ ...recordOf(row), recordedAt: row.replacedAt, isDeleted: true })
  }
  return rows
}
