import { expect, test } from 'bun:test'
import { dayMs } from '../../../../../src/lib/time/instant.ts'
import { createDayIndexes } from '../../../../../src/topics/prices/service/days/day-index.ts'
import type { QuarantineList } from '../../../../../src/topics/prices/service/quarantine.ts'
import type { ObservationStore } from '../../../../../src/topics/prices/store/observations.ts'

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
  // Ten series of a hundred days fit: 2 is the least recently used.
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

/** Series with three days of which the last was recorded first. */
function pastDays() {
  const asked: string[] = []
  const recordedAts = [30, 20, 10]
  const indexes = createDayIndexes(
    {
      days: (seriesId: number, _bornBy?: number, from?: number, to?: number) => {
        asked.push(`days of ${seriesId} from ${from} to ${to}`)
        return []
      },
      newestRecordedAt: (seriesId: number, from?: number) => {
        asked.push(`newest of ${seriesId} from ${from}`)
        return Math.max(...recordedAts.filter((_, day) => day * dayMs >= (from ?? 0)))
      },
    } as unknown as ObservationStore,
    { clear: () => [] } as unknown as QuarantineList,
  )
  return { asked, indexes, recordedAts }
}

test('a single request for a series reads only the days of its range', () => {
  const { asked, indexes } = pastDays()
  indexes.within(1, 5 * dayMs + 1, 9 * dayMs)
  expect(asked).toEqual([`days of 1 from ${5 * dayMs} to ${9 * dayMs}`])
  indexes.within(1, 6 * dayMs, 9 * dayMs)
  indexes.within(1, 7 * dayMs, 9 * dayMs)
  expect(asked.slice(1)).toEqual(['days of 1 from undefined to undefined'])
})

test('when the newest value was recorded is read once, and after a change only from the day of the change on', () => {
  const { asked, indexes, recordedAts } = pastDays()
  expect([indexes.newestRecordedAt(1), indexes.newestRecordedAt(1)]).toEqual([30, 30])
  expect(asked).toEqual(['newest of 1 from undefined'])
  recordedAts[2] = 40
  indexes.forget(1, 2 * dayMs + 5)
  expect(indexes.newestRecordedAt(1)).toBe(40)
  expect(asked.at(-1)).toBe(`newest of 1 from ${2 * dayMs}`)
  indexes.forget(1)
  expect(indexes.newestRecordedAt(1)).toBe(40)
  expect(asked.at(-1)).toBe('newest of 1 from undefined')
})
