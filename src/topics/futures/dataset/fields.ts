import type { Column, GuardedColumn } from '../../../datasets/dataset.ts'
import {
  boundedIn,
  type DatasetRow,
  neededText,
  numberIn,
  refuse,
  textIn,
} from '../../../datasets/fields.ts'
import { parseDay, weekdayOf } from '../../../lib/time/instant.ts'
import { listedMonths } from '../math/contracts.ts'
import {
  contractCode,
  type Family,
  type FamilyCode,
  families,
  familyBySlug,
  listedCount,
  parseContractCode,
} from '../math/families.ts'

const rightContract =
  'write a contract code, such as WTI_FUTURES_2026_12, or a place on the curve of the day, such as WTI_FUTURES.1 or CL.1'

export interface NamedContract {
  family: Family
  month: string
}

/**
 * A contract by its code, or by its place on the curve of a trading date: `WTI_FUTURES.2` is what
 * public tables call contract 2.
 */
export function contractIn(
  row: DatasetRow,
  exchangeWords: readonly string[],
  dateOf: (family: Family) => string,
): NamedContract {
  const text = neededText(row, 'contract', rightContract)
  const named = parseContractCode(text)
  if (named) return named
  const [, name, place] = /^(.+)\.(\d{1,2})$/.exec(text) ?? []
  const family =
    name === undefined
      ? undefined
      : (families.find(candidate => candidate.code === name.toUpperCase()) ??
        familyBySlug(name, exchangeWords)?.family)
  if (!family) return refuse('contract', text, 'is not a futures contract', rightContract)
  const nth = Number(place)
  if (nth < 1 || nth > listedCount)
    refuse('contract', text, 'is not on the curve', `write a place from 1 to ${listedCount}`)
  return { family, month: listedMonths(family.code, dateOf(family), nth)[nth - 1]! }
}

/** Prices may go below zero, but not beyond twenty times the usual level. */
const levelsMax = 20

/** A price of the family, whose usual level bounds what is believed. */
export const priceIn = (row: DatasetRow, field: string, level: number): number | undefined =>
  boundedIn(row, field, -levelsMax * level, levelsMax * level, 'a price of the family')

/** A whole number from 0 on. */
export function countIn(row: DatasetRow, field: string): number | undefined {
  const value = numberIn(row, field, 0, 1e12)
  if (value !== undefined && !Number.isInteger(value))
    refuse(field, value, 'is not a whole number', 'write lots, such as 284113')
  return value
}

/** Refuses dates on which no exchange trades and dates after the month of the contract. */
export function checkTraded(
  day: string,
  { family, month }: NamedContract,
  field = 'traded_on',
): void {
  if (weekdayOf(parseDay(day)!) > 5)
    refuse(field, day, 'is on a weekend', 'an evening session counts to the next trading date')
  if (day.slice(0, 7) > month)
    refuse(
      field,
      day,
      `is after the ${family.name} contract for ${month} has ended`,
      'check the contract',
    )
}

export const contract: Column<number> = {
  name: 'contract',
  required: true,
  description:
    'Contract code (WTI_FUTURES_2026_12), or a place on the curve of the date (WTI_FUTURES.1, CL.2)',
  isSeries: true,
  written: (_id, { family, month }) => contractCode(family as FamilyCode, month as string),
}

const sourcePattern = /^[a-z0-9][a-z0-9_.-]{0,39}$/i

export const source: Column<string> = {
  description: 'Source of the numbers, as shown in responses; default: import',
  read(row, name) {
    const text = textIn(row, name) ?? 'import'
    return sourcePattern.test(text)
      ? text
      : refuse(
          name,
          text,
          'is not a label',
          'write letters, digits, _, - and ., at most 40 characters',
        )
  },
}

/** A contract may settle at one price for days. */
export const futuresPrice: GuardedColumn = { mayRepeat: true }
