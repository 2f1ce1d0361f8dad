import { describe, expect, test } from 'bun:test'
import { createPermits } from '../../../../src/topics/drilling/service/permits.ts'
import type { ServiceEvent } from '../../../../src/topics/webhooks/service/events.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'
import { permit } from '../../../support/topics/permits.ts'

const now = Date.parse('2026-11-20T15:00:00Z')

/** A register that keeps the events of committed transactions. */
function setUp() {
  const db = databaseInMemory()
  const events: ServiceEvent[] = []
  const inside: boolean[] = []
  const emit = (event: ServiceEvent) => {
    inside.push(db.inTransaction)
    return events.push(event)
  }
  return { register: createPermits({ db, events: { emit } }), events, inside }
}

const many = (count: number, change: Parameters<typeof permit>[0] = {}) =>
  Array.from({ length: count }, (_, i) => permit({ permitNumber: String(i), ...change }))

describe('events', () => {
  test('of one new permit carry it whole, in the transaction that records it', () => {
    const { register, events, inside } = setUp()
    register.record([permit()], now)
    expect(inside).toEqual([true])
    expect(events).toEqual([
      {
        type: 'drilling.well_permit.new',
        at: now,
        dedupe: 'well permit 1',
        state: 'TX',
        data: {
          api_number: '42329400010000',
          api_number_raw: '42-329-40001',
          state_code: 'TX',
          county: 'Midland',
          permit_number: '918273',
          permit_type: 'new_drill',
          permit_status: 'approved',
          permit_date: '2026-11-18',
          operator: {
            name: 'Juniper Ridge Operating, LLC',
            name_raw: 'Juniper Ridge Operating, LLC',
            number: '148113',
          },
          well: { name: 'Bradford 14-23 Unit', number: '3H', type: 'oil' },
          location: {
            latitude: 31.8637,
            longitude: -102.0319,
            county: 'Midland',
            section: '14',
            township: '2S',
            range: '37E',
          },
          target: {
            formation: 'Wolfcamp A',
            formation_raw: 'Wolfcamp A',
            total_depth_proposed: 9800,
          },
          provenance: {
            source: 'Texas RRC',
            source_url: 'https://example.com/918273',
            fetched_at: '2026-11-19T06:00:00Z',
            data_as_of: '2026-11-18',
          },
        },
      },
    ])
  })

  test('of several come as one batch for each state, of at most a hundred permits', () => {
    const { register, events } = setUp()
    register.record([...many(120), permit({ state: 'NM', permitNumber: 'a' })], now)
    const batches = new Map(
      events.map(event => [event.state, event.data as Record<string, unknown>]),
    )
    expect([events.map(event => event.type), [...batches.keys()].sort()]).toEqual([
      ['drilling.well_permits.batch', 'drilling.well_permits.batch'],
      ['NM', 'TX'],
    ])
    expect(batches.get('TX')).toMatchObject({
      state: 'TX',
      count: 120,
      truncated: true,
      batch_timestamp: '2026-11-20T15:00:00Z',
    })
    expect(
      (batches.get('TX')!.permits as { permit_number: string }[]).map(
        permit => permit.permit_number,
      ),
    ).toHaveLength(100)
    expect((batches.get('TX')!.permits as { permit_number: string }[])[0]!.permit_number).toBe(
      '119',
    )
    expect(batches.get('TX')!.pagination).toEqual({
      page: 1,
      total_pages: 2,
      per_page: 100,
      total_count: 120,
      has_next: true,
    })
    expect(batches.get('NM')).toMatchObject({
      count: 1,
      truncated: false,
      pagination: { total_pages: 1, has_next: false },
    })
    expect(new Set(events.map(event => event.dedupe)).size).toBe(2)
  })

  test('a permit event is not sent for historical, unchanged or merely revised permits', () => {
    const { register, events } = setUp()
    register.record([permit({ permitOn: '2026-10-20' })], now)
    register.record(many(5, { permitOn: '2020-01-01' }), now)
    register.record([permit({ permitNumber: 'n', permitOn: '2026-10-21' })], now)
    expect(events.map(event => event.type)).toEqual(['drilling.well_permit.new'])
    register.record(
      [
        permit({ permitNumber: 'n', permitOn: '2026-10-21' }),
        permit({ permitOn: '2026-10-20', wellName: 'Other' }),
      ],
      now,
    )
    expect(events).toHaveLength(1)
  })

  test('a permit status event reports the old and new status and the current number of permits in the state', () => {
    const { register, events } = setUp()
    register.record(
      [
        ...many(3),
        ...many(2, { permitOn: '2026-10-01' }).map(permit => ({
          ...permit,
          permitNumber: `old ${permit.permitNumber}`,
        })),
      ],
      now,
    )
    events.length = 0
    register.record([permit({ permitNumber: '1', permitStatus: 'expired' })], now)
    expect(events).toEqual([
      {
        type: 'drilling.well_permit.updated',
        at: now,
        dedupe: `well permit 4 approved expired ${now}`,
        commodity: 'TEXAS_WELL_PERMITS',
        state: 'TX',
        data: {
          commodity: 'TEXAS_WELL_PERMITS',
          region: 'TX',
          state_code: 'TX',
          value: 3,
          previous_value: 2,
          change: 1,
          change_percent: 50,
          unit: 'permits',
          source: 'Texas RRC',
          api_number: '42329400010000',
          permit_status: 'expired',
          status_change: { from: 'approved', to: 'expired' },
          timestamp: '2026-11-20T15:00:00Z',
        },
      },
    ])
  })

  test('a permit write is rolled back when its events cannot be sent', () => {
    const db = databaseInMemory()
    const emit = () => {
      throw new Error('no room')
    }
    const register = createPermits({ db, events: { emit } })
    expect(() => register.record([permit()], now)).toThrow('no room')
    expect({ total: register.counts.total(), rows: register.store.rows([1]) }).toEqual({
      total: 0,
      rows: [],
    })
  })
})

describe('what is held', () => {
  test('permit coverage is as recent as the newest permit of the requested states', () => {
    const { register } = setUp()
    expect(register.coverage(undefined, '2026-11-20')).toBeUndefined()
    register.record([permit(), permit({ state: 'NV', permitOn: '2026-09-30' })], now)
    expect(register.coverage(undefined, '2026-11-20')).toEqual({
      asOf: '2026-11-18',
      dataAgeDays: 2,
      stale: false,
      staleStates: ['NV'],
      byState: new Map([
        ['NV', '2026-09-30'],
        ['TX', '2026-11-18'],
      ]),
    })
    expect(register.coverage(['NV'], '2026-11-20')).toMatchObject({
      asOf: '2026-09-30',
      dataAgeDays: 51,
      stale: true,
    })
    expect(register.coverage(['OH'], '2026-11-20')).toBeUndefined()
  })
})
