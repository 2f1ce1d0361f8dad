import type { WellPermit } from '../../src/store/drilling/well-permits.ts'

/** A permit in Midland County; `change` says what is different. */
export const permit = (change: Partial<WellPermit> = {}): WellPermit => ({
  ...{ state: 'TX', permitOn: '2026-11-18', permitNumber: '918273', permitType: 'new_drill', permitStatus: 'approved' },
  ...{ apiNumber: '42329400010000', apiNumberRaw: '42-329-40001', county: 'Midland', operator: 'Juniper Ridge Operating, LLC' },
  ...{ operatorNumber: '148113', wellName: 'Bradford 14-23 Unit', wellNumber: '3H', wellType: 'oil', formation: 'Wolfcamp A' },
  ...{ totalDepth: 9800, latitude: 31.8637, longitude: -102.0319, section: '14', township: '2S', range: '37E' },
  ...{
    source: 'Texas RRC',
    sourceUrl: 'https://example.com/918273',
    fetchedAt: Date.parse('2026-11-19T06:00:00Z'),
    dataAsOfOn: '2026-11-18',
  },
  ...change,
})
