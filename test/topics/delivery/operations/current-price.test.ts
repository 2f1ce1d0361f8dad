import { expect, test } from 'bun:test'
import { dayMs, isoDay, isoInstant, parseInstant } from '../../../../src/lib/time/instant.ts'
import { dayOfDate, periodsOf } from '../../../../src/topics/delivery/math/days.ts'
import { germanPower, withDelivery } from '../../../support/topics/delivery.ts'

const { code } = germanPower
const now = parseInstant('2026-11-20T14:05:00Z')!
const price = 57.07

/** Forty days of quarters up to tomorrow: undelivered ones are dearer or cheaper than all others. */
async function opened() {
  const instance = withDelivery()
  instance.clock.set(now)
  await instance.admin('POST', '/series', germanPower)
  const terms = instance.services.catalogue.named(code)!.delivery!
  for (let day = -38; day <= 1; day += 1) {
    const periods = periodsOf(terms, dayOfDate(terms, isoDay(now + day * dayMs)))
    const observations = periods.map(({ start, end }, i) => ({
      code,
      observed_at: isoInstant(start),
      price: start > now ? (i % 2 === 0 ? 134.34 : 1) : end > now ? price : 40 + (i % 50) / 10,
    }))
    const { status, body } = await instance.admin('POST', '/observations', { observations })
    expect({ status, held: body.data?.held }).toEqual({ status: 200, held: 0 })
  }
  return instance
}

test('every calculation has the period that is delivered as its current price', async () => {
  const instance = await opened()
  const data = async (path: string) => {
    const { status, body } = await instance.ask(path)
    expect({ path, status }).toEqual({ path, status: 200 })
    return body.data
  }
  const read = async (known: string) => {
    const trend = (type: string) => data(`/v1/analytics/trend?code=${code}&type=${type}${known}`)
    const context = await data(`/v1/indicators/price-context?by_code=${code}${known}`)
    const { metrics } = await data(`/v1/prices/metrics?by_code=${code}${known}`)
    const { statistics } = await data(`/v1/analytics/statistics?code=${code}&period=7${known}`)
    const [average, levels, bands] = [
      await trend('sma&window=5'),
      await trend('levels'),
      await trend('bollinger&window=5'),
    ]
    const ranges = await trend('atr&window=5')
    const forecast = await data(`/v1/analytics/forecast?code=${code}${known}`)
    return {
      context: [context.price, context.high_52w, context.timestamp],
      metrics: [metrics[0].current, metrics[0].min_52w, metrics[0].max_52w],
      statistics: statistics.max,
      current: [average, levels, bands, ranges, forecast].map(answer => answer.current_price),
      isCalm: ranges.current_value < 30,
    }
  }
  const expected = {
    context: [price, price, '2026-11-20T14:00:00Z'],
    metrics: [price, 40, price],
    statistics: price,
    current: [price, price, price, price, price],
    isCalm: true,
  }
  expect(await read('')).toEqual(expected)
  instance.clock.set(now + 120_000)
  expect(await read(`&as_of=${isoInstant(now + 60_000)}`)).toEqual(expected)
  const { item, sparkline } = await data(`/v1/prices/widget/${code}`)
  expect([item.price, sparkline.at(-1)]).toEqual([price, { date: '2026-11-20', value: price }])
  instance.clock.set(now + 15 * 60_000)
  const later = await data(`/v1/indicators/price-context?by_code=${code}`)
  const { price: latest } = await data(`/v1/prices/latest?by_code=${code}`)
  expect(later.price).toBe(latest)
  expect(latest).not.toBe(price)
})
