import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { WellPermit } from '../../../../src/topics/drilling/dataset/permits.ts'
import {
  countyKey,
  formationKey,
  operatorKey,
} from '../../../../src/topics/drilling/math/permits.ts'
import {
  createPermitSearch,
  type PermitFilter,
} from '../../../../src/topics/drilling/store/permit-search.ts'
import { TooCommon } from '../../../../src/topics/drilling/store/permit-words.ts'
import {
  createWellPermitStore,
  type StoredPermit,
} from '../../../../src/topics/drilling/store/well-permits.ts'
import { type Circle, milesBetween } from '../../../../src/topics/geography/math/geography.ts'
import { runs } from '../../../support/full.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'
import { permit } from '../../../support/topics/permits.ts'

const operators = [
  'Juniper Ridge Operating, LLC',
  'JUNIPER RIDGE OPERATING LLC',
  'Badland Petroleum, Inc.',
  'Ridge Gas Co.',
  'BP',
]
const counties = ['Midland', 'Lea County', 'La Salle', null]
const formations = ['Wolfcamp A', 'WOLFCAMP B FM', 'Bone Spring', null]
const names = ['Bradford 14-23 Unit', 'BRADFORD 7', 'Ridge 9', 'Lea 5', "O'Brien % _ State", '']
const types = ['new_drill', 'recompletion']
const days = [
  '2023-12-31',
  '2024-01-01',
  '2024-06-15',
  '2024-06-16',
  '2025-01-31',
  '2025-02-01',
  '2026-11-18',
  '1962-05-04',
]
/**
 * Places around the poles of a search: one town, the meridian of 180 degrees, the North Pole,
 * nowhere.
 */
const places = [
  [31.8637, -102.0319],
  [31.9637, -102.0319],
  [31.8637, -102.2319],
  [52, 179.95],
  [52, -179.95],
  [89.97, 10],
  [89.97, -170],
  [null, null],
] as const

const anyPermit = (i: number): fc.Arbitrary<WellPermit> =>
  fc
    .record({
      state: fc.constantFrom('TX', 'NM', 'AK'),
      operator: fc.constantFrom(...operators),
      county: fc.constantFrom(...counties),
      formation: fc.constantFrom(...formations),
      wellName: fc.constantFrom(...names),
      permitType: fc.constantFrom(...types),
      wellType: fc.constantFrom('oil', 'gas'),
      permitOn: fc.constantFrom(...days),
      place: fc.constantFrom(...places),
    })
    .map(({ place: [latitude, longitude], ...facts }) =>
      permit({
        ...facts,
        latitude,
        longitude,
        permitNumber: String(1000 + i),
        apiNumber: `4232940${String(i).padStart(3, '0')}0000`,
      }),
    )

const anyPermits = fc
  .integer({ min: 0, max: 60 })
  .chain(n => fc.tuple(...Array.from({ length: n }, (_, i) => anyPermit(i))))

/** Mostly absent: a search with every filter at once would find nothing. */
const maybe = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 4 }, { arbitrary: value, weight: 1 })
const anyFilter: fc.Arbitrary<PermitFilter> = fc
  .record({
    states: maybe(fc.constantFrom(['TX'], ['TX', 'NM'], ['AK', 'NM', 'TX'], ['OH'])),
    operator: maybe(
      fc.constantFrom('ridge', 'juniper ridge', 'badland petroleum', 'B', 'nobody', 'ing'),
    ),
    county: maybe(fc.constantFrom('midland', 'LEA', 'la salle county', 'Loving')),
    formation: maybe(fc.constantFrom('wolfcamp', 'wolfcamp b', 'bone', 'x')),
    wellName: maybe(fc.constantFrom('brad', 'UNIT', '14-23', '% _', "O'B")),
    permitType: maybe(fc.constantFrom('New Drill', 'recompletion', 'other')),
    wellType: maybe(fc.constantFrom('oil', 'gas')),
    text: maybe(
      fc.constantFrom(
        'ridge',
        'bradford midland',
        'unit wolfcamp ridge',
        'lea',
        '1003',
        '42-329-40005',
        'spring unlisted',
        "o'brien state",
      ),
    ),
    from: maybe(fc.constantFrom(...days)),
    to: maybe(fc.constantFrom(...days)),
    circle: maybe(
      fc.record({
        latitude: fc.constantFrom(31.8637, 52, 89.99),
        longitude: fc.constantFrom(-102.0319, 180, -180, 0),
        radiusMiles: fc.constantFrom(1, 5, 7, 12, 100),
      }),
    ),
  })
  .map(filter =>
    Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)),
  )

const upper = (text: string) => text.toUpperCase()
const has = (text: string | null, part: string) =>
  text !== null && upper(text).includes(upper(part))
const partOf = (key: string | null, part: string) =>
  key !== null && (part.length < 3 ? key.startsWith(part) : key.includes(part))

/** The same search, tested against every permit. */
function fits(permit: StoredPermit, filter: PermitFilter): boolean {
  const {
    states,
    operator,
    county,
    formation,
    wellName,
    permitType,
    wellType,
    text,
    from,
    to,
    circle,
  } = filter
  if (states && !states.includes(permit.state)) return false
  if (operator !== undefined && !partOf(operatorKey(permit.operator), operatorKey(operator)))
    return false
  if (
    county !== undefined &&
    (permit.county === null || countyKey(permit.county) !== countyKey(county))
  )
    return false
  if (
    formation !== undefined &&
    !partOf(
      permit.formation === null ? null : formationKey(permit.formation),
      formationKey(formation),
    )
  )
    return false
  if (wellName !== undefined && !has(permit.wellName, wellName)) return false
  if (
    permitType !== undefined &&
    permit.permitType !== permitType.toLowerCase().replaceAll(' ', '_')
  )
    return false
  if (wellType !== undefined && permit.wellType !== wellType) return false
  if ((from !== undefined && permit.permitOn < from) || (to !== undefined && permit.permitOn >= to))
    return false
  if (circle && !isWithin(permit, circle)) return false
  return (text ?? '')
    .split(' ')
    .filter(Boolean)
    .every(word => isIn(permit, word))
}

function isIn(permit: StoredPermit, word: string): boolean {
  const keys = [
    operatorKey(permit.operator),
    permit.county && countyKey(permit.county),
    permit.formation && formationKey(permit.formation),
    permit.wellName,
  ]
  return (
    keys.some(key => has(key, word)) ||
    permit.permitNumber === word ||
    (permit.apiNumber?.startsWith(word.replaceAll('-', '')) === true && /^[\d-]{10,}$/.test(word))
  )
}

const isWithin = ({ latitude, longitude }: StoredPermit, circle: Circle) =>
  latitude !== null &&
  longitude !== null &&
  milesBetween(circle, { latitude, longitude }) <= circle.radiusMiles

const newestFirst = (a: StoredPermit, b: StoredPermit) =>
  a.permitOn === b.permitOn ? b.id - a.id : a.permitOn < b.permitOn ? 1 : -1

function filled(permits: readonly WellPermit[]) {
  const db = databaseInMemory()
  const [store, search] = [createWellPermitStore(db), createPermitSearch(db)]
  // In two writes: the second has days before those of the first.
  const half = permits.length >> 1
  store.write(permits.slice(0, half), 1)
  store.write(permits.slice(half), 2)
  const all = store.rows(Array.from({ length: permits.length }, (_, i) => i + 1))
  return { db, store, search, all }
}

describe('a search', () => {
  test('a permit search returns what a full scan finds, newest first, and its pages neither repeat nor lose a permit', () => {
    fc.assert(
      fc.property(
        anyPermits,
        fc.array(anyFilter, { minLength: 6, maxLength: 6 }),
        fc.integer({ min: 1, max: 9 }),
        (permits, filters, size) => {
          const { db, search, all } = filled(permits)
          for (const filter of filters) {
            const expected = all
              .filter(row => fits(row, filter))
              .sort(newestFirst)
              .map(row => row.id)
            const pages = Array.from({ length: Math.ceil(expected.length / size) + 1 }, (_, i) =>
              search.page(filter, size, i * size),
            )
            expect(
              pages.flatMap(page => page.ids),
              JSON.stringify(filter),
            ).toEqual(expected)
            expect(new Set(pages.map(page => page.total))).toEqual(new Set([expected.length]))
          }
          db.close()
        },
      ),
      { numRuns: runs(80) },
    )
  })

  test('around a place finds what the great-circle distance of every permit finds', () => {
    const near = fc.record({
      latitude: fc.double({ min: 31, max: 33, noNaN: true }),
      longitude: fc.double({ min: -103, max: -101, noNaN: true }),
    })
    const circle = fc.record({
      latitude: fc.constant(32),
      longitude: fc.constant(-102),
      radiusMiles: fc.double({ min: 1, max: 100, noNaN: true }),
    })
    fc.assert(
      fc.property(
        fc.array(near, { maxLength: 60 }),
        circle,
        fc.constantFrom(...days),
        (places, round, day) => {
          const permits = places.map(({ latitude, longitude }, i) =>
            permit({
              permitNumber: String(i),
              permitOn: days[i % days.length]!,
              latitude: Math.round(latitude * 1e6) / 1e6,
              longitude: Math.round(longitude * 1e6) / 1e6,
            }),
          )
          const { db, search, all } = filled(permits)
          for (const filter of [
            { circle: round },
            { circle: round, from: day },
            { circle: round, to: day },
          ]) {
            const expected = all.filter(row => fits(row, filter)).sort(newestFirst)
            const { ids, total } = search.page(filter, 100, 0)
            expect({ ids, total }).toEqual({
              ids: expected.map(permit => permit.id),
              total: expected.length,
            })
          }
          db.close()
        },
      ),
      { numRuns: runs(60) },
    )
  })

  test('around a place leaves out the corners of the box', () => {
    const centre = { latitude: 32, longitude: -102 }
    const north = (degrees: number) => ({
      latitude: 32 + degrees,
      longitude: Math.round(1e6 * (-102 + degrees / Math.cos((32 * Math.PI) / 180))) / 1e6,
    })
    const { search, all } = filled(
      [0.1022, 0.1025].map((degrees, i) => permit({ permitNumber: String(i), ...north(degrees) })),
    )
    expect(
      all.map(
        ({ latitude, longitude }) =>
          milesBetween(centre, { latitude: latitude!, longitude: longitude! }) <= 10,
      ),
    ).toEqual([true, false])
    expect(search.page({ circle: { ...centre, radiusMiles: 10 } }, 9, 0)).toEqual({
      ids: [1],
      total: 1,
    })
  })

  test('of an empty register finds nothing', () => {
    const { search } = filled([])
    for (const filter of [
      {},
      { states: ['TX'] },
      { text: 'bradford' },
      { circle: { latitude: 32, longitude: -102, radiusMiles: 10 } },
    ]) {
      expect(search.page(filter, 25, 0)).toEqual({ ids: [], total: 0 })
    }
  })

  test('refuses a part that is on nearly every well', () => {
    const { db, search } = filled([permit()])
    db.run(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20001) INSERT INTO permit_well_names (name) SELECT 'UNIT ' || i FROM n",
    )
    db.run("INSERT INTO permit_well_name_text (permit_well_name_text) VALUES ('rebuild')")
    for (const filter of [{ wellName: 'unit' }, { text: 'unit' }])
      expect(() => search.page(filter, 25, 0)).toThrow(TooCommon)
    expect(search.page({ wellName: 'bradford' }, 25, 0).total).toBe(1)
  })

  test('a permit search does not interpret its input as SQL or as a query language', () => {
    const { search } = filled([
      permit({ wellName: 'A "quoted" name' }),
      permit({ permitNumber: '2', wellName: 'AND OR NOT*' }),
    ])
    for (const [wellName, total] of [
      ['"quoted"', 1],
      ['NOT*', 1],
      ["'); DROP TABLE wells; --", 0],
      ['name OR', 0],
    ] as const) {
      expect(search.page({ wellName }, 25, 0).total, wellName).toEqual(total)
    }
  })
})
