import { nearestWord } from '../../../lib/text/wrong-value.ts'
import { parseDay } from '../../../lib/time/instant.ts'
import { FormulaFault, type Spot } from './fault.ts'
import type { Condition, Node, Span } from './syntax.ts'
import type { Token, TokenReader } from './tokens.ts'

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
const spotOf = ({ column, length }: Token): Spot => ({ column, length })

/** Refuses the arguments of a call. */
const refused = (name: Token, message: string) => new FormulaFault('arguments', name, message)

/** Reads what a call has between its parentheses, by the name of the function. */
export function createCalls(
  tokens: TokenReader,
  { sum, condition }: { sum(): Node; condition(): Condition },
) {
  const { peek, next, isSign, isWord, wrong, take, argument, number, wholeNumber } = tokens
  const { word, code, span, spanAfter } = tokens
  const items = (name: Token, least: number, most = Number.POSITIVE_INFINITY): Node[] => {
    const list = [sum()]
    while (isSign(',')) {
      const fault = list.length === most ? tokens.decimalComma() : undefined
      if (fault) throw fault
      next()
      list.push(sum())
    }
    if (list.length < least || list.length > most)
      throw refused(
        name,
        `must give ${name.text} ${least === most ? 'one argument' : `at least ${least} arguments`}; got ${list.length}.`,
      )
    return list
  }

  const average = (name: Token): Node => {
    const averaged = code()
    const { span: window, word: unit } = argument(aSpan, span)
    if (window.unit === 'hour')
      throw refused(name, `must give ${name.text} a span of days or longer.`)
    let lag: Span | undefined
    let every: Span | undefined
    if (isWord('lag') || isWord('every')) throw wrong('a comma')
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
      throw refused(
        name,
        `must give ${name.text} lag in days or longer spans, and every in months, quarters or years.`,
      )
    const whole = { isQuarter: unit === 'quarter', isYear: unit === 'year' }
    return {
      kind: 'avg',
      code: averaged,
      window: { ...window, ...whole },
      lag,
      every,
      ...spotOf(name),
    }
  }

  const dayOf = (): number => {
    const day = peek().kind === 'day' ? parseDay(peek().text) : undefined
    if (day === undefined) throw wrong(aDay)
    next()
    return day
  }
  const around = (name: Token): Node => {
    const closes = () => wholeNumber(name, 100)
    const centre = code()
    const day = argument(aDay, dayOf)
    const before = argument('the number of closes before it', closes)
    const after = argument('the number of closes after it', closes)
    if (before + after === 0)
      throw refused(name, `must give ${name.text} at least one close before or after the day.`)
    return { kind: 'around', code: centre, day, before, after, ...spotOf(name) }
  }

  const table = (name: Token): Node => {
    const inner = sum()
    const bands: { from: number; to: number; value: number }[] = []
    while (isSign(',')) {
      next()
      take('[')
      const from = number()
      const to = argument('the end of the band', number)
      bands.push({ from, to, value: argument('the value of the band', number) })
      take(']')
      if (from >= to)
        throw refused(name, `must have bands that begin below their end; got [${from}, ${to}].`)
    }
    if (bands.length === 0)
      throw refused(name, `must give ${name.text} at least one band such as [0, 3, 0.10].`)
    return { kind: 'table', inner, bands, ...spotOf(name) }
  }

  return (name: Token): Node => {
    const spot = spotOf(name)
    const kind = name.text.toLowerCase()
    switch (kind) {
      case 'min':
      case 'max':
        return { kind: 'extreme', name: kind, items: items(name, 2), ...spot }
      case 'abs':
      case 'plain':
        return { kind, inner: items(name, 1, 1)[0]!, ...spot }
      case 'round': {
        const inner = sum()
        const digits = isSign(',') ? argument('', () => wholeNumber(name, 10)) : 0
        return { kind, inner, digits, ...spot }
      }
      case 'if': {
        const test = condition()
        const then = argument('the value if it holds', sum)
        const otherwise = argument('the value if it does not', sum)
        return { kind, condition: test, then, otherwise, ...spot }
      }
      case 'fx': {
        const inner = sum()
        const target = argument(aCurrency, () => word(aCurrency))
        return { kind, inner, currency: target.text.toUpperCase(), word: target, ...spot }
      }
      case 'unit': {
        const inner = sum()
        const target = argument(aUnit, () => word(aUnit))
        return { kind, inner, unit: target.text, word: target, ...spot }
      }
      case 'avg':
        return average(name)
      case 'lag': {
        const lagged = code()
        const by = argument('a number of values or a span', () =>
          tokens.second()?.kind === 'word' ? span().span : wholeNumber(name, 10_000),
        )
        return { kind, code: lagged, by, ...spot }
      }
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
}
