import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { WithheldRows } from '../../prices/store/withheld.ts'
import { isBefore, type Place } from '../math/cursor.ts'
import {
  type DatasetRow,
  datasetOfTable,
  type RowVersion,
  type RowVersionReader,
} from '../store/dataset-versions.ts'
import type { LoggedRows } from '../store/log.ts'
import { isSeen, visibilityOf } from './history.ts'
import type { ChangeReader, RowRecord } from './segments.ts'

/** Records of datasets come after those of prices and before those of formulas. */
const [firstRank, ranks] = [700_000, 90_000]

/** The rank of a table in its transaction: other datasets of a later version do not change it. */
export const rankOfTable = (table: string): number => firstRank + (Bun.hash.crc32(table) % ranks)

/** What transactions did to rows of datasets. */
export function createDatasetChanges({
  versions,
  catalogue,
  withheldRows,
}: {
  versions: RowVersionReader
  catalogue: Pick<Catalogue, 'named'>
  withheldRows: WithheldRows
}) {
  /** Rows about a code that the reader may not see do not exist. */
  const sees = ({ viewer }: ChangeReader, codes: readonly string[], row: DatasetRow): boolean =>
    codes.every(column => {
      const code = row[column]
      if (typeof code !== 'string') return true
      const series = catalogue.named(code)
      return series !== undefined && isSeen(visibilityOf(series), viewer)
    })

  return {
    /** The records of rows of one transaction after a place; undefined: others may run. */
    *of(
      logged: readonly LoggedRows[],
      reader: ChangeReader,
      after: Place,
    ): Generator<RowRecord | undefined> {
      const wanted = logged
        .filter(({ table }) => reader.tables.has(table))
        .map(entry => ({ ...entry, rank: rankOfTable(entry.table) }))
        .sort((a, b) => a.rank - b.rank || a.recordedAt - b.recordedAt)
      for (const entry of wanted) {
        const { table, writtenAt, rank, recordedAt, batchId } = entry
        const declared = datasetOfTable.get(table)!
        const placeOf = (number: number): Place => ({
          writtenAt,
          rank,
          observedAt: recordedAt,
          recordedAt: number,
        })
        if (isBefore(placeOf(Number.MAX_SAFE_INTEGER), after)) continue
        const isInside =
          after.writtenAt === writtenAt && after.rank === rank && after.observedAt === recordedAt
        const isWithheld = withheldRows(declared)
        for (let from = isInside ? after.recordedAt + 1 : 0; ; ) {
          while (!versions.pass(entry, from)) yield undefined
          const read = versions.read(entry, from)
          if (read.length === 0) break
          from += read.length
          for (const version of read) {
            const { row } = version
            const kind = kindOf(version)
            if (!kind || !sees(reader, declared.codeColumns, row ?? version.previous ?? {}))
              continue
            const key = keyOf(declared.key, version)
            if (isWithheld(key, row && recordedAt)) continue
            // Where it is not known who wrote the row before, a feed that ever wrote it counts.
            const previous = isWithheld(key, undefined) ? undefined : version.previous
            yield {
              place: placeOf(version.number),
              kind,
              dataset: declared.name,
              key,
              row,
              previous,
              batchId,
              recordedAt,
              isRetroactive: false,
            }
          }
          yield undefined
        }
      }
    },
  }
}

/**
 * Undefined for a row that was written as it was before or again later, and for one that is not
 * exported.
 */
function kindOf(version: RowVersion): RowRecord['kind'] | undefined {
  const { row, previous, isRemoved, isSame, isRewritten } = version
  if (isSame || isRewritten) return undefined
  if (!row) return previous || isRemoved ? 'deleted' : undefined
  return previous ? 'revised' : 'added'
}

const keyOf = (columns: readonly string[], { row, previous, key }: RowVersion): DatasetRow => {
  const known = row ?? previous
  return known ? Object.fromEntries(columns.map(column => [column, known[column] ?? null])) : key
}
