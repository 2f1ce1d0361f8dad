import type { Filler } from '../../../demo/filler.ts'
import { type Clock, createSystemClock } from '../../../lib/time/clock.ts'
import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import type { Progress } from '../../prices/demo/progress.ts'
import type { Observation, World } from '../../prices/demo/world.ts'
import type { DayRecord, TickRecord } from '../math/contract-days.ts'
import { contractCode, type FamilyCode, families, parseContractCode } from '../math/families.ts'
import { createWorldCurve, type WorldCurve } from './curves.ts'
import {
  frontMonth,
  gridMs,
  historyMonths,
  historyOf,
  lagMs,
  type Published,
  publishedOf,
  quotedMonths,
  quotesOf,
  type Reach,
} from './published.ts'

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

export interface FuturesFiller extends Required<Filler> {
  /** Makes all contracts known and writes those that stand for their families. Once. */
  begin(): void
  /** Goes on with that for about `budgetMs`; false once it is done. */
  beginStep(budgetMs: number): boolean
  /** Begins, and writes the history of every contract that is quoted now. */
  beginCurves(): void
  /**
   * Makes all contracts known and writes the newest price of those that stand for their families,
   * those that its changes are against, and the first one.
   */
  quoteAll(): void
  /** The same, of one family. */
  quote(family: FamilyCode): void
  /** The same, of a contract; of one that stands for no family, its history. */
  quoteContract(contract: string): void
  /** Whether the newest price of a contract before `before` is there: one of these. */
  hasNewest(contract: string, before: number): boolean
  /** Whether a contract may still have to be written. */
  isMissing(contract: string): boolean
  /** Whether a contract is quoted, and its history still to be written. */
  isUnwritten(contract: string): boolean
  /** Makes all contracts known. */
  open(): void
  /** Writes the history of a contract; false where it is there already. */
  supply(contract: string): boolean
}

/** Work that others may come in between: each part is a transaction, or what must be known for them. */
type Parts = Generator<void, void>

const atOnce = (parts: Parts): void => {
  while (!parts.next().done);
}

const names = {
  startedAt: 'fixture.futures.started_at',
  begun: 'fixture.futures.begun',
  filled: 'fixture.futures.filled',
  filledTo: 'fixture.futures.filled_to',
  imagedTo: 'fixture.futures.curves_imaged_to',
}

/** Takes the beginning back: the contracts that are there are those of an image. */
export function forgetFuturesBeginning(settings: Progress & { remove(name: string): void }): void {
  const to = settings.get(names.startedAt)
  if (to !== undefined) settings.set(names.imagedTo, to)
  for (const name of [names.startedAt, names.begun]) settings.remove(name)
}

/**
 * Two years of whole curves, the nearest months as far back as an answer may reach, and three
 * sessions of ticks whatever weekend or holiday lies between.
 */
const fullReach: Reach = { wholeCurveDays: 2 * 366, nearMonthsDays: 5 * 366 + 7, tickDays: 6 }
/** What was published since an image is written sooner than a quote is found where it is a day's. */
const caughtUpMaxMs = dayMs
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
  /** What is left of what is being written; lost in a crash and where a part fails, and then done again. */
  let beginning: Parts | undefined
  let filling: { code: FamilyCode; parts: Parts } | undefined
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

  /** A part is a transaction. */
  function* writing({ days, ticks }: Published, at: number): Parts {
    open([...days, ...ticks])
    for (let i = 0; i < ticks.length; i += rowsPerWrite) {
      deps.futures.recordTicks(ticks.slice(i, i + rowsPerWrite), at)
      yield
    }
    for (let i = 0; i < days.length; i += rowsPerWrite) {
      deps.futures.recordDays(days.slice(i, i + rowsPerWrite), at)
      yield
    }
  }
  const write = (published: Published, at: number) => atOnce(writing(published, at))

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

  /** Contracts that somebody asks for meanwhile are written for them, and passed over here. */
  function* beginningOf(): Parts {
    openAll()
    yield
    for (const curve of curves) yield* writingContract(curve, frontMonth(curve, startedAt()))
    settings.set(names.begun, 'true')
  }
  const begin = () => {
    if (!hasBegun()) atOnce(beginningOf())
  }

  const beginCurves = () => {
    begin()
    for (const curve of curves)
      for (const month of quotedMonths(curve, startedAt())) writeContract(curve, month)
  }

  const quoteFronts = (some: readonly WorldCurve[]) => {
    if (hasBegun()) return
    const imagedTo = instant(names.imagedTo)
    if (imagedTo !== undefined && startedAt() - imagedTo <= caughtUpMaxMs) return begin()
    openAll()
    const prices: ContractPrice[] = []
    for (const curve of some) {
      const month = frontMonth(curve, startedAt())
      const contract = contractCode(curve.family.code, month)
      if (written.has(contract) || quoted.has(contract)) continue
      const quotes = quotesOf(curve, month, startedAt(), reach)
      for (const price of quotes.prices) prices.push({ contract, ...price })
      quoted.set(contract, quotes.moments)
    }
    if (prices.length > 0) deps.quote(prices)
  }

  const supply = (contract: string): boolean => {
    if (written.has(contract)) return false
    const parsed = parseContractCode(contract)
    const curve = missingCurves().find(({ family }) => family === parsed?.family)
    if (!parsed || !curve) return false
    openAll()
    const front = frontMonth(curve, startedAt())
    if (parsed.month === front && hasBegun()) return false
    writeContract(curve, parsed.month)
    return true
  }

  function* writingContract(curve: WorldCurve, month: string): Parts {
    const code = contractCode(curve.family.code, month)
    if (written.has(code)) return
    const start = startedAt()
    yield* writing(missingOf(curve, month, start), start)
    written.add(code)
  }
  const writeContract = (curve: WorldCurve, month: string) => atOnce(writingContract(curve, month))

  /** The history of a contract without what an image has brought of it. */
  const missingOf = (curve: WorldCurve, month: string, start: number): Published => {
    const imagedTo = instant(names.imagedTo)
    const isImaged = imagedTo !== undefined && quotedMonths(curve, imagedTo).includes(month)
    return historyOf(curve, month, start, reach, isImaged ? imagedTo : undefined)
  }

  /** The contracts of a family, small ones together; those that trade now come last. */
  function* fillingOf(curve: WorldCurve, start: number): Parts {
    begin()
    const { code } = curve.family
    const front = frontMonth(curve, start)
    let batch: Published & { months: string[] } = { days: [], ticks: [], months: [] }
    for (const month of historyMonths(curve, start, reach)) {
      if (month === front || written.has(contractCode(code, month))) continue
      const history = missingOf(curve, month, start)
      batch.days.push(...history.days)
      batch.ticks.push(...history.ticks)
      batch.months.push(month)
      if (batch.days.length + batch.ticks.length < rowsPerWrite) continue
      yield* writingBatch(batch)
      batch = { days: [], ticks: [], months: [] }
    }
    yield* writingBatch(batch)
    settings.set(names.filled, [...filled(), code].join(' '))

    function* writingBatch({ months, ...published }: typeof batch): Parts {
      yield* writing(published, start)
      for (const month of months) written.add(contractCode(code, month))
    }
  }
  /** What is left of a family. */
  const takeFilling = (curve: WorldCurve): Parts => {
    const parts =
      filling?.code === curve.family.code ? filling.parts : fillingOf(curve, startedAt())
    filling = undefined
    return parts
  }

  const missingCurves = () => {
    const done = filled()
    return curves.filter(curve => !done.includes(curve.family.code))
  }

  return {
    begin,
    beginCurves,
    quoteAll: () => quoteFronts(curves),
    quote: code => quoteFronts(curves.filter(({ family }) => family.code === code)),
    hasNewest: (contract, before) => quoted.get(contract)?.has(before) ?? false,
    isMissing: contract => !written.has(contract),
    isUnwritten: contract => !hasBegun() && quoted.has(contract) && !written.has(contract),
    open: openAll,
    quoteContract(contract) {
      if (quoted.has(contract)) return
      const parsed = parseContractCode(contract)
      const curve = missingCurves().find(({ family }) => family === parsed?.family)
      if (parsed && curve && parsed.month === frontMonth(curve, startedAt())) quoteFronts([curve])
      else supply(contract)
    },
    supply,
    beginStep(budgetMs) {
      if (hasBegun()) return false
      const until = stopwatch.monotonic() + budgetMs
      const parts = beginning ?? beginningOf()
      beginning = undefined
      while (!parts.next().done)
        if (stopwatch.monotonic() >= until) {
          beginning = parts
          return true
        }
      return false
    },
    step(budgetMs) {
      const missing = missingCurves()
      const until = stopwatch.monotonic() + budgetMs
      while (missing.length > 0) {
        const parts = takeFilling(missing[0]!)
        if (parts.next().done) missing.shift()
        else filling = { code: missing[0]!.family.code, parts }
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
      for (const curve of missing) atOnce(takeFilling(curve))
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
