import { beforeEach, describe, expect, test } from 'bun:test'
import { isoInstant, parseInstant } from '../../../../src/lib/time/instant.ts'
import { dayOfDate, periodsOf } from '../../../../src/topics/delivery/math/days.ts'
import { deliveryTerms } from '../../../../src/topics/delivery/math/terms.ts'
import { germanPower, withDelivery } from '../../../support/topics/delivery.ts'

const { code } = germanPower
const terms = deliveryTerms({
  time: 'delivery',
  zone: 'Europe/Berlin',
  resolutions: [
    { from: '2018-10-01', resolution: 'PT1H' },
    { from: '2025-10-01', resolution: 'PT15M' },
  ],
})!
const at = (text: string) => parseInstant(text)!

let instance: ReturnType<typeof withDelivery>
/** Records a day at a moment, each period with the price of its number from 0. */
async function auction(date: string, when: string, price = (i: number) => i, own = code) {
  instance.clock.set(at(when))
  const observations = periodsOf(terms, dayOfDate(terms, date)).map(({ start }, i) => ({
    code: own,
    observed_at: isoInstant(start),
    price: price(i),
  }))
  const { status, body } = await instance.admin('POST', '/observations', { observations })
  expect({ status, held: body.data?.held }).toEqual({ status: 200, held: 0 })
}

beforeEach(async () => {
  instance = withDelivery()
  await instance.admin('POST', '/series', germanPower)
  await auction('2026-11-21', '2026-11-20T11:45:00Z')
  await auction('2026-11-22', '2026-11-21T11:50:00Z', i => 100 - i)
})

describe('the day of delivery', () => {
  test('has every period, the means of the market and its extremes', async () => {
    const { status, body } = await instance.ask(`/v1/delivery/${code}?date=2026-11-20`)
    expect([status, body.data?.status]).toEqual([404, undefined])
    const day = await instance.ask(`/v1/delivery/${code}?date=2026-11-21`)
    expect(day.body.data).toMatchObject({
      code,
      date: '2026-11-21',
      zone: 'Europe/Berlin',
      day_starts: '00:00',
      resolution: 'PT15M',
      start: '2026-11-20T23:00:00Z',
      end: '2026-11-21T23:00:00Z',
      expected: 96,
      count: 96,
      complete: true,
      published_at: '2026-11-20T11:45:00Z',
      base: 47.5,
      peak: null,
      off_peak: 47.5,
      min: { price: 0, start: '2026-11-20T23:00:00Z', end: '2026-11-20T23:15:00Z' },
      max: { price: 95, start: '2026-11-21T22:45:00Z', end: '2026-11-21T23:00:00Z' },
      negative_periods: 0,
    })
    expect(day.body.data.periods).toHaveLength(96)
    expect(day.body.data.periods[4]).toEqual({
      start: '2026-11-21T00:00:00Z',
      end: '2026-11-21T00:15:00Z',
      price: 4,
    })
  })

  test('in hours is the mean of its quarters, and finer periods are refused', async () => {
    const hours = await instance.ask(`/v1/delivery/${code}?date=2026-11-21&resolution=PT1H`)
    expect(hours.body.data).toMatchObject({ resolution: 'PT1H', expected: 24, base: 47.5 })
    expect(hours.body.data.periods[1].price).toBe(5.5)
    const finer = await instance.ask(`/v1/delivery/${code}?date=2026-11-21&resolution=PT5M`)
    expect(finer.status).toBe(400)
    expect(JSON.stringify(finer.body)).toContain('"allowed":["PT15M","PT30M","PT1H","P1D"]')
  })

  test('in another zone begins at its midnight', async () => {
    const utc = await instance.ask(`/v1/delivery/${code}?date=2026-11-22&zone=UTC`)
    expect(utc.body.data).toMatchObject({
      zone: 'UTC',
      start: '2026-11-22T00:00:00Z',
      end: '2026-11-23T00:00:00Z',
      expected: 96,
      count: 92,
      complete: false,
      published_at: null,
    })
    const wrong = await instance.ask(`/v1/delivery/${code}?zone=Mars/Base`)
    expect(wrong.status).toBe(400)
  })

  test('is known from its auction on: not at noon, but at half past one', async () => {
    const asOf = (time: string) =>
      instance.ask(`/v1/delivery/${code}?date=2026-11-22&as_of=2026-11-21T${time}:00%2B01:00`)
    const noon = await asOf('12:00')
    expect({ status: noon.status, body: JSON.stringify(noon.body) }).toEqual({
      status: 404,
      body: expect.stringContaining('"expected_at":"2026-11-21T11:45:00Z"'),
    })
    const later = await asOf('13:30')
    expect({
      status: later.status,
      complete: later.body.data.complete,
      as_of: later.body.data.as_of,
    }).toEqual({ status: 200, complete: true, as_of: '2026-11-21T12:30:00Z' })
    // Without a date, the day that contains the moment.
    const today = await instance.ask(`/v1/delivery/${code}?as_of=2026-11-21T11:00:00Z`)
    expect(today.body.data.date).toBe('2026-11-21')
  })

  test('of a code without delivery periods is refused', async () => {
    const { status, body } = await instance.ask('/v1/delivery/WTI_USD')
    expect({ status, body: JSON.stringify(body) }).toEqual({
      status: 400,
      body: expect.stringContaining('"code"'),
    })
    expect((await instance.ask('/v1/delivery/NO_SUCH_CODE')).status).toBe(400)
  })
})

describe('averages of days', () => {
  test('have a row for each day with a price', async () => {
    const { body } = await instance.ask(`/v1/delivery/${code}/days?start=2026-11-19&end=2026-11-23`)
    expect(body.data.days).toEqual([
      expect.objectContaining({ date: '2026-11-21', hours: 24, base: 47.5, min: 0, max: 95 }),
      expect.objectContaining({ date: '2026-11-22', expected: 96, base: 52.5, complete: true }),
    ])
    const past = await instance.ask(
      `/v1/delivery/${code}/days?start=2026-11-19&end=2026-11-23&as_of=2026-11-21T11:00:00Z`,
    )
    expect(past.body.data.days.map((day: { date: string }) => day.date)).toEqual(['2026-11-21'])
  })

  test('are refused for ranges that are too long, backwards or not named', async () => {
    const statusOf = async (query: string) =>
      (await instance.ask(`/v1/delivery/${code}/days?${query}`)).status
    expect(await statusOf('start=2026-11-01')).toBe(400)
    expect(await statusOf('start=2026-11-02&end=2026-11-01')).toBe(400)
    expect(await statusOf('start=2025-01-01&end=2026-11-01')).toBe(400)
  })
})

describe('the cheapest time', () => {
  test('is the window of the lowest mean, or the cheapest periods', async () => {
    const window = await instance.ask(`/v1/delivery/${code}/cheapest?date=2026-11-21&hours=1`)
    expect(window.body.data).toMatchObject({
      start: '2026-11-20T23:00:00Z',
      end: '2026-11-21T00:00:00Z',
      average: 1.5,
      hours: 1,
      contiguous: true,
    })
    const dearest = await instance.ask(
      `/v1/delivery/${code}/cheapest?date=2026-11-21&hours=0.5&contiguous=false&dearest=true`,
    )
    expect(dearest.body.data.periods.map(({ price }: { price: number }) => price)).toEqual([94, 95])
    const between = await instance.ask(
      `/v1/delivery/${code}/cheapest?date=2026-11-21&hours=1&from=2026-11-21T06:00:00Z&to=2026-11-21T12:00:00Z`,
    )
    expect(between.body.data.start).toBe('2026-11-21T06:00:00Z')
  })

  test('needs hours that fit the day, and enough prices', async () => {
    const answerOf = (query: string) =>
      instance.ask(`/v1/delivery/${code}/cheapest?date=2026-11-21&${query}`)
    for (const query of ['', 'hours=0', 'hours=25', 'hours=0.3', 'hours=many'])
      expect((await answerOf(query)).status).toBe(400)
    const few = await answerOf('hours=2&from=2026-11-21T06:00:00Z&to=2026-11-21T07:00:00Z')
    expect({ status: few.status, body: JSON.stringify(few.body) }).toEqual({
      status: 404,
      body: expect.stringContaining('"have":1,"need":2'),
    })
  })
})

test('rates for a charger are the periods from now on, with the offset of the market', async () => {
  instance.clock.set(at('2026-11-21T22:20:00Z'))
  const { body } = await instance.ask(`/v1/delivery/${code}/evcc`)
  const rates = body as unknown as object[]
  expect(rates).toHaveLength(3 + 96)
  expect(rates[0]).toEqual({
    start: '2026-11-21T23:15:00+01:00',
    end: '2026-11-21T23:30:00+01:00',
    value: 0.093,
  })
  const mwh = await instance.ask(`/v1/delivery/${code}/evcc?per=mwh&from=2026-11-22T22:45:00Z`)
  expect(mwh.body as unknown).toEqual([
    { start: '2026-11-22T23:45:00+01:00', end: '2026-11-23T00:00:00+01:00', value: 5 },
  ])
  const taxed = await instance.ask(
    `/v1/delivery/${code}/evcc?per=mwh&from=2026-11-22T22:45:00Z&factor=2&add=1.5`,
  )
  expect(taxed.body as unknown).toMatchObject([{ value: 11.5 }])
  expect((await instance.ask(`/v1/delivery/${code}/evcc?factor=much`)).status).toBe(400)
})

describe('a series by formula over delivery periods', () => {
  const tariff = {
    code: 'DESK_TARIFF_EUR',
    name: 'Retail tariff',
    category: 'power',
    unit: 'mwh',
    currency: 'EUR',
    formula: `max(${code}, 0) * 1.19 + 154.3`,
  }
  beforeEach(async () => {
    instance.clock.set(at('2026-11-21T22:20:00Z'))
    expect((await instance.admin('POST', '/series', tariff)).status).toBe(201)
  })

  test('has days, averages and the cheapest time of the periods of its leg', async () => {
    const { data } = (await instance.ask(`/v1/delivery/${tariff.code}?date=2026-11-22`)).body
    expect(data).toMatchObject({ expected: 96, complete: true, zone: 'Europe/Berlin' })
    const plain = (await instance.ask(`/v1/delivery/${code}?date=2026-11-22`)).body.data
    expect(data.periods).toHaveLength(96)
    for (const [i, { start, price }] of data.periods.entries()) {
      expect(start).toBe(plain.periods[i].start)
      expect(price).toBeCloseTo(plain.periods[i].price * 1.19 + 154.3, 9)
    }
    expect(data.base).toBeCloseTo(plain.base * 1.19 + 154.3, 9)
    const cheapest = (of: string) =>
      instance.ask(`/v1/delivery/${of}/cheapest?date=2026-11-22&hours=2`)
    const [own, leg] = [await cheapest(tariff.code), await cheapest(code)]
    expect(own.body.data.start).toBe(leg.body.data.start)
    const noon = await instance.ask(
      `/v1/delivery/${tariff.code}?date=2026-11-22&as_of=2026-11-21T11:00:00Z`,
    )
    expect(noon.status).toBe(404)
  })

  test('is quoted by the period that is delivered now, as its leg is', async () => {
    instance.clock.set(at('2026-11-21T22:40:00Z'))
    const { data } = (await instance.ask(`/v1/prices/latest?by_code=${tariff.code}&precision=full`))
      .body
    expect(data).toMatchObject({
      price: 94 * 1.19 + 154.3,
      created_at: '2026-11-21T22:30:00Z',
      delivery_end: '2026-11-21T22:45:00Z',
      next: { start: '2026-11-21T22:45:00Z', end: '2026-11-21T23:00:00Z' },
      day: { date: '2026-11-21', complete: true },
    })
    instance.clock.set(at('2026-11-21T22:46:00Z'))
    const later = (await instance.ask(`/v1/prices/latest?by_code=${tariff.code}`)).body.data
    expect({
      createdAt: later.created_at,
      laterPrice: later.price,
      nextPrice: later.next.price,
    }).toEqual({ createdAt: '2026-11-21T22:45:00Z', laterPrice: 267.35, nextPrice: 273.3 })
  })

  test('is a tariff for a charger, as the code or as formula', async () => {
    const asFormula = await instance.ask(`/v1/delivery/${code}/evcc?formula=${tariff.code}`)
    const asCode = await instance.ask(`/v1/delivery/${tariff.code}/evcc`)
    expect(asFormula.body).toEqual(asCode.body)
    const rates = asFormula.body as unknown as { start: string; value: number }[]
    expect(rates).toHaveLength(3 + 96)
    expect(rates[0]!.start).toBe('2026-11-21T23:15:00+01:00')
    expect(rates[0]!.value).toBeCloseTo((93 * 1.19 + 154.3) / 1000, 12)
  })

  test('must be over the code whose rates it gives', async () => {
    await instance.admin('POST', '/series', { ...tariff, code: 'DESK_OTHER', formula: 'WTI_USD' })
    const other = { ...germanPower, code: 'DESK_OTHER_EUR' }
    expect((await instance.admin('POST', '/series', other)).status).toBe(201)
    for (const path of [
      `${other.code}/evcc?formula=${tariff.code}`,
      `${code}/evcc?formula=${code}`,
    ])
      expect((await instance.ask(`/v1/delivery/${path}`)).status).toBe(400)
    expect((await instance.ask(`/v1/delivery/${code}/evcc?formula=NO_SUCH`)).status).toBe(400)
  })
})

test('exports have the zone and the end of delivery of each row on request', async () => {
  const csv = async (more: string) => {
    const token = instance.key()
    const path = `/v1/export/prices?start_date=2026-11-21&end_date=2026-11-21&${more}`
    const response = await instance.get(path, token)
    return { status: response.status, lines: (await response.text()).split('\n') }
  }
  const columns = 'columns=code,observed_at,delivery_end,zone,price'
  const raw = await csv(`codes=${code}&${columns}`)
  expect(raw.lines.slice(0, 2)).toEqual([
    'code,observed_at,delivery_end,zone,price',
    `${code},2026-11-21T00:00:00Z,2026-11-21T00:15:00Z,Europe/Berlin,4`,
  ])
  const other = await csv(`codes=${code},EUR_USD&${columns}`)
  expect(other.status).toBe(400)
  expect(other.lines.join('')).toContain('delivery_end')
  expect((await csv(`codes=${code},EUR_USD&columns=code,zone`)).status).toBe(200)
})

describe('the latest price', () => {
  const latest = async () => (await instance.ask(`/v1/prices/latest?by_code=${code}`)).body.data

  test('is of the period that is being delivered, and moves with the clock', async () => {
    instance.clock.set(at('2026-11-21T22:40:00Z'))
    expect(await latest()).toMatchObject({
      price: 94,
      created_at: '2026-11-21T22:30:00Z',
      delivery_end: '2026-11-21T22:45:00Z',
      next: { price: 95, start: '2026-11-21T22:45:00Z', end: '2026-11-21T23:00:00Z' },
      day: { date: '2026-11-21', base: 47.5, complete: true },
      change_24h: null,
      data_status: 'current',
    })
    instance.clock.set(at('2026-11-21T22:45:00Z'))
    expect(await latest()).toMatchObject({
      price: 95,
      next: { price: 100, start: '2026-11-21T23:00:00Z' },
    })
    instance.clock.set(at('2026-11-22T10:00:00Z'))
    expect(await latest()).toMatchObject({
      price: 100 - 44,
      change_24h: 56 - 44,
      day: { date: '2026-11-22' },
    })
  })

  test('is current until tomorrow should be there, then delayed, then stale', async () => {
    const statusAt = async (time: string) => {
      instance.clock.set(at(time))
      const { data } = (await instance.ask(`/v1/commodities/${code}`)).body
      return [(await latest()).data_status, data.freshness.data_status]
    }
    expect(await statusAt('2026-11-22T12:44:00Z')).toEqual(['current', 'current'])
    expect(await statusAt('2026-11-22T12:46:00Z')).toEqual(['delayed', 'delayed'])
    expect(await statusAt('2026-11-23T12:46:00Z')).toEqual(['stale', 'stale'])
    // The newest period that has a value is answered.
    expect(await latest()).toMatchObject({ price: 5, created_at: '2026-11-22T22:45:00Z' })
  })

  test('as of a moment knows the period of then, and the next one if it was recorded', async () => {
    const { data } = (
      await instance.ask(`/v1/prices/latest?by_code=${code}&as_of=2026-11-21T10:07:00Z`)
    ).body
    expect(data).toMatchObject({ price: 44, next: { price: 45 }, data_status: 'current' })
  })
})

describe('windows', () => {
  test('end with the market day that is being delivered; tomorrow is there when end_date reaches it', async () => {
    instance.clock.set(at('2026-11-21T12:30:00Z'))
    const rowsOf = async (query: string) =>
      (await instance.ask(`/v1/prices/historical?by_code=${code}&per_page=200&${query}`)).body.data
        .prices as { created_at: string; delivery_end: string; price: number }[]
    const open = await rowsOf('interval=raw&start_date=2026-11-21')
    expect(open[0]).toMatchObject({
      created_at: '2026-11-21T22:45:00Z',
      delivery_end: '2026-11-21T23:00:00Z',
      price: 95,
    })
    const dated = await rowsOf('interval=raw&start_date=2026-11-22&end_date=2026-11-22')
    expect(dated[0]!.created_at).toBe('2026-11-22T22:45:00Z')
    const other = (await instance.ask('/v1/prices/historical?by_code=WTI_USD')).body.data
    expect(other.metadata.to).toBe('2026-11-21T12:30:00Z')
  })

  test('end for each code with its own market day or now, whatever other codes are requested', async () => {
    // The gas day of 21 November ends six hours into the power day of the 22nd, which is known.
    instance.clock.set(at('2026-11-21T12:30:00Z'))
    const gas = 'DESK_GAS_EUR'
    const gasDay = { ...germanPower, code: gas, day_starts: '06:00', resolutions: undefined }
    await instance.admin('POST', '/series', { ...gasDay, resolution: 'PT1H' })
    const observations = [
      { code: gas, observed_at: '2026-11-21T05:00:00Z', price: 30 },
      { code: gas, observed_at: '2026-11-22T04:00:00Z', price: 31 },
      { code: gas, observed_at: '2026-11-22T05:00:00Z', price: 32 },
      { code: 'WTI_USD', observed_at: '2026-11-21T12:00:00Z', price: 71 },
      { code: 'WTI_USD', observed_at: '2026-11-21T18:00:00Z', price: 72 },
    ]
    expect((await instance.admin('POST', '/observations', { observations })).status).toBe(200)

    const codes = ['WTI_USD', code, gas]
    const own = {
      WTI_USD: '2026-11-21T12:00:00Z',
      [code]: '2026-11-21T22:45:00Z',
      [gas]: '2026-11-22T04:00:00Z',
    }
    const newestOf = (rows: readonly { code: string; at: string }[]) =>
      Object.fromEntries(codes.map(one => [one, rows.findLast(row => row.code === one)?.at]))
    const windowOf = async (query: string) => {
      const { body } = await instance.ask(
        `/v1/prices/${query}&by_code=${codes.join()}&per_page=100`,
      )
      const rows = body.data.prices as { code: string; created_at: string; sample_count: number }[]
      return rows.map(row => ({ ...row, at: row.created_at })).reverse()
    }
    const exportOf = async (query: string) => {
      const path = `/v1/export/prices?codes=${codes.join()}&start_date=2026-11-21&${query}`
      const response = await instance.get(path, instance.key())
      const text = await response.text()
      expect(response.headers.get('x-total')).toBe(String(text.trim().split('\n').length - 1))
      return text
        .trim()
        .split('\n')
        .map(line => ({ code: line.split(',')[0]!, at: line.split(',')[1]!, line }))
    }

    const asOf = 'as_of=2026-11-21T12:30:00Z'
    expect(newestOf(await windowOf('past_day?interval=raw'))).toEqual(own)
    expect(newestOf(await windowOf(`past_day?${asOf}`))).toEqual(own)
    for (const more of ['', `&${asOf}`, '&zone=Europe/Berlin'])
      expect(newestOf(await exportOf(`columns=code,observed_at${more}`))).toEqual(own)

    // Deep pages have the rows of the whole.
    const whole = await windowOf('historical?start_date=2026-11-20&interval=raw')
    const paged: unknown[] = []
    for (let page = 1; paged.length < 100 && page <= 15; page += 1) {
      const path = `historical?start_date=2026-11-20&interval=raw&page=${page}`
      const { body } = await instance.ask(`/v1/prices/${path}&by_code=${codes.join()}&per_page=7`)
      paged.push(...(body.data.prices as { code: string; created_at: string }[]))
    }
    const keysOf = (rows: readonly unknown[]) =>
      (rows as { code: string; created_at: string }[]).map(row => `${row.code} ${row.created_at}`)
    expect(keysOf(paged)).toEqual(keysOf(whole.toReversed()))

    // No bar is made of a part of a market day.
    const days = await windowOf('historical?start_date=2026-11-21&interval=day&day=market')
    expect(days.filter(row => row.code === code).map(row => row.sample_count)).toEqual([96])
    const bars = await exportOf('interval=day&day=market&columns=code,bucket_start,sample_count')
    expect(bars.filter(row => row.code === code).map(row => row.line)).toEqual([
      `${code},2026-11-20T23:00:00Z,96`,
    ])
  })
})
