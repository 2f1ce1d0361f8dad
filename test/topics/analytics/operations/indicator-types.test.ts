import { expect, test } from 'bun:test'
import { dayMs, hourMs } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

interface Run {
  values: Record<string, number | string | null>[]
  current_value?: number | null
}

function openDemoInstance() {
  const instance = openTestInstance()
  // Two values a day, so that days have a range.
  const values = Array.from({ length: 800 }, (_, i) => 70 + 5 * Math.sin(i / 9) + (i % 2))
  instance.record('WTI_USD', values, startAt - hourMs, 12 * hourMs)
  instance.record('EU_CARBON_EUR', values.slice(0, 60), startAt - dayMs, dayMs)
  const token = instance.key()
  const ask = async (query: string) => {
    const answer = await instance.get(`/v1/analytics/trend?${query}`, token)
    return { status: answer.status, body: (await answer.json()) as Run }
  }
  return { ask }
}

test.each(['macd', 'bollinger', 'atr', 'ema', 'rsi'])(
  '%s has the same value on a date whichever period is requested',
  async type => {
    const { ask } = openDemoInstance()
    const long = await ask(`code=WTI_USD&type=${type}&period=300`)
    const short = await ask(`code=WTI_USD&type=${type}&period=10`)
    expect({ long: long.status, short: short.status }).toEqual({ long: 200, short: 200 })
    expect(short.body.values.length).toBe(10)
    expect(long.body.values.slice(-10)).toEqual(short.body.values)
    expect(long.body.values.length).toBe(300)
  },
)

test('macd returns the signal and the difference between its value and the signal', async () => {
  const { ask } = openDemoInstance()
  const { body } = await ask('code=WTI_USD&type=macd&period=10')
  for (const { value, signal, histogram } of body.values)
    expect(histogram).toBe(Number(value) - Number(signal))
})

test('a series with one value a day has no true range', async () => {
  const { ask } = openDemoInstance()
  const { status, body } = await ask('code=EU_CARBON_EUR&type=atr')
  expect(status).toBe(200)
  expect({ current_value: body.current_value, values: body.values }).toEqual({
    current_value: null,
    values: [],
  })
})

test('an indicator type with too few daily closes returns 404', async () => {
  const { ask } = openDemoInstance()
  expect((await ask('code=EU_CARBON_EUR&type=atr&window=200')).status).toBe(404)
  expect((await ask('code=EU_CARBON_EUR&type=bollinger&window=200')).status).toBe(404)
  expect((await ask('code=EU_CARBON_EUR&type=dance')).status).toBe(400)
})
