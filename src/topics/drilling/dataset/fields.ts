import { textOr } from '../../../datasets/columns.ts'
import type { Column } from '../../../datasets/dataset.ts'
import {
  type DatasetRow,
  neededMonth,
  neededText,
  numberIn,
  refuse,
  textIn,
} from '../../../datasets/fields.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { monthNumber } from '../../../lib/time/month-names.ts'
import { basinOf, country, otherStates } from '../math/drilling.ts'
import { surveyOn } from '../math/period.ts'
import { stateOf } from '../math/states.ts'

const countMax = 1e6

export const source = textOr('EIA', 'Source of the numbers, as shown in responses; default: EIA')

const regionsInWords =
  'US, a basin (permian, Eagle Ford ...), a state by its letters or name, or OTHER for the remaining states of a source'

const countryNames = new Set(['us', 'usa', 'u.s.', 'united states', 'total us', 'total'])

/**
 * Normalizes a region. `OTHER` in capitals is a group of states, in lower case a group of basins.
 */
export function regionOf(text: string): string | undefined {
  if (countryNames.has(text.toLowerCase())) return country
  if (text === otherStates || /^other states$/i.test(text)) return otherStates
  return stateOf(text)?.code ?? basinOf(text)?.key
}

export const region = (fallback?: string): Column<string> => ({
  required: fallback === undefined,
  description: `${regionsInWords}${fallback === undefined ? '' : `; default: ${fallback}`}`,
  read(row, name) {
    const right = `write ${regionsInWords}`
    const text = textIn(row, name) ?? fallback ?? neededText(row, name, right)
    return regionOf(text) ?? refuse(name, text, 'is not known', right)
  },
})

/** Basins alone. */
export const basin: Column<string> = {
  name: 'basin',
  required: true,
  description: 'permian, Eagle Ford ...; appalachia for Marcellus and Utica together',
  read(row, name) {
    const right = 'write a basin, such as permian or Eagle Ford'
    const text = neededText(row, name, right)
    return basinOf(text)?.key ?? refuse(name, text, 'is not a basin', right)
  },
}

/** A whole number, a count; undefined when the field is absent or empty. */
export function countIn(row: DatasetRow, field: string): number | undefined {
  const value = numberIn(row, field, 0, countMax)
  if (value === undefined || Number.isInteger(value)) return value
  return refuse(field, value, 'is not whole', 'write a whole number, such as 254')
}

export const count = (name: string, description: string): Column<number> => ({
  name,
  required: true,
  description,
  isCount: true,
  read: row =>
    countIn(row, name) ?? refuse(name, undefined, '', 'write a whole number, such as 254'),
})

export const optionalCount = (name: string, description: string): Column<number | null> => ({
  name,
  description,
  isCount: true,
  read: row => countIn(row, name) ?? null,
})

/** A month, stored as the day that its survey is dated. */
export const surveyMonth: Column<string> = {
  name: 'month',
  required: true,
  description: 'Month, YYYY-MM; of a day, only its month counts',
  exported: 'substr(t.counted_on, 1, 7)',
  read: (row, name, { now }) => surveyOn(neededMonth(row, name, now)),
  written: day => day.slice(0, 7),
}

const namedMonth = /^([A-Za-z]{3})[a-z]*[ -](\d{4})$/

/**
 * `2020-07`, `Jul 2020` or `Jul-2020` as the first of them, up to the running month; undefined for
 * anything else.
 */
export function monthIn(text: string, now: number): string | undefined {
  const [, name = '', year = ''] = namedMonth.exec(text) ?? []
  const number = monthNumber(name)
  const month = number > 0 ? `${year}-${String(number).padStart(2, '0')}` : text
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(month) &&
    month <= isoDay(now).slice(0, 7) &&
    month >= '1900-01'
    ? month
    : undefined
}
