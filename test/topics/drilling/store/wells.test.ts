import { expect, test } from 'bun:test'
import type { Well } from '../../../../src/topics/drilling/dataset/wells.ts'
import { createWellStore } from '../../../../src/topics/drilling/store/wells.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

const well = (apiNumber: string, changes: Partial<Well> = {}): Well => ({
  apiNumber,
  state: 'TX',
  operator: 'Pecos, LLC',
  name: 'BRADFORD 1 1H',
  county: 'Midland',
  formation: null,
  latitude: 31.9,
  longitude: -102,
  permitOn: '2025-03-01',
  spudOn: null,
  completedOn: null,
  firstProductionOn: null,
  source: 'import',
  ...changes,
})

test('wells are merged with the existing wells, and the last record of a repeated well is used', () => {
  const store = createWellStore(databaseInMemory())
  const [first, second, third] = ['1', '2', '3'].map(n => well(`4232900${n}`)) as [Well, Well, Well]
  const spudded = { ...third, spudOn: '2025-06-01' }
  expect(store.put([second, first], 1)).toEqual({ inserted: 2, revised: 0, unchanged: 0 })
  expect(store.put([third, { ...first, county: 'Martin' }, second, spudded], 2)).toEqual({
    inserted: 1,
    revised: 2,
    unchanged: 1,
  })
  expect(store.search({})).toEqual([{ ...first, county: 'Martin' }, second, spudded])
})

test('lives are those of the wells that a search finds, in a circle too', () => {
  const store = createWellStore(databaseInMemory())
  const near = well('42329001', { firstProductionOn: '2026-01-01' })
  const inBeltOnly = well('42329002', { longitude: -99, firstProductionOn: '2026-02-01' })
  const unplaced = well('42329003', { latitude: null, longitude: null })
  const elsewhere = well('30015001', { state: 'NM', operator: 'Gila, LLC', source: 'feed' })
  store.put([near, inBeltOnly, unplaced, elsewhere], 1)
  const circle = { latitude: 31.9, longitude: -102, radiusMiles: 10 }
  const filters = [{}, { state: 'TX' }, { state: 'TX', circle }, { producingFrom: '2026-01-15' }]
  const found = filters.map(filter => store.search(filter).map(({ apiNumber }) => apiNumber))
  expect(found).toEqual([
    ['30015001', '42329001', '42329002', '42329003'],
    ['42329001', '42329002', '42329003'],
    ['42329001'],
    ['42329002'],
  ])
  for (const filter of filters) {
    const wells = store.search(filter)
    const lives = store.lives(filter)
    expect(lives.wells).toBe(wells.length)
    expect(lives.sources.toSorted()).toEqual([...new Set(wells.map(row => row.source))].sort())
    expect(lives.producing.map(({ apiNumber }) => apiNumber).toSorted()).toEqual(
      wells.filter(row => row.firstProductionOn).map(({ apiNumber }) => apiNumber),
    )
  }
  expect(store.lives({ state: 'TX', circle }).producing[0]).toMatchObject({
    permitOn: '2025-03-01',
    spudOn: null,
    firstProductionOn: '2026-01-01',
    source: 'import',
  })
})
