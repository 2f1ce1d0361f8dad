import type { PriceFeed } from '../topics/prices/demo/feed.ts'
import type { Supply } from '../topics/prices/service/supply.ts'

/** The fixture data of one family that is more than price series. */
export interface Filler {
  /**
   * Of a long history: writes some of it for about `budgetMs`, at least one transaction; false once
   * there is nothing to write at present.
   */
  step?(budgetMs: number): boolean
  /**
   * Writes what was published up to `now` and is not there yet; nothing before the history is
   * there.
   */
  advance(now: number): unknown
}

/** What a request is about, as far as it says what data it needs. */
export interface DataRequest {
  /** The route as it is declared: `/v1/futures/:slug/curve`. */
  route: string
  method: string
  url: string
}

/**
 * Some codes alone; the newest price of every code with those that its changes are against; or the
 * whole newest stretch of every code.
 */
export type PriceReach = readonly string[] | 'newest' | 'stretch'

/** The data of an evaluation copy, which is whole for whoever asks, from the first request on. */
export interface WorldFeed
  extends Pick<PriceFeed, 'begin' | 'step' | 'advance' | 'paused' | 'filled' | 'total'> {
  /** Writes what a request needs and is not there yet. */
  lay(asked: DataRequest): void
  /** Writes what an image of a copy holds: the newest of every code and the registers. */
  layImage(): void
  /** What reads of prices ask before they read. */
  supply: Supply
  /** Does some work that reads what is there and waits for nothing: its reads lay nothing down. */
  asItIs<T>(work: () => T): T
  /** Nothing is left to write. */
  isWhole(): boolean
}

export interface Families<Name extends string> {
  /** In the order in which they are filled in the background. */
  fillers: Readonly<Record<Name, Filler>>
  /** Those that need no prices to be written first, in the order in which they need each other. */
  registers: readonly Name[]
  /** Those that every list of codes needs. */
  first(): void
  /** Goes on with that for about `budgetMs`; false once it is done. */
  firstStep(budgetMs: number): boolean
  /** As much of those as an image holds. */
  image(): void
  /** As much of those as lists of newest prices need. */
  quoteAll(): void
  /** As of the feed, for series that are a family's. */
  quote(seriesId: number): void
  /** As of the feed, for series that are a family's. */
  hasNewest(seriesId: number, before: number): boolean
  /** As of the feed, for series that are a family's. */
  isUnwritten(seriesId: number): boolean
  /** Whether a series is a family's and may still have to be written. */
  isMissing(seriesId: number): boolean
  /** What a request needs of the prices that lists of codes are made of. */
  reachOf(asked: DataRequest): PriceReach
  /** Writes what a request needs of them, filling families through `fill`. */
  lay(asked: DataRequest, fill: (name: Name) => void): void
  /** As of the feed, for series that are a family's. */
  supply(seriesId: number, from: number): boolean
  /** Runs work as one transaction of the database that the families are written to. */
  atOnce(work: () => void): void
  /** Runs work whose writes do not wait for the disk: the world can write them again. */
  withoutSyncing<T>(work: () => T): T
  /** Drops what is kept in memory of a series. */
  forget(seriesId: number): void
  /** Once nothing is left to write. */
  whenWhole(): void
  now(): number
}

/**
 * A feed of prices that brings other families along: what a request needs before it is answered,
 * everything else in the background, then whatever is published as the clock moves.
 */
export function withFamilies<Name extends string>(
  feed: PriceFeed,
  {
    fillers,
    registers,
    first,
    firstStep,
    image,
    quoteAll,
    quote,
    hasNewest,
    isUnwritten,
    isMissing,
    reachOf,
    lay,
    supply,
    atOnce,
    withoutSyncing,
    forget,
    whenWhole,
    now,
  }: Families<Name>,
): WorldFeed {
  const entries = Object.entries(fillers) as [Name, Filler][]
  let isWhole = false
  let isLaying = false
  /** Families whose history is there: before it nothing is published. */
  const laid = new Set<Name>()
  /** Series that were read while something was laid down: of some, only a part was there. */
  const readEarly = new Set<number>()
  const laying = <T>(work: () => T): T | undefined => {
    if (isLaying) return undefined
    isLaying = true
    try {
      return work()
    } finally {
      isLaying = false
      // To empty a set that is empty takes longer than a read.
      if (readEarly.size > 0) {
        for (const seriesId of readEarly) forget(seriesId)
        readEarly.clear()
      }
    }
  }
  /** For work that writes much: telling the database how to wait takes longer than a read. */
  const writing = <T>(work: () => T): T | undefined =>
    isLaying ? undefined : withoutSyncing(() => laying(work))
  /** The history is there; the clock may have moved since it was written, as of an image. */
  const end = (name: Name) => {
    if (laid.has(name)) return
    laid.add(name)
    if (!feed.paused) fillers[name].advance(now())
  }
  const fill = (name: Name) => {
    const filler = fillers[name]
    if (filler.step?.(0)) {
      // Somebody waits for it: one commit rather than one for each of its slices.
      atOnce(() => {
        while (filler.step!(Number.POSITIVE_INFINITY));
      })
    }
    end(name)
  }
  const begin = () => {
    feed.begin()
    first()
  }
  const supplied = (seriesId: number, from: number): boolean => {
    if (isWhole) return false
    if (isLaying) readEarly.add(seriesId)
    const mayWrite = !isLaying && (feed.isUnwritten(seriesId) || isMissing(seriesId))
    const hasWritten = (mayWrite ? writing : laying)(() => {
      const ofPrices = feed.supply(seriesId, from)
      return supply(seriesId, from) || ofPrices
    })
    return hasWritten ?? false
  }
  return {
    total: feed.total,
    filled: feed.filled,
    begin: () => void laying(begin),
    step(budgetMs) {
      const isLeft = writing(() => {
        if (feed.beginStep(budgetMs) || firstStep(budgetMs)) return true
        // One family a step: to see that all of it is there takes some time too.
        const next = entries.find(([name]) => !laid.has(name))
        if (!next) return feed.step(budgetMs)
        const [name, filler] = next
        if (!filler.step?.(budgetMs)) end(name)
        return true
      })
      if (isLeft !== false) return true
      if (!isWhole) whenWhole()
      isWhole = true
      return false
    },
    lay(asked) {
      if (isWhole) return
      writing(() => {
        const reach = reachOf(asked)
        if (reach === 'stretch') begin()
        else if (reach === 'newest') {
          feed.beginQuotes()
          quoteAll()
        } else feed.beginWith(reach)
        lay(asked, fill)
      })
    },
    layImage: () =>
      void laying(() => {
        begin()
        image()
        for (const name of registers) fill(name)
      }),
    supply: Object.assign(supplied, {
      quote(seriesId: number) {
        if (isWhole || isLaying) return
        laying(() => {
          feed.quote(seriesId)
          quote(seriesId)
        })
      },
      hasNewest: (seriesId: number, before: number) =>
        isWhole || feed.hasNewest(seriesId, before) || hasNewest(seriesId, before),
      isUnwritten: (seriesId: number) =>
        !isWhole && (feed.isUnwritten(seriesId) || isUnwritten(seriesId)),
    }),
    asItIs: work => (isLaying ? work() : laying(work)!),
    isWhole: () => isWhole,
    advance(now) {
      return laying(() => {
        const count = feed.advance(now)
        if (!feed.paused)
          for (const [name, filler] of entries) if (laid.has(name)) filler.advance(now)
        return count
      })!
    },
    get paused() {
      return feed.paused
    },
    set paused(on) {
      feed.paused = on
    },
  }
}
