import { describe, expect, test } from 'bun:test'
import { fieldsOf } from '../../../../src/feeds/files/csv.ts'
import { fracChemicals, fracDisclosures } from '../../../../src/topics/drilling/dataset/frac.ts'
import { createFracChemicalStore } from '../../../../src/topics/drilling/store/frac-chemicals.ts'
import { createFracDisclosureStore } from '../../../../src/topics/drilling/store/frac-disclosures.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'
import { datasetOf } from '../../../support/topics/datasets.ts'

const now = Date.parse('2026-11-20T15:00:00Z')

function setUp() {
  const db = databaseInMemory()
  const [disclosures, chemicals] = [createFracDisclosureStore(db), createFracChemicalStore(db)]
  return {
    disclosures,
    chemicals,
    jobs: datasetOf(fracDisclosures, disclosures.write),
    fluids: datasetOf(fracChemicals, chemicals.write, { disclosureId: disclosures.idOf }),
  }
}

const job = {
  disclosure_id: 'b41f0c7e',
  api_number: '42-329-40001-00-00',
  state: 'TX',
  county: 'Midland',
  operator: 'Juniper Ridge Operating, LLC',
  well_name: 'BRADFORD 14-23 UNIT 3H',
  job_start_date: '2026-09-28',
  job_end_date: '2026-10-14',
  total_base_water_volume: '18420000',
}
const sand = {
  disclosure_id: 'b41f0c7e',
  chemical_name: 'Crystalline silica (sand)',
  cas_number: '14808-60-7',
  purpose: 'Proppant',
  concentration_percent: '10.42',
}

const recordOf = <T>(checked: { record: T } | { reason: string }): T => {
  if ('reason' in checked) throw new Error(checked.reason)
  return checked.record
}

describe('a job', () => {
  test('goes in once; another number of gallons is a revision that its words follow', () => {
    const { jobs, disclosures } = setUp()
    const record = recordOf(jobs.check(job, now))
    expect(record).toMatchObject({
      reference: 'b41f0c7e',
      apiNumber: '42329400010000',
      waterGallons: 18_420_000,
      nonWaterGallons: null,
      latitude: null,
    })
    expect(jobs.write([record, record], 1)).toEqual({ inserted: 1, revised: 0, unchanged: 1 })
    const renamed = recordOf(
      jobs.check({ ...job, operator: 'Other Oil Co.', total_base_water_volume: '1' }, now),
    )
    expect(jobs.write([renamed], 2)).toEqual({ inserted: 0, revised: 1, unchanged: 0 })
    const operatorsFound = (text: string) =>
      disclosures.page({ text }, 9, 0).rows.map(row => row.operator)
    expect([operatorsFound('juniper'), operatorsFound('other')]).toEqual([[], ['Other Oil Co.']])
  })

  for (const [change, field, reason] of [
    [{ api_number: '' }, 'api_number', 'is missing'],
    [{ api_number: '33-053-09911' }, 'api_number', 'is of North Dakota'],
    [{ job_end_date: '2026-09-27' }, 'job_end_date', 'is before the job began on 2026-09-28'],
    [{ job_end_date: '2026-11-21' }, 'job_end_date', 'is out of range'],
    [{ total_base_water_volume: '-1' }, 'total_base_water_volume', 'is not a number'],
    [{ latitude: '31.9', longitude: '-80' }, 'longitude', 'is outside Texas'],
    [{ disclosure_id: '' }, 'disclosure_id', 'is missing'],
  ] as const) {
    test(`is refused for ${JSON.stringify(change)}`, () => {
      expect(setUp().jobs.check({ ...job, ...change }, now)).toEqual({
        field,
        reason: expect.stringContaining(reason),
      })
    })
  }
})

describe('a substance', () => {
  test('is counted once for each disclosure, whatever it is there for', () => {
    const { jobs, fluids, chemicals } = setUp()
    jobs.write(
      [
        recordOf(jobs.check(job, now)),
        recordOf(jobs.check({ ...job, disclosure_id: 'other' }, now)),
      ],
      1,
    )
    const write = (...rows: object[]) =>
      fluids.write(
        rows.map(row => recordOf(fluids.check({ ...sand, ...row }, now))),
        2,
      )
    expect(write({}, { purpose: 'Diverter' }, { disclosure_id: 'other' })).toEqual({
      inserted: 3,
      revised: 0,
      unchanged: 0,
    })
    expect(write({}, { concentration_percent: '9', purpose: 'Diverter' })).toEqual({
      inserted: 0,
      revised: 1,
      unchanged: 1,
    })
    expect(write({ chemical_name: 'Secret', cas_number: 'Proprietary', purpose: '' })).toEqual({
      inserted: 1,
      revised: 0,
      unchanged: 0,
    })
    expect(chemicals.substances(9, 0)).toEqual([
      { name: 'Crystalline silica (sand)', casNumber: '14808-60-7', disclosures: 2 },
      { name: 'Secret', casNumber: null, disclosures: 1 },
    ])
    expect(
      chemicals.of(1).map(chemical => [chemical.purpose, chemical.concentrationPercent]),
    ).toEqual([
      ['Proppant', 10.42],
      ['Unspecified', 10.42],
      ['Diverter', 9],
    ])
  })

  for (const [change, field, reason] of [
    [{ disclosure_id: 'unknown' }, 'disclosure_id', 'is not a known disclosure: import its row'],
    [{ chemical_name: '' }, 'chemical_name', 'is missing'],
    [{ cas_number: 'sand' }, 'cas_number', 'is not a CAS number'],
    [{ concentration_percent: '101' }, 'concentration_percent', 'is not a number from 0 to 100'],
  ] as const) {
    test(`is refused for ${JSON.stringify(change)}`, () => {
      const { jobs, fluids } = setUp()
      jobs.write([recordOf(jobs.check(job, now))], 1)
      expect(fluids.check({ ...sand, ...change }, now)).toEqual({
        field,
        reason: expect.stringContaining(reason),
      })
    })
  }

  test('keeps its number without the zeros that registries put before it', () => {
    const { jobs, fluids } = setUp()
    jobs.write([recordOf(jobs.check(job, now))], 1)
    expect(recordOf(fluids.check({ ...sand, cas_number: '0014808-60-7' }, now)).casNumber).toBe(
      '14808-60-7',
    )
  })
})

test('the examples of the documentation go in, and again change nothing', () => {
  const { jobs, fluids } = setUp()
  const rowsOf = (example: string) => {
    const [names, ...lines] = example
      .trim()
      .split('\n')
      .map(line => fieldsOf(line, ',')!)
    return lines.map(fields => Object.fromEntries(names!.map((name, i) => [name, fields[i]])))
  }
  for (const counts of [
    { inserted: 2, revised: 0, unchanged: 0 },
    { inserted: 0, revised: 0, unchanged: 2 },
  ]) {
    expect(
      jobs.write(
        rowsOf(jobs.example).map(row => recordOf(jobs.check(row, now))),
        1,
      ),
    ).toEqual(counts)
    expect(
      fluids.write(
        rowsOf(fluids.example).map(row => recordOf(fluids.check(row, now))),
        1,
      ),
    ).toEqual(counts)
  }
})
