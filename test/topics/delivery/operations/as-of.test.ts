import { expect, test } from 'bun:test'
import { isoInstant, parseInstant } from '../../../../src/lib/time/instant.ts'
import { shippedTermsOf } from '../../../../src/topics/catalogue/math/delivery-codes.ts'
import { dayOfDate, periodsOf } from '../../../../src/topics/delivery/math/days.ts'
import { deliveryTerms } from '../../../../src/topics/delivery/math/terms.ts'
import { withDelivery } from '../../../support/topics/delivery.ts'

const leg = 'POWER_DA_DE_LU_EUR'
const hub = 'POWER_PJM_WESTERN_HUB_USD'
const daily = 'POWER_DE_EUR'
const peak = 'POWER_PJM_WEST_USD'
const tariff = 'DESK_TARIFF_EUR'
const range = 'start_date=2026-11-17&end_date=2026-11-23'
const bars = (zone: string) => `/v1/prices/chart?code=${leg}&interval=day&${range}${zone}`

/** What a client may ask, with `as_of` or without; `latest` is by precision the stored digits. */
const questions = [
  ...[leg, daily, hub, peak, tariff].flatMap(code => [
    `/v1/prices/latest?by_code=${code}&precision=full`,
    `/v1/prices/historical?code=${code}&${range}&interval=raw&precision=full&per_page=500`,
    `/v1/prices/past_week?by_code=${code}&interval=raw&precision=full&per_page=500`,
    `/v1/prices/chart?code=${code}&interval=raw&${range}`,
    `/v1/prices/chart?code=${code}&interval=raw&start_date=2026-11-17`,
    `/v1/export/prices?codes=${code}&format=ndjson&${range}&columns=code,observed_at,price`,
    `/v1/export/prices?codes=${code}&format=ndjson&${range}&interval=day&columns=code,observed_at,price`,
  ]),
  ...[leg, hub, tariff].flatMap(code => [
    `/v1/delivery/${code}?date=2026-11-20`,
    `/v1/delivery/${code}?date=2026-11-21`,
    `/v1/delivery/${code}/days?start=2026-11-18&end=2026-11-23`,
    `/v1/delivery/${code}/cheapest?date=2026-11-21&hours=3`,
    `/v1/delivery/${code}/evcc`,
  ]),
  ...[leg, daily, peak].flatMap(code =>
    ['15', '1D', '1W'].map(
      resolution =>
        `/udf/history?symbol=${code}&resolution=${resolution}&from=1794873600&to=1795478400`,
    ),
  ),
  bars(''),
  bars('&zone=America/New_York'),
  bars('&day=market'),
  `/v1/export/prices?codes=${leg}&format=ndjson&interval=day&day=market&${range}&columns=code,observed_at,price`,
]

/** Fields that name the question, or how the answer was made, and not a price of it. */
const without = (text: string): string =>
  text
    .split('\n')
    .map(line => {
      if (!line.startsWith('{') && !line.startsWith('[')) return line
      return JSON.stringify(JSON.parse(line), (key, value) =>
        [
          'as_of',
          'metadata',
          'meta',
          'request_id',
          'data_status',
          'is_stale',
          'freshness',
        ].includes(key)
          ? undefined
          : value,
      )
    })
    .join('\n')

test('as_of answers what every endpoint answered at that time, whatever was recorded later', async () => {
  const { clock, admin, get, key: newKey } = withDelivery()
  const push = async (observations: object[], when: string) => {
    clock.set(parseInstant(when)!)
    const { status, body } = await admin('POST', '/observations', { observations })
    expect({ when, status, held: body.data?.held }).toEqual({ when, status: 200, held: 0 })
  }
  const auction = (code: string, date: string, when: string, first: number) => {
    const terms = deliveryTerms(shippedTermsOf(code)!)!
    const observations = periodsOf(terms, dayOfDate(terms, date)).map(({ start }, i) => ({
      code,
      observed_at: isoInstant(start),
      price: first + (i % 7) - 0.25 * (i % 2),
    }))
    return push(observations, when)
  }
  const formula = {
    code: tariff,
    name: 'Tariff',
    category: 'power',
    unit: 'mwh',
    currency: 'EUR',
    formula: `${leg} * 1.19 + 154.3`,
  }
  clock.set(parseInstant('2026-11-17T09:00:00Z')!)
  expect((await admin('POST', '/series', formula)).status).toBe(201)
  for (const [date, when] of [
    ['2026-11-18', '2026-11-17'],
    ['2026-11-19', '2026-11-18'],
    ['2026-11-20', '2026-11-19'],
  ] as const) {
    await auction(leg, date, `${when}T11:46:00Z`, 40)
    await auction(hub, date, `${when}T18:31:00Z`, 30)
  }
  const answers = async (more: (path: string) => string = path => path) => {
    let key = newKey()
    const found = new Map<string, string>()
    for (const [i, question] of questions.entries()) {
      // A key has 60 requests a minute.
      if (i % 50 === 49) key = newKey()
      const response = await get(more(question), key)
      const text = await response.text()
      found.set(question, `${response.status} ${without(text)}`)
    }
    return found
  }
  const moments = ['2026-11-20T11:00:00Z', '2026-11-20T12:30:00Z', '2026-11-20T19:00:00Z']
  const then = new Map<string, Map<string, string>>()
  const remember = async (at: string) => {
    clock.set(parseInstant(at)!)
    then.set(at, await answers())
  }
  await remember(moments[0]!)
  await auction(leg, '2026-11-21', '2026-11-20T11:46:00Z', 50)
  await remember(moments[1]!)
  await auction(hub, '2026-11-21', '2026-11-20T18:31:00Z', 35)
  await remember(moments[2]!)

  // Later on the same day: daily values instead of the means, and corrections of periods.
  await push(
    [
      { code: daily, observed_at: '2026-11-20', price: 41.5 },
      { code: daily, observed_at: '2026-11-21', price: 52.5 },
      { code: peak, observed_at: '2026-11-20', price: 31.5 },
    ],
    '2026-11-20T20:00:00Z',
  )
  await push(
    ['2026-11-20T10:00:00Z', '2026-11-21T10:00:00Z'].map(observed_at => ({
      code: leg,
      observed_at,
      price: 77,
    })),
    '2026-11-20T20:30:00Z',
  )
  await auction(leg, '2026-11-22', '2026-11-21T11:46:00Z', 60)

  clock.set(parseInstant('2026-11-22T09:00:00Z')!)
  for (const at of moments) {
    const now = await answers(path =>
      path.startsWith('/udf')
        ? path.replace('/udf/', `/udf/as_of/${at}/`)
        : `${path}&as_of=${at}`.replace(/^([^?]*)&/, '$1?'),
    )
    const changed = questions.flatMap(question => {
      const [before, after] = [then.get(at)!.get(question)!, now.get(question)!]
      if (before === after) return []
      let place = 0
      while (before[place] === after[place]) place += 1
      const part = (text: string) => text.slice(Math.max(0, place - 60), place + 80)
      return [{ at, question, before: part(before), after: part(after) }]
    })
    expect(changed).toEqual([])
  }
})

test('a backtest judges a period when its delivery begins, with the price of then, and none that has not begun', async () => {
  const { clock, admin, send, key: newKey } = withDelivery()
  const key = newKey()
  const terms = deliveryTerms(shippedTermsOf(hub)!)!
  const push = async (prices: (hour: number) => number | undefined, date: string, when: string) => {
    clock.set(parseInstant(when)!)
    const observations = periodsOf(terms, dayOfDate(terms, date)).flatMap(({ start }, i) => {
      const price = prices(i)
      return price === undefined ? [] : [{ code: hub, observed_at: isoInstant(start), price }]
    })
    expect((await admin('POST', '/observations', { observations })).status).toBe(200)
  }
  await push(hour => (hour === 17 ? 90 : 30), '2026-11-19', '2026-11-18T18:31:00Z')
  await push(hour => (hour === 18 || hour === 22 ? 90 : 30), '2026-11-20', '2026-11-19T18:31:00Z')
  // Corrected before and after its delivery.
  await push(hour => (hour === 18 ? 31 : undefined), '2026-11-20', '2026-11-20T15:00:00Z')
  await push(hour => (hour === 17 ? 31 : undefined), '2026-11-19', '2026-11-20T16:00:00Z')
  clock.set(parseInstant('2026-11-20T17:00:00Z')!)
  const backtest = async (vintage: boolean) => {
    const response = await send(
      'POST',
      '/v1/alerts/backtest',
      {
        price_alert: {
          name: 'Dear',
          commodity_code: hub,
          condition_operator: 'greater_than',
          condition_value: 80,
          cooldown_minutes: 0,
        },
        start_date: '2026-11-18',
        end_date: '2026-11-21',
        vintage,
      },
      key,
    )
    expect(response.status).toBe(200)
    return ((await response.json()) as { triggers: object[] }).triggers
  }
  expect(await backtest(true)).toEqual([{ triggered_at: '2026-11-19T22:00:00Z', value: 90 }])
  expect(await backtest(false)).toEqual([])
})
