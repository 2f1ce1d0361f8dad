import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { type RigTypes, rigTypes } from '../../../../src/topics/drilling/demo/rig-types.ts'
import { apportion } from '../../../../src/topics/prices/demo/regions.ts'
import { runs } from '../../../support/full.ts'

const region = fc.record({
  total: fc.integer({ min: 0, max: 300 }),
  oil: fc.double({ min: 0.001, max: 0.999, noNaN: true }),
  misc: fc.double({ min: 0.001, max: 0.1, noNaN: true }),
})
const share = fc.double({ min: 0, max: 1, noNaN: true })

describe('rigs by type', () => {
  test('add up to each region and to each type, whatever the counts are', () => {
    fc.assert(
      fc.property(
        fc.array(region, { minLength: 1, maxLength: 15 }),
        share,
        share,
        (regions, oilShare, miscShare) => {
          const totals = regions.map(region => region.total)
          const all = totals.reduce((sum, total) => sum + total, 0)
          const misc = Math.floor(all * 0.2 * miscShare)
          const oil = Math.floor((all - misc) * oilShare)
          const national: RigTypes = { oil, gas: all - misc - oil, misc }
          const split = rigTypes(totals, regions, national)
          for (const type of ['oil', 'gas', 'misc'] as const)
            expect(split.reduce((sum, types) => sum + types[type], 0)).toBe(national[type])
          expect(split.map(types => types.oil + types.gas + types.misc)).toEqual(totals)
          expect(Math.min(...split.flatMap(types => Object.values(types)))).toBeGreaterThanOrEqual(
            0,
          )
        },
      ),
      { numRuns: runs(500) },
    )
  })
  test('follow what a region drills for', () => {
    const habits = [
      { oil: 0.98, misc: 0.002 },
      { oil: 0.02, misc: 0.002 },
    ]
    const [permian, haynesville] = rigTypes([250, 40], habits, { oil: 247, gas: 42, misc: 1 })
    expect(permian!.oil).toBeGreaterThan(240)
    expect(haynesville!.gas).toBeGreaterThan(34)
  })
})

describe('shares', () => {
  test('apportioned shares are whole, add up and differ from the exact value by at most one', () => {
    const weights = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000 }), weights, (total, some) => {
        const shares = apportion(total, some)
        const sum = some.reduce((all, value) => all + value, 0)
        expect(shares.reduce((all, share) => all + share, 0)).toBe(total)
        if (sum > 0)
          for (const [i, share] of shares.entries())
            expect(Math.abs(share - (total * some[i]!) / sum)).toBeLessThan(1)
      }),
    )
  })
})
