import { expect, test } from 'bun:test'
import { dayMs } from '../../../../src/lib/time/instant.ts'
import type { Series } from '../../../../src/topics/catalogue/store/series.ts'
import { compileFormula } from '../../../../src/topics/formulas/math/compile.ts'
import { createView, stepsTo } from '../../../../src/topics/formulas/service/views.ts'

const days = 4000

test('a long range of the far past is computed without what follows it', () => {
  const rows = Array.from({ length: days }, (_, day) => {
    const observedAt = day * dayMs
    return { observedAt, value: day, recordedAt: observedAt }
  })
  let lastRead = 0
  const leg = { id: 1, code: 'A' } as Series
  const terms = { code: 'A', currency: 'USD', unit: 'barrel', product: undefined, pair: undefined }
  const market = { leg: () => terms, pair: () => undefined, isCurrency: () => true }
  const compiled = compileFormula('2*A', { currency: 'USD', unit: 'barrel' }, market)
  const definition = { compiled, align: 'last' as const, series: [leg], limitsMs: [7 * dayMs] }
  const view = createView(
    id => (id === 2 ? definition : undefined),
    id => id === 2,
    id => (id === 2 ? [1] : []),
    {
      read(_, from, to) {
        const found = rows.filter(row => from <= row.observedAt && row.observedAt < to)
        lastRead = Math.max(lastRead, found.at(-1)?.observedAt ?? 0)
        return found
      },
      newest: (id, to) => (id === 1 ? rows.findLast(row => row.observedAt < to) : undefined),
      clear: (_, some) => some,
      isIntraday: () => false,
    },
  )
  const [from, to] = [100 * dayMs, 200 * dayMs]
  expect(view.between(2, from, to).map(({ value }) => value)).toEqual(
    Array.from({ length: 100 }, (_, i) => 2 * (100 + i)),
  )
  expect(lastRead).toBeLessThan(to + 3 * dayMs)
  // Up to the present it is kept, and shorter ranges are read from it.
  expect(view.between(2, from, days * dayMs)).toHaveLength(days - 100)
  expect(view.between(2, from, to)).toHaveLength(100)
})

test('closes of formulas over formulas take as many lookups a level, however many levels there are', () => {
  const terms = { code: 'A', currency: 'USD', unit: 'barrel', product: undefined, pair: undefined }
  const market = { leg: () => terms, pair: () => undefined, isCurrency: () => true }
  const compiled = compileFormula('A + 1', { currency: 'USD', unit: 'barrel' }, market)
  const stepMs = dayMs / 288
  const lookupsOf = (levels: number) => {
    let lookups = 0
    const view = createView(
      id => ({
        compiled,
        align: 'last' as const,
        series: [{ id: id - 1, code: 'A' } as Series],
        limitsMs: [4 * dayMs],
      }),
      id => id > 0,
      id => Array.from({ length: id }, (_, below) => below),
      {
        read: () => [],
        newest(id, to) {
          if (id > 0) return undefined
          const observedAt = stepMs * Math.floor((Math.min(to, days * dayMs) - 1) / stepMs)
          return { observedAt, value: observedAt / stepMs, recordedAt: observedAt }
        },
        clear(_, some) {
          lookups += 1
          return some
        },
        isIntraday: () => true,
      },
    )
    const closes = view.closes(levels, (days - 395) * dayMs)
    expect(closes.slice(-395).map(({ value }) => value - levels)).toEqual(
      Array.from({ length: 395 }, (_, day) => (days - 394 + day) * 288 - 1),
    )
    return lookups
  }
  expect(lookupsOf(40) / lookupsOf(10)).toBeLessThan(5)
})

test('steps towards a limit end with it, in either direction', () => {
  const back = [...stepsTo(dayMs, -dayMs)]
  expect({ first: back[0], last: back.at(-1) }).toEqual({ first: dayMs - 3_600_000, last: -dayMs })
  expect(back).toEqual(back.toSorted((a, b) => b - a))
  expect([...stepsTo(0, 1)]).toEqual([1])
  expect([...stepsTo(5, 5)]).toEqual([5])
})
