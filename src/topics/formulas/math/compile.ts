import { nearestWord } from '../../../lib/text/wrong-value.ts'
import { dayMs } from '../../../lib/time/instant.ts'
import type { Observation } from '../../prices/math/bars.ts'
import { isUnit, type Product, targetUnits } from '../../units/math/units.ts'
import { FormulaFault, type Spot, whole } from './fault.ts'
import { dayNumber, type Input, type Mean } from './input.ts'
import { bare, type Conversion, conversionOf, type Kind, type Price } from './kinds.ts'
import { parseFormula } from './parse.ts'
import type { Average, Code, Comparison, Condition, Node } from './syntax.ts'
import { averagedDays, spanBefore } from './windows.ts'

export const alignments = ['last', 'same_day', 'drop'] as const
export type Alignment = (typeof alignments)[number]

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

/** The inputs of a value, and the legs that it was computed from. */
export interface Scope {
  at: number
  /** When the latest of the values that went into it was recorded. */
  recordedAt: number
  /** By the order of `codes`. */
  inputs: readonly Input[]
  align: Alignment
  /** How old the newest value of a code may be, by the order of `codes`. */
  limitsMs: readonly number[]
  windows: Map<object, { key: string; mean: Mean | undefined }>
}

type Evaluate = (scope: Scope) => number | undefined
type Test = (scope: Scope) => boolean | undefined

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
  /** How many operations a value takes, without those of formulas that it names. */
  steps: number
}

export const codesMax = 50
/** Operations that a conversion between currencies counts as: it looks up several rates. */
const ratesEach = 5
/** How old a rate may be. */
const rateMaxMs = 7 * dayMs

/** What a formula was compiled with, as text. */
interface Lookup {
  of(market: Market): unknown
  found: string | undefined
}

/** Compiled formulas that stay in memory. */
const compiledMax = 2_000

/** Compiles formulas, each once for as long as its names stand for the same. */
export type Compile = typeof compileFormula

export function createCompiler(): Compile {
  const compiledOnes = new Map<string, { lookups: readonly Lookup[]; compiled: CompiledFormula }>()
  return (text, declared, market) => {
    const key = JSON.stringify([text, declared])
    const known = compiledOnes.get(key)
    if (known?.lookups.every(({ of, found }) => JSON.stringify(of(market)) === found))
      return known.compiled
    const lookups: Lookup[] = []
    const noted = <T>(of: (market: Market) => T): T => {
      const found = of(market)
      lookups.push({ of, found: JSON.stringify(found) })
      return found
    }
    const compiled = compileFormula(text, declared, {
      leg: name => noted(({ leg }) => leg(name)),
      pair: (from, to) => noted(({ pair }) => pair(from, to)),
      isCurrency: word => noted(({ isCurrency }) => isCurrency(word)),
    })
    if (compiledOnes.size >= compiledMax) compiledOnes.clear()
    compiledOnes.set(key, { lookups, compiled })
    return compiled
  }
}

/** Checks a formula and makes it ready. Throws a `FormulaFault`. */
export function compileFormula(
  text: string,
  declared: Pick<Price, 'currency' | 'unit'>,
  market: Market,
): CompiledFormula {
  const node = parseFormula(text)
  const codes: string[] = []
  const named = new Set<string>()
  const outside = new Set<string>()
  const indexOf = (code: string) => {
    const index = codes.indexOf(code)
    return index === -1 ? codes.push(code) - 1 : index
  }
  const legOf = (code: Code, isInWindow: boolean) => {
    const leg = market.leg(code.name)
    if (!leg)
      throw new FormulaFault('unknown_code', code, `must name known codes; got ${code.name}.`)
    named.add(leg.code)
    if (!isInWindow) outside.add(leg.code)
    return { leg, index: indexOf(leg.code) }
  }
  const build = createBuilder(legOf, market, indexOf)
  const { kind, evaluate } = build.part(node)
  if (named.size === 0) throw new FormulaFault('arguments', whole, 'must name at least one code.')
  if (named.size > codesMax)
    throw new FormulaFault('too_long', whole, `must name at most ${codesMax} codes.`)
  const result =
    kind.kind === 'price' ? build.converted({ kind, evaluate }, declared, whole) : { evaluate }
  return {
    codes,
    named: [...named],
    legs: outside.size > 0 ? [...outside] : [...named],
    evaluate: result.evaluate,
    steps: build.steps(),
  }
}

function createBuilder(
  legOf: (code: Code, isInWindow: boolean) => { leg: Leg; index: number },
  market: Market,
  indexOf: (code: string) => number,
) {
  let steps = 0
  /** Reads the rate between two currencies; undefined where no series has it. */
  const rateReader = (from: string, to: string): Evaluate | undefined => {
    const step = (a: string, b: string) => {
      const [direct, inverse] = [market.pair(a, b), market.pair(b, a)]
      return {
        direct: direct === undefined ? undefined : indexOf(direct),
        inverse: inverse === undefined ? undefined : indexOf(inverse),
      }
    }
    const paths = [[], ['USD'], ['EUR'], ['USD', 'EUR'], ['EUR', 'USD']]
      .map(between => [from, ...between, to])
      .filter(path => new Set(path).size === path.length)
      .map(path => path.slice(1).map((currency, i) => [path[i]!, currency] as const))
      .filter(path => path.every(([a, b]) => market.pair(a, b) ?? market.pair(b, a)))
      .map(path => path.map(([a, b]) => step(a, b)))
    if (paths.length === 0) return undefined
    return scope => {
      for (const path of paths) {
        const { recordedAt } = scope
        let rate: number | undefined = 1
        for (const { direct, inverse } of path) {
          const quoted = quotedRate(scope, direct)
          const turned = quoted === undefined ? quotedRate(scope, inverse) : undefined
          if (quoted !== undefined) rate *= quoted
          else if (turned !== undefined) rate /= turned
          else rate = undefined
          if (rate === undefined) break
        }
        if (rate !== undefined) return rate
        scope.recordedAt = recordedAt
      }
      return undefined
    }
  }

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
    return scope => {
      const value = evaluate(scope)
      if (value === undefined) return undefined
      if (!rateOf) return value * factor
      const found = rateOf(scope)
      return found === undefined ? undefined : value * factor * found
    }
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
      const sign = operator === '+' ? 1 : -1
      return { kind, evaluate: both(a.evaluate, b.evaluate, (x, y) => x + sign * y) }
    }
    if (operator === '*')
      return {
        kind: productKind(left.kind, right.kind, node),
        evaluate: both(left.evaluate, right.evaluate, (x, y) => x * y),
      }
    const { kind, divisor } = quotient(left, right, node)
    return {
      kind,
      evaluate: both(left.evaluate, divisor.evaluate, (x, y) => (y === 0 ? undefined : x / y)),
    }
  }
  const productKind = (left: Kind, right: Kind, spot: Spot): Kind => {
    if (left.kind === 'bare') return right
    if (right.kind === 'bare') return left
    const price = left.kind === 'price' ? left : right
    const rate = left.kind === 'rate' ? left : right
    if (price.kind === 'price' && rate.kind === 'rate') {
      if (price.currency === rate.from) return { ...price, currency: rate.to }
      throw new FormulaFault(
        'currency',
        spot,
        `must multiply this rate by a price in ${rate.from}.`,
      )
    }
    if (price.kind === 'rate') return bare
    throw new FormulaFault('units', spot, 'must not multiply two prices; write one as plain(…).')
  }
  const quotient = (left: Part, right: Part, spot: Spot): { kind: Kind; divisor: Part } => {
    if (right.kind.kind === 'bare') return { kind: left.kind, divisor: right }
    if (left.kind.kind === 'bare') {
      if (right.kind.kind === 'rate')
        return {
          kind: { kind: 'rate', from: right.kind.to, to: right.kind.from },
          divisor: right,
        }
      throw new FormulaFault(
        'units',
        spot,
        'must not divide a number by a price; write it as plain(…).',
      )
    }
    if (left.kind.kind === 'rate') {
      if (right.kind.kind === 'rate') return { kind: bare, divisor: right }
      throw new FormulaFault('currency', spot, 'must not divide a rate by a price.')
    }
    if (right.kind.kind === 'rate') {
      if (left.kind.currency === right.kind.to)
        return { kind: { ...left.kind, currency: right.kind.from }, divisor: right }
      throw new FormulaFault(
        'currency',
        spot,
        `must divide a price in ${right.kind.to} by this rate.`,
      )
    }
    const { evaluate } = right
    return { kind: bare, divisor: converted({ kind: right.kind, evaluate }, left.kind, spot) }
  }

  const codePart = (code: Code, isInWindow: boolean, read: (index: number) => Evaluate): Part => {
    const { leg, index } = legOf(code, isInWindow)
    const { currency, unit, product, pair } = leg
    const kind: Kind = pair
      ? { kind: 'rate', from: pair.from, to: pair.to }
      : { kind: 'price', currency, unit, product }
    return { kind, evaluate: read(index) }
  }

  const part = (node: Node): Part => {
    steps += node.kind === 'table' ? node.bands.length : 1
    switch (node.kind) {
      case 'number': {
        const { value } = node
        return { kind: bare, evaluate: () => value }
      }
      case 'code':
        return codePart(node, false, index => scope => taken(scope, aligned(scope, index)))
      case 'negate': {
        const { kind, evaluate } = part(node.inner)
        return { kind, evaluate: of(evaluate, x => -x) }
      }
      case 'binary':
        return arithmetic(node)
      case 'abs': {
        const { kind, evaluate } = part(node.inner)
        return { kind, evaluate: of(evaluate, Math.abs) }
      }
      case 'plain':
        return { kind: bare, evaluate: part(node.inner).evaluate }
      case 'round': {
        const { kind, evaluate } = part(node.inner)
        return { kind, evaluate: of(evaluate, x => rounded(x, node.digits)) }
      }
      case 'extreme': {
        const choose = Math[node.name]
        return node.items.map(part).reduce((left, right) => {
          const [a, b, kind] = alike(left, right, node)
          return { kind, evaluate: both(a.evaluate, b.evaluate, choose) }
        })
      }
      case 'if': {
        const test = condition(node.condition)
        const [then, otherwise, kind] = alike(part(node.then), part(node.otherwise), node)
        return {
          kind,
          evaluate(scope) {
            const isMet = test(scope)
            if (isMet === undefined) return undefined
            return isMet ? then.evaluate(scope) : otherwise.evaluate(scope)
          },
        }
      }
      case 'fx': {
        if (!market.isCurrency(node.currency))
          throw new FormulaFault(
            'unknown_currency',
            node.word,
            `must name a currency that has rates; got ${node.currency}.`,
          )
        const { kind, evaluate } = part(node.inner)
        if (kind.kind !== 'price' || kind.currency === null)
          throw new FormulaFault('currency', node, 'must give fx a price in a currency.')
        if (kind.currency === node.currency) return { kind, evaluate }
        const unit = kind.unit.replace(/^pence_per_/, '')
        return converted({ kind, evaluate }, { currency: node.currency, unit }, node)
      }
      case 'unit': {
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
          throw new FormulaFault('units', node, 'must give unit a price per a unit.')
        return converted({ kind, evaluate }, { currency: kind.currency, unit }, node)
      }
      case 'avg':
        return codePart(node.code, true, index => scope => average(scope, node, index))
      case 'lag': {
        const { by } = node
        return codePart(node.code, true, index => scope => {
          const isPlace = typeof by === 'number'
          const at = isPlace ? scope.at : spanBefore(scope.at, by)
          return taken(scope, newestAt(scope, index, at, isPlace ? by : 0))
        })
      }
      case 'around':
        return codePart(node.code, true, index => scope => around(scope, node, index))
      case 'table': {
        const { evaluate } = part(node.inner)
        return {
          kind: bare,
          evaluate(scope) {
            const value = evaluate(scope)
            if (value === undefined) return undefined
            return node.bands.find(({ from, to }) => from <= value && value < to)?.value
          },
        }
      }
    }
  }

  const condition = (node: Condition): Test => {
    if (node.kind === 'not') {
      const inner = condition(node.inner)
      return scope => {
        const isMet = inner(scope)
        return isMet === undefined ? undefined : !isMet
      }
    }
    if (node.kind === 'compare') {
      const [left, right] = alike(part(node.left), part(node.right), node)
      const holds = comparisons[node.comparison]
      return scope => {
        const [a, b] = [left.evaluate(scope), right.evaluate(scope)]
        return a === undefined || b === undefined ? undefined : holds(a, b)
      }
    }
    const [left, right] = [condition(node.left), condition(node.right)]
    return scope => {
      const [a, b] = [left(scope), right(scope)]
      if (a === undefined || b === undefined) return undefined
      return node.kind === 'and' ? a && b : a || b
    }
  }

  return { part, converted, steps: () => steps }
}

const named = ({ currency, unit }: Pick<Price, 'currency' | 'unit'>) =>
  currency === null ? `a number of ${unit}` : `${currency} per ${unit}`

const unitNamed = (text: string): string | undefined =>
  [text, text.toLowerCase()].find(word => isUnit(word.replace(/^pence_per_/, '')))

/** For a word that names no unit, the unit that it resembles. */
function meantUnit(word: string): string {
  const near = unitNamed(word) === undefined ? nearestWord(word, targetUnits) : undefined
  return near === undefined ? '' : ` Did you mean ${near}?`
}

const comparisons: Readonly<Record<Comparison, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
}

const of =
  (evaluate: Evaluate, change: (x: number) => number): Evaluate =>
  scope => {
    const value = evaluate(scope)
    return value === undefined ? undefined : change(value)
  }

const both =
  (
    left: Evaluate,
    right: Evaluate,
    combine: (a: number, b: number) => number | undefined,
  ): Evaluate =>
  scope => {
    const a = left(scope)
    if (a === undefined) return undefined
    const b = right(scope)
    return b === undefined ? undefined : combine(a, b)
  }

/** Halves away from zero, on the shortest decimal form of the number. */
function rounded(value: number, digits: number): number {
  const scale = 10 ** digits
  const scaled = Math.abs(value) * scale
  const whole = Math.round(scaled)
  // The decimal form is needed only where the product may be on the wrong side of a half.
  const isNearHalf = Math.abs(scaled - Math.floor(scaled) - 0.5) <= scaled * 1e-15 + 1e-12
  if (scaled < 1e12 && !isNearHalf) return (Math.sign(value) * whole) / scale
  const [mantissa, exponent = '0'] = String(Math.abs(value)).split('e')
  const shifted = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`))
  return Math.sign(value) * Number(`${shifted}e-${digits}`)
}

function taken(scope: Scope, row: Observation | undefined): number | undefined {
  if (row && row.recordedAt > scope.recordedAt) scope.recordedAt = row.recordedAt
  return row?.value
}

/** The newest value at or before a time that is not older than its limit, or one before it. */
const newestAt = ({ inputs, limitsMs }: Scope, index: number, at: number, before = 0) =>
  inputs[index]!.newest(at, at - limitsMs[index]!, before)

function aligned(scope: Scope, index: number): Observation | undefined {
  const { at, align, inputs } = scope
  if (align === 'last') return newestAt(scope, index, at)
  return inputs[index]!.newest(align === 'drop' ? at : at + dayMs - 1, at)
}

function quotedRate(scope: Scope, index: number | undefined): number | undefined {
  if (index === undefined) return undefined
  const row = scope.inputs[index]!.newest(scope.at, scope.at - rateMaxMs)
  return row && row.value > 0 ? taken(scope, row) : undefined
}

/** Computes a mean once for all times that share its window. */
function shared(scope: Scope, node: object, key: string, compute: () => Mean | undefined) {
  const known = scope.windows.get(node)
  const window = known?.key === key ? known : { key, mean: compute() }
  if (window !== known) scope.windows.set(node, window)
  if (window.mean && window.mean.recordedAt > scope.recordedAt)
    scope.recordedAt = window.mean.recordedAt
  return window.mean?.value
}

const meanOf = (rows: readonly Observation[]): Mean => ({
  value: rows.reduce((sum, row) => sum + row.value, 0) / rows.length,
  recordedAt: Math.max(...rows.map(row => row.recordedAt)),
})

function average(scope: Scope, node: Average, index: number): number | undefined {
  const { from, to } = averagedDays(node, scope.at)
  return shared(scope, node, `${from} ${to}`, () => scope.inputs[index]!.mean(from, to))
}

function around(
  scope: Scope,
  node: Extract<Node, { kind: 'around' }>,
  index: number,
): number | undefined {
  const day = dayNumber(node.day)
  const closes = scope.inputs[index]!.around(day, node.before, node.after)
  // Nothing is known of the window before the day that completes it.
  if (!closes || dayNumber(closes.at(-1)!.observedAt) > dayNumber(scope.at)) return undefined
  return shared(scope, node, '', () => meanOf(closes))
}
