import { nearestWord } from '../../../lib/text/wrong-value.ts'
import { parseDay } from '../../../lib/time/instant.ts'
import { FormulaFault, type Spot, whole } from './fault.ts'

/** A length of time as formulas write it: `6 months`. */
export interface Span {
  count: number
  unit: 'hour' | 'day' | 'month'
}

export type Operator = '+' | '-' | '*' | '/'
export type Comparison = '<' | '<=' | '>' | '>=' | '=' | '!='

export interface Code extends Spot {
  kind: 'code'
  name: string
}

/** Mean of the closes of a window; `window` keeps the unit that was written. */
export interface Average extends Spot {
  kind: 'avg'
  code: Code
  window: Span & { isQuarter: boolean; isYear: boolean }
  lag: Span | undefined
  every: Span | undefined
}

export type Node = Spot &
  (
    | { kind: 'number'; value: number }
    | Code
    | { kind: 'negate'; inner: Node }
    | { kind: 'binary'; operator: Operator; left: Node; right: Node }
    | { kind: 'extreme'; name: 'min' | 'max'; items: Node[] }
    | { kind: 'abs' | 'plain'; inner: Node }
    | { kind: 'round'; inner: Node; digits: number }
    | { kind: 'if'; condition: Condition; then: Node; otherwise: Node }
    | { kind: 'fx'; inner: Node; currency: string; word: Spot }
    | { kind: 'unit'; inner: Node; unit: string; word: Spot }
    | Average
    | { kind: 'lag'; code: Code; by: number | Span }
    | { kind: 'around'; code: Code; day: number; before: number; after: number }
    | { kind: 'table'; inner: Node; bands: { from: number; to: number; value: number }[] }
  )

export type Condition = Spot &
  (
    | { kind: 'compare'; comparison: Comparison; left: Node; right: Node }
    | { kind: 'and' | 'or'; left: Condition; right: Condition }
    | { kind: 'not'; inner: Condition }
  )

interface Token extends Spot {
  kind: 'number' | 'word' | 'quoted' | 'day' | 'sign' | 'end'
  text: string
}

export const charactersMax = 2_000
/** Parentheses and calls within each other: a text of 2,000 characters must not exhaust the stack. */
const nestingMax = 100

const patterns: readonly (readonly [Token['kind'], RegExp])[] = [
  ['day', /\d{4}-\d{2}-\d{2}(?![\d-])/y],
  ['number', /\d+(?:\.\d+)?(?:[eE]-?\d+)?/y],
  ['word', /[A-Za-z][A-Za-z0-9_]*(?:\.\d+)?/y],
  ['quoted', /"[^"]{1,50}"/y],
  ['sign', /<=|>=|!=|[-+*/(),[\]<>=]/y],
]

/** What a formula has instead of signs of other languages and keyboards. */
const foreignSigns: readonly (readonly [string, RegExp])[] = [
  ['=', /===?/y],
  ['!=', /!==|<>|≠/y],
  ['>=', /=>|≥/y],
  ['<=', /=<|≤/y],
  ['and', /&&?/y],
  ['or', /\|\|?/y],
  ['not', /!(?!=)/y],
  ['a product such as x*x for a power', /\*\*|\^/y],
  ['a fraction such as 0.05 for 5%', /%/y],
  ['*', /[×·]/y],
  ['/', /÷/y],
  ['-', /[−–]/y],
  ['a comma', /;/y],
  ['"', /['“”„]/y],
]

/** The first pattern that a text matches at a place, by its name. */
function matchedAt<T>(
  named: readonly (readonly [T, RegExp])[],
  text: string,
  at: number,
): [name: T, match: string] | undefined {
  for (const [name, pattern] of named) {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match) return [name, match[0]]
  }
  return undefined
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; ; ) {
    while (/\s/.test(text[at] ?? '')) at += 1
    if (at >= text.length) {
      tokens.push({ kind: 'end', text: '', column: text.trimEnd().length + 1, length: 1 })
      return tokens
    }
    const refuse = (length: number, message: string) =>
      new FormulaFault('syntax', { column: at + 1, length }, message)
    const [instead, sign = ''] = matchedAt(foreignSigns, text, at) ?? []
    if (instead !== undefined) throw refuse(sign.length, `must have ${instead} here; got ${sign}.`)
    const [kind, found = ''] = matchedAt(patterns, text, at) ?? []
    if (kind === undefined)
      throw refuse(1, wrongCharacter(String.fromCodePoint(text.codePointAt(at)!)))
    tokens.push({ kind, text: found, column: at + 1, length: found.length })
    at += found.length
  }
}

function wrongCharacter(character: string): string {
  if (character === '"') return 'must have a code of 1 to 50 characters between two quotes here.'
  if (character === '.') return 'must have a digit on both sides of a decimal point.'
  return `must have only letters, digits, quotes and _ . , + - * / ( ) [ ] < > = !=; got ${character}.`
}

const functions = 'abs around avg fx if lag max min plain round table unit'.split(' ')
/** Other names of functions, as spreadsheets and tables have them. */
const otherNames: Readonly<Record<string, string>> = {
  average: 'avg',
  mean: 'avg',
  convert: 'unit',
  iif: 'if',
  lookup: 'table',
  shift: 'lag',
}
const [aSpan, aDay] = ['a span such as 6 months', 'a day such as 2026-11-16']
const [aCurrency, aUnit] = ['a currency such as EUR', 'a unit such as mwh']
const comparisons: readonly string[] = ['<', '<=', '>', '>=', '=', '!=']
const joins = new Set(['and', 'or', 'not'])
const spanUnits: Readonly<Record<string, Span>> = {
  hour: { count: 1, unit: 'hour' },
  day: { count: 1, unit: 'day' },
  week: { count: 7, unit: 'day' },
  month: { count: 1, unit: 'month' },
  quarter: { count: 3, unit: 'month' },
  year: { count: 12, unit: 'month' },
}

/** Reads the text of a formula. Throws a `FormulaFault`. */
export function parseFormula(text: string): Node {
  if (text.length > charactersMax)
    throw new FormulaFault('too_long', whole, `must have at most ${charactersMax} characters.`)
  const parser = createParser(tokensOf(text))
  return parser.formula()
}

function createParser(tokens: readonly Token[]) {
  let at = 0
  let depth = 0
  const peek = () => tokens[at]!
  const next = () => tokens[at++]!
  const isSign = (text: string) => peek().kind === 'sign' && peek().text === text
  const isWord = (word: string) => peek().kind === 'word' && peek().text.toLowerCase() === word
  const wrong = (wanted: string): FormulaFault => {
    const { kind, text, column, length } = peek()
    const got = kind === 'end' ? 'the text ends' : `got ${text}`
    const message = `must have ${wanted} here; ${got}.`
    return decimalComma(at) ?? new FormulaFault('syntax', { column, length }, message)
  }
  /** The fault of a number such as 1,5, where its comma or what follows it is wrong. */
  const decimalComma = (place: number): FormulaFault | undefined => {
    const comma = [tokens[place], tokens[place - 1]].find(token => token?.text === ',')
    const [before, after] = comma
      ? [tokens[tokens.indexOf(comma) - 1], tokens[tokens.indexOf(comma) + 1]]
      : []
    if (!comma || before?.kind !== 'number' || after?.kind !== 'number') return undefined
    const isClose = before.column + before.length === comma.column
    if (!isClose || after.column !== comma.column + 1) return undefined
    return new FormulaFault(
      'syntax',
      comma,
      `must have a decimal point here, and no separator of thousands; got ${before.text},${after.text}.`,
    )
  }
  const take = (sign: string): Token => {
    if (!isSign(sign)) throw wrong(sign)
    return next()
  }
  /** Takes the parenthesis that closes one. */
  const close = ({ column }: Spot): void => {
    if (!isSign(')')) throw wrong(`) for the ( at column ${column}`)
    next()
  }
  /** Takes the comma before an argument. */
  const takeComma = (argument: string): void => {
    if (!isSign(',')) throw wrong(`a comma and ${argument}`)
    next()
  }
  const number = (): number => {
    const isNegative = isSign('-')
    if (isNegative) next()
    if (peek().kind !== 'number' || !Number.isFinite(Number(peek().text)))
      throw wrong(peek().kind === 'number' ? `a number up to ${Number.MAX_VALUE}` : 'a number')
    return Number(next().text) * (isNegative ? -1 : 1)
  }
  const wholeNumber = (name: Token, max: number): number => {
    const value = number()
    if (!Number.isInteger(value) || value < 0 || value > max)
      throw new FormulaFault(
        'arguments',
        name,
        `must give ${name.text} a whole number from 0 to ${max}; got ${value}.`,
      )
    return value
  }
  const word = (wanted: string): Token => {
    if (peek().kind !== 'word') throw wrong(wanted)
    return next()
  }
  const code = (): Code => {
    const { kind, text, column, length } = peek()
    if (kind === 'quoted') {
      next()
      return { kind: 'code', name: text.slice(1, -1), column, length }
    }
    word('a code')
    return { kind: 'code', name: text, column, length }
  }
  const spanAfter = (count: number): { span: Span; word: string } => {
    const name = peek().text.toLowerCase().replace(/s$/, '')
    const unit = peek().kind === 'word' ? spanUnits[name] : undefined
    if (!unit) throw wrong('hours, days, weeks, months, quarters or years')
    next()
    return { span: { count: count * unit.count, unit: unit.unit }, word: name }
  }
  const span = () => {
    if (peek().kind !== 'number' || !/^[1-9]\d{0,4}$/.test(peek().text)) throw wrong(aSpan)
    return spanAfter(Number(next().text))
  }

  const nested = <T>(read: () => T): T => {
    depth += 1
    if (depth > nestingMax)
      throw new FormulaFault('too_deep', whole, `must have at most ${nestingMax} levels.`)
    const value = read()
    depth -= 1
    return value
  }

  const chain = (signs: readonly Operator[], part: () => Node): Node => {
    let left = part()
    for (;;) {
      const operator = signs.find(isSign)
      if (!operator) return left
      const { column, length } = next()
      left = { kind: 'binary', operator, left, right: part(), column, length }
    }
  }
  const sum = (): Node => nested(() => chain(['+', '-'], product))
  const product = (): Node => chain(['*', '/'], factor)
  const factor = (): Node => {
    if (!isSign('-')) return primary()
    const { column, length } = next()
    return { kind: 'negate', inner: primary(), column, length }
  }
  const primary = (): Node => {
    const token = peek()
    const { column, length } = token
    if (token.kind === 'number') return { kind: 'number', value: number(), column, length }
    if (isSign('(')) {
      const opened = next()
      const inner = sum()
      close(opened)
      return inner
    }
    if (token.kind === 'quoted') return code()
    if (token.kind !== 'word') throw wrong('a number, a code, a function or (')
    const follows = tokens[at + 1]
    if (follows?.kind !== 'sign' || follows.text !== '(') return code()
    next()
    next()
    const value = call(token)
    close(follows)
    return value
  }

  const items = (name: Token, least: number, most = Number.POSITIVE_INFINITY): Node[] => {
    const list = [sum()]
    while (isSign(',')) {
      const fault = list.length === most ? decimalComma(at) : undefined
      if (fault) throw fault
      next()
      list.push(sum())
    }
    if (list.length < least || list.length > most)
      throw new FormulaFault(
        'arguments',
        name,
        `must give ${name.text} ${least === most ? 'one argument' : `at least ${least} arguments`}; got ${list.length}.`,
      )
    return list
  }

  const average = (name: Token): Node => {
    const averaged = code()
    takeComma(aSpan)
    const { span: window, word: unit } = span()
    if (window.unit === 'hour')
      throw new FormulaFault('arguments', name, `must give ${name.text} a span of days or longer.`)
    let lag: Span | undefined
    let every: Span | undefined
    while (isSign(',')) {
      next()
      const isLag = isWord('lag')
      if (!isLag && !isWord('every')) throw wrong('lag or every')
      next()
      if (isLag && peek().text === '0') {
        next()
        lag = spanAfter(0).span
      } else if (isLag) lag = span().span
      else every = span().span
    }
    if (lag?.unit === 'hour' || (every && every.unit !== 'month'))
      throw new FormulaFault(
        'arguments',
        name,
        `must give ${name.text} lag in days or longer spans, and every in months, quarters or years.`,
      )
    const { column, length } = name
    return {
      kind: 'avg',
      code: averaged,
      window: { ...window, isQuarter: unit === 'quarter', isYear: unit === 'year' },
      lag,
      every,
      column,
      length,
    }
  }

  const around = (name: Token): Node => {
    const centre = code()
    takeComma(aDay)
    const day = peek().kind === 'day' ? parseDay(peek().text) : undefined
    if (day === undefined) throw wrong(aDay)
    next()
    takeComma('the number of closes before it')
    const before = wholeNumber(name, 100)
    takeComma('the number of closes after it')
    const after = wholeNumber(name, 100)
    if (before + after === 0)
      throw new FormulaFault(
        'arguments',
        name,
        `must give ${name.text} at least one close before or after the day.`,
      )
    return {
      kind: 'around',
      code: centre,
      day,
      before,
      after,
      column: name.column,
      length: name.length,
    }
  }

  const table = (name: Token): Node => {
    const inner = sum()
    const bands: { from: number; to: number; value: number }[] = []
    while (isSign(',')) {
      next()
      take('[')
      const from = number()
      takeComma('the end of the band')
      const to = number()
      takeComma('the value of the band')
      bands.push({ from, to, value: number() })
      take(']')
      if (from >= to)
        throw new FormulaFault(
          'arguments',
          name,
          `must have bands that begin below their end; got [${from}, ${to}].`,
        )
    }
    if (bands.length === 0)
      throw new FormulaFault(
        'arguments',
        name,
        `must give ${name.text} at least one band such as [0, 3, 0.10].`,
      )
    return { kind: 'table', inner, bands, column: name.column, length: name.length }
  }

  const lag = (name: Token): Node => {
    const { column, length } = name
    const lagged = code()
    takeComma('a number of values or a span')
    if (tokens[at + 1]?.kind === 'word')
      return { kind: 'lag', code: lagged, by: span().span, column, length }
    return { kind: 'lag', code: lagged, by: wholeNumber(name, 10_000), column, length }
  }

  const call = (name: Token): Node => {
    const { column, length } = name
    const kind = name.text.toLowerCase()
    switch (kind) {
      case 'min':
      case 'max':
        return { kind: 'extreme', name: kind, items: items(name, 2), column, length }
      case 'abs':
      case 'plain':
        return { kind, inner: items(name, 1, 1)[0]!, column, length }
      case 'round': {
        const inner = sum()
        const hasDigits = isSign(',')
        if (hasDigits) next()
        const digits = hasDigits ? wholeNumber(name, 10) : 0
        return { kind: 'round', inner, digits, column, length }
      }
      case 'if': {
        const test = condition()
        takeComma('the value if it holds')
        const then = sum()
        takeComma('the value if it does not')
        return { kind: 'if', condition: test, then, otherwise: sum(), column, length }
      }
      case 'fx': {
        const inner = sum()
        takeComma(aCurrency)
        const target = word(aCurrency)
        return { kind, inner, currency: target.text.toUpperCase(), word: target, column, length }
      }
      case 'unit': {
        const inner = sum()
        takeComma(aUnit)
        const target = word(aUnit)
        return { kind, inner, unit: target.text, word: target, column, length }
      }
      case 'avg':
        return average(name)
      case 'lag':
        return lag(name)
      case 'around':
        return around(name)
      case 'table':
        return table(name)
      default: {
        const near = otherNames[kind] ?? nearestWord(kind, functions)
        const meant = near === undefined ? '' : ` Did you mean ${near}?`
        throw new FormulaFault(
          'unknown_function',
          name,
          `must use the functions ${functions.join(', ')}; got ${name.text}.${meant}`,
        )
      }
    }
  }

  const condition = (): Condition => nested(() => joined('or', () => joined('and', negation)))
  const joined = (kind: 'and' | 'or', part: () => Condition): Condition => {
    let left = part()
    while (isWord(kind)) {
      const { column, length } = next()
      left = { kind, left, right: part(), column, length }
    }
    return left
  }
  const negation = (): Condition => {
    if (!isWord('not')) return comparison()
    const { column, length } = next()
    return { kind: 'not', inner: negation(), column, length }
  }
  const comparison = (): Condition => {
    if (isSign('(') && groupsCondition()) {
      const opened = next()
      const inner = condition()
      close(opened)
      return inner
    }
    const left = sum()
    const sign = comparisons.find(isSign)
    if (!sign) throw wrong(`one of ${comparisons.join(' ')}`)
    const { column, length } = next()
    return {
      kind: 'compare',
      comparison: sign as Comparison,
      left,
      right: sum(),
      column,
      length,
    }
  }
  /** Whether the parentheses that begin here hold a condition, not the left side of a comparison. */
  const groupsCondition = (): boolean => {
    const isCall: boolean[] = []
    for (let i = at; i < tokens.length; i += 1) {
      const { kind, text } = tokens[i]!
      if (kind !== 'sign') continue
      if (text === '(') {
        const before = tokens[i - 1]
        isCall.push(i > at && before?.kind === 'word' && !joins.has(before.text.toLowerCase()))
      } else if (text === ')') {
        isCall.pop()
        if (isCall.length === 0) return false
      } else if (comparisons.includes(text) && !isCall.includes(true)) return true
    }
    return false
  }

  return {
    formula(): Node {
      const node = sum()
      if (isSign(')')) throw wrong('a ( before this )')
      if (comparisons.some(isSign)) throw wrong('its end, or a condition in if(…)')
      if (peek().kind !== 'end') throw wrong('+, -, *, / or its end')
      return node
    },
  }
}

const namesByText = new Map<string, readonly string[]>()
/** Texts whose names stay in memory. */
const textsMax = 2_000

/** The codes that the text of a formula names; none of a text that is not a formula. */
export function namesIn(text: string): readonly string[] {
  const known = namesByText.get(text)
  if (known) return known
  const names = new Set<string>()
  const collect = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    if ('kind' in value && value.kind === 'code' && 'name' in value) names.add(String(value.name))
    for (const part of Object.values(value)) collect(part)
  }
  try {
    collect(parseFormula(text))
  } catch (error) {
    if (!(error instanceof FormulaFault)) throw error
  }
  if (namesByText.size >= textsMax) namesByText.clear()
  const list = [...names]
  namesByText.set(text, list)
  return list
}
