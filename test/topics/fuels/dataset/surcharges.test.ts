import { describe, expect, test } from 'bun:test'
import { parseInstant } from '../../../../src/lib/time/instant.ts'
import { faultOf, now, setUp, week } from '../../../support/topics/carriers.ts'

describe('published surcharges', () => {
  test('a published surcharge is stored as its row states', () => {
    const { published } = setUp()
    expect(published.check(week, now)).toEqual({
      record: {
        mode: 'ltl',
        carrier: 'alder',
        serviceLevel: '',
        carrierName: 'Alder Freight Lines',
        serviceName: '',
        effectiveOn: '2026-11-18',
        percent: 26,
        indexCode: 'DIESEL_US_NATIONAL_USD',
        indexPrice: 3.718,
        bandMin: 3.7,
        bandMax: 3.75,
        source: 'https://alder.example/fuel',
        retrievedAt: parseInstant('2026-11-18T13:05:00Z')!,
        fixture: false,
      },
    })
    const air = {
      ...week,
      mode: 'Parcel',
      service_level: 'Express',
      index_code: 'jet_fuel_usd',
    }
    expect(published.check(air, now)).toMatchObject({
      record: {
        mode: 'parcel',
        serviceLevel: 'express',
        serviceName: 'express',
        indexCode: 'JET_FUEL_USD',
      },
    })
  })

  test('are refused with what would be right', () => {
    const { published } = setUp()
    const table: [Record<string, unknown>, string][] = [
      [{ carrier: 'a b' }, 'carrier'],
      [{ carrier: 'parcel' }, 'carrier'],
      [{ mode: 'rail' }, 'mode'],
      [{ mode: 'parcel' }, 'service_level'],
      [{ service_level: 'ground' }, 'service_level'],
      [{ carrier_name: 'two\nlines' }, 'carrier_name'],
      [{ effective_date: '2027-03-01' }, 'effective_date'],
      [{ surcharge_percent: '-1' }, 'surcharge_percent'],
      [{ surcharge_percent: '201' }, 'surcharge_percent'],
      [{ index_code: 'NO_CODE_USD' }, 'index_code'],
      [{ index_price: '3.75' }, 'index_price'],
      [{ index_price: '3.699' }, 'index_price'],
      [{ source: 'ftp://alder.example/' }, 'source'],
      [{ source: 'javascript:alert(1)' }, 'source'],
      [{ retrieved_at: '2026-11-18T13:05:00' }, 'retrieved_at'],
      [{ retrieved_at: '2026-12-18T13:05:00Z' }, 'retrieved_at'],
    ]
    for (const [change, field] of table) {
      const fault = faultOf(published, { ...week, ...change })
      expect([fault?.field, fault?.reason.startsWith(field)], JSON.stringify(change)).toEqual([
        field,
        true,
      ])
    }
  })
})
