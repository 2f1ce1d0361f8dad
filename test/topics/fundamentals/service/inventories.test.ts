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

test('of a copy that is filled code by code nothing is numbered before the last code is there, and then all of it by day', () => {
  const { services, record } = openTestInstance()
  const family = inventoryPlaces.map(place => services.catalogue.named(place.code)!)
  services.series.markFixture(family.map(series => series.id))
  services.catalogue.reload()
  for (const { code } of inventoryPlaces.slice(1)) record(code, [20, 21], wednesday, week)
  expect(services.inventories.count(always)).toBe(0)
  record(inventoryPlaces[0]!.code, [400, 401], wednesday, week)
  const rows = services.inventories.page(always, 100, 0)
  expect(rows.length).toBe(2 * inventoryPlaces.length)
  expect(rows.filter(row => row.on === '2026-11-11').map(row => row.id)).toEqual(
    inventoryPlaces.map((_, i) => i + 1),
  )
  expect(rows.map(row => row.place.code)).toEqual(
    [...inventoryPlaces, ...inventoryPlaces].map(place => place.code),
  )
})

test('a change is against the level a week before, and there is none over a missing week', () => {
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
