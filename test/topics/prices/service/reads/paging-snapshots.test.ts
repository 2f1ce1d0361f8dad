import { expect, test } from 'bun:test'
import { dayMs, hourMs, minuteMs } from '../../../../../src/lib/time/instant.ts'
import {
  type HistoryRow,
  pastHistory,
} from '../../../../../src/topics/prices/service/reads/history.ts'
import {
  createPagingSnapshots,
  type Question,
} from '../../../../../src/topics/prices/service/reads/paging-snapshots.ts'
import type { Point } from '../../../../../src/topics/prices/store/observations.ts'
import { createPast } from '../../../../support/topics/past.ts'

const now = Date.UTC(2026, 10, 20, 15)

function openSnapshots(rows = 100) {
  const past = createPast()
  let mark = 0
  const snapshots = createPagingSnapshots(past.history, {
    snapshotAt: () => mark,
    listen() {},
  })
  const point = (i: number, more: Partial<Point> = {}): Point => ({
    seriesId: 1,
    observedAt: now - i * hourMs,
    value: i,
    ...more,
  })
  past.write(
    Array.from({ length: rows }, (_, i) => point(i)),
    0,
  )
  const question: Question = {
    key: 'question',
    range: { seriesIds: [1, 2], interval: 'raw', from: now - 100 * hourMs, to: now + 1 },
  }
  return {
    past,
    point,
    question,
    /** Writes after every read so far. */
    write(points: Point[]) {
      mark += 1
      past.write(points, mark)
    },
    page: (page: number, at = now, pageQuestion = question) =>
      snapshots.page(pageQuestion, page, 10, at),
  }
}

const hoursOf = ({ rows }: { rows: HistoryRow[] }) =>
  rows.map(row => (now - row.observedAt) / hourMs)
const hours = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

test('the pages after the first answer the rows, the range and the total of its moment', () => {
  const { page, write, point, question } = openSnapshots()
  const first = page(1)
  const later = 61 * minuteMs
  write([point(0.5), point(12.5), point(99.5), point(3, { value: 99 })])
  const moved = {
    ...question,
    range: { ...question.range, from: question.range.from + later, to: question.range.to + later },
  }
  for (let n = 2; n <= 10; n++) {
    const next = page(n, now + minuteMs, moved)
    expect(hoursOf(next)).toEqual(hours(10 * n - 10, 10 * n))
    expect({ from: next.from, to: next.to, total: next.total }).toEqual({
      from: first.from,
      to: first.to,
      total: 100,
    })
  }
  expect(hoursOf(page(11))).toEqual([])
})

test('pages out of order, and pages asked for again, are the pages of that moment', () => {
  const { page, write, point } = openSnapshots()
  page(1)
  write([point(0.5), point(40.5)])
  for (const n of [7, 3, 3, 10, 9, 2, 8])
    expect(hoursOf(page(n))).toEqual(hours(10 * n - 10, 10 * n))
})

test('requesting the first page starts a new paging snapshot', () => {
  const { page, write, point } = openSnapshots()
  page(1)
  write([point(0.5)])
  expect(page(1).total).toBe(101)
  expect(hoursOf(page(2))[0]).toBe(9)
})

test('someone who watches the first page does not disturb someone who walks', () => {
  const { page, write, point } = openSnapshots()
  page(1)
  for (let n = 2; n <= 10; n++) {
    expect(hoursOf(page(n))).toEqual(hours(10 * n - 10, 10 * n))
    write([point(n / 100)])
    page(1)
  }
})

test('two clients with the same request each page through a separate snapshot', () => {
  const { page, write, point } = openSnapshots()
  page(1)
  page(2)
  write([point(0.5)])
  page(1)
  expect(hoursOf(page(3))).toEqual(hours(20, 30))
  expect(hoursOf(page(2))).toEqual(hours(9, 19))
})

test('another question is another walk', () => {
  const { page, write, point, question } = openSnapshots()
  const other = { ...question, key: 'other' }
  page(1)
  write([point(0.5)])
  page(1, now, other)
  expect(hoursOf(page(2))[0]).toBe(10)
  expect(hoursOf(page(2, now, other))[0]).toBe(9)
})

test('a paging snapshot is kept while paging continues and expires 15 minutes after its last page', () => {
  const { page, write, point } = openSnapshots()
  page(1)
  write([point(0.5)])
  for (let n = 2; n <= 5; n++)
    expect(hoursOf(page(n, now + (n - 1) * 14 * minuteMs))[0]).toBe(10 * n - 10)
  expect(hoursOf(page(6, now + 4 * 14 * minuteMs + 15 * minuteMs))[0]).toBe(49)
})

test('a page requested directly is located by counting, and the pages after it continue from there', () => {
  const { page, write, point } = openSnapshots()
  expect(hoursOf(page(4))).toEqual(hours(30, 40))
  write([point(0.5), point(45.5)])
  expect(hoursOf(page(5))).toEqual(hours(40, 50))
  expect(page(5).total).toBe(100)
})

test('rows with an earlier recording time make a snapshot longer and never shorten it', () => {
  const { page, write, point } = openSnapshots()
  page(1)
  write([0.5, 33.3, 33.6, 99.5].map(hour => point(hour, { recordedAt: 0 })))
  const walkedHours = hoursOf(page(1 + 1))
  for (let n = 3; n <= Math.ceil(page(n - 1).total / 10); n++) walkedHours.push(...hoursOf(page(n)))
  expect(walkedHours).toEqual(
    [...hours(10, 34), 33.3, 33.6, ...hours(34, 100), 99.5].sort((a, b) => a - b),
  )
})

test('a clock that went back hides nothing', () => {
  const { page, point, write } = openSnapshots()
  write([point(50.5, { recordedAt: now + dayMs })])
  expect(page(1).total).toBe(101)
  for (let n = 2; n <= 10; n++) page(n)
  expect(hoursOf(page(11))).toEqual([99])
})

test('a snapshot of a past moment keeps its values', () => {
  const { page, write, point, question, past } = openSnapshots()
  write([point(15, { value: 150 })])
  const coverage = { since: () => 0, endOf: () => now + 1 }
  const pastQuestion = { ...question, history: pastHistory(past.history, 1, coverage) }
  expect(page(1, now, pastQuestion).total).toBe(100)
  write([point(15, { value: 1500 }), point(12.5), point(16, { value: 1600 })])
  expect(page(2, now, pastQuestion).rows.map(row => row.value)).toEqual([
    10, 11, 12, 13, 14, 150, 16, 17, 18, 19,
  ])
})

test('a client continues with its snapshot after thousands of other requests, also if it is slow', () => {
  const { page, write, point, question } = openSnapshots()
  page(1)
  write([point(0.5)])
  for (let n = 2; n <= 5; n += 1) {
    for (let i = 0; i < 4_000; i += 1) page(1, now, { ...question, key: `other ${n} ${i}` })
    expect(hoursOf(page(n))[0]).toBe(10 * n - 10)
  }
})
