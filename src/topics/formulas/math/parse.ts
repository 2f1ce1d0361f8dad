import { createCalls } from './calls.ts'
import { FormulaFault, whole } from './fault.ts'
import type { Comparison, Condition, Node, Operator } from './syntax.ts'
import { comparisons, createTokenReader, tokensOf } from './tokens.ts'

export const charactersMax = 2_000
/** Parentheses and calls within each other: a text of 2,000 characters must not exhaust the stack. */
const nestingMax = 100

function readFormula(text: string): Node {
  if (text.length > charactersMax)
    throw new FormulaFault('too_long', whole, `must have at most ${charactersMax} characters.`)
  const tokens = createTokenReader(tokensOf(text))
  const { peek, next, isSign, isWord, wrong, close, number, code } = tokens
  let depth = 0
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
    const follows = tokens.second()
    if (follows?.kind !== 'sign' || follows.text !== '(') return code()
    next()
    next()
    const value = call(token)
    close(follows)
    return value
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
    if (isSign('(') && tokens.groupsCondition()) {
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
  const call = createCalls(tokens, { sum, condition })

  const node = sum()
  if (isSign(')')) throw wrong('a ( before this )')
  if (comparisons.some(isSign)) throw wrong('its end, or a condition in if(…)')
  if (peek().kind !== 'end') throw wrong('+, -, *, / or its end')
  return node
}

/** A formula as it was read, with the codes that its text names. */
export interface ParsedFormula {
  node: Node
  named: readonly string[]
  /** Those of them whose times are the times of the formula. */
  legs: readonly string[]
}

const parsedByText = new Map<string, ParsedFormula | FormulaFault>()
/** Texts that stay in memory as they were read. */
const textsMax = 2_000

/** Reads the text of a formula, each once. Throws a `FormulaFault`. */
export function parseFormula(text: string): ParsedFormula {
  const parsed = parsedOrFault(text)
  if (parsed instanceof FormulaFault) throw parsed
  return parsed
}

/** The codes that the text of a formula names; none of a text that is not a formula. */
export const namesIn = (text: string): Pick<ParsedFormula, 'named' | 'legs'> => {
  const parsed = parsedOrFault(text)
  return parsed instanceof FormulaFault ? { named: [], legs: [] } : parsed
}

const windows: readonly unknown[] = ['avg', 'lag', 'around']

function parsedOrFault(text: string): ParsedFormula | FormulaFault {
  const known = parsedByText.get(text)
  if (known) return known
  const named = new Set<string>()
  const outside = new Set<string>()
  const collect = (value: unknown, isInWindow: boolean) => {
    if (typeof value !== 'object' || value === null) return
    const kind = 'kind' in value ? value.kind : undefined
    if (kind === 'code' && 'name' in value) {
      named.add(String(value.name))
      if (!isInWindow) outside.add(String(value.name))
    }
    for (const part of Object.values(value)) collect(part, windows.includes(kind))
  }
  let parsed: ParsedFormula | FormulaFault
  try {
    const node = readFormula(text)
    collect(node, false)
    parsed = { node, named: [...named], legs: [...(outside.size > 0 ? outside : named)] }
  } catch (error) {
    if (!(error instanceof FormulaFault)) throw error
    parsed = error
  }
  if (parsedByText.size >= textsMax) parsedByText.clear()
  parsedByText.set(text, parsed)
  return parsed
}
