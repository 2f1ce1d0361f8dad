import type { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { integrityFaults } from '../../../../src/database/database.ts'
import type { WellPermit } from '../../../../src/topics/drilling/dataset/permits.ts'
import { createPermitCounts } from '../../../../src/topics/drilling/store/permit-counts.ts'
import { createPermitSearch } from '../../../../src/topics/drilling/store/permit-search.ts'
import { createWellPermitStore } from '../../../../src/topics/drilling/store/well-permits.ts'
import { runs } from '../../../support/full.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'
import { permit } from '../../../support/topics/permits.ts'

const setUp = () => {
  const db = databaseInMemory()
  return {
    db,
    store: createWellPermitStore(db),
    counts: createPermitCounts(db),
    search: createPermitSearch(db),
  }
}

describe('a permit', () => {
  test('comes back as it was written, with one name for the operator and the formation', () => {
    const { store } = setUp()
    const written = permit({
      operator: 'JUNIPER RIDGE OPERATING, L.L.C.',
      formation: 'WOLFCAMP A FM',
    })
    store.write([permit(), { ...written, permitNumber: '2', county: 'MIDLAND COUNTY' }], 7)
    const [, second] = store.rows([1, 2])
    expect(second).toEqual({
      ...written,
      permitNumber: '2',
      id: 2,
      recordedAt: 7,
      county: 'Midland',
      operatorName: 'Juniper Ridge Operating, LLC',
      operatorKey: 'JUNIPER RIDGE OPERATING',
      formationName: 'Wolfcamp A',
      formationKey: 'WOLFCAMP A',
    })
  })

  test('again is unchanged whenever it was fetched; anything else is a revision under the same number', () => {
    const { store, search } = setUp()
    expect(store.write([permit()], 1).counts).toEqual({ inserted: 1, revised: 0, unchanged: 0 })
    expect(store.write([permit({ fetchedAt: permit().fetchedAt + 1 })], 2).counts).toEqual({
      inserted: 0,
      revised: 0,
      unchanged: 1,
    })
    const moved = permit({
      permitStatus: 'expired',
      permitOn: '2025-03-02',
      latitude: 32.5,
      county: 'Martin',
      wellName: 'Other',
    })
    expect(store.write([moved], 3)).toEqual({
      counts: { inserted: 0, revised: 1, unchanged: 0 },
      inserted: [],
      statusChanges: [{ id: 1, from: 'approved', to: 'expired' }],
    })
    expect(store.rows([1])[0]).toMatchObject({ ...moved, recordedAt: 3 })
    const around = (latitude: number) =>
      search.page({ circle: { latitude, longitude: -102.0319, radiusMiles: 5 } }, 9, 0).total
    expect([around(31.8637), around(32.5)]).toEqual([0, 1])
    expect({
      total: search.page({ county: 'Midland' }, 9, 0).total,
      ids: search.page({ county: 'martin' }, 9, 0).ids,
    }).toEqual({ total: 0, ids: [1] })
    expect([
      search.page({ wellName: 'bradford' }, 9, 0).total,
      search.page({ wellName: 'other' }, 9, 0).total,
    ]).toEqual([0, 1])
  })

  test('a permit that occurs twice in one write is stored once with its last values', () => {
    const { store, search } = setUp()
    const other = permit({ permitNumber: 'other' })
    const expired = permit({ permitStatus: 'expired' })
    expect(store.write([permit(), other, permit(), expired], 1)).toEqual({
      counts: { inserted: 2, revised: 1, unchanged: 1 },
      inserted: [1, 2].map(id => ({ id, state: 'TX', permitOn: permit().permitOn })),
      statusChanges: [{ id: 1, from: 'approved', to: 'expired' }],
    })
    expect(store.rows([1, 2]).map(row => [row.permitNumber, row.permitStatus])).toEqual([
      [permit().permitNumber, 'expired'],
      ['other', 'approved'],
    ])
    expect(search.page({}, 9, 0).total).toBe(2)
  })

  test('that loses its place is found by no circle', () => {
    const { store, search } = setUp()
    store.write([permit()], 1)
    store.write([permit({ latitude: null, longitude: null })], 2)
    expect(
      search.page({ circle: { latitude: 31.8637, longitude: -102.0319, radiusMiles: 100 } }, 9, 0)
        .total,
    ).toBe(0)
  })

  test('a permit without a number is identified by its well and day', () => {
    const { store } = setUp()
    const unnumbered = permit({ permitNumber: null })
    const { counts } = store.write(
      [unnumbered, { ...unnumbered, permitOn: '2026-11-17' }, unnumbered],
      1,
    )
    expect(counts).toEqual({ inserted: 2, revised: 0, unchanged: 1 })
  })

  test('is numbered in the order of the days, and all or none of a write is there', () => {
    const { store } = setUp()
    store.write(
      ['2026-11-18', '2026-11-03', '2026-11-10'].map((permitOn, i) =>
        permit({ permitNumber: String(i), permitOn }),
      ),
      1,
    )
    expect(store.rows([1, 2, 3]).map(row => row.permitOn)).toEqual([
      '2026-11-03',
      '2026-11-10',
      '2026-11-18',
    ])
    const broken = { ...permit({ permitNumber: '8' }), operator: null as unknown as string }
    expect(() => store.write([permit({ permitNumber: '7' }), broken], 2)).toThrow()
    expect(store.rows([4])).toEqual([])
    expect(store.write([permit({ permitNumber: '7', wellName: 'New' })], 3).counts.inserted).toBe(1)
  })

  test('the permits of a well are listed oldest first', () => {
    const { store } = setUp()
    store.write(
      [
        permit(),
        permit({ permitNumber: '5', permitOn: '2020-02-02' }),
        permit({ permitNumber: '6', apiNumber: null }),
      ],
      1,
    )
    expect(store.ofWell('42329400010000').map(permit => permit.permitNumber)).toEqual([
      '5',
      '918273',
    ])
  })

  test('a permit write records when the list of its state was read, even if the permit is unchanged', () => {
    const { store } = setUp()
    store.write([permit({ fetchedAt: 20 })], 30)
    store.write([permit({ fetchedAt: 50 }), permit({ fetchedAt: 10 })], 60)
    expect([store.readAt('TX'), store.readAt('NM')]).toEqual([50, undefined])
  })
})

describe('counts', () => {
  const change = fc.record({
    permitNumber: fc.constantFrom('1', '2', '3', '4', '5', '6'),
    state: fc.constantFrom('TX', 'NM'),
    operator: fc.constantFrom('A Oil', 'B Gas, LLC'),
    county: fc.constantFrom('Lea', 'Eddy', null),
    formation: fc.constantFrom('Wolfcamp', null),
    permitType: fc.constantFrom('new_drill', 'reentry'),
    permitOn: fc.constantFrom('2024-12-31', '2025-01-01', '2026-11-18'),
  })

  test('by period and by word are those of the permits after any writes', () => {
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 6 }), batches => {
        const { db, store } = setUp()
        for (const [i, batch] of batches.entries())
          store.write(
            batch.map(fields => permit(fields)),
            i,
          )
        expect(countsIn(db)).toEqual(countedIn(db))
        expect(integrityFaults(db)).toEqual([])
        db.close()
      }),
      { numRuns: runs(60) },
    )
  })

  test('of states add up to the total, and movements compare two spans', () => {
    const { store, counts } = setUp()
    const on = (permitOn: string, state: string, operator = 'A Oil'): WellPermit =>
      permit({ permitOn, state, operator, permitNumber: `${permitOn}${operator}` })
    store.write(
      [
        on('2026-11-18', 'TX'),
        on('2026-11-17', 'TX'),
        on('2026-10-01', 'TX'),
        on('2026-11-02', 'NM', 'B Gas'),
      ],
      1,
    )
    expect([counts.total(), counts.ofState('TX'), counts.ofState('OH')]).toEqual([4, 3, 0])
    expect(counts.largest('state', 9, 0).map(term => [term.label, term.permits])).toEqual([
      ['TX', 3],
      ['NM', 1],
    ])
    expect([
      counts.count('operator'),
      counts.largest('operator', 1, 1).map(term => term.label),
    ]).toEqual([2, ['B Gas']])
    const texas = counts.largest('state', 1, 0)[0]!
    const movement = counts
      .movements('state', [texas.id], '2026-09-20', '2026-10-20', '2026-11-19')
      .get(texas.id)
    expect(movement).toEqual({ newestOn: '2026-11-18', change: 1 })
    expect([...counts.newestByState()]).toEqual([
      ['NM', '2026-11-02'],
      ['TX', '2026-11-18'],
    ])
    expect({
      oldestOn: counts.oldestOn('TX'),
      between: counts.between('TX', '2026-11-17', '2026-11-18'),
      source: counts.sourceOf('NM'),
    }).toEqual({ oldestOn: '2026-10-01', between: 1, source: 'Texas RRC' })
    expect(counts.topOperators('TX', '2026-10-01', '2026-11-18', 5)).toEqual([
      { name: 'A Oil', permits: 2 },
    ])
    expect(counts.topCounties('TX', '2026-11-18', '2026-11-19', 5)).toEqual([
      { name: 'Midland', permits: 1 },
    ])
  })
})

/** The counts as they are kept. */
function countsIn(db: Database) {
  return {
    periods: db
      .query('SELECT * FROM permit_periods WHERE permits <> 0 ORDER BY 1, 2, 3, 4, 5')
      .values(),
    terms: db.query('SELECT id, permits FROM permit_terms WHERE permits <> 0 ORDER BY id').values(),
  }
}

/** The same from the permits. */
function countedIn(db: Database) {
  const [month, year] = ['substr(permit_on, 1, 7)', 'substr(permit_on, 1, 4)']
  const by = (term: string, period: string, state: string, types: string) =>
    `SELECT ${term}, ${period}, ${state}, ${types}, count(*) FROM well_permits WHERE ${term} IS NOT NULL GROUP BY 1, 2, 3, 4, 5`
  const typed = 'permit_type_id, well_type_id'
  const parts = [
    by('0', month, '0', typed),
    by('state_id', month, 'state_id', typed),
    by('formation_id', year, 'state_id', typed),
  ]
  const plain = [
    by('county_id', year, 'state_id', '0, 0'),
    by('operator_id', year, 'state_id', '0, 0'),
  ]
  const columns = [
    'state_id',
    'county_id',
    'operator_id',
    'formation_id',
    'permit_type_id',
    'well_type_id',
  ]
  const terms = columns.map(
    name => `SELECT ${name} AS id, count(*) FROM well_permits WHERE ${name} IS NOT NULL GROUP BY 1`,
  )
  return {
    periods: db
      .query(`${[...parts, ...plain].join(' UNION ALL ')} ORDER BY 1, 2, 3, 4, 5`)
      .values(),
    terms: db.query(`${terms.join(' UNION ALL ')} ORDER BY 1`).values(),
  }
}
