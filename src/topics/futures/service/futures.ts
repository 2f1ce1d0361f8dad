import type { Clock } from '../../../lib/time/clock.ts'
import { hourMs, minuteMs } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Close } from '../../prices/math/window.ts'
import type { QuarantineList } from '../../prices/service/quarantine.ts'
import type { Ingest } from '../../prices/service/writes/ingest.ts'
import { onGrid, type Tick } from '../math/contract-days.ts'
import { listedMonths, sessionAt, tradingDate, tradingSpan } from '../math/contracts.ts'
import { type FamilyCode, familyOf } from '../math/families.ts'
import type { FuturesStore } from '../store/futures.ts'
import { createContractHistory } from './contract-history.ts'
import { createContractQuotes, isMarketDay } from './quotes.ts'
import { createContractReads } from './reads.ts'
import { createFuturesRecorder } from './record.ts'

export interface Freshness {
  /** `too_stale` comes before `live_stale`. */
  state: 'fresh' | 'too_stale' | 'live_stale'
  quotedAt: number
  ageMs: number
  /**
   * How far the quote is behind in the running session, counted from its opening; 0 while the
   * market is closed.
   */
  behindMs: number
}

/**
 * The data of the futures markets. Families are given by code, days as `YYYY-MM-DD`, both ends of a
 * range inclusive.
 */
export type Futures = ReturnType<typeof createFutures>

export interface FuturesDeps {
  store: FuturesStore
  catalogue: Catalogue
  quarantine: QuarantineList
  ingest: Ingest
  clock: Clock
  /** Quotes that are older are not served as current. */
  maxAgeHours: number
  /** In a running session quotes of live families are not served when they are further behind. */
  liveStaleMinutes: number
}

/** Families whose quotes must follow the running session. */
const liveFamilies: ReadonlySet<FamilyCode> = new Set(['GASOIL_FUTURES', 'NATURAL_GAS_FUTURES'])

const tickMs = 5 * minuteMs

export function createFutures(deps: FuturesDeps) {
  const { store, catalogue, quarantine, ingest, clock } = deps
  const today = (code: FamilyCode) => tradingDate(familyOf(code), clock.now())
  const reads = createContractReads(store, catalogue, quarantine)
  const history = createContractHistory(reads, catalogue, today)
  const { nearest, ...quotes } = createContractQuotes(reads, today)
  return {
    ...createFuturesRecorder({ store, catalogue, ingest }),
    ...quotes,
    ...history,
    /** The trading date that this moment counts to. */
    today,
    /** The Nth month listed now. */
    listedMonth: (code: FamilyCode, nth: number) => listedMonths(code, today(code), nth)[nth - 1]!,
    /**
     * Closes of the Nth listed month of each date, oldest first, unadjusted; 1 is the front month
     * until its last trading day.
     */
    closes: (code: FamilyCode, nth: number, from: string, to: string): Close[] =>
      history.closesOf(code, { places: [nth] }, from, to),
    /** Contracts traded of one contract by trading date, of the dates that have a volume. */
    volumes: (seriesId: number, from: string, to: string): Map<string, number> =>
      new Map(
        store
          .days(seriesId, from, to, Number.MAX_SAFE_INTEGER)
          .reverse()
          .flatMap(({ tradedOn, volume }) =>
            volume === null ? [] : [[tradedOn, volume] as const],
          ),
      ),
    /** Five-minute prices of a trading date, or of the newest that has any, oldest first. */
    intraday(
      code: FamilyCode,
      month: string,
      requestedDay?: string,
    ): { day: string; ticks: Tick[]; source: string } | undefined {
      const family = familyOf(code)
      const newestAt = requestedDay === undefined ? reads.newestTickAt(code, month) : undefined
      const day = newestAt === undefined ? requestedDay : tradingDate(family, newestAt)
      if (day === undefined || !isMarketDay(day, today(code))) return undefined
      const { from, to } = tradingSpan(family, day)
      const ticks = reads.ticks(code, month, from, to)
      const last = ticks.at(-1)
      return last && { day, ticks: onGrid(ticks, tickMs), source: last.source }
    },
    /** The freshness of the front month, or of the nearest contract with a quote. */
    freshness(code: FamilyCode): Freshness | undefined {
      const now = clock.now()
      const newest = nearest(code)
      if (!newest) return undefined
      const session = sessionAt(familyOf(code), now)
      const ageMs = now - newest.quotedAt
      const behindMs = session ? Math.max(0, now - Math.max(newest.quotedAt, session.opensAt)) : 0
      const isBehind = liveFamilies.has(code) && behindMs > deps.liveStaleMinutes * minuteMs
      const state =
        ageMs > deps.maxAgeHours * hourMs ? 'too_stale' : isBehind ? 'live_stale' : 'fresh'
      return { state, quotedAt: newest.quotedAt, ageMs, behindMs }
    },
  }
}
