import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { createSpoolFolder } from '../../../../src/feeds/files/spool-folder.ts'
import { createPointSpool } from '../../../../src/topics/prices/files/point-spool.ts'
import type { Point } from '../../../../src/topics/prices/store/observations.ts'

const parent = mkdtempSync(join(tmpdir(), 'wellhead-spool-test-'))
afterAll(() => rmSync(parent, { recursive: true, force: true }))

/** All points of a spool whose runs are so small that most of them wait on the disk. */
function through(points: readonly Point[], saysMore: boolean, runMax: number, batchMax: number) {
  const folder = createSpoolFolder(parent)
  try {
    const spool = createPointSpool({ saysMore, folder, runMax })
    for (const [i, point] of points.entries()) spool.addPoint(point, i + 2)
    const spooled = spool.finish()
    const read = () => {
      const repeated: { line: number; isSame: boolean }[] = []
      const batches = [
        ...spooled.batches(batchMax, (line, isSame) => repeated.push({ line, isSame })),
      ]
      return { batches, repeated }
    }
    const first = read()
    // A comparison reads the points before a write does.
    expect(read()).toEqual(first)
    return first
  } finally {
    folder.close()
  }
}

test('law: points leave by series and time, the last of each moment alone, from memory and from the disk', () => {
  const point = fc.record({
    seriesId: fc.integer({ min: 1, max: 4 }),
    observedAt: fc.integer({ min: -3, max: 12 }),
    value: fc.integer({ min: 1, max: 3 }),
  })
  fc.assert(
    fc.property(
      fc.array(point, { maxLength: 60 }),
      fc.integer({ min: 2, max: 70 }),
      fc.integer({ min: 1, max: 9 }),
      (points, runMax, batchMax) => {
        const { batches, repeated } = through(points, false, runMax, batchMax)
        const last = new Map(points.map(one => [`${one.seriesId} ${one.observedAt}`, one]))
        const order = [...new Set(points.map(({ seriesId }) => seriesId))]
        expect(batches.flat()).toEqual(
          order.flatMap(id =>
            [...last.values()]
              .filter(({ seriesId }) => seriesId === id)
              .sort((a, b) => a.observedAt - b.observedAt),
          ),
        )
        for (const batch of batches.slice(0, -1)) expect(batch).toHaveLength(batchMax)
        expect(repeated.toSorted((a, b) => a.line - b.line)).toEqual(
          points.flatMap((one, i) => {
            const kept = last.get(`${one.seriesId} ${one.observedAt}`)!
            return kept === one ? [] : [{ line: i + 2, isSame: kept.value === one.value }]
          }),
        )
      },
    ),
    { numRuns: 300 },
  )
  expect(readdirSync(parent)).toEqual([])
})

test('values of one moment keep their sources and leave by their time of recording, the newest last', () => {
  const at = { seriesId: 7, observedAt: 1000 }
  const points: Point[] = [
    { ...at, value: 3 },
    { ...at, value: 2, recordedAt: 60, source: 'Desk' },
    { ...at, value: 0, recordedAt: 50, deleted: true },
    { ...at, value: 1, recordedAt: 40, source: 'EIA' },
    { ...at, value: 1.5, recordedAt: 40, source: 'Desk' },
  ]
  for (const runMax of [2, 3, 100]) {
    const { batches, repeated } = through(points, true, runMax, 100)
    expect(batches).toEqual([
      [
        { ...at, value: 1.5, recordedAt: 40, source: 'Desk' },
        { ...at, value: 0, recordedAt: 50, deleted: true },
        { ...at, value: 2, recordedAt: 60, source: 'Desk' },
        { ...at, value: 3 },
      ],
    ])
    expect(repeated).toEqual([{ line: 5, isSame: false }])
  }
})

test('points on the disk leave nothing behind, however the process ends', () => {
  const folder = createSpoolFolder(parent)
  const spool = createPointSpool({ saysMore: false, folder, runMax: 2 })
  for (let i = 0; i < 10; i += 1) spool.addPoint({ seriesId: 1, observedAt: i, value: 1 }, i + 2)
  // While it is open: a killed process closes nothing.
  expect(readdirSync(parent)).toEqual([])
  folder.close()
})
