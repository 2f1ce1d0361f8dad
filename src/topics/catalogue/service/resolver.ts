import type { NewContract, Series } from '../store/series.ts'

export interface Resolved {
  /**
   * A futures family is answered by its front contract's series; by its own while that contract has
   * no data.
   */
  series: Series
  /** The code that answers: the series' own, or the front contract of a futures family. */
  code: string
  /** The requested code, upper case, when it is not the code that answers. */
  requestedCode: string | undefined
}

/** The contract calendars of futures, as far as the catalogue needs them. */
export interface ContractCalendar {
  /**
   * The contract that answers for a futures family's code at an instant; undefined for any other
   * code.
   */
  front(code: string, at: number): string | undefined
  /** The contract that a code names, if its family lists it at an instant. */
  listed(code: string, at: number): NewContract | undefined
}

/** Bounds the memory: requests may spell codes in more ways than there are codes. */
const resolvedCodesMax = 10_000

interface ResolverDeps {
  contracts: ContractCalendar
  /** The series of a code or alias, including contracts listed since the last look-up. */
  find(code: string, now: number): Series | undefined
  /** The same, of what is known already. */
  named(code: string): Series | undefined
  hasData(series: Series): boolean
}

/**
 * Resolves a code of a request: an alias to its code, a futures family to its front contract.
 * Nearly every request finds its spelling in the cache.
 */
export function createResolver({ contracts, find, named, hasData }: ResolverDeps) {
  const resolvedCodes = new Map<string, Resolved>()

  const resolve = (text: string, now: number): Resolved | undefined => {
    const cached = resolvedCodes.get(text)
    if (cached) return cached
    const requestedCode = text.trim().toUpperCase()
    const series = find(requestedCode, now)
    if (!series) return undefined
    const family = series.contractOf === null ? series : named(series.contractOf)!
    const front = contracts.front(family.code, now)
    if (front === undefined || (series !== family && series.code !== front)) {
      const { code } = series
      const resolved = {
        series,
        code,
        requestedCode: requestedCode === code ? undefined : requestedCode,
      }
      // A contract may become the front one; other codes stay what they are until the list is read
      // again.
      if (front === undefined && resolvedCodes.size < resolvedCodesMax)
        resolvedCodes.set(text, resolved)
      return resolved
    }
    const frontSeries = named(front)
    return {
      series: frontSeries && hasData(frontSeries) ? frontSeries : family,
      code: front,
      requestedCode: requestedCode === front ? undefined : requestedCode,
    }
  }

  return { resolve, forget: () => resolvedCodes.clear() }
}
