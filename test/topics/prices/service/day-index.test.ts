import { expect, test } from 'bun:test'
import { dayMs } from '../../../../src/lib/time/instant.ts'
import { createDayIndexes } from '../../../../src/topics/prices/service/day-index.ts'
import type { QuarantineList } from '../../../../src/topics/prices/service/quarantine.ts'
import type { ObservationStore } from '../../../../src/topics/prices/store/observations.ts'

/** Series of a hundred days each, and how often each of them was read. */
function countedSeries() {
  const reads = new Map<number, number>()
  const starts: (number | undefined)[] = []
  const days = (seriesId: number, _bornBy?: number, from?: number) => {
    reads.set(seriesId, (reads.get(seriesId) ?? 0) + 1)
    starts.push(from)
    return Array.from({ length: 100 }, (_, day) => ({
      startsAt: day * dayMs,
      count: 1,
      hours: 1,
      recordedAt: 0,
    })).filter(({ startsAt }) => startsAt >= (from ?? 0))
  }
  const quarantine: Pick<QuarantineList, 'clear'> = { clear: (_id, from, to) => [{ from, to }] }
  return {
    reads,
    starts,
    indexes: createDayIndexes(
      { days } as unknown as ObservationStore,
      quarantine as QuarantineList,
      1000,
    ),
  }
}

test('the day index cache is bounded by a number of days and evicts the least recently used index first', () => {
  const { indexes, reads } = countedSeries()
  for (let id = 1; id <= 10; id += 1) indexes.of(id)
  indexes.of(1)
  expect(reads.get(1)).toBe(1)
  indexes.of(11)
  // Ten series of a hundred days fit: 2 was asked for longest ago.
  indexes.of(1)
  indexes.of(3)
  expect([reads.get(1), reads.get(3)]).toEqual([1, 1])
  indexes.of(2)
  expect(reads.get(2)).toBe(2)
})

test('the room of a series that has changed is free for others', () => {
  const { indexes, reads } = countedSeries()
  for (let id = 1; id <= 10; id += 1) indexes.of(id)
  indexes.forget(10)
  indexes.of(11)
  indexes.of(1)
  expect(reads.get(1)).toBe(1)
})

test('after a change only the days from the first that changed are read again', () => {
  const { indexes, starts } = countedSeries()
  indexes.of(1)
  expect(starts).toEqual([undefined])
  indexes.forget(1, 98.5 * dayMs)
  indexes.forget(1, 99.5 * dayMs)
  const second = indexes.of(1)
  expect(starts).toEqual([undefined, 98 * dayMs])
  expect(second.count('raw', 0, 100 * dayMs, () => 0)).toBe(100)
  expect(indexes.of(1)).toBe(second)
})
