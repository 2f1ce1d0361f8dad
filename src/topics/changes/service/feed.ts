import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Formulas } from '../../formulas/service/formulas.ts'
import type { IsValueWithheld, Withheld, WithheldRows } from '../../prices/store/withheld.ts'
import { endOf, isBefore, type Place } from '../math/cursor.ts'
import type { RowVersionReader } from '../store/dataset-versions.ts'
import type { ChangeLogStore } from '../store/log.ts'
import type { VintageReader } from '../store/vintages.ts'
import { createDatasetChanges } from './dataset-changes.ts'
import { createDerivedChanges } from './derived.ts'
import { createServedHistory } from './history.ts'
import { createPriceChanges } from './price-changes.ts'
import { createReplay } from './replay.ts'
import { type AnyRecord, type ChangeReader, readsRecorded } from './segments.ts'
import { createTransactionReader } from './transactions.ts'

export { isOfFormulas } from './derived.ts'
export { type AnyRecord, type ChangeReader, isOfDataset } from './segments.ts'

export interface ChangePage {
  records: AnyRecord[]
  /** Up to where the log was read. */
  end: Place
  hasMore: boolean
}

export interface FeedDeps {
  log: ChangeLogStore
  vintages: VintageReader
  rowVersions: RowVersionReader
  catalogue: Pick<Catalogue, 'byId' | 'everything' | 'named' | 'onReload'>
  formulas: Formulas
  withheld: Withheld
  isValueWithheld: IsValueWithheld
  withheldRows: WithheldRows
}

/** The most that are read for one page: a client with few codes gets a cursor in any case. */
const rangesMax = 200_000

export function createChangeFeed(deps: FeedDeps) {
  const { log } = deps
  const transactions = createTransactionReader(deps)
  const prices = createPriceChanges(deps)
  const derived = createDerivedChanges(deps)
  const datasets = createDatasetChanges({ ...deps, versions: deps.rowVersions })

  /**
   * Everything after a place, as it is read, and where a transaction was read to its end; undefined:
   * others may run.
   */
  const records = function* (
    reader: ChangeReader,
    after: Place,
  ): Generator<AnyRecord | { readUntil: Place; ranges: number } | undefined> {
    const served = createServedHistory(log.events.ofSeries)
    const hasRows = reader.tables.size > 0
    const newest = log.newest() ?? 0
    for (const { writtenAt, segments, rows } of transactions.from(after.writtenAt, hasRows)) {
      // It was written while others ran: who may see it was read before.
      if (writtenAt > newest) return
      for (const segment of segments) {
        const isRead = after.writtenAt === segment.writtenAt && segment.rank < after.rank
        if (isRead || !readsRecorded(reader, segment.series)) continue
        yield* prices.of(segment, reader, served, after)
      }
      if (rows.length > 0) yield* datasets.of(rows, reader, after)
      if (reader.isDerived && segments.length > 0)
        yield* derived.of(segments, reader, served, after)
      yield { readUntil: endOf(writtenAt), ranges: segments.length + rows.length }
    }
  }

  /** The records after a place, at most `limit`, from so many ranges of the log. */
  const pageInSteps = function* (
    reader: ChangeReader,
    after: Place,
    limit: number,
    ranges = rangesMax,
  ): Generator<undefined, ChangePage> {
    const page: AnyRecord[] = []
    let [end, looked] = [after, 0]
    for (const step of records(reader, after)) {
      if (step === undefined) yield
      else if ('readUntil' in step) {
        end = isBefore(end, step.readUntil) ? step.readUntil : end
        looked += step.ranges
        if (looked >= ranges)
          return { records: page, end, hasMore: (log.newest() ?? 0) > end.writtenAt }
        yield
      } else if (page.length === limit)
        return { records: page, end: page.at(-1)!.place, hasMore: true }
      else page.push(step)
    }
    return { records: page, end, hasMore: false }
  }

  return {
    /** Records of `[from, to)` that are not forgotten, in the order of recording, as they are read. */
    replay: createReplay({ ...deps, transactions, prices, datasets, derived }),
    /** A page in steps, between which others may run. */
    pageInSteps,
    /** The records after a place, at most `limit`. */
    page: (...of: Parameters<typeof pageInSteps>): ChangePage => atOnce(pageInSteps(...of)),
  }
}

function atOnce<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
