import { describe, expect, test } from 'bun:test'
import { needs } from '../../../support/needs.ts'
import { realRows } from '../../../support/real-data.ts'
import { faultOf, setUp, taken } from '../../../support/topics/carriers.ts'

describe('storage capacities', () => {
  test('come in their unit, exactly', () => {
    const { storage, capacities, idOf } = setUp()
    storage.write(
      taken(
        storage,
        'code,effective_on,capacity,unit\ncushing,2024-03-01,78410,thousand_barrels\nSPR,2024-03-01,714,\nUS_NATGAS_STORAGE,2024-03-01,4728232,mmcf\n',
      ),
      1,
    )
    const on = (code: string) => capacities.on(idOf(code), '2026-01-01')
    expect(on('CUSHING_STORAGE')).toEqual({
      seriesId: idOf('CUSHING_STORAGE'),
      effectiveOn: '2024-03-01',
      capacity: 78.41,
      source: 'import',
    })
    expect([on('SPR_STORAGE')!.capacity, on('US_NATGAS_STORAGE')!.capacity]).toEqual([
      714, 4728.232,
    ])
  })

  needs('../shared/data').test(
    `are read from the agency's survey after one rewriting of its names`,
    () => {
      const { storage, capacities, idOf } = setUp()
      const rows = realRows('eia-weekly-stocks/eia_working_storage_capacity_kbbl.csv').filter(
        row => row[3] === 'crude',
      )
      const lines = rows.map(
        ([place, day, value]) =>
          `${place!.replace(/^P/, 'PADD').replace('US', 'US_CRUDE_STORAGE')},${day},${value},thousand_barrels,EIA`,
      )
      expect(
        storage.write(
          taken(storage, `code,effective_on,capacity,unit,source\n${lines.join('\n')}`),
          1,
        ),
      ).toMatchObject({ inserted: 161 })
      expect(capacities.on(idOf('PADD3_CRUDE_STORAGE'), '2024-02-29')!.capacity).toBe(409.802)
      expect(capacities.on(idOf('CUSHING_STORAGE'), '2015-08-31')!.capacity).toBe(71.278)
    },
  )

  test('are refused with what would be right', () => {
    const { storage } = setUp()
    const row = { code: 'CUSHING_STORAGE', effective_on: '2024-03-01', capacity: '78.41' }
    expect(faultOf(storage, row)).toBeUndefined()
    const table: [Record<string, unknown>, string, RegExp][] = [
      [
        { code: 'CUSHING_STORAG' },
        'code',
        /^code CUSHING_STORAG is not a storage code: did you mean CUSHING_STORAGE\?$/,
      ],
      [
        { code: 'WTI_USD' },
        'code',
        /^code WTI_USD is not a storage code: wellhead codes search storage lists them$/,
      ],
      // Near codes of gasoline are none of this dataset.
      [
        { code: 'US' },
        'code',
        /^code US is not a storage code: (did you mean US_\w+|wellhead codes search storage)/,
      ],
      [
        { code: 'GASOLINE' },
        'code',
        /^code GASOLINE is not a storage code: (did you mean \w*STORAGE|wellhead codes search storage)/,
      ],
      [
        { capacity: '78410' },
        'capacity',
        /78410 million_barrels is outside the accepted range for CUSHING_STORAGE: check the unit/,
      ],
      [{ capacity: '0' }, 'capacity', /is nothing/],
      [{ capacity: '78,41' }, 'capacity', /is not a number/],
      [{ capacity: -1 }, 'capacity', /is not a number/],
      [
        { unit: 'litres' },
        'unit',
        /^unit litres does not measure CUSHING_STORAGE: write million_barrels or thousand_barrels or barrels$/,
      ],
      [{ effective_on: '2024-02-30' }, 'effective_on', /is not a day/],
      [{ effective_on: '2029-01-01' }, 'effective_on', /is out of range/],
    ]
    for (const [change, field, reason] of table) {
      const fault = faultOf(storage, { ...row, ...change })
      expect(fault?.field, JSON.stringify(change)).toBe(field)
      expect(fault?.reason).toMatch(reason)
    }
  })
})
