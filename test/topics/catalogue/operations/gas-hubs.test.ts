import { expect, test } from 'bun:test'
import { dayMs } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

interface Hubs {
  data: {
    benchmark: { code: string; price: number }
    hubs: { code: string; price: number; basis_to_henry: number }[]
  }
}

test('natural gas hubs are listed cheapest first, each with its basis to Henry Hub', async () => {
  const instance = openTestInstance()
  for (const [code, price] of [
    ['GAS_HENRY_HUB_SPOT_USD', 3.2],
    ['GAS_WAHA_USD', -0.4],
    ['GAS_ALGONQUIN_CITYGATE_USD', 4.85],
    ['GAS_AECO_CAD', 2.1],
  ] as const)
    instance.record(code, [price], startAt - dayMs, dayMs)
  const response = await instance.get('/v1/natural-gas/hubs', instance.key())
  const { data } = (await response.json()) as Hubs
  expect(data.benchmark).toMatchObject({ code: 'GAS_HENRY_HUB_SPOT_USD', price: 3.2 })
  expect(data.hubs).toMatchObject([
    { code: 'GAS_WAHA_USD', price: -0.4, basis_to_henry: -3.6 },
    { code: 'GAS_ALGONQUIN_CITYGATE_USD', price: 4.85, basis_to_henry: 1.65 },
  ])
})

test('without a price of Henry Hub there is no list of hubs', async () => {
  const instance = openTestInstance()
  instance.record('GAS_WAHA_USD', [1], startAt - dayMs, dayMs)
  const response = await instance.get('/v1/natural-gas/hubs', instance.key())
  expect(response.status).toBe(404)
  expect(response.headers.get('x-error-code')).toBe('DATA_NOT_AVAILABLE')
})
