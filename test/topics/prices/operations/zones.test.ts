import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { hourMs, isoInstant, minuteMs, parseInstant } from '../../../../src/lib/time/instant.ts'
import { germanPower, withDelivery } from '../../../support/topics/delivery.ts'

const hourly = 'DESK_HOURLY_USD'
const gas = 'DESK_GAS_EUR'
const { code: power } = germanPower
const from = parseInstant('2026-09-20T00:00:00Z')!
const to = parseInstant('2026-11-10T00:00:00Z')!
const valueAt = (at: number) => Math.round((at / hourMs) % 977)

const instance = withDelivery()

/** Records a value of each step; every step of a quarter has another one. */
function record(code: string, stepMs: number) {
  const { id } = instance.services.catalogue.named(code)!
  const points = []
  for (let at = from; at < to; at += stepMs)
    points.push({ seriesId: id, observedAt: at, value: valueAt(at) })
  instance.services.ingest.write(points)
}

beforeAll(async () => {
  instance.clock.set(to)
  const added = await instance.admin('POST', '/series', {
    code: hourly,
    name: 'An hourly price',
    category: 'crude_oil',
    currency: 'USD',
    unit: 'barrel',
    cadence: 'intraday_5m',
    min: -1000,
    max: 1000,
  })
  expect(added.status).toBe(201)
  await instance.admin('POST', '/series', germanPower)
  await instance.admin('POST', '/series', {
    ...germanPower,
    code: gas,
    day_starts: '06:00',
    resolutions: [{ from: '2018-10-01', resolution: 'PT1H' }],
  })
  record(hourly, hourMs)
  record(power, 15 * minuteMs)
  record(gas, hourMs)
})

// Each test has the requests of another minute.
beforeEach(() => void instance.clock.advance(minuteMs))

/** Start of the local bucket of a moment, by `Temporal` and none of the product's calendars. */
function localStart(at: number, zone: string, interval: string): number {
  const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)
  if (interval === 'hour') {
    const day = local.startOfDay().epochMilliseconds
    return at - ((at - day) % hourMs)
  }
  const date = local.toPlainDate()
  const first =
    interval === 'day'
      ? date
      : interval === 'week'
        ? date.subtract({ days: date.dayOfWeek - 1 })
        : date.with({ day: 1, ...(interval === 'year' && { month: 1 }) })
  return first.toZonedDateTime({ timeZone: zone }).startOfDay().epochMilliseconds
}

const zones = [
  'Europe/Berlin',
  'Europe/London',
  'America/New_York',
  'America/St_Johns',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Sydney',
  'Australia/Lord_Howe',
]

interface Bar {
  bucket_start: string
  open: number
  high: number
  low: number
  price: number
  average: number
  created_at: string
}

const bars = async (query: string): Promise<Bar[]> => {
  const { status, body } = await instance.ask(`/v1/prices/historical?${query}&per_page=100`)
  expect(status).toBe(200)
  return body.data.prices
}

describe('bars of a zone', () => {
  test.each(
    zones.flatMap(zone => ['hour', 'day', 'week', 'month'].map(interval => [zone, interval])),
  )('begin where the clocks of %s say, for %s', async (zone, interval) => {
    const rows = await bars(
      `code=${hourly}&zone=${zone}&interval=${interval}&start_date=2026-10-01&end_date=2026-10-26`,
    )
    const start = Temporal.PlainDate.from('2026-10-01').toZonedDateTime({ timeZone: zone! })
    const end = Temporal.PlainDate.from('2026-10-27').toZonedDateTime({ timeZone: zone! })
    const expected = new Map<number, number[]>()
    for (let at = from; at < to; at += hourMs) {
      if (at < start.epochMilliseconds || at >= end.epochMilliseconds) continue
      const bucket = localStart(at, zone!, interval!)
      expected.set(bucket, [...(expected.get(bucket) ?? []), valueAt(at)])
    }
    const wanted = [...expected].reverse().slice(0, 100)
    expect(rows.map(row => parseInstant(row.bucket_start)!)).toEqual(wanted.map(([at]) => at))
    for (const [i, [, values]] of wanted.entries()) {
      const { open, high, low, price, average } = rows[i]!
      const mean = values.reduce((a, b) => a + b, 0) / values.length
      expect({ open, high, low, price }).toEqual({
        open: values[0]!,
        high: Math.max(...values),
        low: Math.min(...values),
        price: values.at(-1)!,
      })
      expect(Math.abs(average - mean)).toBeLessThan(0.01)
    }
  })

  test('have 25 hours on the day on which the clocks of Berlin go back', async () => {
    const days = await bars(
      `code=${power}&zone=Europe/Berlin&interval=hour&start_date=2026-10-25&end_date=2026-10-25`,
    )
    expect(days).toHaveLength(25)
    expect({ last: days.at(-1)!.bucket_start, first: days[0]!.bucket_start }).toEqual({
      last: '2026-10-24T22:00:00Z',
      first: '2026-10-25T22:00:00Z',
    })
  })

  test('have the mean that /v1/delivery has for the day', async () => {
    const [day] = await bars(
      `code=${power}&day=market&interval=day&start_date=2026-10-25&end_date=2026-10-25&precision=full`,
    )
    const { body } = await instance.ask(`/v1/delivery/${power}?date=2026-10-25`)
    expect(day!.average).toBeCloseTo(body.data.base, 9)
    expect(body.data.count).toBe(100)
  })

  test('page through the same rows as one answer has', async () => {
    const query = `code=${hourly}&zone=Asia/Kolkata&interval=day&start_date=2026-09-25&end_date=2026-10-20`
    const all = await bars(query)
    const paged: Bar[] = []
    for (let page = 1; page <= 4; page += 1) {
      const { body } = await instance.ask(`/v1/prices/historical?${query}&per_page=7&page=${page}`)
      expect((body as unknown as { meta: { total: number } }).meta.total).toBe(26)
      paged.push(...body.data.prices)
    }
    expect(paged).toEqual(all)
  })

  test('by gas days begin at 06:00 of the market, and at UTC midnights for series without a market', async () => {
    const rows = await bars(
      `code=${gas},${hourly}&day=market&interval=day&start_date=2026-10-24&end_date=2026-10-24`,
    )
    expect(rows.map(row => row.bucket_start).sort()).toEqual([
      '2026-10-24T00:00:00Z',
      '2026-10-24T04:00:00Z',
    ])
  })

  test('are named in the metadata, and the answer for UTC is the default byte for byte', async () => {
    const path = `/v1/prices/historical?code=${hourly}&interval=day&start_date=2026-10-01&end_date=2026-10-26`
    const plain = await instance.ask(path)
    const utc = await instance.ask(`${path}&zone=UTC`)
    const calendar = await instance.ask(`${path}&day=calendar`)
    expect(JSON.stringify(utc.body)).toBe(JSON.stringify(plain.body))
    expect(JSON.stringify(calendar.body)).toBe(JSON.stringify(plain.body))
    const local = await instance.ask(`${path}&zone=Europe/Berlin`)
    expect([plain.body.data.metadata.timezone, local.body.data.metadata.timezone]).toEqual([
      'UTC',
      'Europe/Berlin',
    ])
  })

  test.each([
    ['zone=Europe/Nowhere', 'zone'],
    ['zone=Europe/Berlin&day=market', 'zone'],
    ['day=gas', 'day'],
  ])('are refused for %s', async (query, parameter) => {
    for (const path of [
      `/v1/prices/historical?code=${hourly}&interval=day`,
      `/v1/prices/chart?code=${hourly}`,
      `/v1/export/prices?codes=${hourly}`,
      `/v1/analytics/statistics?code=${hourly}`,
    ]) {
      const { status, body } = await instance.ask(`${path}&${query}`)
      expect(status, path).toBe(400)
      expect(JSON.stringify(body), path).toContain(`"${parameter}"`)
    }
  })

  test('a day of the path and of at is a day of the zone', async () => {
    const { body } = await instance.ask(
      `/v1/prices/2026-10-25?code=${hourly}&zone=Europe/Berlin&interval=raw&per_page=100`,
    )
    const rows: Bar[] = body.data.prices
    expect({ rows: rows.length, createdAt: rows.at(-1)!.created_at }).toEqual({
      rows: 25,
      createdAt: '2026-10-24T22:00:00Z',
    })
  })
})

test('charts and exports have the bars of the zone', async () => {
  const range = 'interval=day&zone=Europe/Berlin&start_date=2026-10-24&end_date=2026-10-26'
  const rows = (await bars(`code=${hourly}&${range}`)).reverse()
  const { body } = await instance.ask(`/v1/prices/chart?code=${hourly}&${range}`)
  expect(body.data.times).toEqual(rows.map(row => parseInstant(row.bucket_start)! / 1000))
  expect(body.data.close).toEqual(rows.map(row => row.price))
  const response = await instance.get(
    `/v1/export/prices?codes=${hourly}&${range}&columns=bucket_start,price,open`,
    instance.key(),
  )
  expect(await response.text()).toBe(
    [
      'bucket_start,price,open',
      ...rows.map(r => `${r.bucket_start},${r.price},${r.open}`),
      '',
    ].join('\n'),
  )
})

test('statistics use the closes of the zone', async () => {
  const { body } = await instance.ask(
    `/v1/analytics/statistics?code=${hourly}&period=10&zone=Asia/Kolkata`,
  )
  const closes = (
    await bars(
      `code=${hourly}&zone=Asia/Kolkata&interval=day&start_date=2026-11-01&end_date=2026-11-10`,
    )
  ).map(row => row.price)
  const { mean, data_points: count } = body.data.statistics
  expect(count).toBe(closes.length)
  expect(mean).toBeCloseTo(closes.reduce((a, b) => a + b, 0) / closes.length, 3)
})

test('a charting client gets market days of a series of delivery periods', async () => {
  const symbol = await instance.ask(`/udf/symbols?symbol=${gas}`)
  expect(symbol.body).toMatchObject({ timezone: 'Europe/Berlin', session: '24x7' })
  const [start, end] = [
    parseInstant('2026-10-24T00:00:00Z')!,
    parseInstant('2026-10-27T00:00:00Z')!,
  ]
  const { body } = await instance.ask(
    `/udf/history?symbol=${gas}&resolution=D&from=${start / 1000}&to=${end / 1000}`,
  )
  expect((body as unknown as { t: number[] }).t.map(t => isoInstant(t * 1000))).toEqual([
    '2026-10-24T04:00:00Z',
    '2026-10-25T05:00:00Z',
    '2026-10-26T05:00:00Z',
  ])
})
