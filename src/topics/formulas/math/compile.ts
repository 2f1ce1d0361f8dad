import { nearestWord } from '../../../lib/text/wrong-value.ts'
import { decimalDifference } from '../../prices/math/format.ts'
import { isUnit, type Product, targetUnits } from '../../units/math/units.ts'
import { FormulaFault, type Spot, whole } from './fault.ts'
import { bare, type Conversion, conversionOf, type Kind, type Price } from './kinds.ts'
import { both, comparisons, of, productKind, quotient, quotientKind, rounded } from './operators.ts'
import { parseFormula } from './parse.ts'
import { createRateReader } from './rates.ts'
import {
  aligned,
  around,
  average,
  type Evaluate,
  type Evaluated,
  newestAt,
  taken,
} from './reads.ts'
import type { Code, Condition, Node } from './syntax.ts'
import { spanBefore } from './windows.ts'

/** A code that a formula may name. */
export interface Leg {
  code: string
  currency: string | null
  unit: string
  product: Product | undefined
  /** An exchange rate has units of `to` for one `from`. */
  pair: { from: string; to: string } | undefined
}

/** The names that a formula may use. */
export interface Market {
  leg(name: string): Leg | undefined
  /** The code of an exchange rate, if there is one. */
  pair(from: string, to: string): string | undefined
  isCurrency(word: string): boolean
}

interface Part {
  kind: Kind
  evaluate: Evaluate
}

/** A formula whose text was read, checked and made ready to be computed. */
export interface CompiledFormula {
  /** Every code that is read, exchange rates of conversions included. */
  codes: readonly string[]
  /** Those that the text names. */
  named: readonly string[]
  /** Those whose times are the times of the formula. */
  legs: readonly string[]
  evaluate: Evaluate
  /** The currency and unit of its values: those declared, else those that its text gives. */
  currency: string | null
  unit: string
  /** How many operations a value takes, without those of formulas that it names. */
  steps: number
}

export const codesMax = 50
/** Operations that a conversion between currencies counts as: it looks up several rates. */
const ratesEach = 5

/** Checks a formula and makes it ready. Throws a `FormulaFault`. */
export function compileFormula(
  text: string,
  declared: { currency?: string | null | undefined; unit?: string | undefined },
  market: Market,
): CompiledFormula {
  const { node, ...names } = parseFormula(text)
  const codes: string[] = []
  const indexOf = (code: string) => {
    const index = codes.indexOf(code)
    return index === -1 ? codes.push(code) - 1 : index
  }
  const legOf = (code: Code) => {
    const leg = market.leg(code.name)
    if (!leg)
      throw new FormulaFault('unknown_code', code, `must name known codes; got ${code.name}.`)
    return { leg, index: indexOf(leg.code) }
  }
  const build = createBuilder(legOf, market, indexOf)
  const { kind, evaluate } = build.part(node)
  const codesOf = (some: readonly string[]) => [
    ...new Set(some.map(name => market.leg(name)!.code)),
  ]
  const named = codesOf(names.named)
  if (named.length === 0) throw new FormulaFault('arguments', whole, 'must name at least one code.')
  if (named.length > codesMax)
    throw new FormulaFault('too_long', whole, `must name at most ${codesMax} codes.`)
  const isPrice = kind.kind === 'price'
  const { currency = isPrice ? kind.currency : null, unit = isPrice ? kind.unit : '' } = declared
  const result = isPrice
    ? build.converted({ kind, evaluate }, { currency, unit }, whole)
    : { evaluate }
  return {
    codes,
    named,
    legs: codesOf(names.legs),
    evaluate: result.evaluate,
    currency,
    unit,
    steps: build.steps(),
  }
}

/** Makes the parts of a formula, each with its kind and with what evaluates it. */
function createBuilder(
  legOf: (code: Code) => { leg: Leg; index: number },
  market: Market,
  indexOf: (code: string) => number,
) {
  let steps = 0
  const rateReader = createRateReader(market.pair, indexOf)
  const converted = (
    { kind, evaluate }: { kind: Price; evaluate: Evaluate },
    terms: Pick<Price, 'currency' | 'unit'>,
    spot: Spot,
  ): Part & { kind: Price } => {
    const conversion = conversionOf(kind, terms)
    if (typeof conversion === 'string')
      throw new FormulaFault(
        conversion,
        spot,
        `must convert ${named(kind)} to ${named(terms)}, which is not possible.${meantUnit(terms.unit)}`,
      )
    return { kind: conversion.result, evaluate: applied(conversion, evaluate, spot) }
  }
  const applied = ({ factor, rate }: Conversion, evaluate: Evaluate, spot: Spot): Evaluate => {
    const rateOf = rate && rateReader(rate.from, rate.to)
    if (rate && !rateOf)
      throw new FormulaFault(
        'currency',
        spot,
        `must convert currencies that have a rate; there is none from ${rate.from} to ${rate.to}.`,
      )
    if (factor === 1 && !rateOf) return evaluate
    steps += rateOf ? ratesEach : 1
    return rateOf
      ? both(evaluate, rateOf, (value, found) => value * factor * found)
      : of(evaluate, value => value * factor)
  }

  /**
   * Converts the second of two prices to the unit of the first; a bare number counts as being in
   * that unit.
   */
  const alike = (left: Part, right: Part, spot: Spot): [left: Part, right: Part, kind: Kind] => {
    const kinds = [left.kind.kind, right.kind.kind]
    if (left.kind.kind === 'price' && right.kind.kind === 'price') {
      const { evaluate } = right
      const brought = converted({ kind: right.kind, evaluate }, left.kind, spot)
      const product = left.kind.product === right.kind.product ? left.kind.product : undefined
      return [left, brought, { ...left.kind, product }]
    }
    if (kinds.includes('price') && kinds.includes('rate'))
      throw new FormulaFault(
        'currency',
        spot,
        'must not add or compare a price and an exchange rate.',
      )
    return [left, right, left.kind.kind === 'price' ? left.kind : kindOfSum(left, right)]
  }
  const kindOfSum = (left: Part, right: Part): Kind =>
    right.kind.kind === 'price' ? right.kind : left.kind.kind === 'rate' ? bare : left.kind

  const arithmetic = (node: Extract<Node, { kind: 'binary' }>): Part => {
    const { operator } = node
    const [left, right] = [part(node.left), part(node.right)]
    if (operator === '+' || operator === '-') {
      const [a, b, kind] = alike(left, right, node)
      const sign = operator === '+' ? -1 : 1
      return {
        kind,
        evaluate: both(a.evaluate, b.evaluate, (x, y) => decimalDifference(x, sign * y)),
      }
    }
    if (operator === '*')
      return {
        kind: productKind(left.kind, right.kind, node),
        evaluate: both(left.evaluate, right.evaluate, (x, y) => x * y),
      }
    const kind = quotientKind(left.kind, right.kind, node)
    const divisor =
      left.kind.kind === 'price' && right.kind.kind === 'price'
        ? converted({ kind: right.kind, evaluate: right.evaluate }, left.kind, node)
        : right
    return {
      kind,
      evaluate: both(left.evaluate, divisor.evaluate, quotient),
    }
  }
  const codePart = (code: Code, read: (index: number) => Evaluate): Part => {
    const { leg, index } = legOf(code)
    const { currency, unit, product, pair } = leg
    const kind: Kind = pair
      ? { kind: 'rate', from: pair.from, to: pair.to }
      : { kind: 'price', currency, unit, product }
    return { kind, evaluate: read(index) }
  }

  const choice = (node: Extract<Node, { kind: 'if' }>): Part => {
    const test = condition(node.condition)
    const [then, otherwise, kind] = alike(part(node.then), part(node.otherwise), node)
    return {
      kind,
      evaluate(scope) {
        const isMet = test(scope)
        return isMet === undefined ? undefined : (isMet ? then : otherwise).evaluate(scope)
      },
    }
  }

  const inCurrency = (node: Extract<Node, { kind: 'fx' }>): Part => {
    if (!market.isCurrency(node.currency))
      throw new FormulaFault(
        'unknown_currency',
        node.word,
        `must name a currency that has rates; got ${node.currency}.`,
      )
    const { kind, evaluate } = part(node.inner)
    if (kind.kind !== 'price' || kind.currency === null)
      throw new FormulaFault('currency', node, `must give fx a price in a currency${notBare}.`)
    if (kind.currency === node.currency) return { kind, evaluate }
    const unit = kind.unit.replace(/^pence_per_/, '')
    return converted({ kind, evaluate }, { currency: node.currency, unit }, node)
  }

  const perUnit = (node: Extract<Node, { kind: 'unit' }>): Part => {
    const unit = unitNamed(node.unit)
    const { kind, evaluate } = part(node.inner)
    if (kind.kind === 'price' && kind.unit === node.unit) return { kind, evaluate }
    if (unit === undefined)
      throw new FormulaFault(
        'unknown_unit',
        node.word,
        `must name a known unit; got ${node.unit}.${meantUnit(node.unit)}`,
      )
    if (kind.kind !== 'price')
      throw new FormulaFault('units', node, `must give unit a price${notBare}.`)
    return converted({ kind, evaluate }, { currency: kind.currency, unit }, node)
  }

  const changed = (inner: Node, change: (x: number) => number): Part => {
    const { kind, evaluate } = part(inner)
    return { kind, evaluate: of(evaluate, change) }
  }

  const part = (node: Node): Part => {
    steps += node.kind === 'table' ? node.bands.length : 1
    switch (node.kind) {
      case 'number': {
        const { value } = node
        return { kind: bare, evaluate: () => value }
      }
      case 'code':
        return codePart(node, index => scope => taken(scope, aligned(scope, index)))
      case 'negate':
        return changed(node.inner, x => -x)
      case 'binary':
        return arithmetic(node)
      case 'abs':
        return changed(node.inner, Math.abs)
      case 'plain':
        return { kind: bare, evaluate: part(node.inner).evaluate }
      case 'round':
        return changed(node.inner, x => rounded(x, node.digits))
      case 'extreme': {
        const choose = Math[node.name]
        return node.items.map(part).reduce((left, right) => {
          const [a, b, kind] = alike(left, right, node)
          return { kind, evaluate: both(a.evaluate, b.evaluate, (x, y) => choose(x, y)) }
        })
      }
      case 'if':
        return choice(node)
      case 'fx':
        return inCurrency(node)
      case 'unit':
        return perUnit(node)
      case 'avg':
        return codePart(node.code, index => scope => average(scope, node, index))
      case 'lag': {
        const { by } = node
        return codePart(node.code, index => scope => {
          const isPlace = typeof by === 'number'
          const at = isPlace ? scope.at : spanBefore(scope.at, by)
          return taken(scope, newestAt(scope, index, at, isPlace ? by : 0))
        })
      }
      case 'around':
        return codePart(node.code, index => scope => around(scope, node, index))
      case 'table': {
        const bandOf = (x: number) => node.bands.find(({ from, to }) => from <= x && x < to)
        return { kind: bare, evaluate: of(part(node.inner).evaluate, x => bandOf(x)?.value) }
      }
    }
  }

  const condition = (node: Condition): Evaluated<boolean> => {
    if (node.kind === 'not') return of(condition(node.inner), isMet => !isMet)
    if (node.kind === 'compare') {
      const [left, right] = alike(part(node.left), part(node.right), node)
      return both(left.evaluate, right.evaluate, comparisons[node.comparison])
    }
    const isBoth = node.kind === 'and'
    return both(condition(node.left), condition(node.right), (a, b) => (isBoth ? a && b : a || b))
  }

  return { part, converted, steps: () => steps }
}

const notBare =
  ', not a plain number: create a formula with its unit and currency, and name that here'

const named = ({ currency, unit }: Pick<Price, 'currency' | 'unit'>) =>
  currency === null ? `a number of ${unit}` : `${currency} per ${unit}`

const unitNamed = (text: string): string | undefined =>
  [text, text.toLowerCase()].find(word => isUnit(word.replace(/^pence_per_/, '')))

/** For a word that names no unit, the unit that it resembles. */
function meantUnit(word: string): string {
  const near = unitNamed(word) === undefined ? nearestWord(word, targetUnits) : undefined
  return near === undefined ? '' : ` Did you mean ${near}?`
}
