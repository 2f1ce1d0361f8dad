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

export const sourceColumn = {
  name: 'source',
  required: false,
  description: 'Whom the numbers are from, as answers name it; default: EIA',
}

export const sourceIn = (row: DatasetRow): string => textIn(row, 'source', 40) ?? 'EIA'

const regionsInWords =
  'US, a basin (permian, Eagle Ford ...), a state by its letters or name, or OTHER for the states that a source adds up'

export const regionColumn = (required: boolean) => ({
  name: 'region',
  required,
  description: `${regionsInWords}${required ? '' : '; default: US'}`,
})

const countryNames = new Set(['us', 'usa', 'u.s.', 'united states', 'total us', 'total'])

/** A region as it is kept. `OTHER` in capitals is of states, in small letters of basins. */
export function regionOf(text: string): string | undefined {
  if (countryNames.has(text.toLowerCase())) return country
  if (text === otherStates || /^other states$/i.test(text)) return otherStates
  return stateOf(text)?.code ?? basinOf(text)?.key
}

export function regionIn(row: DatasetRow, fallback?: string): string {
  const text =
    textIn(row, 'region') ?? fallback ?? neededText(row, 'region', `write ${regionsInWords}`)
  return regionOf(text) ?? refuse('region', text, 'is not known', `write ${regionsInWords}`)
}

/** Basins alone. */
export function basinIn(row: DatasetRow, field: string): string {
  const right = 'write a basin, such as permian or Eagle Ford'
  const text = neededText(row, field, right)
  return basinOf(text)?.key ?? refuse(field, text, 'is not a basin', right)
}

/** A whole number of what is counted; undefined when the field is absent or empty. */
export function countIn(row: DatasetRow, field: string): number | undefined {
  const value = numberIn(row, field, 0, countMax)
  if (value === undefined || Number.isInteger(value)) return value
  return refuse(field, value, 'is not whole', 'write a whole number, such as 254')
}

export const neededCount = (row: DatasetRow, field: string): number =>
  countIn(row, field) ?? refuse(field, undefined, '', 'write a whole number, such as 254')

/** The day that a row of a month is dated. */
export const surveyIn = (row: DatasetRow, field: string, now: number): string =>
  surveyOn(neededMonth(row, field, now))

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
