import { describe, expect, test } from 'bun:test'
import { readsNow } from '../../../../src/database/dataset-reads.ts'
import { createManualClock } from '../../../../src/lib/time/clock.ts'
import { dayMs, isoDay, parseInstant } from '../../../../src/lib/time/instant.ts'
import { monthAfter, monthOf } from '../../../../src/topics/calendars/math/period.ts'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import { createOpecData } from '../../../../src/topics/fundamentals/demo/opec.ts'
import { opecMembers, totalProduced } from '../../../../src/topics/fundamentals/math/opec.ts'
import { createOpecStore, type OpecStore } from '../../../../src/topics/fundamentals/store/opec.ts'
import { createWorld } from '../../../../src/topics/prices/demo/world.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'
import { published } from '../../../support/world/published.ts'

const start = parseInstant('2026-11-20T15:00:00Z')!
const series = shippedCatalogue().series.map(series => ({
  ...series,
  available: series.unavailableReason === null,
}))

function copy(seed = 1, opec: OpecStore = createOpecStore(readsNow(databaseInMemory()))) {
  const clock = createManualClock(start)
  const world = createWorld({ seed, series })
  return { clock, opec, world, filler: published(createOpecData({ seed, world, opec })) }
}
const allOf = (opec: OpecStore) =>
  opec.page({ country: undefined, fromMonth: '0000-01', toMonth: '9999-12' }, 10_000, 0)

describe('OPEC production of a demo instance', () => {
  test('adds up to the series that the world publishes, month by month, and is marked', () => {
    const { filler, opec, world } = copy()
    filler.advance(start)
    const published = world.history('OPEC_PRODUCTION', start)
    expect(opec.months().length).toBe(published.length)
    for (const { observedAt, value } of published) {
      const rows = opec.ofMonth(monthAfter(monthOf(isoDay(observedAt)), -1))
      expect(rows.map(row => row.country)).toEqual([...opecMembers])
      expect(totalProduced(rows)).toBe(Math.round(value * 1e6))
      expect(rows.every(row => row.source === 'fixture' && row.bpd > 0)).toBe(true)
    }
    expect(allOf(opec).at(-1)!.id).toBe(opecMembers.length)
  })

  test('comes out with the total about the 15th of the next month', () => {
    const { clock, filler, opec } = copy()
    filler.advance(start)
    for (const [at, newest] of [
      ['2026-12-14T23:00:00Z', '2026-10'],
      ['2026-12-15T13:59:59Z', '2026-10'],
      ['2026-12-15T15:00:00Z', '2026-11'],
      // The 15th of May 2027 is a Saturday: the total comes out on Monday.
      ['2027-05-17T09:00:00Z', '2027-03'],
      ['2027-05-17T11:00:00Z', '2027-04'],
    ] as const) {
      clock.set(parseInstant(at)!)
      filler.advance(clock.now())
      expect(opec.newestMonth(), at).toBe(newest)
    }
    expect(opec.ofMonth('2027-04')[0]!.recordedAt).toBeGreaterThan(
      parseInstant('2027-05-17T10:00:00Z')!,
    )
  })

  test('demo OPEC production depends on the seed and not on the path of the clock, and leaves imports unchanged', () => {
    const [far, stepped, second] = [copy(), copy(), copy(2)]
    for (let at = start; at <= start + 100 * dayMs; at += 5 * dayMs) {
      stepped.clock.set(at)
      stepped.filler.advance(at)
    }
    far.filler.advance(start + 100 * dayMs)
    second.filler.advance(start + 100 * dayMs)
    const values = ({ opec }: typeof far) =>
      allOf(opec).map(row => [row.country, row.month, row.bpd, row.recordedAt])
    expect(values(stepped)).toEqual(values(far))
    expect(values(second)).not.toEqual(values(far))
    const own = { country: 'Iraq', month: '2026-10', bpd: 1, source: 'EIA' }
    const opec = createOpecStore(readsNow(databaseInMemory()))
    opec.write([own], 1)
    copy(1, opec).filler.advance(start)
    expect(opec.ofMonth('2026-10')).toEqual([expect.objectContaining(own)])
    expect(opec.months().length).toBe(far.opec.months().length - 3)
  })
})
