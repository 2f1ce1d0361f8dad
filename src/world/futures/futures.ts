import { type Clock, createSystemClock } from '../../lib/clock.ts'
import {
  dayMs,
  hourMs,
  isoDay,
  minuteMs,
  parseDay,
  secondMs,
  startOfDay,
  weekdayOf,
} from '../../lib/instant.ts'
import { generatedSource } from '../../market/catalogue/catalogue.ts'
import {
  type DayRecord,
  earlierDay,
  laterDay,
  type TickRecord,
} from '../../market/futures/contract-days.ts'
import {
  lastTradingDay,
  listedMonths,
  monthAfter,
  tradingDate,
} from '../../market/futures/contracts.ts'
import {
  contractCode,
  type FamilyCode,
  families,
  listedCount,
  parseContractCode,
} from '../../market/futures/families.ts'
import { changeBases } from '../../market/prices/change.ts'
import { dayAfter } from '../../market/prices/window.ts'
import type { Filler } from '../filler.ts'
import type { Progress } from '../prices/progress.ts'
import type { Observation, World } from '../prices/world.ts'
import { type CurveDate, createWorldCurve, monthsOn, type WorldCurve } from './curves.ts'

/** Takes what was published, each call in one transaction; the same again changes nothing. */
export interface FuturesWriter {
  recordDays(days: readonly DayRecord[], recordedAt: number): unknown
  recordTicks(ticks: readonly TickRecord[], recordedAt: number): unknown
}

export interface FuturesFillerDeps {
  world: World
  seed: number
  /** Places after the point of each family's prices. */
  decimals(code: FamilyCode): number
  futures: FuturesWriter
  /** Makes the contracts known, marked as fixture data. */
  open(contracts: readonly { family: FamilyCode; month: string }[]): void
  /** Writes prices of contracts that are written again with their days and ticks. */
  quote(points: readonly ContractPrice[]): void
  settings: Progress
  clock: Clock
  /** Measures the budget of a step; the copy's own clock may stand still. */
  stopwatch?: Clock
  reach?: Reach
}

/** What a contract was quoted at. */
export interface ContractPrice extends Observation {
  contract: string
}

/** How far back a copy holds what, in days. */
export interface Reach {
  /** Bars of all listed months. */
  wholeCurveDays: number
  /** Bars of the nearest months. */
  nearMonthsDays: number
  /** Ticks; further back a date is one bar. */
  tickDays: number
}

export interface FuturesFiller extends Required<Filler> {
  /** Makes all contracts known and writes those that stand for their families. Once. */
  begin(): void
  /**
   * Makes all contracts known and writes the newest price of those that stand for their families,
   * those that its changes are against, and the first one.
   */
  beginQuotes(): void
  /** Whether the newest price of a contract before `before` is there: one of these. */
  hasNewest(contract: string, before: number): boolean
  /** Makes all contracts known. */
  open(): void
  /** Writes the history of a contract, unless it is there already. */
  supply(contract: string): void
}

const names = {
  startedAt: 'fixture.futures.started_at',
  begun: 'fixture.futures.begun',
  filled: 'fixture.futures.filled',
  filledTo: 'fixture.futures.filled_to',
}

/**
 * Two years of whole curves, the nearest months as far back as an answer may reach, and three
 * sessions of ticks whatever weekend or holiday lies between.
 */
const fullReach: Reach = { wholeCurveDays: 2 * 366, nearMonthsDays: 5 * 366 + 7, tickDays: 6 }
const nearMonths = 3
/**
 * The month that is listed next is quoted before: on the day that it is, the curve is whole before
 * its session opens.
 */
const quotedCount = listedCount + 1

/** The nearest contracts trade every five minutes, the others every half hour. */
const busyMonths = 3
const quietStride = 6

const gridMs = 5 * minuteMs
/** From a trade or a settlement to its publication. */
const lagMs = 20 * secondMs
const settlementMs = 19.5 * hourMs
const confirmationMs = 12 * hourMs

/** Rows of one transaction at most, so that none holds up the requests behind it. */
const rowsPerWrite = 1_500

/**
 * The futures of an evaluation copy: bars, settlements, open interest and ticks of every family's
 * listed contracts.
 */
export function createFuturesFiller(deps: FuturesFillerDeps): FuturesFiller {
  const { settings, clock, stopwatch = createSystemClock(), reach = fullReach } = deps
  const curves = families.map(family =>
    createWorldCurve({
      seed: deps.seed,
      family,
      decimals: deps.decimals(family.code),
      world: deps.world,
    }),
  )
  const opened = new Set<string>()
  let isOpen = false
  /** Contracts whose history was written by this process: written again it would change nothing. */
  const written = new Set<string>()
  /** Of contracts that are quoted, the moments before which the newest price is there. */
  const quoted = new Map<string, ReadonlySet<number>>()
  /** Months of the family that is being filled; lost in a crash, and then done again. */
  let rest: { code: FamilyCode; months: string[] } | undefined
  let seenSlot = Number.NaN

  const instant = (name: string): number | undefined => {
    const text = settings.get(name)
    return text === undefined ? undefined : Number(text)
  }
  const startedAt = (): number => {
    const stored = instant(names.startedAt)
    if (stored !== undefined) return stored
    const now = clock.now()
    settings.set(names.startedAt, String(now))
    return now
  }
  const filled = (): string[] => (settings.get(names.filled) ?? '').split(' ').filter(Boolean)

  const open = (contracts: readonly { family: FamilyCode; month: string }[]) => {
    const fresh = contracts.filter(({ family, month }) => !opened.has(`${family} ${month}`))
    if (fresh.length === 0) return
    deps.open(fresh)
    for (const { family, month } of fresh) opened.add(`${family} ${month}`)
  }

  const write = ({ days, ticks }: Published, at: number) => {
    open([...days, ...ticks])
    for (let i = 0; i < ticks.length; i += rowsPerWrite)
      deps.futures.recordTicks(ticks.slice(i, i + rowsPerWrite), at)
    for (let i = 0; i < days.length; i += rowsPerWrite)
      deps.futures.recordDays(days.slice(i, i + rowsPerWrite), at)
  }

  const openAll = () => {
    if (isOpen) return
    const start = startedAt()
    // All in one order, whatever is asked for first: series are numbered as they come.
    open(
      curves.flatMap(curve =>
        historyMonths(curve, start, reach).map(month => ({ family: curve.family.code, month })),
      ),
    )
    isOpen = true
  }

  const hasBegun = () => settings.get(names.begun) !== undefined

  const begin = () => {
    if (hasBegun()) return
    openAll()
    for (const curve of curves) writeContract(curve, frontMonth(curve, startedAt()))
    settings.set(names.begun, 'true')
  }

  const beginQuotes = () => {
    if (hasBegun()) return
    openAll()
    const prices: ContractPrice[] = []
    for (const curve of curves) {
      const month = frontMonth(curve, startedAt())
      const contract = contractCode(curve.family.code, month)
      if (written.has(contract) || quoted.has(contract)) continue
      const quotes = quotesOf(curve, month, startedAt(), reach)
      for (const price of quotes.prices) prices.push({ contract, ...price })
      quoted.set(contract, quotes.moments)
    }
    if (prices.length > 0) deps.quote(prices)
  }

  const writeContract = (curve: WorldCurve, month: string) => {
    const code = contractCode(curve.family.code, month)
    if (written.has(code)) return
    const start = startedAt()
    write(historyOf(curve, month, start, reach), start)
    written.add(code)
  }

  /** Writes the next contracts of a family, each of them whole; those that trade now come last. */
  const fillSome = (curve: WorldCurve, start: number) => {
    if (rest?.code !== curve.family.code) {
      begin()
      const front = frontMonth(curve, start)
      const months = historyMonths(curve, start, reach).filter(
        month => month !== front && !written.has(contractCode(curve.family.code, month)),
      )
      rest = { code: curve.family.code, months }
    }
    const batch: Published = { days: [], ticks: [] }
    const months: string[] = []
    while (rest.months.length > 0 && batch.days.length + batch.ticks.length < rowsPerWrite) {
      const month = rest.months.shift()!
      const history = historyOf(curve, month, start, reach)
      batch.days.push(...history.days)
      batch.ticks.push(...history.ticks)
      months.push(month)
    }
    write(batch, start)
    for (const month of months) written.add(contractCode(curve.family.code, month))
    if (rest.months.length === 0)
      settings.set(names.filled, [...filled(), curve.family.code].join(' '))
  }

  const missingCurves = () => {
    const done = filled()
    return curves.filter(curve => !done.includes(curve.family.code))
  }

  const fillWhole = (curve: WorldCurve) => {
    do fillSome(curve, startedAt())
    while (rest!.months.length > 0)
  }

  return {
    begin,
    beginQuotes,
    hasNewest: (contract, before) => quoted.get(contract)?.has(before) ?? false,
    open: openAll,
    supply(contract) {
      if (written.has(contract)) return
      const parsed = parseContractCode(contract)
      const curve = missingCurves().find(({ family }) => family === parsed?.family)
      if (!parsed || !curve) return
      openAll()
      const front = frontMonth(curve, startedAt())
      if (parsed.month !== front || !hasBegun()) writeContract(curve, parsed.month)
    },
    step(budgetMs) {
      const missing = missingCurves()
      const start = startedAt()
      const until = stopwatch.monotonic() + budgetMs
      while (missing.length > 0) {
        fillSome(missing[0]!, start)
        if (rest?.months.length === 0) missing.shift()
        if (stopwatch.monotonic() >= until) break
      }
      return missing.length > 0
    },
    advance(now) {
      const slot = Math.floor((now - lagMs) / gridMs)
      if (slot === seenSlot) return
      const since = instant(names.filledTo) ?? startedAt()
      const missing = missingCurves()
      // What is published next stands on the whole history.
      if (missing.length > 0 && slot <= Math.floor((since - lagMs) / gridMs)) return
      for (const curve of missing) fillWhole(curve)
      let wrote = false
      for (let from = since; from < now; from = Math.min(now, startOfDay(from) + dayMs)) {
        const to = Math.min(now, startOfDay(from) + dayMs)
        const ofFamilies = curves.map(curve =>
          publishedOf(curve, from, to, now - reach.tickDays * dayMs),
        )
        const all = {
          days: ofFamilies.flatMap(published => published.days),
          ticks: ofFamilies.flatMap(published => published.ticks),
        }
        wrote ||= all.days.length + all.ticks.length > 0
        write(all, now)
      }
      // After the data: a crash between the two writes it again, which changes nothing.
      if (wrote) settings.set(names.filledTo, String(now))
      seenSlot = slot
    },
  }
}

interface Published {
  days: DayRecord[]
  ticks: TickRecord[]
}

/** The contract that answers for its family. */
const frontMonth = ({ family }: WorldCurve, at: number): string =>
  listedMonths(family.code, tradingDate(family, at), 1)[0]!

/** The contracts whose history a copy holds that starts at `start`, oldest first. */
function historyMonths({ family }: WorldCurve, start: number, reach: Reach): string[] {
  const oldest = isoDay(start - reach.nearMonthsDays * dayMs)
  const months: string[] = []
  let month = oldest.slice(0, 7)
  while (lastTradingDay(family.code, month) < oldest) month = monthAfter(month, 1)
  const today = isoDay(start)
  let listed = 0
  for (; listed < quotedCount; month = monthAfter(month, 1)) {
    months.push(month)
    // Strictly after: the trading date may be a day ahead of the calendar's.
    if (lastTradingDay(family.code, month) > today) listed += 1
  }
  return months
}

/** The first day of a contract that a copy holds which starts at `start`. */
function firstDayOf({ family }: WorldCurve, month: string, start: number, reach: Reach): string {
  const listedFrom = (count: number, daysBack: number) => {
    const from = dayAfter(lastTradingDay(family.code, monthAfter(month, -count)), 1)
    const oldest = isoDay(start - daysBack * dayMs)
    return laterDay(from, oldest)
  }
  const [whole, near] = [
    listedFrom(quotedCount, reach.wholeCurveDays),
    listedFrom(nearMonths, reach.nearMonthsDays),
  ]
  return earlierDay(whole, near)
}

/** All of one contract that was published before `start`. */
function historyOf(curve: WorldCurve, month: string, start: number, reach: Reach): Published {
  const first = firstDayOf(curve, month, start, reach)
  return daysOf(curve, month, first, lastTradingDay(curve.family.code, month), start, reach)
}

/** What of it is of these days, both inclusive. */
function daysOf(
  curve: WorldCurve,
  month: string,
  first: string,
  last: string,
  start: number,
  reach: Reach,
): Published {
  const published: Published = { days: [], ticks: [] }
  const tickFrom = start - reach.tickDays * dayMs
  for (let day = first; day <= last && parseDay(day)! - dayMs < start; day = dayAfter(day, 1))
    collect(curve, day, [month], Number.NEGATIVE_INFINITY, start, tickFrom, published)
  return published
}

/** Contracts trade every five minutes. */
const contractCadence = 'intraday_5m'

/** No exchange is closed for longer. */
const longestClosureDays = 10

/** What a contract is quoted with, and the moments before which each price is the newest. */
function quotesOf(curve: WorldCurve, month: string, start: number, reach: Reach) {
  const first = firstDayOf(curve, month, start, reach)
  const pricesOf = (from: string, to: string): Observation[] => {
    const { days, ticks } = daysOf(curve, month, laterDay(from, first), to, start, reach)
    return [
      ...days.flatMap(({ quotedAt, close, recordedAt }) =>
        quotedAt === undefined
          ? []
          : { observedAt: quotedAt, value: close!, recordedAt: recordedAt! },
      ),
      ...ticks.map(({ tradedAt, price, recordedAt }) => ({
        observedAt: tradedAt,
        value: price,
        recordedAt: recordedAt!,
      })),
    ].sort((a, b) => a.observedAt - b.observedAt)
  }
  const newestBefore = (before: number): Observation | undefined =>
    pricesOf(isoDay(before - longestClosureDays * dayMs), isoDay(before + dayMs)).findLast(
      ({ observedAt }) => observedAt < before,
    )
  const prices = pricesOf(first, dayAfter(first, longestClosureDays)).slice(0, 1)
  const moments = new Set<number>()
  const newest = newestBefore(start)
  if (newest) {
    const bases = changeBases(contractCadence, newest.observedAt).map(([, before]) => ({
      before,
      price: newestBefore(before),
    }))
    for (const { before, price } of [
      { before: Number.MAX_SAFE_INTEGER, price: newest },
      ...bases,
    ]) {
      if (!price) continue
      moments.add(before)
      if (prices.every(({ observedAt }) => observedAt !== price.observedAt)) prices.push(price)
    }
  }
  return { prices: prices.sort((a, b) => a.observedAt - b.observedAt), moments }
}

/** All that is published of a family in `[from, to)`. */
function publishedOf(curve: WorldCurve, from: number, to: number, tickFrom: number): Published {
  const published: Published = { days: [], ticks: [] }
  // A session can begin the evening before its date, and the last of a date is published on it.
  for (let day = isoDay(from - dayMs); parseDay(day)! - dayMs < to; day = dayAfter(day, 1)) {
    const date = curve.date(day)
    collect(
      curve,
      day,
      monthsOn(date ?? curve.dateBefore(day), quotedCount),
      from,
      to,
      tickFrom,
      published,
    )
  }
  return published
}

/**
 * Adds what is published in `[from, to)` of one day: ticks and settlements of a recent date, the
 * bar of an older one, nothing new on a holiday.
 */
function collect(
  curve: WorldCurve,
  day: string,
  months: readonly string[],
  from: number,
  to: number,
  tickFrom: number,
  made: Published,
) {
  const within = (at: number) => at + lagMs >= from && at + lagMs < to
  const date = curve.date(day)
  const settledAt = parseDay(day)! + settlementMs
  if (!date) {
    if (
      weekdayOf(parseDay(day)!) < 6 &&
      parseDay(day)! >= tickFrom &&
      within(parseDay(day)! + confirmationMs)
    )
      confirm(curve, day, months, made)
    return
  }
  const { closesAt } = date.session
  if (closesAt < tickFrom) {
    const recordedAt = Math.max(closesAt, settledAt) + lagMs
    if (recordedAt >= from && recordedAt < to)
      for (const month of months)
        made.days.push({ ...curve.bar(date, month), quotedAt: closesAt, recordedAt })
    return
  }
  const listed = monthsOn(date, quotedCount)
  for (const month of months) {
    const place = listed.indexOf(month)
    if (place < 0) continue
    for (const tick of curve.ticks(
      date,
      month,
      from - lagMs,
      to - lagMs,
      place < busyMonths ? 1 : quietStride,
    ))
      made.ticks.push({ ...tick, recordedAt: tick.tradedAt + lagMs })
    if (within(settledAt)) made.days.push(settlementRecord(curve, date, month, settledAt + lagMs))
  }
}

const settlementRecord = (
  curve: WorldCurve,
  { day }: CurveDate,
  month: string,
  recordedAt: number,
): DayRecord => ({
  ...blank(curve, month, day),
  settlement: curve.settlement(day, month),
  openInterest: curve.openInterest(day, month),
  recordedAt,
})

/**
 * On a weekday that the exchange is closed its last prices are confirmed at noon: no long holiday
 * makes a copy stale that is kept up.
 */
function confirm(curve: WorldCurve, day: string, months: readonly string[], made: Published) {
  const { day: before, ...last } = curve.dateBefore(day)
  const at = parseDay(day)! + confirmationMs
  const listed = monthsOn({ day: before, ...last }, quotedCount)
  for (const month of months.filter(month => listed.includes(month)))
    made.days.push({
      ...blank(curve, month, before),
      close: curve.close(before, month),
      quotedAt: at,
      recordedAt: at + lagMs,
    })
}

const blank = ({ family }: WorldCurve, month: string, tradedOn: string): DayRecord => ({
  family: family.code,
  month,
  tradedOn,
  open: null,
  high: null,
  low: null,
  close: null,
  settlement: null,
  volume: null,
  openInterest: null,
  source: generatedSource,
})
