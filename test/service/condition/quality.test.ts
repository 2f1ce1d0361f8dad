import { expect, test } from 'bun:test'
import { dayMs, hourMs, startOfDay } from '../../../src/lib/instant.ts'
import { createQuality } from '../../../src/service/condition/quality.ts'
import { createQualityStore } from '../../../src/store/condition/quality.ts'
import { openTestInstance } from '../../support/instance.ts'

/**
 * The service over a store that counts what it is asked, with a stopwatch that every look moves on.
 */
function setUp(lookMs = 0) {
  const h = openTestInstance()
  const { services, clock } = h
  const store = createQualityStore(services.db)
  const asked: number[] = []
  let ms = 0
  const judged = createQuality({
    ...services,
    clock,
    store: {
      days(seriesId, from) {
        asked.push(seriesId)
        return store.days(seriesId, from)
      },
    },
    stopwatch: { monotonic: () => (ms += lookMs) },
  })
  services.ingest.listen(changes => {
    for (const { seriesId } of changes) judged.forget(seriesId)
  })
  return { ...h, judged, asked, listed: (code: string) => services.catalogue.named(code)! }
}
const codes = ['GASOLINE_USD', 'HEATING_OIL_USD', 'DIESEL_USD']

test('a report is kept until its series changes', () => {
  const { judged, asked, listed, record, clock } = setUp()
  for (const code of codes) record(code, [2, 2.1], clock.now() - hourMs, dayMs)
  for (const code of codes) judged.of(listed(code))
  asked.length = 0
  for (const code of codes) judged.of(listed(code))
  expect(asked).toEqual([])
  record('DIESEL_USD', [2.2], clock.now(), dayMs)
  for (const code of codes) judged.of(listed(code))
  expect(asked).toEqual([listed('DIESEL_USD').id])
})

test('a report is made anew on the next day, when the status of the data turns, and after the clock went back', () => {
  const { judged, asked, listed, record, clock } = setUp()
  record('DIESEL_USD', [2, 2.1], clock.now() - hourMs, dayMs)
  const madeAt = () => judged.of(listed('DIESEL_USD'))!.generatedAt
  const first = madeAt()
  clock.set(startOfDay(first) + dayMs - 1)
  expect(madeAt()).toBe(first)
  clock.set(startOfDay(first) + dayMs)
  expect(madeAt()).toBe(clock.now())
  clock.set(first + hourMs)
  expect(madeAt()).toBe(clock.now())
  expect(asked.length).toBe(3)
})

test('all reports are computed in slices: others have their turn between two', async () => {
  const { judged, record, clock } = setUp(2)
  for (const code of codes) record(code, [2, 2.1], clock.now() - hourMs, dayMs)
  let turns = 0
  let done = false
  const all = judged.all().finally(() => {
    done = true
  })
  while (!done && turns < 10_000) {
    turns += 1
    await Bun.sleep(0)
  }
  expect((await all).map(one => one.code).sort()).toEqual([...codes].sort())
  expect(turns).toBeGreaterThan(30)
})

test('a series without data has no report, and neither has one that the catalogue only lists', () => {
  const { judged, listed, services } = setUp()
  expect(judged.of(listed('DIESEL_USD'))).toBeUndefined()
  const unavailable = services.catalogue.list().find(one => one.unavailableReason !== null)!
  expect(judged.of(unavailable)).toBeUndefined()
})
