import { expect, test } from 'bun:test'
import { isFull } from '../../../support/full.ts'
import { openTestInstance } from '../../../support/instance/instance.ts'
import { createRandom } from '../../../support/random.ts'
import {
  decimal,
  errorOf,
  isLess,
  meanOf,
  minus,
  negative,
  plus,
  type Rational,
  ratio,
  times,
} from '../../../support/topics/rational.ts'

const dayMs = 86_400_000
const firstDay = Date.parse('2026-01-01T00:00:00Z')
const days = 150
const [histories, formulasEach, moments] = isFull ? [10, 100, 4] : [3, 50, 3]
/** How old a value of a daily code may be, and a rate. */
const limitMs = 7 * dayMs

/** What a part of a formula is: a price, or undefined for a bare number. */
type Terms = { currency: string; unit: string } | undefined
const codes = {
  DESK_A: { currency: 'USD', unit: 'barrel' },
  DESK_B: { currency: 'USD', unit: 'barrel' },
  DESK_E: { currency: 'EUR', unit: 'metric_ton' },
  DESK_P: { currency: 'GBP', unit: 'gallon' },
} as const
type Code = keyof typeof codes
const names = Object.keys(codes) as Code[]
const rates = ['EUR_USD', 'GBP_USD']
const declared = codes.DESK_A
/** Barrels of crude in a unit: 7.33 a tonne, 5.8 MMBtu each. */
const barrelsIn: Readonly<Record<string, Rational>> = {
  barrel: decimal(1),
  gallon: ratio(decimal(1), decimal(42))!,
  metric_ton: decimal('7.33'),
  mwh: ratio(decimal(3600), times(decimal('5.8'), decimal('1055.05585262')))!,
}

const alignments = ['last', 'same_day', 'drop'] as const
type Align = (typeof alignments)[number]

type Row = readonly [at: number, value: Rational]
/** The values that were known at a moment, by code, oldest first. */
type Known = ReadonlyMap<string, readonly Row[]>
interface Moment {
  known: Known
  at: number
  align: Align
}

/** The text of a formula, and its result, computed in the plainest way with exact fractions. */
interface Tree {
  text: string
  terms: Terms
  value(moment: Moment): Rational | undefined
}

interface Written {
  code: string
  at: number
  recordedAt: number
  /** Undefined: deleted. */
  value: number | undefined
}

function knownAt(log: readonly Written[], asOf: number): Known {
  return new Map(
    [...names, ...rates].map(code => {
      const latest = new Map<number, number | undefined>()
      for (const entry of log)
        if (entry.code === code && entry.recordedAt <= asOf) latest.set(entry.at, entry.value)
      const rows = [...latest].flatMap(([at, value]): Row[] =>
        value === undefined ? [] : [[at, decimal(value)]],
      )
      return [code, rows.sort((a, b) => a[0] - b[0])] as const
    }),
  )
}

const midnight = (at: number) => Math.floor(at / dayMs) * dayMs

/** The place of the newest value at or before a time that is not too old; -1: there is none. */
const placeAt = (rows: readonly Row[], at: number): number => {
  const place = rows.findLastIndex(([time]) => time <= at)
  return place >= 0 && at - rows[place]![0] <= limitMs ? place : -1
}

function legAt({ known, at, align }: Moment, code: string): Rational | undefined {
  const rows = known.get(code)!
  if (align === 'last') return rows[placeAt(rows, at)]?.[1]
  if (align === 'drop') return rows.find(([time]) => time === at)?.[1]
  return rows.findLast(([time]) => midnight(time) === at)?.[1]
}

/** The closes of a code, by the midnight of their day, oldest first. */
const closesOf = ({ known }: Moment, code: string): Row[] => [
  ...new Map(known.get(code)!.map(([at, value]) => [midnight(at), value] as const)),
]
const meanIn = (moment: Moment, code: string, from: number, to: number) =>
  meanOf(closesOf(moment, code).flatMap(([day, value]) => (from <= day && day < to ? value : [])))

/** The first midnight of a month so many months from that of a time. */
const monthFrom = (at: number, months: number) =>
  Date.UTC(new Date(at).getUTCFullYear(), new Date(at).getUTCMonth() + months, 1)

/** Dollars for one unit of a currency. */
function dollarsOf({ known, at }: Moment, currency: string): Rational | undefined {
  if (currency === 'USD') return decimal(1)
  const rows = known.get(`${currency}_USD`)!
  return rows[placeAt(rows, at)]?.[1]
}

/** A part in other terms; a bare number is taken in them. */
function brought({ terms, value, text }: Tree, target: Terms): Tree {
  if (!terms || !target) return { terms, value, text }
  return {
    text,
    terms: target,
    value(moment) {
      const own = value(moment)
      if (!own) return undefined
      const inUnit = ratio(times(own, barrelsIn[target.unit]!), barrelsIn[terms.unit]!)!
      if (terms.currency === target.currency) return inUnit
      const [from, to] = [dollarsOf(moment, terms.currency), dollarsOf(moment, target.currency)]
      return from && to && ratio(times(inUnit, from), to)
    },
  }
}

function treeOf(random: (below: number) => number, depth: number): Tree {
  const code = names[random(names.length)]!
  const leaf: Tree = {
    text: code,
    terms: codes[code],
    value: moment => legAt(moment, code),
  }
  if (depth === 0) return leaf
  const inner = () => treeOf(random, depth - 1)
  const price = () => {
    const tree = inner()
    return tree.terms ? tree : leaf
  }
  const both = (
    combine: (a: Rational, b: Rational) => Rational | undefined,
    text: (a: string, b: string) => string,
  ): Tree => {
    const [a, other] = [inner(), inner()]
    const b = brought(other, a.terms)
    return {
      text: text(a.text, b.text),
      terms: a.terms ?? b.terms,
      value(moment) {
        const [x, y] = [a.value(moment), b.value(moment)]
        return x && y && combine(x, y)
      },
    }
  }
  const one = (a: Tree, change: (x: Rational) => Rational | undefined, text: string): Tree => ({
    ...a,
    text,
    value(moment) {
      const x = a.value(moment)
      return x && change(x)
    },
  })
  const n = 1 + random(5)
  const factor = 1 + random(40) / 8
  const window = (text: string, value: Tree['value']): Tree => ({ text, terms: codes[code], value })
  switch (random(20)) {
    case 0:
      return both(plus, (a, b) => `(${a} + ${b})`)
    case 1:
      return both(minus, (a, b) => `(${a} - ${b})`)
    case 2: {
      const a = inner()
      return one(a, x => times(x, decimal(factor)), `${factor}*${a.text}`)
    }
    case 3: {
      const a = inner()
      return one(a, x => ratio(x, decimal(factor)), `(${a.text})/${factor}`)
    }
    case 4: {
      // A ratio of prices is a bare number.
      const a = price()
      const b = brought(leaf, a.terms)
      return {
        text: `((${a.text})/${b.text})`,
        terms: undefined,
        value(moment) {
          const [x, y] = [a.value(moment), b.value(moment)]
          return x && y && ratio(x, y)
        },
      }
    }
    case 5:
      return both(
        (a, b) => (isLess(b, a) ? b : a),
        (a, b) => `min(${a}, ${b})`,
      )
    case 6:
      return both(
        (a, b) => (isLess(a, b) ? b : a),
        (a, b) => `max(${a}, ${b})`,
      )
    case 7: {
      const a = inner()
      return one(a, x => (x.over < 0n ? negative(x) : x), `abs(-(${a.text}))`)
    }
    case 8: {
      const [a, b] = [inner(), inner()]
      const otherwise = brought(b, a.terms)
      // No value is such a number, so no bound is met by a hair.
      const [bound, least] = [`4${n}.01379`, '31.00713']
      return {
        text: `if(${a.text} > ${bound} and not ${code} < ${least}, ${a.text}, ${b.text})`,
        terms: a.terms ?? otherwise.terms,
        value(moment) {
          const [x, y] = [a.value(moment), leaf.value(moment)]
          if (!x || !y) return undefined
          const isMet = isLess(decimal(bound), x) && !isLess(y, decimal(least))
          return isMet ? x : otherwise.value(moment)
        },
      }
    }
    case 9:
      return window(`avg(${code}, ${n} weeks, lag ${n} days)`, moment => {
        const end = midnight(moment.at) - (n - 1) * dayMs
        return meanIn(moment, code, end - n * 7 * dayMs, end)
      })
    case 10:
      return window(`avg(${code}, ${n} months, lag 1 month)`, moment =>
        meanIn(moment, code, monthFrom(moment.at, -n - 1), monthFrom(moment.at, -1)),
      )
    case 11:
      return window(`avg(${code}, 1 month, every 3 months)`, moment => {
        const begin = monthFrom(moment.at, -(new Date(moment.at).getUTCMonth() % 3))
        return meanIn(moment, code, monthFrom(begin, -1), begin)
      })
    case 12:
      return window(`lag(${code}, ${n})`, ({ known, at }) => {
        const rows = known.get(code)!
        const place = placeAt(rows, at)
        return place < n ? undefined : rows[place - n]![1]
      })
    case 13:
      return window(`lag(${code}, ${n} days)`, ({ known, at }) => {
        const rows = known.get(code)!
        return rows[placeAt(rows, at - n * dayMs)]?.[1]
      })
    case 14: {
      const day = firstDay + (30 + random(90)) * dayMs
      const date = new Date(day).toISOString().slice(0, 10)
      return window(`around(${code}, ${date}, ${n}, 2)`, moment => {
        const closes = closesOf(moment, code)
        const before = closes.filter(([at]) => at < day).slice(-n)
        const own = closes.filter(([at]) => at === day)
        const after = closes.filter(([at]) => at > day).slice(0, 2)
        if (before.length < n || after.length < 2 || after[1]![0] > moment.at) return undefined
        return meanOf([...before, ...own, ...after].map(([, value]) => value))
      })
    }
    case 15: {
      const a = inner()
      return {
        text: `(${code} + table(${a.text}, [-0.01379, 50.01379, ${factor}], [50.01379, 5000.01379, 2]))`,
        terms: leaf.terms,
        value(moment) {
          const [x, y] = [a.value(moment), leaf.value(moment)]
          const isAbove = (bound: string) => x !== undefined && isLess(decimal(bound), x)
          if (!y || !isAbove('-0.01379') || isAbove('5000.01379')) return undefined
          return plus(y, decimal(isAbove('50.01379') ? 2 : factor))
        },
      }
    }
    case 16: {
      const [a, currency] = [price(), ['USD', 'EUR', 'GBP'][random(3)]!]
      return { ...brought(a, { ...a.terms!, currency }), text: `fx(${a.text}, ${currency})` }
    }
    case 17: {
      const [a, unit] = [price(), ['barrel', 'gallon', 'metric_ton', 'mwh'][random(4)]!]
      return { ...brought(a, { ...a.terms!, unit }), text: `unit(${a.text}, ${unit})` }
    }
    case 18: {
      const a = price()
      return { ...a, text: `plain(${a.text})`, terms: undefined }
    }
    default: {
      const a = inner()
      return a.terms
        ? one(a, x => times(x, decimal('0.1485')), `0.1485*${a.text}`)
        : { ...one(a, x => negative(x), `-(${a.text})`) }
    }
  }
}

/** The codes whose times a formula has: those outside of windows, else all of them. */
const legsOf = (text: string): string[] => {
  const namedIn = (part: string) => names.filter(code => new RegExp(`\\b${code}\\b`).test(part))
  const outside = namedIn(text.replace(/(?:avg|lag|around)\((\w+)[^)]*\)/g, ''))
  return outside.length > 0 ? outside : namedIn(text)
}

function timesOf(known: Known, legs: readonly string[], align: Align): number[] {
  const lists = legs.map(
    code => new Set(known.get(code)!.map(([at]) => (align === 'same_day' ? midnight(at) : at))),
  )
  const all = [...new Set(lists.flatMap(list => [...list]))].sort((a, b) => a - b)
  return align === 'last' ? all : all.filter(at => lists.every(list => list.has(at)))
}

function compareHistory(seed: number): { compared: number; differences: unknown[] } {
  const random = createRandom(seed)
  const { services, clock } = openTestInstance()
  const desk = { name: 'Desk', category: 'crude_oil' }
  services.seriesChanges.add(names.map(code => ({ code, terms: { ...desk, ...codes[code] } })))
  const id = (code: string) => services.catalogue.named(code)!.id
  const log: Written[] = []
  const all = [...names, ...names, ...rates]
  for (let write = 0; write < 450; write += 1) {
    clock.advance(1 + random(1000))
    const code = all[random(all.length)]!
    // Half of the values are of one of two times of the day, so that some have the same time.
    const clockTime = random(2) === 0 ? random(2) * 43_200_000 : random(86_400) * 1000
    const at = firstDay + random(days) * dayMs + clockTime
    const existing = log.filter(entry => entry.code === code)
    if (existing.length > 20 && random(6) === 0) {
      const { at: gone } = existing[random(existing.length)]!
      const last = existing.findLast(entry => entry.at === gone)!
      if (last.value === undefined) continue
      const recordedAt = services.ingest.withdraw(id(code), [gone])
      log.push({ code, at: gone, recordedAt, value: undefined })
      continue
    }
    const time = existing.length > 0 && random(3) === 0 ? existing[random(existing.length)]!.at : at
    const value = rates.includes(code) ? 1 + random(400) / 1000 : 20 + random(240) / 4
    const before = existing.findLast(entry => entry.at === time)
    if (before?.value === value) continue
    const { recordedAt } = services.ingest.write([{ seriesId: id(code), observedAt: time, value }])
    log.push({ code, at: time, recordedAt, value })
  }
  const trees = Array.from({ length: formulasEach }, () => ({
    tree: treeOf(random, 1 + random(3)),
    align: alignments[random(3)]!,
  }))
  services.seriesChanges.add(
    trees.map(({ tree, align }, i) => ({
      code: `DESK_F${i}`,
      terms: { ...desk, ...declared, formula: tree.text, align },
    })),
  )
  const begin = Math.max(...names.map(code => log.find(entry => entry.code === code)!.recordedAt))
  let compared = 0
  const differences: unknown[] = []
  for (let moment = 0; moment < moments; moment += 1) {
    const asOf = begin + random(log.at(-1)!.recordedAt - begin + 1000)
    const known = knownAt(log, asOf)
    for (const [i, { tree, align }] of trees.entries()) {
      const result = brought(tree, declared)
      const expected = timesOf(known, legsOf(tree.text), align).flatMap(at => {
        const value = result.value({ known, at, align })
        return value ? [[at, value] as const] : []
      })
      const rows = services.observations.asOf(id(`DESK_F${i}`), -1e15, 1e15, asOf, 1e9).reverse()
      const found = new Map(rows.map(row => [row.observedAt, row.value]))
      const wrong = expected.filter(
        ([at, value]) => !(errorOf(found.get(at) ?? Number.MAX_VALUE, value) <= 1e-9),
      )
      if (wrong.length > 0 || rows.length !== expected.length)
        differences.push([
          tree.text,
          align,
          new Date(asOf).toISOString(),
          rows.length,
          expected.length,
          wrong[0]?.[0],
        ])
      compared += expected.length
    }
  }
  return { compared, differences }
}

test('random formulas equal exact fractions at random moments of random histories', () => {
  let values = 0
  for (let seed = 1; seed <= histories; seed += 1) {
    const { compared, differences } = compareHistory(seed * 7919)
    expect(differences).toEqual([])
    values += compared
  }
  expect(values).toBeGreaterThan(histories * formulasEach * moments * 4)
}, 300_000)
