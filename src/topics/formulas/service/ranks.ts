import { dayMs, parseDay } from '../../../lib/time/instant.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { lastTradingDay, monthAfter } from '../../futures/math/contracts.ts'
import { parseContractCode, parseRank } from '../../futures/math/families.ts'

/** The series that a rank reads, from when to when. */
export interface RankPart {
  seriesId: number
  from: number
  to: number
}

/** Ids below zero are those of ranks: no series has one. */
export const isRank = (seriesId: number): boolean => seriesId < 0
const ranksEach = 100
export const familyIdOf = (rankId: number): number => Math.floor(-rankId / ranksEach)

/**
 * A rank of a family of futures, `CL.1` or `WTI_FUTURES.1`, as a series: at each time it is the
 * contract that is so many from the front one, which is left after its last trading day.
 */
export function rankNamed(
  name: string,
  find: (name: string) => Series | undefined,
): Series | undefined {
  const place = parseRank(name)
  const series = place && find(place.family.code)
  return (
    series && {
      ...series,
      id: -(series.id * ranksEach + place.rank),
      code: `${series.code}.${place.rank}`,
    }
  )
}

/** The contracts of a rank, oldest first, each with the days on which it has the rank. */
export function partsOf(rankId: number, contracts: readonly Series[]): RankPart[] {
  const rank = -rankId % ranksEach
  return contracts
    .flatMap(({ id, code }) => {
      const contract = parseContractCode(code)
      if (!contract) return []
      const { family, month } = contract
      /** Midnight after the last trading day of a month so many before it. */
      const endOf = (months: number) =>
        parseDay(lastTradingDay(family.code, monthAfter(month, -months)))! + dayMs
      return [{ seriesId: id, from: endOf(rank), to: endOf(rank - 1) }]
    })
    .sort((a, b) => a.from - b.from)
}
