import { beforeAll, describe, expect, test } from 'bun:test'
import { dayMs, hourMs, isoInstant, parseInstant } from '../../../../src/lib/time/instant.ts'
import { rigCounts } from '../../../../src/topics/drilling/dataset/counts.ts'
import { createDrillingData } from '../../../../src/topics/drilling/demo/drilling.ts'
import { basinKeys, isBasin, isState } from '../../../../src/topics/drilling/math/drilling.ts'
import { countDays, publishedAt } from '../../../../src/topics/drilling/math/period.ts'
import { drillingGroups, withRegions } from '../../../../src/topics/prices/demo/regions.ts'
import { createWorld } from '../../../../src/topics/prices/demo/world.ts'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import { published } from '../../../support/world/published.ts'

const at = (text: string) => parseInstant(text)!
const seed = 1

function worldOf({ services }: TestInstance) {
  const listed = services.catalogue
    .list()
    .map(item => ({ ...item, available: item.unavailableReason === null }))
  return withRegions(createWorld({ seed, series: listed }), listed)
}

function copy(own = openTestInstance()) {
  const { drilling } = own.services
  const filler = published(
    ...Object.values(createDrillingData({ seed, world: worldOf(own), drilling })),
  )
  filler.advance(own.clock.now())
  return { own, filler, ...drilling }
}

/** Six years earlier the weekdays are the same, and there is less history to write. */
const young = () => openTestInstance({}, at('2020-11-20T15:00:00Z'))

let filled: ReturnType<typeof copy>
beforeAll(() => {
  filled = copy()
})

const sum = (values: readonly (number | null)[]) =>
  values.reduce((total: number, value) => total + (value ?? 0), 0)

describe('the drilling data of a demo instance', () => {
  test('has every week since 2013-01-04, and everything else since 2020', () => {
    const { rigs, frac, duc, productivity } = filled
    expect(rigs.between('US', '', '9999').map(row => row.countedOn)).toEqual(
      countDays('week', '2013-01-04', '2026-11-20'),
    )
    expect(frac.between('US', '', '9999').map(row => row.countedOn)).toEqual(
      countDays('day', '2020-01-01', '2026-11-21'),
    )
    expect(duc.between('US', '', '9999').map(row => row.countedOn)).toEqual(
      countDays('month', '2020-01-01', '2026-11-21'),
    )
    expect(productivity.between('permian', '', '9999').map(row => row.countedOn)).toEqual(
      countDays('month', '2020-01-01', '2026-11-21'),
    )
  })
  test('was published on its calendars, and is marked', () => {
    const { rigs, duc } = filled
    for (const row of rigs.between('permian', '', '9999'))
      expect(row.recordedAt).toBe(publishedAt('week', row.countedOn))
    for (const row of duc.between('TX', '', '9999'))
      expect({ recordedAt: row.recordedAt, source: row.source }).toEqual({
        recordedAt: publishedAt('month', row.countedOn),
        source: 'fixture',
      })
  })
  test('adds up: basins and states to the country, in every week and every column', () => {
    for (const { countedOn, ...us } of filled.rigs.between('US', '', '9999')) {
      const rows = filled.rigs.on(countedOn)
      for (const kind of [isBasin, isState]) {
        const part = rows.filter(row => kind(row.region))
        for (const column of ['total', 'oil', 'gas', 'misc'] as const) {
          expect(sum(part.map(row => row[column])), `${countedOn} ${column}`).toBe(us[column]!)
        }
        expect(
          Math.min(...part.flatMap(row => [row.oil!, row.gas!, row.misc!])),
          countedOn,
        ).toBeGreaterThanOrEqual(0)
      }
    }
    for (const us of filled.frac.between('US', '2024-01-01', '9999')) {
      const rows = filled.frac.on(us.countedOn)
      expect(
        sum(rows.filter(row => isBasin(row.region)).map(row => row.active)),
        us.countedOn,
      ).toBe(us.active)
      const states = rows.filter(row => isState(row.region))
      if (states.length > 0)
        expect(sum(states.map(row => row.active)), us.countedOn).toBe(us.active)
    }
  })
  test('the number of waiting wells in demo data rises by wells drilled and falls by wells completed', () => {
    const { duc } = filled
    for (const region of ['US', 'permian', 'other', 'TX']) {
      const rows = duc.between(region, '', '9999')
      for (const [i, row] of rows.entries()) {
        expect(Math.min(row.drilled!, row.completed!), region).toBeGreaterThanOrEqual(0)
        if (i > 0)
          expect(row.duc - rows[i - 1]!.duc, `${region} ${row.countedOn}`).toBe(
            row.drilled! - row.completed!,
          )
      }
    }
    for (const us of duc.between('US', '', '9999')) {
      const basins = duc.on(us.countedOn).filter(row => basinKeys.includes(row.region))
      for (const column of ['duc', 'drilled', 'completed'] as const)
        expect(sum(basins.map(row => row[column]))).toBe(us[column]!)
    }
  })
  test('what all wells give more is what new ones bring and old ones lose', () => {
    const rows = filled.productivity.between('permian', '', '9999')
    for (const [i, row] of rows.entries()) {
      if (i === 0) continue
      expect(row.totalOil - rows[i - 1]!.totalOil, row.countedOn).toBe(
        row.rigs * row.newWellOil + row.legacyOil,
      )
      expect(row.totalGas - rows[i - 1]!.totalGas, row.countedOn).toBe(
        row.rigs * row.newWellGas + row.legacyGas,
      )
    }
  })
})

describe('as the clock moves', () => {
  test('the count of a Friday is there at 17:00 and not before, in the family and in its series alike', () => {
    const { own, filler, rigs } = copy(young())
    const id = own.services.catalogue.named('PERMIAN_RIG_COUNT')!.id
    const series = () => own.services.observations.newest(id, at('2030-01-01T00:00:00Z'))
    filler.advance(at('2020-11-20T16:59:59Z'))
    expect(rigs.newestOn(['US'])).toBe('2020-11-13')
    filler.advance(at('2020-11-20T17:00:00Z'))
    const [row] = rigs.between('permian', '2020-11-20', '2020-11-21')
    expect(row?.recordedAt).toBe(at('2020-11-20T17:00:00Z'))
    expect(series()).toMatchObject({ observedAt: at('2020-11-20T12:00:00Z'), value: row!.total })
  })
  test('weeks, days and months that were passed over are published each at its own time', () => {
    const { filler, rigs, frac, duc, productivity } = copy(young())
    const to = at('2021-01-20T00:00:00Z')
    filler.advance(to)
    expect(
      rigs
        .between('US', '2020-11-20', '9999')
        .map(row => [row.countedOn, isoInstant(row.recordedAt)]),
    ).toEqual([
      ['2020-11-20', '2020-11-20T17:00:00Z'],
      ['2020-11-27', '2020-11-27T17:00:00Z'],
      ['2020-12-04', '2020-12-04T17:00:00Z'],
      ['2020-12-11', '2020-12-11T17:00:00Z'],
      ['2020-12-18', '2020-12-18T17:00:00Z'],
      ['2020-12-25', '2020-12-28T10:30:00Z'],
      ['2021-01-01', '2021-01-04T10:30:00Z'],
      ['2021-01-08', '2021-01-08T17:00:00Z'],
      ['2021-01-15', '2021-01-15T17:00:00Z'],
    ])
    expect(frac.newestOn(['US'])).toBe('2021-01-19')
    expect({ duc: duc.newestOn(['US']), productivity: productivity.newestOn(['permian']) }).toEqual(
      { duc: '2021-01-15', productivity: '2021-01-15' },
    )
    expect(filler.advance(to)).toBe(0)
  })
  test('the same rows come whether the clock jumps or walks', () => {
    const [jump, walk] = [copy(young()), copy(young())]
    const to = at('2020-12-20T00:00:00Z')
    jump.filler.advance(to)
    for (let now = walk.own.clock.now(); now <= to; now += 6 * hourMs) walk.filler.advance(now)
    for (const region of ['US', 'permian', 'TX', 'OTHER']) {
      expect(walk.rigs.between(region, '', '9999')).toEqual(jump.rigs.between(region, '', '9999'))
      expect(walk.duc.between(region, '', '9999')).toEqual(jump.duc.between(region, '', '9999'))
    }
  })
  test('the demo data generator leaves an imported count for a coming week unchanged', () => {
    const { filler, rigs, record } = copy(young())
    record(
      rigCounts,
      [
        {
          region: 'US',
          countedOn: '2020-11-20',
          total: 600,
          oil: 500,
          gas: 90,
          misc: 10,
          span: 'week',
          source: 'Own',
        },
      ],
      at('2020-11-20T15:30:00Z'),
    )
    filler.advance(at('2020-11-20T18:00:00Z'))
    expect(rigs.between('US', '2020-11-20', '2020-11-21')[0]?.total).toBe(600)
  })
  test('an instance that starts before the first day of a family gets it when the day comes', () => {
    const { filler, frac, duc } = copy(openTestInstance({}, at('2019-12-20T00:00:00Z')))
    filler.advance(at('2019-12-31T23:00:00Z'))
    expect({ frac: frac.newestOn(['US']), duc: duc.newestOn(['US']) }).toEqual({
      frac: undefined,
      duc: undefined,
    })
    filler.advance(at('2020-01-16T00:00:00Z'))
    expect({
      firstOn: frac.firstOn('US'),
      fracNewestOn: frac.newestOn(['US']),
      ducNewestOn: duc.newestOn(['US']),
    }).toEqual({ firstOn: '2020-01-02', fracNewestOn: '2020-01-15', ducNewestOn: '2020-01-15' })
  })
})

describe('a world whose regions add up', () => {
  const own = openTestInstance()
  const listed = own.services.catalogue
    .list()
    .map(item => ({ ...item, available: item.unavailableReason === null }))
  const plain = createWorld({ seed, series: listed })
  const world = withRegions(plain, listed)
  const [from, to] = [at('2026-10-01T00:00:00Z'), at('2026-11-20T00:00:00Z')]

  test('leaves every other code, and the wholes, as they are', () => {
    for (const code of [
      'WTI_USD',
      'US_RIG_COUNT',
      'US_OIL_RIG_COUNT',
      'CANADA_RIG_COUNT',
      'US_DUC_WELLS',
      'TEXAS_WELL_PERMITS',
    ])
      expect(world.observations(code, from, to), code).toEqual(plain.observations(code, from, to))
  })
  test('has parts that leave a rest, and moves them little', () => {
    for (const { whole, parts } of drillingGroups) {
      const totals = world.observations(whole, from, to)
      const listedParts = parts.filter(code =>
        listed.some(series => series.code === code && series.available),
      )
      for (const total of totals.slice(0, 4)) {
        const values = listedParts.map(
          code =>
            world
              .observations(code, from, to + dayMs)
              .find(observation => observation.observedAt === total.observedAt)!.value,
        )
        expect(sum(values), whole).toBeLessThan(total.value)
        for (const [i, code] of listedParts.entries()) {
          const raw = plain
            .observations(code, from, to + dayMs)
            .find(observation => observation.observedAt === total.observedAt)!.value
          expect(Math.abs(values[i]! - raw), code).toBeLessThan(2 + 0.2 * raw)
        }
      }
    }
  })
  test('generated regional counts are the same for any requested span', () => {
    const observations = world.observations('TX_RIG_COUNT', from, to)
    const parts = observations.flatMap(observation =>
      world.observations('TX_RIG_COUNT', observation.recordedAt, observation.recordedAt + 1),
    )
    expect(parts).toEqual(observations)
    const now = at('2026-11-20T00:00:00Z')
    expect(world.history('TX_RIG_COUNT', now).slice(-3)).toEqual(observations.slice(-3))
    expect(dayAfter('2013-01-04', 0)).toBe(
      isoInstant(world.history('TX_RIG_COUNT', now)[0]!.observedAt).slice(0, 10),
    )
  })
})
