import { expect, test } from 'bun:test'
import { creditPackOf } from '../../../src/plans/billing/credit-packs.ts'

test('a pack is its id, requests, price and days', () => {
  expect(creditPackOf('pack_10k:10000:900:365')).toEqual({
    id: 'pack_10k',
    name: '10,000 requests',
    requests: 10_000,
    priceCents: 900,
    expiresAfterDays: 365,
  })
  expect(creditPackOf('pack_free:5:0')).toMatchObject({
    requests: 5,
    priceCents: 0,
    expiresAfterDays: null,
  })
})

test.each([
  '',
  'pack_10k',
  'pack_10k:0:900',
  'pack_10k:-5:900',
  'pack_10k:10:9.5',
  'pack_10k:10:900:0',
  'ten:10:900',
  'pack_A:1:1',
  'pack_a:1:1:1:1',
])('%p is not a pack', text => {
  expect(creditPackOf(text)).toBeUndefined()
})
