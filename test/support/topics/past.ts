import { isoDay } from '../../../src/lib/time/instant.ts'
import type { BarInterval } from '../../../src/topics/prices/math/bars.ts'
import {
  createQuarantineList,
  type QuarantineList,
} from '../../../src/topics/prices/service/quarantine.ts'
import {
  createHistory,
  type History,
  type HistoryRange,
  type HistoryRow,
} from '../../../src/topics/prices/service/reads/history.ts'
import {
  createObservationStore,
  type ObservationStore,
  type Point,
} from '../../../src/topics/prices/store/observations.ts'
import { createQuarantineStore } from '../../../src/topics/prices/store/quarantine.ts'
import { databaseInMemory } from '../instance/database.ts'
import { putSeries } from './series.ts'
import { addVersion, type Version } from './versions.ts'

export const seriesIds = [1, 2, 3]

/**
 * Revisions in a database, and the same revisions in a plain list that is scanned for every read.
 */
export interface Past {
  store: ObservationStore
  history: History
  quarantine: QuarantineList
  write(points: readonly Point[], recordedAt: number): void
  /**
   * The rows of a range, newest first, each with the version that `pick` takes of it: by default
   * the current one.
   */
  rows(
    range: HistoryRange,
    pick?: (versions: readonly Version[]) => Version | undefined,
  ): HistoryRow[]
}

export function createPast(): Past {
  const db = databaseInMemory()
  putSeries(db, seriesIds)
  const store = createObservationStore(db)
  const quarantine = createQuarantineList(createQuarantineStore(db), id => history.forget(id))
  const history = createHistory(store, quarantine)
  const points = new Map<string, { seriesId: number; observedAt: number; versions: Version[] }>()
  const isClear = (seriesId: number, at: number) =>
    !quarantine
      .all()
      .some(
        range =>
          range.seriesId === seriesId && range.fromOn <= isoDay(at) && isoDay(at) <= range.toOn,
      )

  return {
    store,
    history,
    quarantine,
    write(all, recordedAt) {
      store.write(all, recordedAt)
      for (const { seriesId, observedAt, value, recordedAt: own } of all) {
        history.forget(seriesId, observedAt)
        const key = `${seriesId} ${observedAt}`
        const point = points.get(key) ?? { seriesId, observedAt, versions: [] }
        points.set(key, point)
        addVersion(point.versions, { value, recordedAt: own ?? recordedAt }, own !== undefined)
      }
    },
    rows(
      { seriesIds: ids, interval, from, to, bornBy = Number.MAX_SAFE_INTEGER },
      pick = versions => versions.at(-1),
    ) {
      const raw = [...points.values()].flatMap(
        ({ seriesId, observedAt, versions }): HistoryRow[] => {
          const picked = pick(versions)
          const isInside =
            ids.includes(seriesId) &&
            observedAt >= from &&
            observedAt < to &&
            isClear(seriesId, observedAt)
          return picked && isInside && versions[0]!.recordedAt <= bornBy
            ? [{ seriesId, observedAt, ...picked }]
            : []
        },
      )
      const rows = interval === 'raw' ? raw : bucketed(raw, interval)
      return rows.sort(
        (a, b) => b.observedAt - a.observedAt || ids.indexOf(a.seriesId) - ids.indexOf(b.seriesId),
      )
    },
  }
}

/** The last midnight of a weekday (0 = Sunday) that is not after a moment. */
function backTo(at: Date, weekday: number): number {
  const day = new Date(at.setUTCHours(0, 0, 0, 0))
  while (day.getUTCDay() !== weekday) day.setUTCDate(day.getUTCDate() - 1)
  return day.getTime()
}

const startOf: Record<BarInterval, (at: Date) => number> = {
  hour: at => at.setUTCMinutes(0, 0, 0),
  day: at => at.setUTCHours(0, 0, 0, 0),
  week: at => at.setUTCHours(-24 * ((at.getUTCDay() + 6) % 7), 0, 0, 0),
  // The day after the day of the week that each ends on.
  'w-mon': at => backTo(at, 2),
  'w-tue': at => backTo(at, 3),
  'w-wed': at => backTo(at, 4),
  'w-thu': at => backTo(at, 5),
  'w-fri': at => backTo(at, 6),
  'w-sat': at => backTo(at, 0),
  month: at => Date.UTC(at.getUTCFullYear(), at.getUTCMonth()),
  quarter: at =>
    Date.UTC(at.getUTCFullYear(), [0, 0, 0, 3, 3, 3, 6, 6, 6, 9, 9, 9][at.getUTCMonth()]!),
  year: at => Date.UTC(at.getUTCFullYear(), 0),
}

function bucketed(raw: readonly HistoryRow[], interval: BarInterval): HistoryRow[] {
  const buckets = Map.groupBy(
    raw,
    row => `${row.seriesId} ${startOf[interval](new Date(row.observedAt))}`,
  )
  return [...buckets].map(([key, rows]) => {
    const inTime = rows.sort((a, b) => a.observedAt - b.observedAt)
    const [values, last] = [inTime.map(row => row.value), inTime.at(-1)!]
    const bar = {
      startsAt: Number(key.split(' ')[1]),
      open: values[0]!,
      high: Math.max(...values),
      low: Math.min(...values),
      close: last.value,
      sum: values.reduce((a, b) => a + b),
      count: rows.length,
      hours: new Set(inTime.map(row => Math.floor(row.observedAt / 3_600_000))).size,
      closedAt: last.observedAt,
      recordedAt: Math.max(...inTime.map(row => row.recordedAt)),
      bornAt: 0,
    }
    return {
      seriesId: last.seriesId,
      observedAt: last.observedAt,
      value: last.value,
      recordedAt: bar.recordedAt,
      bar,
    }
  })
}

/** Rows without when their buckets came to be, which no reader of a row uses. */
export const withoutBirths = (rows: readonly HistoryRow[]): HistoryRow[] =>
  rows.map(row => (row.bar ? { ...row, bar: { ...row.bar, bornAt: 0 } } : row))
