import { describe, expect, test } from 'bun:test'
import {
  activityOf,
  countyKey,
  formationKey,
  operatorKey,
  permitFreshness,
  titled,
  wordKey,
} from '../../../../src/topics/drilling/math/permits.ts'

const today = '2026-11-20'
const state = { name: 'Ohio' }

describe('a list of permits', () => {
  for (const [newestOn, dataAgeDays, stale] of [
    ['2026-11-20', 0, false],
    ['2026-10-21', 30, false],
    ['2026-10-20', 31, true],
    ['2025-11-20', 365, true],
  ] as const) {
    test(`whose newest permit is of ${newestOn} is ${stale ? 'stale' : 'fresh'}`, () => {
      expect(permitFreshness(newestOn, today)).toEqual({ dataAgeDays, stale })
    })
  }
})

describe('what is drilled in a state is', () => {
  const year = 365 / 30
  for (const [name, facts, status, indexing, reason] of [
    [
      'active with ten permits, however many are usual',
      { permits30d: 10, permits365d: 1000 },
      'active',
      'index',
      '10 permits in the last 30 days',
    ],
    [
      'active with half of what is usual',
      { permits30d: 2, permits365d: Math.floor(4 * year) },
      'active',
      'index',
      '2 permits',
    ],
    [
      'slow with less',
      { permits30d: 1, permits365d: Math.round(4 * year) },
      'slow',
      'index',
      'Only 1 permit in the last 30 days',
    ],
    [
      'inactive without any, when the list was read since',
      { newestOn: '2026-10-20', readOn: '2026-11-19' },
      'inactive',
      'noindex',
      'its list was read on 2026-11-19',
    ],
    [
      'unknown when the list was not read since',
      { newestOn: '2026-10-20', readOn: '2026-10-20' },
      'unknown',
      'noindex',
      'last read on 2026-10-20',
    ],
    [
      'unknown when nothing is held',
      { newestOn: undefined },
      'unknown',
      'noindex',
      'No permit of Ohio is held.',
    ],
  ] as const) {
    test(name, () => {
      const activity = activityOf({
        state,
        newestOn: '2026-11-18',
        readOn: '2026-11-18',
        permits30d: 0,
        permits365d: 0,
        today,
        ...facts,
      })
      expect({ status: activity.status, indexing: activity.indexing }).toEqual({ status, indexing })
      expect(activity.reason).toContain(reason)
    })
  }
})

describe('names are compared', () => {
  for (const [key, raw, expected] of [
    [operatorKey, 'Juniper Ridge Operating, L.L.C.', 'JUNIPER RIDGE OPERATING'],
    [operatorKey, 'JUNIPER RIDGE OPERATING LLC', 'JUNIPER RIDGE OPERATING'],
    [operatorKey, 'Badland Petroleum Co., Inc.', 'BADLAND PETROLEUM'],
    [operatorKey, 'Larkspur Oil & Gas, Inc.', 'LARKSPUR OIL & GAS'],
    [operatorKey, 'U.S. Energy Corp.', 'US ENERGY'],
    [operatorKey, 'CO', 'CO'],
    [countyKey, 'Reagan County', 'REAGAN'],
    [countyKey, 'De Soto Parish', 'DE SOTO'],
    [countyKey, 'La Salle', 'LA SALLE'],
    [formationKey, 'Wolfcamp A Fm.', 'WOLFCAMP A'],
    [formationKey, 'Spraberry (Trend Area)', 'SPRABERRY TREND AREA'],
    [wordKey, ' New Drill ', 'new_drill'],
    [titled, "O'BRIEN 14-23H J SAND", "O'Brien 14-23h J Sand"],
  ] as const) {
    test(`the name ${raw} is compared as ${expected}`, () => expect(key(raw)).toBe(expected))
  }
})
