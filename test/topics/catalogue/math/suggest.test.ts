import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import { suggestCodes } from '../../../../src/topics/catalogue/math/suggest.ts'
import { runs } from '../../../support/full.ts'

const shipped = shippedCatalogue()
const aliases = Map.groupBy(shipped.aliases, row => row.code)
const candidates = shipped.series.map(({ code, name }) => ({
  code,
  name,
  aliases: (aliases.get(code) ?? []).map(row => row.alias),
}))
const suggested = (typed: string) =>
  suggestCodes(typed, candidates).map(candidate => candidate.code)

describe('suggestCodes: a suggestion', () => {
  // The typed text, the code that is meant, and a part that all suggestions share.
  test.each([
    // slips of the finger
    ['GASOLNE_USD', 'GASOLINE_USD', /GASOLINE/],
    ['DIESAL_USD', 'DIESEL_USD', /DIESEL/],
    ['BRNT', 'BRENT_CRUDE_USD', /BRENT/],
    ['BRENT_CRUD_USD', 'BRENT_CRUDE_USD', /BRENT/],
    ['WIT_USD', 'WTI_USD', /WTI/],
    ['TFF_EUR', 'DUTCH_TTF_EUR', /TTF/],
    ['COPER_USD', 'COPPER_USD', /COPPER/],
    ['SILVR', 'SILVER_USD', /SILVER/],
    ['NICKLE_USD', 'NICKEL_USD', /NICKEL/],
    ['ALUMINIM', 'ALUMINUM_USD', /ALUMINUM/],
    ['EUR_GPB', 'EUR_GBP', /EUR/],
    ['COOKING_COAL_USD', 'COKING_COAL_USD', /COKING/],
    // no separators, or too many
    ['EURUSD', 'EUR_USD', /EUR_USD/],
    ['GBPEUR', 'GBP_EUR', /GBP/],
    ['XAUUSD', 'GOLD_USD', /GOLD|SILVER/],
    ['JETFUEL_USD', 'JET_FUEL_USD', /JET_FUEL/],
    ['HEATINGOIL', 'HEATING_OIL_USD', /HEATING_OIL/],
    ['NATURALGAS', 'NATURAL_GAS_USD', /GAS/],
    ['WTICRUDE', 'WTI_USD', /WTI/],
    ['RIGCOUNT', 'US_RIG_COUNT', /RIG_COUNT/],
    ['brent/crude oil', 'BRENT_CRUDE_USD', /BRENT/],
    // the words of the trade
    ['WTI_CRUDE', 'WTI_USD', /WTI/],
    ['BRENT_OIL', 'BRENT_CRUDE_USD', /BRENT/],
    ['CRUDE_OIL', 'WTI_USD', /WTI|CRUDE/],
    ['CRUDE_OIL_BRENT', 'BRENT_CRUDE_USD', /BRENT/],
    ['NATGAS', 'NATURAL_GAS_USD', /GAS/],
    ['NAT_GAS_USD', 'NATURAL_GAS_USD', /NATURAL_GAS/],
    ['NG_USD', 'NATURAL_GAS_USD', /GAS/],
    ['HENRY_HUB', 'NATURAL_GAS_USD', /GAS/],
    ['NATURAL_GAS_HH', 'NATURAL_GAS_USD', /GAS/],
    ['NATGAS_GBP', 'NATURAL_GAS_GBP', /GAS/],
    ['UK_GAS', 'NATURAL_GAS_GBP', /GAS/],
    ['TTF_GAS', 'DUTCH_TTF_EUR', /TTF/],
    ['TTF_USD', 'DUTCH_TTF_EUR', /TTF/],
    ['JKM_USD', 'JKM_LNG_USD', /JKM/],
    ['EU_ETS', 'EU_CARBON_EUR', /EU/],
    ['CO2_PRICE', 'EU_CARBON_EUR', /CARBON|EUA|UKA/],
    ['COAL_NEWCASTLE', 'NEWCASTLE_COAL_USD', /COAL/],
    ['COAL_API2', 'COAL_ARA_USD', /COAL/],
    ['JET_A1', 'JET_FUEL_USD', /JET/],
    ['GOLD_PRICE', 'GOLD_USD', /^GOLD/],
    ['BRENT_USD_BBL', 'BRENT_CRUDE_USD', /BRENT/],
    ['ULSD_NYH', 'ULSD_DIESEL_USD', /ULSD/],
    ['ELECTRICITY_DE', 'POWER_DE_EUR', /POWER/],
    ['US_CRUDE_INVENTORIES', 'US_CRUDE_STORAGE', /STORAGE/],
    ['PERMIAN_RIGS', 'PERMIAN_RIG_COUNT', /PERMIAN/],
    // the wrong currency, or the pair the other way round
    ['WTI_EUR', 'WTI_USD', /WTI/],
    ['USDEUR', 'EUR_USD', /EUR_USD/],
    ['JPY_USD', 'USD_JPY', /JPY/],
    // places by another name
    ['VLSFO_SGP', 'VLSFO_SIN_USD', /VLSFO/],
    ['MGO_ROTTERDAM', 'MGO_05S_RTM_USD', /MGO/],
    ['IFO380_SINGAPORE', 'HFO_380_SIN_USD', /SIN/],
    ['DIESEL_CALIFORNIA', 'DIESEL_CA_USD', /DIESEL.*CA/],
    ['GASOLINE_TEXAS', 'GASOLINE_TX_USD', /GASOLINE/],
    ['POWER_GERMANY', 'POWER_DE_EUR', /POWER/],
    ['DIESEL_US_AVERAGE', 'DIESEL_US_NATIONAL_USD', /DIESEL/],
  ])(
    'the first suggestion for %s is %s, and every suggestion after it is relevant',
    (typed, meant, common) => {
      const suggestions = suggested(typed)
      expect(suggestions[0]).toBe(meant)
      expect(suggestions.filter(code => !common.test(code))).toEqual([])
    },
  )

  test.each([
    'BITCOIN',
    'BTC_USD',
    'WHEAT',
    'CORN_USD',
    'LUMBER_USD',
    'RICE_USD',
    'SUGAR_USD',
    'COFFEE_USD',
    'CORN_OIL',
    'NASDAQ_INDEX',
    'AAPL',
    'ASDF',
    'QWERTY_USD',
    'XYZ123',
    'NULL',
    'A',
    '_',
    '',
    '%20',
    '日本',
    'X'.repeat(10_000),
  ])('is not made for %p, which nothing is near to', typed => {
    expect(suggested(typed)).toEqual([])
  })

  test('a code with a letter missing or two swapped in a longer word is suggested as the code itself', () => {
    const codes = new Set([
      ...candidates.map(candidate => candidate.code),
      ...shipped.aliases.map(row => row.alias),
    ])
    const long = candidates.filter(candidate => /[A-Z]{6}/.test(candidate.code))
    const slip = fc
      .tuple(fc.constantFrom(...long), fc.nat(), fc.constantFrom('drop' as const, 'swap' as const))
      .map(([{ code }, n, kind]) => {
        const word = /[A-Z]{6,}/.exec(code)!
        const at = word.index + 1 + (n % (word[0].length - 2))
        return {
          code,
          typed: kind === 'drop' ? code.slice(0, at) + code.slice(at + 1) : swapped(code, at),
        }
      })
      .filter(({ typed }) => !codes.has(typed))
    fc.assert(
      fc.property(slip, ({ code, typed }) => {
        expect(suggested(typed)).toContain(code)
      }),
      { numRuns: runs(200) },
    )
  })

  test('is at most as many as asked for, each once, whatever was typed', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'ABEGILNOSTUW_- 0123é'), maxLength: 30 }),
        fc.integer({ min: 1, max: 8 }),
        (typed, max) => {
          const suggestions = suggestCodes(typed, candidates, max)
          expect(suggestions.length).toBeLessThanOrEqual(max)
          expect(new Set(suggestions).size).toBe(suggestions.length)
        },
      ),
      { numRuns: 100 },
    )
  })

  test('comes from the list that was given, when there are two of them', () => {
    const other = [{ code: 'WTI_LOCAL', name: 'Ours', aliases: [] }]
    expect(suggestCodes('WTI_LOCLA', other).map(candidate => candidate.code)).toEqual(['WTI_LOCAL'])
    expect(suggested('WTI_LOCLA')[0]).toBe('WTI_USD')
    expect(suggestCodes('WTI', [])).toEqual([])
  })
})

const swapped = (text: string, at: number): string =>
  text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2)
