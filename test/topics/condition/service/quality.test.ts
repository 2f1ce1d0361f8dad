import { expect, test } from 'bun:test'
import { nextTurn } from '../../../../src/lib/process/loop-turns.ts'
import { dayMs, hourMs, startOfDay } from '../../../../src/lib/time/instant.ts'
import { createQuality } from '../../../../src/topics/condition/service/quality.ts'
import { createQualityStore } from '../../../../src/topics/condition/store/quality.ts'
import { openTestInstance } from '../../../support/instance/instance.ts'

/**
 * The service over a store that counts its reads, and a stopwatch that moves on at every look.
 */
function setUp(lookMs = 0) {
  const instance = openTestInstance()
  const { services, clock } = instance
  const store = createQualityStore(services.db)
  const readSeries: number[] = []
  let ms = 0
  const quality = createQuality({
    ...services,
    clock,
    store: {
      days(seriesId, from) {
        readSeries.push(seriesId)
        return store.days(seriesId, from)
      },
    },
    stopwatch: { monotonic: () => (ms += lookMs) },
  })
  services.ingest.listen(changes => {
    for (const { seriesId } of changes) quality.forget(seriesId)
  })
  return {
    ...instance,
    quality,
    readSeries,
    seriesOf: (code: string) => services.catalogue.named(code)!,
  }
}
const codes = ['GASOLINE_USD', 'HEATING_OIL_USD', 'DIESEL_USD']

test('a quality report is cached until its series changes', () => {
  const { quality, readSeries, seriesOf, record, clock } = setUp()
  for (const code of codes) record(code, [2, 2.1], clock.now() - hourMs, dayMs)
  for (const code of codes) quality.of(seriesOf(code))
  readSeries.length = 0
  for (const code of codes) quality.of(seriesOf(code))
  expect(readSeries).toEqual([])
  record('DIESEL_USD', [2.2], clock.now(), dayMs)
  for (const code of codes) quality.of(seriesOf(code))
  expect(readSeries).toEqual([seriesOf('DIESEL_USD').id])
})

test('a quality report is rebuilt on the next day, when the data status changes and after the clock is set back', () => {
  const { quality, readSeries, seriesOf, record, clock } = setUp()
  record('DIESEL_USD', [2, 2.1], clock.now() - hourMs, dayMs)
  const madeAt = () => quality.of(seriesOf('DIESEL_USD'))!.generatedAt
  const first = madeAt()
  clock.set(startOfDay(first) + dayMs - 1)
  expect(madeAt()).toBe(first)
  clock.set(startOfDay(first) + dayMs)
  expect(madeAt()).toBe(clock.now())
  clock.set(first + hourMs)
  expect(madeAt()).toBe(clock.now())
  expect(readSeries.length).toBe(3)
})

test('all reports are computed in slices: others have their turn between two', async () => {
  const { quality, record, clock } = setUp(2)
  for (const code of codes) record(code, [2, 2.1], clock.now() - hourMs, dayMs)
  let turns = 0
  let done = false
  const all = quality.all().finally(() => {
    done = true
  })
  while (!done && turns < 10_000) {
    turns += 1
    await nextTurn()
  }
  expect((await all).map(report => report.code).sort()).toEqual([...codes].sort())
  expect(turns).toBeGreaterThan(30)
})

test('a series without data has no report, and neither has one that the catalogue only lists', () => {
  const { quality, seriesOf, services } = setUp()
  expect(quality.of(seriesOf('DIESEL_USD'))).toBeUndefined()
  const unavailable = services.catalogue.list().find(series => series.unavailableReason !== null)!
  expect(quality.of(unavailable)).toBeUndefined()
})
