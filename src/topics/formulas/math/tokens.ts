import { FormulaFault, type Spot } from './fault.ts'
import type { Code, Span } from './syntax.ts'

export interface Token extends Spot {
  kind: 'number' | 'word' | 'quoted' | 'day' | 'sign' | 'end'
  text: string
}

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

export function tokensOf(text: string): Token[] {
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

const aSpan = 'a span such as 6 months'
export const comparisons: readonly string[] = ['<', '<=', '>', '>=', '=', '!=']
const joins = new Set(['and', 'or', 'not'])
const spanUnits: Readonly<Record<string, Span>> = {
  hour: { count: 1, unit: 'hour' },
  day: { count: 1, unit: 'day' },
  week: { count: 7, unit: 'day' },
  month: { count: 1, unit: 'month' },
  quarter: { count: 3, unit: 'month' },
  year: { count: 12, unit: 'month' },
}

/** Takes the tokens of a formula one after the other; what cannot be there is a `FormulaFault`. */
export type TokenReader = ReturnType<typeof createTokenReader>

export function createTokenReader(tokens: readonly Token[]) {
  let at = 0
  const peek = () => tokens[at]!
  const next = () => tokens[at++]!
  const isSign = (text: string) => peek().kind === 'sign' && peek().text === text
  const isWord = (word: string) => peek().kind === 'word' && peek().text.toLowerCase() === word
  const wrong = (wanted: string): FormulaFault => {
    const { kind, text, column, length } = peek()
    const got = kind === 'end' ? 'the text ends' : `got ${text}`
    const message = `must have ${wanted} here; ${got}.`
    return decimalComma() ?? new FormulaFault('syntax', { column, length }, message)
  }
  /** The fault of a number such as 1,5, where its comma or what follows it is wrong. */
  const decimalComma = (): FormulaFault | undefined => {
    const comma = [tokens[at], tokens[at - 1]].find(token => token?.text === ',')
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
  /** Takes the comma before an argument, and the argument. */
  const argument = <T>(wanted: string, read: () => T): T => {
    if (!isSign(',')) throw wrong(`a comma and ${wanted}`)
    next()
    return read()
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
    peek,
    next,
    /** The token after the next one. */
    second: () => tokens[at + 1],
    isSign,
    isWord,
    wrong,
    decimalComma,
    take,
    close,
    argument,
    number,
    wholeNumber,
    word,
    code,
    span,
    spanAfter,
    groupsCondition,
  }
}
