import { expect, test } from 'bun:test'
import { dayMs, parseDay } from '../../../../src/lib/time/instant.ts'
import { inventoryPlaces } from '../../../../src/topics/fundamentals/math/inventories.ts'
import { openTestInstance } from '../../../support/instance/instance.ts'

const wednesday = parseDay('2026-11-18')!
const week = 7 * dayMs
const always = {
  places: inventoryPlaces,
  from: Number.MIN_SAFE_INTEGER,
  to: Number.MAX_SAFE_INTEGER,
}

test('levels of all places that are written together are numbered by day, then by place', () => {
  const { services } = openTestInstance()
  services.ingest.write(
    inventoryPlaces.flatMap(place =>
      [wednesday - week, wednesday].map((observedAt, i) => ({
        seriesId: services.catalogue.named(place.code)!.id,
        observedAt,
        value: 20 + i,
      })),
    ),
  )
  const rows = services.inventories.page(always, 100, 0)
  const numbered = rows.toSorted((a, b) => a.id - b.id)
  expect(numbered.map(row => row.id)).toEqual(
    Array.from({ length: 2 * inventoryPlaces.length }, (_, i) => i + 1),
  )
  expect(numbered.map(row => row.place.code)).toEqual(
    [...inventoryPlaces, ...inventoryPlaces].map(place => place.code),
  )
})

test('an inventory change compares with the level one week earlier and is absent when that week is missing', () => {
  const { services, record } = openTestInstance()
  const [place] = inventoryPlaces
  record(place!.code, [400, 402.5], wednesday - 2 * week, week)
  // Two weeks later, and then a day late after a holiday.
  record(place!.code, [410], wednesday, week)
  record(place!.code, [411], wednesday + week + dayMs, week)
  const changes = services.inventories
    .page({ ...always, places: [place!] }, 10, 0)
    .map(record => [record.on, record.change])
  expect(changes).toEqual([
    ['2026-11-26', 1],
    ['2026-11-18', undefined],
    ['2026-11-04', 2.5],
    ['2026-10-28', undefined],
  ])
})

test('numbers are written with the levels or not at all', () => {
  const { services } = openTestInstance()
  const seriesId = services.catalogue.named('US_CRUDE_STORAGE')!.id
  services.ingest.listenInside(() => {
    throw new Error('no room')
  })
  expect(() => services.ingest.write([{ seriesId, observedAt: wednesday, value: 400 }])).toThrow(
    'no room',
  )
  expect(services.inventories.count(always)).toBe(0)
  expect(services.db.query('SELECT count(*) AS n FROM inventory_records').get()).toEqual({ n: 0 })
})
