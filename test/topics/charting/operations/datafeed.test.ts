import { describe, expect, test } from 'bun:test'
import type { OpenApiDocument } from '../../../../src/http/openapi/openapi.ts'
import { dayMs, hourMs, minuteMs, secondMs } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'

const day = (count: number) => Date.UTC(2026, 10, count)
const inSeconds = (at: number) => at / secondMs

interface Feed {
  instance: TestInstance
  /** The body of an answer, of any part of the protocol. */
  get<Body = unknown>(path: string): Promise<Body>
  write(code: string, observedAt: number, value: number, recordedAt?: number): void
  key: string
}

function open(): Feed {
  const instance = openTestInstance({}, startAt)
  const key = instance.key()
  const { catalogue, ingest } = instance.services
  return {
    instance,
    key,
    get: async path => (await (await instance.get(path, key)).json()) as never,
    write(code, observedAt, value, recordedAt = observedAt + hourMs) {
      ingest.write([{ seriesId: catalogue.named(code)!.id, observedAt, value }], recordedAt)
    },
  }
}

interface Bars {
  s: string
  t: number[]
  c: number[]
  nextTime?: number
}

describe('the datafeed for charting libraries', () => {
  test('pages back from the newest bar to the first without a gap or a repeat', async () => {
    const { get, write } = open()
    // Weekdays of three months in a series of one price a day.
    const days = Array.from(
      { length: 90 },
      (_, i) => startAt - (startAt % dayMs) - (90 - i) * dayMs,
    )
    const trading = days.filter(at => ![0, 6].includes(new Date(at).getUTCDay()))
    for (const [i, at] of trading.entries()) write('EUR_USD', at, 1 + i / 1000)
    const seen: number[] = []
    let to = inSeconds(startAt)
    for (let page = 0; page < 50; page++) {
      const from = to - inSeconds(7 * dayMs)
      const body = await get<Bars>(`/udf/history?symbol=EUR_USD&resolution=D&from=${from}&to=${to}`)
      if (body.s === 'no_data') {
        if (body.nextTime === undefined) break
        to = body.nextTime + 1
        continue
      }
      seen.unshift(...body.t)
      to = from
    }
    expect(seen).toEqual(trading.map(inSeconds))
  })

  test('makes bars of minutes from raw prices', async () => {
    const { get, write } = open()
    const at = startAt - 2 * hourMs
    for (const [minutes, value] of [
      [0, 70],
      [4, 74],
      [5, 71],
      [9, 69],
      [14, 72],
    ] as const)
      write('WTI_USD', at + minutes * minuteMs, value)
    const range = `from=${inSeconds(at)}&to=${inSeconds(startAt)}`
    const five = await get(`/udf/history?symbol=WTI_USD&resolution=5&${range}`)
    expect(five).toEqual({
      s: 'ok',
      t: [at, at + 5 * minuteMs, at + 10 * minuteMs].map(inSeconds),
      o: [70, 71, 72],
      h: [74, 71, 72],
      l: [70, 69, 72],
      c: [74, 69, 72],
    })
    const hour = await get(`/udf/history?symbol=WTI_USD&resolution=60&${range}`)
    expect(hour).toMatchObject({ t: [inSeconds(at)], o: [70], h: [74], l: [69], c: [72] })
  })

  test('returns the newest bars before a time where a count is requested', async () => {
    const { get, write } = open()
    for (const date of [2, 3, 4, 5]) write('EUR_USD', day(date), 1 + date / 100)
    const body = await get(
      `/udf/history?symbol=EUR_USD&resolution=1D&to=${inSeconds(day(5))}&countback=2`,
    )
    expect(body).toMatchObject({ s: 'ok', t: [day(3), day(4)].map(inSeconds), c: [1.03, 1.04] })
  })

  test('the charting datafeed returns the past as it was known and marks values corrected since', async () => {
    const { get, write } = open()
    write('EUR_USD', day(2), 1.1)
    write('EUR_USD', day(2), 1.2, day(4))
    const range = `symbol=EUR_USD&resolution=D&from=${inSeconds(day(1))}&to=${inSeconds(day(9))}`
    const past = await get<Bars>(`/udf/as_of/2026-11-03T00:00:00Z/history?${range}`)
    const present = await get<Bars>(`/udf/history?${range}`)
    expect({ past: past.c, present: present.c }).toEqual({ past: [1.1], present: [1.2] })
    const marks = await get(`/udf/marks?${range}`)
    expect(marks).toMatchObject([
      { time: inSeconds(day(2)), label: 'C', text: 'Corrected on 2026-11-04: 1.1 to 1.2.' },
    ])
    const marksThen = await get(`/udf/as_of/2026-11-03T00:00:00Z/marks?${range}`)
    expect(marksThen).toEqual([])
  })

  test('marks no value that was recorded once more for an earlier moment', async () => {
    const { get, instance } = open()
    const { catalogue, ingest } = instance.services
    const seriesId = catalogue.named('EUR_USD')!.id
    for (const [observedAt, value, recordedAt] of [
      [day(1), 1.2, day(4)],
      [day(1), 1.2, day(3)],
      [day(2), 1.2, day(4)],
      [day(2), 1.2, day(3)],
      [day(2), 1.1, day(2)],
    ] as const)
      ingest.write([{ seriesId, observedAt, value, recordedAt }])
    const range = `symbol=EUR_USD&resolution=D&from=${inSeconds(day(1))}&to=${inSeconds(day(9))}`
    expect(await get(`/udf/marks?${range}`)).toMatchObject([
      { time: inSeconds(day(2)), text: 'Corrected on 2026-11-03: 1.1 to 1.2.' },
    ])
  })

  test('describes a code by its market, decimals and resolutions', async () => {
    const { get } = open()
    const oil = await get('/udf/symbols?symbol=wti_usd')
    expect(oil).toMatchObject({
      name: 'WTI_USD',
      session: '0100-2301:23456',
      timezone: 'Etc/UTC',
      pricescale: 100,
      currency_code: 'USD',
      has_intraday: true,
      supported_resolutions: ['1', '5', '15', '60', 'D', 'W', 'M'],
    })
    const stocks = await get<Record<string, unknown>>('/udf/symbols?symbol=CUSHING_STORAGE')
    // Libraries send back what is there, as text.
    expect(Object.values(stocks)).not.toContain(null)
    expect(stocks).toMatchObject({ has_intraday: false, supported_resolutions: ['D', 'W', 'M'] })
  })

  test('names a zone that the charting library knows for every series of delivery periods', async () => {
    const { get, instance } = open()
    const codes = new Map(
      instance.services.catalogue
        .list()
        .flatMap(({ code, delivery }) => (delivery ? [[delivery.zone, code]] : [])),
    )
    const zones: Record<string, string> = {}
    for (const [zone, code] of codes)
      zones[zone] = (await get<{ timezone: string }>(`/udf/symbols?symbol=${code}`)).timezone
    // All of these are in its list; it draws one that is not there in UTC, with a warning.
    expect(zones).toEqual({
      'America/Chicago': 'America/Chicago',
      'America/Los_Angeles': 'America/Los_Angeles',
      'America/New_York': 'America/New_York',
      'Australia/Brisbane': 'Australia/Brisbane',
      'Etc/GMT+5': 'America/Bogota',
      'Europe/Berlin': 'Europe/Berlin',
      'Europe/London': 'Europe/London',
      UTC: 'Etc/UTC',
    })
  })

  test('finds codes by a part of their name, the exact code first', async () => {
    const { get, write } = open()
    write('WTI_USD', startAt - hourMs, 70)
    write('WTI_MIDLAND_USD', startAt - hourMs, 71)
    const found = await get<{ symbol: string }[]>('/udf/search?query=wti&limit=2')
    expect(found.map(({ symbol }) => symbol)).toEqual(['WTI_MIDLAND_USD', 'WTI_USD'])
    const exact = await get<{ symbol: string }[]>('/udf/search?query=wti_usd')
    expect(exact[0]!.symbol).toBe('WTI_USD')
  })

  test('the charting datafeed returns quotes with the change since the previous close and errors alongside them', async () => {
    const { get, write } = open()
    write('EUR_USD', day(18), 1.1)
    write('EUR_USD', day(19), 1.21)
    const { d: quotes } = await get<{ d: unknown[] }>('/udf/quotes?symbols=EUR_USD,NO_SUCH_CODE')
    expect(quotes[0]).toMatchObject({
      s: 'ok',
      n: 'EUR_USD',
      v: { lp: 1.21, ch: 0.11, chp: 10, prev_close_price: 1.1 },
    })
    expect(quotes[1]).toMatchObject({ s: 'error', n: 'NO_SUCH_CODE' })
  })

  test('gives the time as text, whose type HEAD names too', async () => {
    const { instance, key } = open()
    for (const method of ['GET', 'HEAD']) {
      const request = new Request('http://localhost/udf/time', {
        method,
        headers: { authorization: `Token ${key}` },
      })
      const response = await instance.app.handle(request)
      expect(response.headers.get('content-type'), method).toBe('text/plain; charset=utf-8')
    }
  })

  test('refuses in the form that clients of the protocol show', async () => {
    const { instance, key } = open()
    for (const [path, status, message] of [
      ['/udf/history?symbol=NO_SUCH_CODE&from=1&to=2', 400, /Unknown commodity code: NO_SUCH_CODE/],
      ['/udf/history?symbol=WTI_USD&from=1&to=soon', 400, /^to must be a time in Unix seconds/],
      ['/udf/history?symbol=WTI_USD&from=1&to=2&resolution=7', 400, /^resolution must be 1, 5/],
      ['/udf/search?query=wti&limit=none', 400, /^limit must be a whole number of 1 or more/],
      ['/udf/history?from=1&to=2', 400, /^symbol is required/],
    ] as const) {
      const response = await instance.get(path, key)
      const body = (await response.json()) as { s: string; errmsg: string }
      expect({ path, status: response.status, s: body.s }).toEqual({ path, status, s: 'error' })
      expect(body.errmsg).toMatch(message)
      expect(response.headers.get('x-error-code')).toMatch(/^\w+$/)
      expect(response.headers.get('x-error-message')).toMatch(message)
    }
    const { headers } = await instance.get('/udf/symbols?symbol=WTI_USD')
    expect([headers.get('x-error-code'), headers.get('www-authenticate')]).toEqual([
      'UNAUTHORIZED',
      expect.stringContaining('Bearer'),
    ])
  })

  test('documents this form for every error', async () => {
    const { instance } = open()
    const { paths } = (await (await instance.get('/openapi.json')).json()) as OpenApiDocument
    const bars = paths['/udf/history']!.get!.responses!
    const errors = Object.entries(bars).filter(([status]) => status >= '400')
    expect(errors.map(([status]) => status)).toEqual(['400', '401', '402', '403', '429', '503'])
    for (const [, { content }] of errors)
      expect(content!['application/json']!.schema!.$ref).toBe('#/components/schemas/ChartRefusal')
  })

  test('accepts a key in the path only where it is read-only', async () => {
    const { instance, key } = open()
    const created = await instance.send(
      'POST',
      '/v1/api-keys',
      { name: 'chart', read_only: true },
      key,
    )
    const { data } = (await created.json()) as { data: { api_key: { plain_token: string } } }
    const ask = async (inPath: string) =>
      (await (await instance.get(`/udf/key/${inPath}/symbols?symbol=WTI_USD`)).json()) as {
        name?: string
        errmsg?: string
      }
    expect(await ask(data.api_key.plain_token)).toMatchObject({ name: 'WTI_USD' })
    expect((await ask(key)).errmsg).toBe('A key in a path must be read-only.')
    expect((await ask('unknown')).errmsg).toStartWith('The API key is not valid: ')
  })
})
