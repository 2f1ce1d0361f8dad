import type { VNode } from 'preact'
import { codes } from '../../parts/requests/codes.ts'
import { Move } from '../../parts/tables/move.tsx'
import {
  dataDay,
  day,
  decimalsOf,
  formulaText,
  instant,
  number,
  unitOf,
  words,
} from '../../parts/text/format.ts'

export type Row = Record<string, unknown>

const isPercent = (name: string): boolean =>
  /percent|percentage|pct|accuracy|utilization/.test(name)
const isChange = (name: string): boolean => /(^|_)(change|difference)(_|$)/.test(name)
export const isDate = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)
const isPlace = (name: string): boolean => /^(basin|region|state)$/.test(name)

/** A moment, a day or a month. */
export const isCalendar = (value: unknown): boolean =>
  isDate(value) || (typeof value === 'string' && /^\d{4}-\d\d(-\d\d)?$/.test(value))

/** The name of a field as a heading, with its unit behind a comma. */
export const labelOf = (name: string): string =>
  words(
    name === 'data'
      ? 'values'
      : name
          .replace(
            /^(coverage|coordinates|summary|national|components|conversion|spreads(?=_m\d))_(total_)?/,
            '',
          )
          .replace(/^data_sources_/, 'source_of_'),
  )
    .replace(/^M(\d+) m(\d+)$/, 'M$1–M$2')
    .replace(/ usd per bbl$/, ', USD/bbl')
    .replace(/^(High|Low|Average) 52w$/, (_, word: string) => `52-week ${word.toLowerCase()}`)
    .replace(
      /^(Price|Contract|Code)([12])$/,
      (_, noun: string, at: string) =>
        `${at === '1' ? 'First' : 'Second'} ${noun === 'Code' ? 'series' : noun.toLowerCase()}`,
    )
    .replace(/ (percent|pct) 24h$/, ', 24 h, %')
    .replace(/\b(\w+) \1\b/, '$1')
    .replace(/^As of date$/, 'As of')
    .replace(/ (bbl|boe|mcf|Mcf|bbl\/d|Mcf\/d|million bbl\/d|days)$/, ', $1')
    .replace(/^(Oil|Gas|Total oil|Total gas) production$/, '$1')
    .replace(/^Economical$/, 'Economical fuel')
    .replace(/^Zscore$/, 'z-score')
    .replace(/^Display name$/, 'Name')
    .replace(/^Created at$/, 'Observed')
    .replace(/^(Updated|Published|Retrieved|Recorded) (at|date)$/, '$1')
    .replace(/^Expected$/, 'Expected periods')
    .replace(/^Min (?=price)/, 'Lowest ')
    .replace(/^Max (?=price)/, 'Highest ')
    .replace(/^(Port|Carrier|Operator) name$/, '$1')
    .replace(/std dev$/, 'standard deviation')
    .replace(/^Boe$/, 'Oil equivalent, boe')
    .replace(/^Percentage$/, 'Share')
    .replace(/^(Change|Spread) (percent|pct)( 24h)?$|^(Change) 24h percent$/, '$1$4, %')
    .replace(/ (percent|pct|percentage)$/, ', %')
    .replace(/ 24h$/, ', 24 h')
    .replace(/ (\d+)d(?=$|,)/, ', $1 days')

/** From here on a fraction says nothing. */
const wholeFrom = 100_000

/** How many digits values have behind their points, so that they stand below each other. */
function digitsOf(values: readonly unknown[]): number {
  const numbers = values.filter(value => typeof value === 'number')
  const largest = numbers.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  if (largest >= wholeFrom) return 0
  const most = largest < 10 ? 3 : 2
  const digits = numbers.map(value => decimalsOf(Number(value.toFixed(most))))
  return digits.some(Boolean) ? Math.max(2, ...digits) : 0
}

export const seriesName = (code: string): string | undefined =>
  codes.value.find(known => known.code === code)?.name

/** `gasoil_crack` and `gasoil-crack` as people write them. */
export const asWords = (text: string): string => words(text.replaceAll('-', '_'))

const placeText = (text: string): string =>
  text.length === 2
    ? text.toUpperCase()
    : asWords(text).replace(/\b[a-z]/g, first => first.toUpperCase())

export function cellOf(
  name: string,
  value: unknown,
  values: readonly unknown[] = [value],
): VNode | string {
  if (value === null || value === undefined || value === '') return '–'
  if (name === 'year') return String(value)
  if (typeof value === 'number') {
    const [digits, isShare] = [digitsOf(values), isPercent(name)]
    if (isChange(name))
      return <Move change={isShare ? { amount: value, percent: value } : value} digits={digits} />
    return number(value, digits) + (isShare ? '%' : '')
  }
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (isDate(value)) return isDaily(values) ? dayOf(value, values) : instant(value)
  const text = String(value)
  if (/^https?:/.test(text)) return <a href={text}>{new URL(text).host}</a>
  if (/(^|_)unit$/.test(name)) return unitOf(null, text)
  if (seriesName(text)) return <a href={`/series/${text}`}>{seriesName(text)}</a>
  if (name === 'formula') return formulaText(text)
  if (name === 'fuel_type') return text.replaceAll('_', ' ')
  if (!/^[a-z]+([_-][a-z0-9]+)*$/.test(text)) return text
  return isPlace(name) ? placeText(text) : asWords(text)
}

/** Whether at most one of the moments is of each day. */
const isDaily = (values: readonly unknown[]): boolean => {
  const moments = new Set(values.filter(isDate))
  return new Set([...moments].map(dataDay)).size === moments.size
}

/** Days of data have one time of day, and are the same in every time zone. */
const dayOf = (value: string, values: readonly unknown[]): string => {
  const times = new Set(values.filter(isDate).map(moment => moment.slice(11, 16)))
  return times.size === 1 && (values.length > 1 || times.has('00:00')) ? dataDay(value) : day(value)
}

/** The unit of a row, after its currency where it has one. */
export function unitIn(row: Row): string {
  if (typeof row.unit !== 'string') return '–'
  if (typeof row.currency === 'string') return unitOf(row.currency, row.unit)
  const unit = unitOf(null, row.unit)
  const isOfPrice = Object.keys(row).some(name => /price$/.test(name)) && !unit.includes('/')
  return isOfPrice ? `per ${unit}` : unit
}

/** A cell as a text, where no link may be. */
export function plainText(name: string, value: unknown): string {
  const cell = cellOf(name, value)
  return typeof cell === 'string' ? cell : (seriesName(String(value)) ?? String(value))
}
