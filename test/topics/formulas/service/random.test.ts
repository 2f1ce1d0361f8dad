import { expect, test } from 'bun:test'
import { isFull } from '../../../support/full.ts'
import { openTestInstance } from '../../../support/instance/instance.ts'

const dayMs = 86_400_000
const firstDay = Date.parse('2026-01-01T00:00:00Z')
const days = 120
const codes = ['DESK_A', 'DESK_B', 'DESK_C']
const formulas = isFull ? 1000 : 150
const moments = 4
const limitMs = 7 * dayMs

function createRandom(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A value as it was written; undefined: deleted. */
interface Written {
  code: string
  at: number
  recordedAt: number
  value: number | undefined
}

/** The values that were known at a moment, by code, oldest first. */
type Known = Map<string, [at: number, value: number][]>

/** The text of a formula, and its result, computed in the plainest way. */
interface Tree {
  text: string
  value(known: Known, at: number): number | undefined
}

const known = (log: readonly Written[], asOf: number): Known =>
  new Map(
    codes.map(code => {
      const latest = new Map<number, number | undefined>()
      for (const entry of log)
        if (entry.code === code && entry.recordedAt <= asOf) latest.set(entry.at, entry.value)
      const rows = [...latest].flatMap(([at, value]): [number, number][] =>
        value === undefined ? [] : [[at, value]],
      )
      return [code, rows.sort((a, b) => a[0] - b[0])] as const
    }),
  )

const placeAt = (rows: readonly [number, number][], at: number): number => {
  const place = rows.findLastIndex(([time]) => time <= at)
  return place >= 0 && at - rows[place]![0] <= limitMs ? place : -1
}

const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10)

/** Closes on the days of `[from, to)`, days as text. */
const closesIn = (rows: readonly [number, number][], from: string, to: string): number[] => {
  const closes = new Map(rows.map(([at, value]) => [isoDay(at), value]))
  return [...closes].filter(([day]) => from <= day && day < to).map(([, value]) => value)
}

const monthStart = (at: number, move: number) => {
  const date = new Date(at)
  return isoDay(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + move, 1))
}

const mean = (values: readonly number[]) =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length

function treeOf(random: (below: number) => number, depth: number): Tree {
  const code = codes[random(codes.length)]!
  const both = (
    combine: (a: number, b: number) => number,
    text: (a: string, b: string) => string,
  ) => {
    const [a, b] = [treeOf(random, depth - 1), treeOf(random, depth - 1)]
    return {
      text: text(a.text, b.text),
      value(all: Known, at: number) {
        const [x, y] = [a.value(all, at), b.value(all, at)]
        return x === undefined || y === undefined ? undefined : combine(x, y)
      },
    }
  }
  const one = (change: (a: number) => number | undefined, text: (a: string) => string) => {
    const a = treeOf(random, depth - 1)
    return {
      text: text(a.text),
      value(all: Known, at: number) {
        const x = a.value(all, at)
        return x === undefined ? undefined : change(x)
      },
    }
  }
  const plain: Tree = {
    text: code,
    value: (all, at) => all.get(code)![placeAt(all.get(code)!, at)]?.[1],
  }
  if (depth === 0) return plain
  const n = 1 + random(5)
  const factor = 1 + random(40) / 8
  switch (random(14)) {
    case 0:
      return both(
        (a, b) => a + b,
        (a, b) => `(${a} + ${b})`,
      )
    case 1:
      return both(
        (a, b) => a - b,
        (a, b) => `(${a} - ${b})`,
      )
    case 2:
      return one(
        a => a * factor,
        a => `${a}*${factor}`,
      )
    case 3:
      return one(
        a => factor * a,
        a => `${factor}*${a}`,
      )
    case 4:
      return one(
        a => a / factor,
        a => `(${a})/${factor}`,
      )
    case 5:
      return both(Math.min, (a, b) => `min(${a}, ${b})`)
    case 6:
      return both(Math.max, (a, b) => `max(${a}, ${b})`)
    case 7:
      return one(Math.abs, a => `abs(${a})`)
    case 8: {
      const [a, b] = [treeOf(random, depth - 1), treeOf(random, depth - 1)]
      return {
        text: `if(${a.text} > ${40 + n} and not ${code} < 30, ${a.text}, ${b.text})`,
        value(all, at) {
          const [x, y] = [a.value(all, at), plain.value(all, at)]
          if (x === undefined || y === undefined) return undefined
          return x > 40 + n && !(y < 30) ? x : b.value(all, at)
        },
      }
    }
    case 9:
      return {
        text: `avg(${code}, ${n} weeks, lag ${n} days)`,
        value(all, at) {
          const end = Math.floor(at / dayMs) * dayMs - (n - 1) * dayMs
          return mean(closesIn(all.get(code)!, isoDay(end - n * 7 * dayMs), isoDay(end)))
        },
      }
    case 10:
      return {
        text: `avg(${code}, ${n} months, lag 1 month)`,
        value: (all, at) =>
          mean(closesIn(all.get(code)!, monthStart(at, -n - 1), monthStart(at, -1))),
      }
    case 11:
      return {
        text: `lag(${code}, ${n})`,
        value(all, at) {
          const rows = all.get(code)!
          const place = placeAt(rows, at)
          return place < n ? undefined : rows[place - n]![1]
        },
      }
    case 12:
      return {
        text: `lag(${code}, ${n} days)`,
        value: (all, at) => all.get(code)![placeAt(all.get(code)!, at - n * dayMs)]?.[1],
      }
    default: {
      const a = treeOf(random, depth - 1)
      return {
        text: `(${code} + table(${a.text}, [0, 50, ${factor}], [50, 5000, 2]))`,
        value(all, at) {
          const [x, y] = [a.value(all, at), plain.value(all, at)]
          if (x === undefined || y === undefined || x < 0 || x >= 5000) return undefined
          return y + (x < 50 ? factor : 2)
        },
      }
    }
  }
}

/** The codes whose times a formula has: those outside of windows, else all of them. */
const legsOf = (text: string): string[] => {
  const outside = text.replace(/(?:avg|lag)\((\w+)[^)]*\)/g, '')
  const named = codes.filter(code => new RegExp(`\\b${code}\\b`).test(outside))
  return named.length > 0 ? named : codes.filter(code => new RegExp(`\\b${code}\\b`).test(text))
}

test('random formulas equal a plain evaluator at random moments of random histories', () => {
  const random = createRandom(11)
  const { services, clock } = openTestInstance()
  const desk = { name: 'Desk', category: 'crude_oil', unit: 'barrel', currency: 'USD' }
  services.seriesChanges.add(codes.map(code => ({ code, terms: desk })))
  const id = (code: string) => services.catalogue.named(code)!.id
  const log: Written[] = []
  for (let write = 0; write < 250; write += 1) {
    clock.advance(1 + random(1000))
    const code = codes[random(codes.length)]!
    const at = firstDay + random(days) * dayMs + (random(4) === 0 ? random(86_400) * 1000 : 0)
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
    const value = 20 + random(240) / 4
    const before = existing.findLast(entry => entry.at === time)
    if (before?.value === value) continue
    const { recordedAt } = services.ingest.write([{ seriesId: id(code), observedAt: time, value }])
    log.push({ code, at: time, recordedAt, value })
  }
  const trees = Array.from({ length: formulas }, () => treeOf(random, 1 + random(3)))
  services.seriesChanges.add(
    trees.map(({ text }, i) => ({ code: `DESK_F${i}`, terms: { ...desk, formula: text } })),
  )
  const firsts = codes.map(code => log.find(entry => entry.code === code)!.recordedAt)
  const begin = Math.max(...firsts)
  const asOfs = Array.from(
    { length: moments },
    () => begin + random(log.at(-1)!.recordedAt - begin + 1000),
  )
  let compared = 0
  for (const asOf of asOfs) {
    const all = known(log, asOf)
    for (const [i, tree] of trees.entries()) {
      const times = new Set(legsOf(tree.text).flatMap(code => all.get(code)!.map(([at]) => at)))
      const expected = [...times]
        .sort((a, b) => a - b)
        .flatMap(at => {
          const value = tree.value(all, at)
          return value === undefined ? [] : [[at, value] as const]
        })
      const rows = services.observations.asOf(id(`DESK_F${i}`), -1e15, 1e15, asOf, 1e9).reverse()
      expect([tree.text, ...rows.map(row => row.observedAt)]).toEqual([
        tree.text,
        ...expected.map(([at]) => at),
      ])
      for (const [place, [, value]] of expected.entries()) {
        const error = Math.abs(rows[place]!.value - value)
        if (error > 1e-9 * Math.max(1, Math.abs(value)))
          expect([tree.text, rows[place]!.value]).toEqual([tree.text, value])
        compared += 1
      }
    }
  }
  expect(compared).toBeGreaterThan(formulas * moments * 5)
}, 240_000)
