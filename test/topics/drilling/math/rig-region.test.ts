import { expect, test } from 'bun:test'
import { rigRegionOf } from '../../../../src/topics/drilling/math/rig-region.ts'

test.each([
  ['US_RIG_COUNT', 'US'],
  ['US_OIL_RIG_COUNT', 'US'],
  ['PERMIAN_RIG_COUNT', 'permian'],
  ['UTICA_RIG_COUNT', 'appalachia_other'],
  ['TX_RIG_COUNT', 'TX'],
  ['CANADA_RIG_COUNT', 'CANADA'],
  ['PERMIAN_DUC_WELLS', undefined],
  ['WTI_USD', undefined],
])('%s counts the rigs of %s', (code, region) => {
  expect(rigRegionOf(code)).toBe(region as string)
})
