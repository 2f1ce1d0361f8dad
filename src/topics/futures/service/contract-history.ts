import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { LongInterval } from '../../prices/math/bars.ts'
import {
  type ContractDays,
  continuousDays,
  contractsBetween,
  type RollTerms,
} from '../math/continuous.ts'
import {
  type ContractDay,
  curvePrice,
  curveStretchesOf,
  earlierDay,
  laterDay,
  mergeDays,
  stretchesOf,
} from '../math/contract-days.ts'
import { monthAfter } from '../math/contracts.ts'
import type { FamilyCode } from '../math/families.ts'
import { type ContractReads, earliestDay } from './reads.ts'

/**
 * Which contracts a history is of: one, or on each date those at places of the curve (1 = front
 * month). `ofCurve`: the contracts that the curve of the date has there. A bar is of the contract
 * that was in front while it traded; the curve of a date no longer has one that ended with it.
 */
export type ContractSelection = { month: string } | { places: readonly number[]; ofCurve?: boolean }

/** `today`: the trading date that this moment counts to. */
export function createContractHistory(
  reads: ContractReads,
  catalogue: Catalogue,
  today: (code: FamilyCode) => string,
) {
  /** The dates of a range by the contracts that are wanted on them, newest first. */
  const parts = (
    code: FamilyCode,
    selection: ContractSelection,
    from: string,
    to: string,
  ): { months: string[]; from: string; to: string }[] => {
    const [first, last] = [laterDay(from, earliestDay), earlierDay(to, today(code))]
    if (first > last) return []
    if ('month' in selection) return [{ months: [selection.month], from: first, to: last }]
    const stretches = selection.ofCurve
      ? curveStretchesOf(code, first, last, today(code))
      : stretchesOf(code, first, last)
    return stretches.map(stretch => ({
      months: selection.places.map(place => monthAfter(stretch.front, place - 1)),
      from: stretch.from,
      to: stretch.to,
    }))
  }

  /** Every day of one contract, or of one place of the curve, newest first. */
  const allDays = (
    code: FamilyCode,
    selection: ContractSelection,
    from: string,
    to: string,
  ): ContractDay[] =>
    parts(code, selection, from, to).flatMap(part =>
      reads.days(code, part.months[0]!, part.from, part.to),
    )

  return {
    /** Closes of one contract or place, oldest first, unadjusted. */
    closesOf: (code: FamilyCode, selection: ContractSelection, from: string, to: string) =>
      allDays(code, selection, from, to)
        .reverse()
        .map(day => ({ day: day.tradedOn, value: day.close })),
    /** The same of the prices that curves are drawn with. */
    curvePricesOf: (code: FamilyCode, selection: ContractSelection, from: string, to: string) =>
      allDays(code, selection, from, to)
        .reverse()
        .map(day => ({ day: day.tradedOn, value: curvePrice(day) })),
    /** Whether the selected contracts have any day at all. */
    hasDays(code: FamilyCode, selection: ContractSelection) {
      if ('month' in selection)
        return reads.days(code, selection.month, earliestDay, today(code), 1).length > 0
      return catalogue.hasContracts(code) && reads.hasDays(code)
    },
    /** Newest first, within a date nearest contract first. */
    page(
      code: FamilyCode,
      selection: ContractSelection,
      from: string,
      to: string,
      offset: number,
      limit: number,
    ) {
      const days: ContractDay[] = []
      let total = 0
      for (const part of parts(code, selection, from, to)) {
        const count = part.months.reduce(
          (sum, month) => sum + reads.count(code, month, part.from, part.to),
          0,
        )
        const skip = Math.max(0, offset - total)
        total += count
        if (skip >= count || days.length >= limit) continue
        const partLimit = skip + limit - days.length
        const partDays = part.months.flatMap(month =>
          reads.days(code, month, part.from, part.to, partLimit),
        )
        days.push(...partDays.sort(newestThenNearest).slice(skip, partLimit))
      }
      return { days, total }
    },
    /**
     * The series that rolls by a rule from one contract to the next, oldest first and unadjusted, and
     * where it rolls.
     */
    continuous(code: FamilyCode, from: string, to: string, terms: RollTerms) {
      const last = earlierDay(to, today(code))
      const contracts = new Map(
        contractsBetween(code, from, last, terms).map(contract => [
          contract.month,
          new Map(
            reads
              .days(code, contract.month, contract.from, contract.to)
              .map(day => [day.tradedOn, day]),
          ),
        ]),
      )
      const none: ContractDays = new Map()
      return continuousDays(code, month => contracts.get(month) ?? none, from, last, terms)
    },
    /** The days of `page` as weeks or calendar months, all of them: places are merged by place. */
    merged(
      code: FamilyCode,
      selection: ContractSelection,
      interval: LongInterval,
      from: string,
      to: string,
    ) {
      const singles: ContractSelection[] =
        'month' in selection ? [selection] : selection.places.map(place => ({ places: [place] }))
      return singles
        .flatMap(single => mergeDays(interval, allDays(code, single, from, to)))
        .sort(newestThenNearest)
    },
  }
}

const newestThenNearest = (a: ContractDay, b: ContractDay): number =>
  a.tradedOn === b.tradedOn ? (a.month < b.month ? -1 : 1) : a.tradedOn > b.tradedOn ? -1 : 1
