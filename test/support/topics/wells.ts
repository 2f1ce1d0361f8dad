import { expect } from 'bun:test'
import type { StateMonth, Well } from '../../../src/topics/drilling/dataset/wells.ts'
import type { WellMonth } from '../../../src/topics/drilling/store/well-production.ts'
import { openTestInstance, type TestInstance } from '../instance/instance.ts'
import { json } from '../interface/shape.ts'

export type Row = Record<string, unknown>
export const prefix = '/v1/well-production'
export const sample = '42329400010000'

export const wellOf = (apiNumber: string, more: Partial<Well> = {}): Well => ({
  apiNumber,
  state: 'TX',
  operator: 'Juniper Ridge Operating, LLC',
  name: `BRADFORD ${apiNumber.slice(5, 10)}`,
  county: 'Midland',
  formation: 'Wolfcamp A',
  latitude: 31.87,
  longitude: -102.03,
  source: 'import',
  permitOn: '2025-01-10',
  spudOn: '2025-03-01',
  completedOn: '2025-06-01',
  firstProductionOn: '2025-06-20',
  ...more,
})
export const monthOf = (
  apiNumber: string,
  month: string,
  oilBbl: number,
  more: Partial<WellMonth> = {},
): WellMonth => ({
  apiNumber,
  state: 'TX',
  month,
  oilBbl,
  gasMcf: 2 * oilBbl,
  waterBbl: null,
  daysProducing: 30,
  source: 'import',
  ...more,
})
export const stateOf = (
  state: string,
  month: string,
  oilBbl: number,
  more: Partial<StateMonth> = {},
): StateMonth => ({
  state,
  month,
  oilBbl,
  gasMcf: 6 * oilBbl,
  waterBbl: null,
  provisional: false,
  source: 'EIA',
  ...more,
})

export const [second, third, fourth, fifth] = [
  '42329400020000',
  '42317400030000',
  '30025400040000',
  '42329400050000',
] as const

/** An instance with five wells in two states, and its reads. */
export function openWellInstance() {
  const instance = openTestInstance({ 'limits.per_minute': '100000' })
  const key = instance.key('enterprise')
  const { wells, wellProduction } = instance.services
  wells.put(
    [
      wellOf(sample),
      wellOf(second, {
        permitOn: '2025-02-01',
        spudOn: '2025-04-02',
        firstProductionOn: '2025-07-01',
        formation: 'Spraberry',
      }),
      wellOf(third, {
        operator: 'Badland Petroleum, Inc.',
        permitOn: '2024-12-31',
        firstProductionOn: '2025-12-31',
        latitude: 32.3,
      }),
      wellOf(fourth, {
        state: 'NM',
        county: 'Lea',
        latitude: 32.75,
        longitude: -103.4,
        source: 'fixture',
      }),
      wellOf(fifth, { completedOn: null, firstProductionOn: null }),
    ],
    1,
  )
  wellProduction.wells.write(
    [
      ...['2026-06', '2026-07', '2026-08'].map((month, i) =>
        monthOf(sample, month, 1000 - 100 * i),
      ),
      ...['2025-08', '2025-09', '2026-08'].map(month => monthOf(second, month, 5000)),
      monthOf(third, '2026-05', 9000),
      monthOf(third, '2026-06', 0, { gasMcf: null }),
      monthOf(fourth, '2026-07', 777, { state: 'NM', source: 'fixture' }),
    ],
    1,
  )
  const states = [
    stateOf('TX', '2026-07', 310_000_000),
    stateOf('NM', '2026-07', 62_000_000),
    stateOf('TX', '2026-08', 3_100_000, { provisional: true }),
    stateOf('NM', '2026-08', 620_000),
    stateOf('TX', '2024-11', 30),
    stateOf('TX', '2024-10', 31),
  ]
  wellProduction.states.write(states, 1)
  return { instance, key, ...reads(instance, key) }
}

function reads(instance: TestInstance, key: string) {
  const get = (path: string, token = key) => instance.get(prefix + path, token)
  const data = async <T = Row>(path: string) => {
    const response = await get(path)
    expect(response.status, path).toBe(200)
    return (await json<{ data: T }>(response)).data
  }
  const refusal = async (path: string) => {
    const response = await get(path)
    const body = await json<Row & { error: Row }>(response)
    return { status: response.status, code: body.error.code, error: body.error, body }
  }
  return { get, data, refusal }
}
