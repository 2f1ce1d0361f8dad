import { expect, test } from 'bun:test'
import { dayMs, isoInstant } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

interface Body {
  values: { date: string; value: number | null }[]
  parts: { part: number; change: { years: number } | null }[]
}

const instance = openTestInstance()
const token = instance.key()
const wave = Array.from({ length: 900 }, (_, i) => 70 + 5 * Math.sin(i / 9))
instance.record('WTI_USD', wave, startAt, dayMs)
instance.record(
  'BRENT_CRUDE_USD',
  wave.map(value => value + 3),
  startAt,
  dayMs,
)

async function ask(path: string) {
  instance.clock.advance(1001)
  const answer = await instance.get(`/v1/analytics/${path}`, token)
  return { status: answer.status, body: (await answer.json()) as Body }
}

test('every measure answers each date of the period', async () => {
  for (const measure of ['mean', 'return', 'volatility', 'drawdown', 'z_score', 'std_dev']) {
    const { status, body } = await ask(`rolling?code=WTI_USD&measure=${measure}&period=30`)
    expect({ measure, status, length: body.values.length }).toEqual({
      measure,
      status: 200,
      length: 30,
    })
  }
  const beta = 'rolling?code=WTI_USD&measure=beta&benchmark=BRENT_CRUDE_USD&period=30'
  const { body } = await ask(beta)
  for (const { value } of body.values) expect(value!).toBeGreaterThan(1)
})

test('as of a past moment it ends there', async () => {
  const { body } = await ask(`rolling?code=WTI_USD&as_of=${isoInstant(startAt - 10 * dayMs)}`)
  expect(body.values.at(-1)!.date).toBe(isoInstant(startAt - 10 * dayMs).slice(0, 10))
})

test('a period of prices under zero has no returns, and is answered where there were some before', async () => {
  instance.record(
    'DUBAI_CRUDE_USD',
    wave.map((value, i) => (i < 800 ? value : -value)),
    startAt,
    dayMs,
  )
  const { status, body } = await ask('rolling?code=DUBAI_CRUDE_USD&measure=volatility&period=30')
  expect({ status, values: body.values }).toEqual({ status: 200, values: [] })
})

test('a rolling beta requires a benchmark, and too few daily closes return 404', async () => {
  expect((await ask('rolling?code=WTI_USD&measure=beta')).status).toBe(400)
  expect((await ask('rolling?code=WTI_USD&measure=kurtosis')).status).toBe(400)
  expect((await ask('rolling?code=NATURAL_GAS_GBP')).status).toBe(404)
  expect((await ask('seasonality?code=NATURAL_GAS_GBP')).status).toBe(404)
})

test('seasonality has the twelve months, and weeks', async () => {
  const { body } = await ask('seasonality?code=WTI_USD')
  expect(body.parts.map(({ part }) => part)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  expect(body.parts[2]!.change!.years).toBe(1)
  expect((await ask('seasonality?code=WTI_USD&by=week')).body.parts.length).toBe(52)
})
