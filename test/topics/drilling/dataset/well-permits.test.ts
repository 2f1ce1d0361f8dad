import { describe, expect, test } from 'bun:test'
import { fieldsOf } from '../../../../src/feeds/files/csv.ts'
import { wellPermits } from '../../../../src/topics/drilling/dataset/permits.ts'
import { createWellPermitStore } from '../../../../src/topics/drilling/store/well-permits.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'
import { datasetOf } from '../../../support/topics/datasets.ts'

const now = Date.parse('2026-11-20T15:00:00Z')

function setUp() {
  const store = createWellPermitStore(databaseInMemory())
  return {
    dataset: datasetOf(wellPermits, (permits, at) => store.write(permits, at).counts),
  }
}

const row = {
  state: 'tx',
  permit_date: '2026-11-18',
  permit_number: '918273',
  api_number: '42-329-40001',
  operator: 'JUNIPER RIDGE OPERATING LLC',
  well_name: 'BRADFORD  14-23 UNIT',
  well_number: '3H',
  county: 'Midland',
  formation: 'WOLFCAMP A',
  total_depth: '9800.0',
  latitude: '31.86370049',
  longitude: '-102.0319',
}

describe('a row', () => {
  test('a valid row becomes a well permit with missing fields filled in', () => {
    expect(setUp().dataset.check(row, now)).toEqual({
      record: {
        state: 'TX',
        permitOn: '2026-11-18',
        permitNumber: '918273',
        permitType: 'new_drill',
        permitStatus: 'approved',
        apiNumber: '42329400010000',
        apiNumberRaw: '42-329-40001',
        county: 'Midland',
        operator: 'JUNIPER RIDGE OPERATING LLC',
        operatorNumber: null,
        wellName: 'BRADFORD 14-23 UNIT',
        wellNumber: '3H',
        wellType: 'unknown',
        formation: 'WOLFCAMP A',
        totalDepth: 9800,
        latitude: 31.8637,
        longitude: -102.0319,
        section: null,
        township: null,
        range: null,
        source: 'import',
        sourceUrl: '',
        fetchedAt: now,
        dataAsOfOn: '2026-11-20',
      },
    })
  })

  test('may be of JSON, with numbers', () => {
    const input = {
      ...row,
      permit_number: 918273,
      api_number: 4232940001,
      total_depth: 0,
      latitude: 31.8637,
      longitude: -102.0319,
      section: 14,
    }
    expect(setUp().dataset.check(input, now)).toMatchObject({
      record: {
        permitNumber: '918273',
        apiNumber: '42329400010000',
        totalDepth: null,
        section: '14',
      },
    })
  })

  test('may lack its permit number or its API number and its place', () => {
    const { dataset } = setUp()
    expect(dataset.check({ ...row, permit_number: '' }, now)).toMatchObject({
      record: { permitNumber: null },
    })
    const bare = { state: 'AK', permit_date: '2026-11-18', permit_number: '7', operator: 'X' }
    expect(dataset.check(bare, now)).toMatchObject({
      record: { apiNumber: null, apiNumberRaw: '', latitude: null, longitude: null },
    })
  })

  test('of Alaska may be on both sides of 180 degrees, and off the coast of any state', () => {
    const { dataset } = setUp()
    const alaska = {
      state: 'AK',
      permit_date: '2026-11-18',
      permit_number: '7',
      operator: 'X',
      latitude: '52',
    }
    for (const longitude of ['-179.9', '179.9', '-150'])
      expect(dataset.check({ ...alaska, longitude }, now)).toHaveProperty('record')
    expect(dataset.check({ ...row, latitude: '28.1', longitude: '-93.3' }, now)).toHaveProperty(
      'record',
    )
  })

  for (const [change, field, reason] of [
    [{ state: 'HI' }, 'state', 'state HI is not a state that is served: write one of AK, AL'],
    [{ state: '' }, 'state', 'is missing'],
    [{ permit_date: '2026-11-21' }, 'permit_date', 'is out of range'],
    [{ permit_date: '2026-02-30' }, 'permit_date', 'is not a day'],
    [
      { api_number: '42-329-4000' },
      'api_number',
      'is not an API number: write 10, 12 or 14 digits',
    ],
    [
      { api_number: '30-025-40001' },
      'api_number',
      'is of New Mexico: those of Texas begin with 42',
    ],
    [{ api_number: '60-817-40001' }, 'api_number', 'begins with the digits of no state'],
    [
      { permit_number: '', api_number: '' },
      'permit_number',
      'is missing: write the number of the permit or the API number',
    ],
    [{ operator: '  ' }, 'operator', 'is missing'],
    [
      { latitude: '47.9', longitude: '-103.2' },
      'latitude',
      'is outside Texas: it must be within latitude 25.83 to 36.51',
    ],
    [{ latitude: '0', longitude: '0' }, 'latitude', 'is outside Texas'],
    [{ longitude: '102.0319' }, 'longitude', 'is outside Texas'],
    [{ latitude: '91' }, 'latitude', 'is not a number from -90 to 90'],
    [{ longitude: '' }, 'longitude', 'write both coordinates or neither'],
    [{ total_depth: '9800 ft' }, 'total_depth', 'is not a number'],
    [{ permit_type: '---' }, 'permit_type', 'is not a word'],
    [{ source_url: 'javascript:alert(1)' }, 'source_url', 'is not an address'],
    [{ fetched_at: '2027-01-01T00:00:00Z' }, 'fetched_at', 'is out of range'],
    [{ well_name: 'a\nb' }, 'well_name', 'is not accepted'],
  ] as const) {
    test(`is refused for ${JSON.stringify(change)}`, () => {
      expect(setUp().dataset.check({ ...row, ...change }, now)).toEqual({
        field,
        reason: expect.stringContaining(reason),
      })
    })
  }
})

test('the example of the documentation goes in, and again changes nothing', () => {
  const { dataset } = setUp()
  const [names, ...lines] = dataset.example
    .trim()
    .split('\n')
    .map(line => fieldsOf(line, ',')!)
  const records = lines.map(fields => {
    const checked = dataset.check(
      Object.fromEntries(names!.map((name, i) => [name, fields[i]])),
      now,
    )
    if (!('record' in checked)) throw new Error(checked.reason)
    return checked.record
  })
  expect(dataset.write(records, now)).toEqual({ inserted: 2, revised: 0, unchanged: 0 })
  expect(dataset.write(records, now)).toEqual({ inserted: 0, revised: 0, unchanged: 2 })
})
