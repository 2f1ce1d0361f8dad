import { expect, test } from 'bun:test'
import { likelyUnit, type Measured } from '../../../../src/topics/units/math/likely.ts'

const wti: Measured = {
  code: 'WTI_USD',
  category: 'crude_oil',
  currency: 'USD',
  unit: 'barrel',
  level: 71,
}
const cushing: Measured = {
  code: 'CUSHING_STORAGE',
  category: 'storage',
  currency: null,
  unit: 'million_barrels',
  level: 30,
}

test.each<[string, Measured, number, string | undefined, number | undefined]>([
  ['dollars per gallon', wti, 1.7, 'a price per gallon', 42],
  ['cents per barrel', wti, 7123, 'hundredths of the currency', 0.01],
  ['dollars per tonne', wti, 520, 'a price per metric ton', 0.136426],
  ['thousand barrels', cushing, 24_500, 'thousand barrels', 0.001],
  ['barrels', cushing, 24_500_000, 'barrels', 0.000001],
  ['nothing that is known', cushing, 1_000_000, undefined, undefined],
  ['less than nothing', wti, -5000, undefined, undefined],
])('%s', (_, series, value, name, scale) => {
  const unit = likelyUnit(series, value)
  expect({ name: unit?.name, scale: unit?.scale }).toEqual({ name, scale })
})
