import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createFx } from '../../../../src/topics/prices/service/fx.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

/** Exchange rates of an instance that knows these pairs, each observed so many minutes ago. */
function market(pairs: Record<string, number | [rate: number, minutesAgo: number]>) {
  const { services, record } = openTestInstance()
  for (const [pair, rates] of Object.entries(pairs)) {
    const [rate, minutesAgo] = Array.isArray(rates) ? rates : [rates, 1]
    record(pair, [rate], startAt - minutesAgo * 60_000, 1)
  }
  const exchange = createFx(services.catalogue, services.latestPrices)
  return {
    rate: (from: string, to: string) => exchange.rate(from, to, startAt, startAt),
    currencies: () => exchange.currencies(startAt),
    record,
  }
}

describe('fx.rate: exchange rates', () => {
  const { rate, currencies } = market({
    EUR_USD: [1.1575, 5],
    USD_NOK: 10.12,
    GBP_USD: [1.312, 90],
    EUR_SEK: 10.99,
    USD_JPY: 155.2,
  })

  for (const [from, to, expected] of [
    ['EUR', 'USD', 1.1575],
    ['USD', 'EUR', 1 / 1.1575],
    ['USD', 'NOK', 10.12],
    ['GBP', 'EUR', 1.312 / 1.1575],
    ['EUR', 'NOK', 1.1575 * 10.12],
    ['SEK', 'USD', 1.1575 / 10.99],
    ['SEK', 'NOK', (1.1575 * 10.12) / 10.99],
    ['JPY', 'SEK', 10.99 / 1.1575 / 155.2],
    ['USD', 'USD', 1],
  ] as const) {
    test(`${from} in ${to}: ${expected.toFixed(6)}`, () => {
      const converted = rate(from, to)!.rate
      expect(Math.abs(converted / expected - 1)).toBeLessThan(1e-9)
    })
  }

  test('a rate is as old as its oldest quote', () => {
    expect(rate('GBP', 'EUR')!.asOf).toBe(startAt - 90 * 60_000)
    expect(rate('EUR', 'USD')!.asOf).toBe(startAt - 5 * 60_000)
  })

  test('a rate names the series that it rests on', () => {
    expect(rate('GBP', 'EUR')!.legs.map(leg => leg.code)).toEqual(['GBP_USD', 'EUR_USD'])
  })

  test('an exchange rate is undefined without a quote, for an unknown currency and for a code that is not a pair', () => {
    expect(rate('USD', 'CHF')).toBeUndefined()
    expect(rate('USD', 'XXX')).toBeUndefined()
    expect(rate('WTI', 'USD')).toBeUndefined()
  })

  test('a quote of more than seven days before a price gives no rate for it, and a path of newer ones is used', () => {
    const week = 7 * 24 * 60
    const old = market({ EUR_NOK: [11.71, week + 1], EUR_USD: [1.2, week], USD_NOK: 10 })
    expect(old.rate('EUR', 'NOK')!.rate).toBe(12)
    expect(market({ EUR_NOK: [11.71, week + 1] }).rate('NOK', 'EUR')).toBeUndefined()
  })

  test('only currencies with a rate against USD count', () => {
    expect(currencies()).toEqual(['EUR', 'GBP', 'JPY', 'NOK', 'SEK', 'USD'])
  })

  test('the pair that is quoted wins over a cross', () => {
    const direct = market({ EUR_USD: 1.2, USD_NOK: 10, EUR_NOK: 11.71 })
    expect(direct.rate('EUR', 'NOK')!.rate).toBe(11.71)
  })

  test('a correction of a quote is the rate from then on', () => {
    const moving = market({ EUR_USD: 1.1 })
    expect(moving.rate('EUR', 'USD')!.rate).toBe(1.1)
    moving.record('EUR_USD', [1.25], startAt, 1)
    expect(moving.rate('EUR', 'USD')!.rate).toBe(1.25)
  })

  test('there and back is 1, for any two currencies', () => {
    const currency = fc.constantFrom('USD', 'EUR', 'GBP', 'NOK', 'SEK', 'JPY')
    fc.assert(
      fc.property(currency, currency, (a, b) =>
        expect(rate(a, b)!.rate * rate(b, a)!.rate).toBeCloseTo(1, 8),
      ),
    )
  })
})
