import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs, isoDay } from '../../../../src/lib/time/instant.ts'
import { createQuarantineList } from '../../../../src/topics/prices/service/quarantine.ts'
import { createQuarantineStore } from '../../../../src/topics/prices/store/quarantine.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'
import { putSeries } from '../../../support/topics/series.ts'

const first = Date.UTC(1969, 11, 20)

function opened() {
  const db = databaseInMemory()
  putSeries(db, [1, 2])
  const changed: number[] = []
  const store = createQuarantineStore(db)
  const list = createQuarantineList(store, id => changed.push(id))
  const add = (seriesId: number, day: number, length: number, reason = 'test') =>
    list.add({
      seriesId,
      fromOn: isoDay(first + day * dayMs),
      toOn: isoDay(first + (day + length) * dayMs),
      reason,
      createdAt: 5,
    })
  return { store, list, add, changed }
}

test('what reads may use and what they leave out are the range, whatever overlaps in it', () => {
  const ranges = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.nat(20), fc.nat(8)), { maxLength: 5 })
  fc.assert(
    fc.property(ranges, fc.nat(24 * 24), fc.nat(24 * 24), (drawn, a, b) => {
      const { list, add } = opened()
      for (const [seriesId, day, length] of drawn) add(seriesId, day, length)
      const [from, to] = [first + a * hourMs, first + b * hourMs]
      const isOut = (at: number) =>
        drawn.some(
          ([id, day, length]) =>
            id === 1 && at >= first + day * dayMs && at < first + (day + length + 1) * dayMs,
        )
      const hours = Array.from({ length: Math.max(0, b - a) }, (_, i) => from + i * hourMs)
      const clear = list.clear(1, from, to)
      expect(
        hours.filter(at => clear.some(stretch => at >= stretch.from && at < stretch.to)),
      ).toEqual(hours.filter(at => !isOut(at)))
      for (const [i, stretch] of clear.entries()) {
        expect(stretch.from).toBeLessThan(stretch.to)
        if (i > 0) expect(stretch.from).toBeGreaterThan(clear[i - 1]!.to)
      }
      if (from < to)
        expect(list.within(1, from, to).days).toEqual([...new Set(hours.filter(isOut).map(isoDay))])
    }),
  )
})

test('quarantine reasons are listed once each for the ranges that overlap the query', () => {
  const { list, add } = opened()
  add(1, 0, 1, 'stale')
  add(1, 1, 1, 'stale')
  add(1, 2, 0, 'wrong unit')
  add(1, 9, 0, 'far away')
  add(2, 0, 9, 'of another series')
  expect(list.within(1, first, first + 3 * dayMs).reasons).toEqual(['stale', 'wrong unit'])
})

test('every quarantine change is notified, stored and available after a restart', () => {
  const { store, list, add, changed } = opened()
  const [removed, kept] = [add(1, 0, 1), add(2, 3, 0)]
  expect(list.remove(removed.id)).toEqual(removed)
  expect(list.remove(removed.id)).toBeUndefined()
  expect(changed).toEqual([1, 2, 1])
  expect(createQuarantineList(store, () => {}).all()).toEqual([kept])
  expect(kept).toEqual({
    id: kept.id,
    seriesId: 2,
    fromOn: isoDay(first + 3 * dayMs),
    toOn: isoDay(first + 3 * dayMs),
    reason: 'test',
    createdAt: 5,
  })
})

test('a range that ends before it begins is refused', () => {
  expect(() => opened().add(1, 5, -1)).toThrow('CHECK')
})
