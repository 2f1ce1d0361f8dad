import { expect, test } from 'bun:test'
import { firstWatchlist } from '../../../../src/topics/catalogue/math/first-watchlist.ts'

const series = (code: string, category: string) => ({ code, category })
const euro = series('EUR_USD', 'fx')
const ttf = series('DUTCH_TTF_EUR', 'natural_gas')
const eua = series('EU_CARBON_EUR', 'carbon')
const zones = ['AT', 'BE', 'DE', 'FR'].map(zone => series(`POWER_DA_${zone}_EUR`, 'power'))
const coins = Array.from({ length: 60 }, (_, i) => series(`FX_${i}`, 'fx'))
const codesOf = (list: readonly { code: string }[]) => list.map(({ code }) => code)

test('a watchlist before any choice has the free codes, then benchmarks, then a series of each other category', () => {
  const shown = firstWatchlist([euro], [...coins, euro, ...zones, ttf, eua])
  expect(codesOf(shown).slice(0, 4)).toEqual([
    'EUR_USD',
    'DUTCH_TTF_EUR',
    'EU_CARBON_EUR',
    'POWER_DA_AT_EUR',
  ])
  expect(shown).toHaveLength(9)
})

test('free codes are not cut off, and no series is listed twice', () => {
  const free = coins.slice(0, 12)
  expect(firstWatchlist(free, [...coins, ttf])).toEqual(free)
  expect(firstWatchlist([ttf], [ttf, eua])).toEqual([ttf, eua])
  expect(firstWatchlist([], [])).toEqual([])
})
