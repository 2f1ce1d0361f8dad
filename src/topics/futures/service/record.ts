import type { WriteCounts } from '../../../database/write-counts.ts'
import { minuteMs, parseDay } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { contractOf } from '../../catalogue/service/contract-calendar.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { Ingest } from '../../prices/service/writes/ingest.ts'
import type { Point } from '../../prices/store/observations.ts'
import type { FuturesDay } from '../dataset/settlements.ts'
import type { FuturesTick } from '../dataset/ticks.ts'
import type { DayRecord, TickRecord } from '../math/contract-days.ts'
import { sessionOn, tradingDate, tradingSpan } from '../math/contracts.ts'
import { contractCode, type Family, type FamilyCode, familyOf } from '../math/families.ts'
import type { FuturesStore } from '../store/futures.ts'

/** Exchanges publish the settlements of a trading date at 19:30 UTC all year. */
const settlementMinute = 19 * 60 + 30

/** When the settlements of a trading date are published, Unix ms. */
const settledAt = (tradedOn: string): number => parseDay(tradedOn)! + settlementMinute * minuteMs

/** A trading date of a contract with the ticks that a call adds to it. */
interface TickedDate {
  family: Family
  seriesId: number
  tradedOn: string
  added: FuturesTick[]
}

export interface RecorderDeps {
  store: FuturesStore
  catalogue: Catalogue
  ingest: Ingest
}

/**
 * The only way to record futures. A call is one transaction, all of it or nothing: the days and
 * ticks of the contracts and the observations of their series, so that a contract's code has the
 * same numbers everywhere.
 */
export function createFuturesRecorder({ store, catalogue, ingest }: RecorderDeps) {
  return {
    recordDays(days: readonly DayRecord[], recordedAt: number) {
      const series = seriesOf(catalogue, days)
      return store.together(() => {
        const counts: WriteCounts = { inserted: 0, revised: 0, unchanged: 0 }
        const points: Point[] = []
        for (const record of days) {
          const seriesId = series.get(contractCode(record.family, record.month))!.id
          const storedDay = store.day(seriesId, record.tradedOn)
          const next = mergedDay(record, seriesId, storedDay, record.recordedAt ?? recordedAt)
          counts[next ? (storedDay ? 'revised' : 'inserted') : 'unchanged'] += 1
          if (!next) continue
          store.putDay(next)
          points.push({
            seriesId,
            observedAt: next.quotedAt,
            value: (next.close ?? next.settlement)!,
            recordedAt: next.recordedAt,
          })
        }
        ingest.write(points, recordedAt)
        return counts
      })
    },
    /** The bar of a trading date follows its ticks, unless a close was given for it. */
    recordTicks(ticks: readonly TickRecord[], recordedAt: number) {
      const series = seriesOf(catalogue, ticks)
      return store.together(() => {
        const counts: WriteCounts = { inserted: 0, revised: 0, unchanged: 0 }
        const points: Point[] = []
        const tickedDates = new Map<string, TickedDate>()
        // Ticks come in the order of their times: behind the newest there is none to look for.
        const newestAt = new Map<number, number>()
        const storedTickOf = (seriesId: number, tradedAt: number) => {
          const newest =
            newestAt.get(seriesId) ?? store.newestTickAt(seriesId) ?? Number.NEGATIVE_INFINITY
          newestAt.set(seriesId, Math.max(newest, tradedAt))
          return tradedAt > newest ? undefined : store.tick(seriesId, tradedAt)
        }
        for (const record of ticks) {
          const { id: seriesId } = series.get(contractCode(record.family, record.month))!
          const { tradedAt, price, volume, source } = record
          const storedTick = storedTickOf(seriesId, tradedAt)
          const isUnchanged = storedTick?.price === price && storedTick.volume === volume
          counts[isUnchanged ? 'unchanged' : storedTick ? 'revised' : 'inserted'] += 1
          if (isUnchanged) continue
          const tick = {
            seriesId,
            tradedAt,
            price,
            volume,
            source,
            recordedAt: record.recordedAt ?? recordedAt,
          }
          store.putTick(tick)
          points.push({ seriesId, observedAt: tradedAt, value: price, recordedAt: tick.recordedAt })
          addTick(tickedDates, familyOf(record.family), tick)
        }
        for (const date of tickedDates.values()) updateBar(store, date)
        ingest.write(points, recordedAt)
        return counts
      })
    },
  }
}

/** Notes a tick under the trading date that it counts to. */
function addTick(tickedDates: Map<string, TickedDate>, family: Family, tick: FuturesTick): void {
  const { seriesId } = tick
  const tradedOn = tradingDate(family, tick.tradedAt)
  const key = `${seriesId} ${tradedOn}`
  tickedDates
    .getOrInsertComputed(key, () => ({ family, seriesId, tradedOn, added: [] }))
    .added.push(tick)
}

/**
 * The series of every contract of the records by code; those that are new are added first, on
 * their own: without data they are harmless.
 */
function seriesOf(
  catalogue: Catalogue,
  records: readonly { family: FamilyCode; month: string }[],
): Map<string, Series> {
  const contracts = new Map(
    records.map(({ family, month }) => [contractCode(family, month), { family, month }]),
  )
  const missing = [...contracts].filter(([code]) => !catalogue.named(code))
  catalogue.addContracts(
    missing.map(([, { family, month }]) => contractOf(familyOf(family), month)),
  )
  return new Map([...contracts.keys()].map(code => [code, catalogue.named(code)!]))
}

/**
 * Updates the bar of a trading date with its ticks: extends the bar where all of them are newer,
 * otherwise recomputes it from all ticks.
 */
function updateBar(store: FuturesStore, { family, seriesId, tradedOn, added }: TickedDate): void {
  const storedDay = store.day(seriesId, tradedOn)
  if (storedDay && !storedDay.fromTicks && storedDay.close !== null) return
  const isNewer =
    storedDay?.fromTicks === true &&
    added.every((tick, i) => tick.tradedAt > (added[i - 1]?.tradedAt ?? storedDay.quotedAt))
  const { from, to } = tradingSpan(family, tradedOn)
  const ticks = isNewer ? added : store.ticks(seriesId, from, to)
  const last = ticks.at(-1)!
  const prices = ticks.map(tick => tick.price)
  const extendedDay = isNewer ? storedDay : undefined
  store.putDay({
    seriesId,
    tradedOn,
    open: extendedDay?.open ?? prices[0]!,
    high: Math.max(...prices, extendedDay?.high ?? Number.NEGATIVE_INFINITY),
    low: Math.min(...prices, extendedDay?.low ?? Number.POSITIVE_INFINITY),
    close: last.price,
    settlement: storedDay?.settlement ?? null,
    volume: ticks.reduce((sum, tick) => sum + tick.volume, extendedDay?.volume ?? 0),
    openInterest: storedDay?.openInterest ?? null,
    fromTicks: true,
    quotedAt: last.tradedAt,
    // The latest recording time of any tick: a corrected one need not be the last of its day.
    recordedAt: Math.max(...ticks.map(tick => tick.recordedAt), storedDay?.recordedAt ?? 0),
    source: last.source,
  })
}

const valueNames = ['open', 'high', 'low', 'close', 'settlement', 'volume', 'openInterest'] as const

/** The stored day updated by a record; undefined when the record changes nothing. */
function mergedDay(
  record: DayRecord,
  seriesId: number,
  storedDay: FuturesDay | undefined,
  recordedAt: number,
): FuturesDay | undefined {
  const values = Object.fromEntries(
    valueNames.map(name => [name, record[name] ?? storedDay?.[name] ?? null]),
  ) as Pick<FuturesDay, (typeof valueNames)[number]>
  const fromTicks = storedDay?.fromTicks === true && record.close === null
  const isConfirmed = record.quotedAt !== undefined && record.quotedAt > (storedDay?.quotedAt ?? 0)
  if (
    storedDay &&
    storedDay.fromTicks === fromTicks &&
    !isConfirmed &&
    valueNames.every(name => storedDay[name] === values[name])
  )
    return undefined
  return {
    seriesId,
    tradedOn: record.tradedOn,
    ...values,
    fromTicks,
    quotedAt:
      record.quotedAt === undefined
        ? quotedAt(record, storedDay, recordedAt)
        : Math.max(record.quotedAt, storedDay?.quotedAt ?? 0),
    recordedAt: Math.max(recordedAt, storedDay?.recordedAt ?? recordedAt),
    source: record.source,
  }
}

/**
 * A close is quoted at the end of its session, a settlement alone at its publication; earlier when
 * it was recorded before that.
 */
function quotedAt(
  record: DayRecord,
  storedDay: FuturesDay | undefined,
  recordedAt: number,
): number {
  const isNew =
    storedDay === undefined ||
    (record.close === null ? storedDay.close === null : record.close !== storedDay.close)
  if (!isNew) return storedDay.quotedAt
  const usualQuotedAt =
    record.close === null
      ? settledAt(record.tradedOn)
      : sessionOn(familyOf(record.family), record.tradedOn).closesAt
  return Math.min(usualQuotedAt, recordedAt)
}
