import { addDuration } from '../../../lib/time/duration.ts'
import { calendarOf, isTradingDay } from '../../calendars/math/calendar.ts'
import { type Cadence, finestOf, isIntraday } from '../../catalogue/math/catalogue.ts'
import { isPeakMean } from '../../catalogue/math/delivery-codes.ts'
import type { SeriesTerms } from '../../catalogue/math/terms.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { isComputed, legNames, type Series } from '../../catalogue/store/series.ts'
import type { Period } from '../../delivery/math/days.ts'
import { peakRule } from '../../delivery/math/figures.ts'
import type { DeliveryTerms } from '../../delivery/math/terms.ts'
import { productOf } from '../../units/math/units.ts'
import { type CompiledFormula, compileFormula, type Leg, type Market } from '../math/compile.ts'
import { FormulaFault, whole } from '../math/fault.ts'
import { namesIn } from '../math/parse.ts'
import { usualLimitMs } from '../math/series.ts'
import type { Alignment } from '../math/syntax.ts'
import { rankNamed } from './ranks.ts'

/** The terms of a series by formula. */
export type FormulaTerms = Pick<
  SeriesTerms,
  'formula' | 'align' | 'alignLimit' | 'currency' | 'unit'
>

/** A series by formula, ready to be computed. */
export interface Definition {
  compiled: CompiledFormula
  align: Alignment
  /** The series of every code that is read, in the order of the formula's codes. */
  series: readonly Series[]
  limitsMs: readonly number[]
}

/** A series that has the daily means of another on days without a recorded value. */
export interface Averaged {
  series: readonly [leg: Series]
  averages: DeliveryTerms
  /** Present where the means are of some periods alone. */
  isCounted?: (period: Period) => boolean
}

/** Formulas over formulas. */
const levelsMax = 40
const pairPattern = /^([A-Z]{3})_([A-Z]{3})$/

/** ISO duration in milliseconds; undefined when it is none. */
export const durationMs = (text: string): number | undefined => addDuration(0, text)

const legOf = ({ code, currency, unit, category }: Series): Leg => {
  const [, from, to] = (category === 'fx' && pairPattern.exec(code)) || []
  return {
    code,
    currency,
    unit,
    product: productOf(code, category),
    pair: from !== undefined && to !== undefined ? { from, to } : undefined,
  }
}

/** The names that formulas may use: those that `find` finds. */
function marketOf(find: Find): Market {
  const pair = (from: string, to: string) => {
    const series = find(`${from}_${to}`)
    return series?.category === 'fx' && isForAll(series, find) ? series.code : undefined
  }
  return {
    leg: name => {
      const series = find(name)
      return series && legOf(series)
    },
    pair,
    isCurrency: word =>
      word === 'USD' ||
      ['USD', 'EUR'].some(other => pair(word, other) ?? pair(other, word)) === true,
  }
}

/** Finds the series of a name. */
type Find = (name: string) => Series | undefined

/**
 * Whether every account sees a series. Rates of conversions are not named in a formula, so one that
 * is for some accounts must not show in its values.
 */
function isForAll(series: Series, find: Find, seen = new Set<Series>()): boolean {
  if (seen.has(series)) return true
  seen.add(series)
  if (series.terms?.visibleTo !== undefined) return false
  return legNames(series)
    .flatMap(name => find(name) ?? [])
    .every(leg => isForAll(leg, find, seen))
}

/** Makes a formula ready. Throws a `FormulaFault`. */
export function define(
  { formula = '', align = 'last', alignLimit, currency, unit }: FormulaTerms,
  findSeries: Find,
): Definition {
  const find: Find = name => findSeries(name) ?? rankNamed(name, findSeries)
  const compiled = compileFormula(formula, { currency, unit }, marketOf(find))
  const series = compiled.codes.map(code => find(code)!)
  const limitMs = alignLimit === undefined ? undefined : durationMs(alignLimit)
  return {
    compiled,
    align,
    series,
    limitsMs: series.map(({ cadence }) => limitMs ?? usualLimitMs(cadence)),
  }
}

/** Refuses a formula that uses itself, or too many levels of formulas. */
function checkLevels(code: string, formula: string, find: Find): void {
  const heights = new Map<string, number>()
  /** How many levels of formulas there are from a text down. */
  const heightOf = (text: string, path: readonly string[], top: string | undefined): number => {
    const below = namesIn(text).named.map(name => {
      const leg = find(name)
      const named = leg?.code ?? name.toUpperCase()
      const first = top ?? name
      if (named === code) {
        const column = formula.toUpperCase().indexOf(first.toUpperCase()) + 1
        const circle = [...path, code]
        throw new FormulaFault(
          'cycle',
          { column: Math.max(1, column), length: first.length },
          `must not use itself: ${circle.join(' > ')}.`,
          circle,
        )
      }
      const inner = leg?.terms?.formula
      // A cycle of formulas without this code has no values.
      if (inner === undefined || path.includes(named)) return 0
      const height = heights.get(named) ?? heightOf(inner, [...path, named], first)
      heights.set(named, height)
      return height
    })
    return 1 + Math.max(0, ...below)
  }
  if (heightOf(formula, [code], undefined) > levelsMax)
    throw new FormulaFault('too_deep', whole, `must have at most ${levelsMax} levels of formulas.`)
}

/** Operations that the values of a day may take, those of formulas that a formula names included. */
const stepsPerDayMax = 40_000
const valuesOfDay = (cadence: Cadence): { count: number; text: string } => {
  if (isIntraday(cadence)) return { count: 288, text: 'many values a day' }
  return cadence === 'twice_daily'
    ? { count: 2, text: 'two values a day' }
    : { count: 1, text: 'one value a day' }
}

/** Refuses a formula whose values would hold up the requests of others. */
function checkSteps(definition: Definition, find: Find): void {
  const below = new Map<string, number>()
  const stepsOf = ({ compiled, series }: Definition): number => {
    for (const { code, terms, currency, unit } of series) {
      if (terms?.formula === undefined || below.has(code)) continue
      below.set(code, 0)
      below.set(code, stepsOf(define({ ...terms, currency, unit }, find)))
    }
    return compiled.steps
  }
  const own = stepsOf(definition)
  const steps = [...below.values()].reduce((sum, one) => sum + one, own)
  const { count, text } = valuesOfDay(
    finestOf(
      definition.series
        .filter(({ code }) => definition.compiled.legs.includes(code))
        .map(leg => leg.cadence),
    ) ?? 'daily',
  )
  const most = Math.floor(stepsPerDayMax / count)
  if (steps > most)
    throw new FormulaFault(
      'too_long',
      whole,
      `must take at most ${most} operations a value, because a code has ${text}; it takes ${steps} with the formulas that it names. Use fewer codes and functions.`,
    )
}

/** A formula of a series made ready, or its fault. */
function definitionOrFault(
  code: string,
  terms: FormulaTerms,
  find: Find,
  check?: typeof checkSteps,
): Definition | FormulaFault {
  try {
    checkLevels(code, terms.formula ?? '', find)
    const definition = define(terms, find)
    check?.(definition, find)
    return definition
  } catch (error) {
    if (error instanceof FormulaFault) return error
    throw error
  }
}

/** Checks a formula of a series; undefined: it has no fault. */
export function faultOf(code: string, terms: FormulaTerms, find: Find): FormulaFault | undefined {
  const made = definitionOrFault(code, terms, find, checkSteps)
  return made instanceof FormulaFault ? made : undefined
}

/** Every series that is computed, each after those that it uses. */
export function definitionsOf(catalogue: Pick<Catalogue, 'everything' | 'find'>) {
  const definitions = new Map<number, Definition | Averaged | undefined>()
  const add = (series: Series, level: number) => {
    if (!isComputed(series) || definitions.has(series.id) || level > levelsMax) return
    const find: Find = name => catalogue.find(name, series.terms?.owner)
    const legs = legNames(series).flatMap(name => find(name) ?? [])
    for (const leg of legs) if (leg.id !== series.id) add(leg, level + 1)
    if (definitions.has(series.id)) return
    const { currency, unit, averageOf } = series
    if (averageOf !== undefined && series.terms?.formula === undefined) {
      const [leg] = legs
      if (leg?.delivery && leg.currency === currency && leg.unit === unit)
        definitions.set(series.id, {
          series: [leg],
          averages: leg.delivery,
          ...(isPeakMean(series.code) && {
            isCounted: peakRule(leg.delivery, day => !isTradingDay(calendarOf(leg), day)),
          }),
        })
      return
    }
    const terms = { ...series.terms, currency, unit }
    const made = definitionOrFault(series.code, terms, find)
    definitions.set(series.id, made instanceof FormulaFault ? undefined : made)
  }
  for (const series of catalogue.everything()) add(series, 0)
  return definitions
}
