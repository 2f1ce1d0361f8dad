import { dayMs, isoDay, parseDay } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { QuarantineList } from '../../prices/service/quarantine.ts'
import type { FuturesDay } from '../dataset/settlements.ts'
import type { ContractDay } from '../math/contract-days.ts'
import { contractCode, type FamilyCode } from '../math/families.ts'
import type { FuturesStore } from '../store/futures.ts'

/** No futures on energy traded before. */
export const earliestDay = '1970-01-01'

/** Reads the stored data of one contract, without quarantined days. Dates are inclusive. */
export type ContractReads = ReturnType<typeof createContractReads>

export function createContractReads(
  store: FuturesStore,
  catalogue: Catalogue,
  quarantine: QuarantineList,
) {
  const seriesOf = (code: FamilyCode, month: string) => catalogue.named(contractCode(code, month))

  /** The ranges of dates without quarantine, newest first, half-open, as text. */
  const clearStretches = (seriesId: number, from: string, to: string) =>
    from > to
      ? []
      : quarantine
          .clear(seriesId, parseDay(from)!, parseDay(to)! + dayMs)
          .reverse()
          .map(stretch => ({ from: isoDay(stretch.from), to: isoDay(stretch.to) }))

  return {
    /** Whether any contract has a day. */
    hasDays: (code: FamilyCode) => store.hasDays(code),
    /** Newest first. */
    days(
      code: FamilyCode,
      month: string,
      from: string,
      to: string,
      limit: number = Number.MAX_SAFE_INTEGER,
    ) {
      const series = seriesOf(code, month)
      if (!series) return []
      const rows: FuturesDay[] = []
      for (const stretch of clearStretches(series.id, from, to)) {
        if (rows.length >= limit) break
        rows.push(...store.days(series.id, stretch.from, stretch.to, limit - rows.length))
      }
      return rows.map(row => contractDayOf(row, month, series.code))
    },
    count(code: FamilyCode, month: string, from: string, to: string) {
      const series = seriesOf(code, month)
      if (!series) return 0
      return clearStretches(series.id, from, to).reduce(
        (sum, stretch) => sum + store.countDays(series.id, stretch.from, stretch.to),
        0,
      )
    },
    /** Oldest first. */
    ticks(code: FamilyCode, month: string, from: number, to: number) {
      const series = seriesOf(code, month)
      if (!series) return []
      return quarantine
        .clear(series.id, from, to)
        .flatMap(stretch => store.ticks(series.id, stretch.from, stretch.to))
    },
    newestTickAt(code: FamilyCode, month: string) {
      const series = seriesOf(code, month)
      return series && store.newestTickAt(series.id)
    },
  }
}

/**
 * A day as it is answered: where the source has a settlement only, that is the one price there is.
 */
function contractDayOf(row: FuturesDay, month: string, code: string): ContractDay {
  const close = (row.close ?? row.settlement)!
  const open = row.open ?? close
  return {
    month,
    code,
    tradedOn: row.tradedOn,
    open,
    high: row.high ?? Math.max(open, close),
    low: row.low ?? Math.min(open, close),
    close,
    settlement: row.settlement,
    volume: row.volume,
    openInterest: row.openInterest,
    quotedAt: row.quotedAt,
    recordedAt: row.recordedAt,
    source: row.source,
  }
}
