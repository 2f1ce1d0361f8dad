import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, isoInstant, minuteMs } from '../../../../src/lib/time/instant.ts'
import { validIntervals } from '../../../../src/topics/prices/math/interval.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'
import {
  type Answer,
  at,
  bodyOf,
  openWindowInstance,
  unhurried,
} from '../../../support/topics/windows.ts'

/** For questions that nothing needs to be recorded for. */
const empty = openWindowInstance()

const summaryOf = ({ rows }: Answer) =>
  rows.map(row => `${row.code} ${row.created_at} ${row.price}`)

describe('GET /v1/prices/past_*: rows', () => {
  test('as published: newest first, each with what the price is and where it comes from', async () => {
    const { ask, write } = openWindowInstance()
    write(
      'NATURAL_GAS_GBP',
      { '2026-11-20T14:00:00Z': 79.404, '2026-11-20T14:05:00Z': 80.126 },
      at('2026-11-20T14:06:00.500Z'),
    )
    const { rows, body } = await ask('past_day?by_code=natural_gas_gbp')
    expect(rows).toEqual([
      {
        code: 'NATURAL_GAS_GBP',
        name: 'UK Natural Gas (NBP)',
        price: 80.13,
        formatted: '80.13p',
        currency: 'GBP',
        unit: 'pence_per_therm',
        type: 'spot_price',
        source: 'market_reporting',
        data_source: 'market_reporting',
        created_at: '2026-11-20T14:05:00Z',
        updated_at: '2026-11-20T14:06:00.500Z',
      },
      expect.objectContaining({ price: 79.4, created_at: '2026-11-20T14:00:00Z' }),
    ])
    expect(body.data.metadata).toEqual({
      codes: ['NATURAL_GAS_GBP'],
      interval: 'raw',
      interval_requested: null,
      downsampled: false,
      from: '2026-11-19T15:00:00Z',
      to: '2026-11-20T15:00:00Z',
      timezone: 'UTC',
      count: 2,
      source_description: 'Compiled from market reporting',
    })
    expect(body.meta).toEqual({
      page: 1,
      per_page: 100,
      total: 2,
      total_pages: 1,
      has_next: false,
      has_prev: false,
    })
  })

  test('as bars: the last observation of each bucket, with what came before it in the bucket', async () => {
    const { ask, write } = openWindowInstance()
    write('WTI_USD', {
      '2026-11-13T14:59:59Z': 1,
      '2026-11-13T15:00:00Z': 70,
      '2026-11-19T09:00:00Z': 71.5,
      '2026-11-19T12:00:00Z': 69,
      '2026-11-19T23:59:59Z': 70.3,
      '2026-11-20T00:00:00Z': 72,
    })
    const { rows } = await ask('past_week?by_code=WTI_USD&interval=1D')
    expect(
      rows.map(({ price, created_at, bucket_start, open, high, low, average, sample_count }) => ({
        price,
        created_at,
        bucket_start,
        open,
        high,
        low,
        average,
        sample_count,
      })),
    ).toEqual([
      {
        price: 72,
        created_at: '2026-11-20T00:00:00Z',
        bucket_start: '2026-11-20T00:00:00Z',
        open: 72,
        high: 72,
        low: 72,
        average: 72,
        sample_count: 1,
      },
      {
        price: 70.3,
        created_at: '2026-11-19T23:59:59Z',
        bucket_start: '2026-11-19T00:00:00Z',
        open: 71.5,
        high: 71.5,
        low: 69,
        average: 70.2667,
        sample_count: 3,
      },
      {
        price: 70,
        created_at: '2026-11-13T15:00:00Z',
        bucket_start: '2026-11-13T00:00:00Z',
        open: 70,
        high: 70,
        low: 70,
        average: 70,
        sample_count: 1,
      },
    ])
  })

  test('weeks start on Monday and months on the first', async () => {
    const { ask, write } = openWindowInstance()
    write('FORTIES_USD', {
      '2026-10-31T16:30:00Z': 1,
      '2026-11-01T16:30:00Z': 2,
      '2026-11-02T16:30:00Z': 3,
      '2026-11-08T16:30:00Z': 4,
      '2026-11-09T16:30:00Z': 5,
    })
    const starts = async (interval: string) =>
      (await ask(`past_month?by_code=FORTIES_USD&interval=${interval}`)).rows.map(row => [
        row.bucket_start,
        row.sample_count,
      ])
    expect(await starts('week')).toEqual([
      ['2026-11-09T00:00:00Z', 1],
      ['2026-11-02T00:00:00Z', 2],
      ['2026-10-26T00:00:00Z', 2],
    ])
    expect(await starts('month')).toEqual([
      ['2026-11-01T00:00:00Z', 4],
      ['2026-10-01T00:00:00Z', 1],
    ])
  })

  test('days are set for physical crude and list prices', async () => {
    const { ask, write } = openWindowInstance()
    for (const code of ['FORTIES_USD', 'DIESEL_LIST_B7_DKK', 'WTI_USD'])
      write(code, { '2026-11-20T00:00:00Z': 14 })
    const { rows } = await ask('past_day?by_code=FORTIES_USD,DIESEL_LIST_B7_DKK,WTI_USD')
    expect(rows.map(row => [row.code, row.as_of, row.type])).toEqual([
      ['DIESEL_LIST_B7_DKK', '2026-11-20', 'list_price'],
      ['FORTIES_USD', '2026-11-20', 'spot_price'],
      ['WTI_USD', undefined, 'spot_price'],
    ])
  })

  test('of several codes have one order: newest first, then by code', async () => {
    const { ask, write } = openWindowInstance()
    write('WTI_USD', { '2026-11-20T10:00:00Z': 1, '2026-11-20T12:00:00Z': 2 })
    write('BRENT_CRUDE_USD', { '2026-11-20T10:00:00Z': 3, '2026-11-20T11:00:00Z': 4 })
    write('GOLD_USD', { '2026-11-20T12:00:00Z': 5 })
    const answer = await ask('past_day?by_code=WTI_USD,GOLD_USD,BRENT_CRUDE_USD,wti_usd')
    expect(summaryOf(answer)).toEqual([
      'GOLD_USD 2026-11-20T12:00:00Z 5',
      'WTI_USD 2026-11-20T12:00:00Z 2',
      'BRENT_CRUDE_USD 2026-11-20T11:00:00Z 4',
      'BRENT_CRUDE_USD 2026-11-20T10:00:00Z 3',
      'WTI_USD 2026-11-20T10:00:00Z 1',
    ])
    expect(answer.body.data.metadata.codes).toEqual(['WTI_USD', 'GOLD_USD', 'BRENT_CRUDE_USD'])
  })

  test('a code without rows, and a range without rows, is an empty page', async () => {
    const { ask } = openWindowInstance()
    const { status, rows, body, headers } = await ask('past_year?by_code=WTI_USD')
    expect({ status, rows, total: body.meta.total, total_pages: body.meta.total_pages }).toEqual({
      status: 200,
      rows: [],
      total: 0,
      total_pages: 0,
    })
    expect({ total: headers.get('x-total'), hasNext: headers.get('x-has-next') }).toEqual({
      total: '0',
      hasNext: 'false',
    })
  })
})

describe('GET /v1/prices/past_*: by_code', () => {
  test.each([
    [
      'past_day',
      'BRENT_CRUDE_USD WTI_USD NATURAL_GAS_USD GOLD_USD EUR_USD GBP_USD HEATING_OIL_USD GASOLINE_USD DIESEL_USD',
    ],
    [
      'past_day?by_code=',
      'BRENT_CRUDE_USD WTI_USD NATURAL_GAS_USD GOLD_USD EUR_USD GBP_USD HEATING_OIL_USD GASOLINE_USD DIESEL_USD',
    ],
    ['past_day?commodity=WTI_USD', 'WTI_USD'],
    ['past_day?code=WTI_USD', 'WTI_USD'],
    ['past_day?by_code=&commodity=WTI_USD', 'WTI_USD'],
    ['past_day?by_code=EUR_USD&commodity=WTI_USD', 'EUR_USD'],
    ['past_day?by_code=western_canadian_select,wcs', 'WCS_CRUDE_USD'],
    ['past_day?by_code=WTI_USD%2CEUR_USD,', 'WTI_USD EUR_USD'],
    ['past_day?by_code=WTI_USD,EUR_USD,US_RIG_COUNT&by_type=fx_rate', 'EUR_USD'],
    ['past_day?by_code=WTI_USD,EUR_USD,US_RIG_COUNT&by_type=rig_count', 'US_RIG_COUNT'],
    ['past_day?by_code=WTI_USD,EUR_USD&by_type=spot_price', 'WTI_USD EUR_USD'],
    ['past_day?by_code=WTI_USD&by_type=index', ''],
    ['historical?by_code=US_RIG_COUNT,CUSHING_STORAGE', 'US_RIG_COUNT CUSHING_STORAGE'],
  ])('%s is about %s', async (path, codes) => {
    const { body } = await empty.ask(path)
    expect(body.data.metadata.codes.join(' ')).toBe(codes)
  })

  test('a price window requested by alias is returned under the code that the alias represents', async () => {
    const { ask, write } = openWindowInstance()
    write('WCS_CRUDE_USD', { '2026-11-20T10:00:00Z': 55 })
    expect(summaryOf(await ask('past_day?by_code=wcs'))).toEqual([
      'WCS_CRUDE_USD 2026-11-20T10:00:00Z 55',
    ])
  })
})

describe('GET /v1/prices/past_*: the range', () => {
  const now = isoInstant(startAt)
  test.each([
    ['past_day', '2026-11-19T15:00:00Z', now],
    ['past_week', '2026-11-13T15:00:00Z', now],
    ['past_month', '2026-10-21T15:00:00Z', now],
    ['past_year', '2025-11-20T15:00:00Z', now],
    ['historical', '2026-10-21T15:00:00Z', now],
    ['past_day?days=3', '2026-11-17T15:00:00Z', now],
    ['past_year?days=365', '2025-11-20T15:00:00Z', now],
    ['past_day?period=past_week', '2026-11-13T15:00:00Z', now],
    ['past_day?period=past_week&days=3', '2026-11-13T15:00:00Z', now],
    ['past_day?period=past_week&days=nonsense', '2026-11-13T15:00:00Z', now],
    [
      'past_day?period=&days=&start_date=&end_date=&at=&interval=&format=&by_type=&as_of=',
      '2026-11-19T15:00:00Z',
      now,
    ],
    ['past_day?start_date=2026-11-01', '2026-11-01T00:00:00Z', now],
    [
      'past_day?start_date=2026-11-01&end_date=2026-11-02',
      '2026-11-01T00:00:00Z',
      '2026-11-02T23:59:59.999Z',
    ],
    [
      'past_day?start_date=2026-11-01&end_date=2026-11-01',
      '2026-11-01T00:00:00Z',
      '2026-11-01T23:59:59.999Z',
    ],
    [
      'past_day?start_date=2026-11-01T06:00:00Z&end_date=2026-11-01T08:00:00%2B02:00',
      '2026-11-01T06:00:00Z',
      '2026-11-01T06:00:00Z',
    ],
    ['past_day?start_date=2026-11-01T06:00:00 02:00', '2026-11-01T04:00:00Z', now],
    ['past_day?end_date=2026-11-02', '2026-11-02T00:00:00Z', '2026-11-02T23:59:59.999Z'],
    ['past_week?end_date=2026-11-02T00:00:00Z', '2026-10-26T00:00:00.001Z', '2026-11-02T00:00:00Z'],
    [
      'past_week?end_date=2026-11-02&period=past_year&days=9',
      '2026-10-27T00:00:00Z',
      '2026-11-02T23:59:59.999Z',
    ],
    ['past_day?at=2026-11-14', '2026-11-14T00:00:00Z', '2026-11-14T23:59:59.999Z'],
    [
      'past_day?at=2026-11-14&start_date=2026-01-01&end_date=2026-01-02&period=past_year&days=9',
      '2026-11-14T00:00:00Z',
      '2026-11-14T23:59:59.999Z',
    ],
    ['2026-11-14', '2026-11-14T00:00:00Z', '2026-11-14T23:59:59.999Z'],
    ['2024-02-29?start_date=2026-01-01', '2024-02-29T00:00:00Z', '2024-02-29T23:59:59.999Z'],
    [
      'historical?start_date=1983-04-04&end_date=1983-04-05',
      '1983-04-04T00:00:00Z',
      '1983-04-05T23:59:59.999Z',
    ],
  ])('%s is from %s to %s', async (path, from, to) => {
    const { body } = await empty.ask(path)
    expect({ from: body.data.metadata.from, to: body.data.metadata.to }).toEqual({ from, to })
  })

  test('both ends belong to it', async () => {
    const { ask, write } = openWindowInstance()
    const values = {
      '2026-10-31T23:59:59.999Z': 1,
      '2026-11-01T00:00:00Z': 2,
      '2026-11-02T23:59:59.999Z': 3,
      '2026-11-03T00:00:00Z': 4,
    }
    write('WTI_USD', values)
    expect(
      (
        await ask('past_day?by_code=WTI_USD&start_date=2026-11-01&end_date=2026-11-02&interval=raw')
      ).rows.map(row => row.price),
    ).toEqual([3, 2])
    expect((await ask('2026-11-02?by_code=WTI_USD')).rows.map(row => row.price)).toEqual([3])
  })

  test.each([
    '2026-02-30',
    '2026-13-01',
    '2026-1-1',
    '20261101',
    'yesterday',
    '2026-11-14T00:00:00Z',
  ])('/v1/prices/%s is not a route, with or without a key', async date => {
    const before = empty.used()
    for (const token of [empty.token, undefined]) {
      const response = await empty.get(`/v1/prices/${date}`, token)
      expect({
        status: response.status,
        contentType: response.headers.get('content-type'),
        text: await response.text(),
      }).toEqual({ status: 404, contentType: 'text/html', text: '' })
    }
    expect(empty.used()).toBe(before)
  })
})

describe('GET /v1/prices/past_*: interval', () => {
  const canonical: Record<string, string> = {
    t: 'raw',
    r: 'raw',
    m: 'month',
    h: 'hour',
    d: 'day',
    w: 'week',
    q: 'quarter',
    y: 'year',
    a: 'year',
  }

  test('every spelling in any case means the same', async () => {
    const { ask } = openWindowInstance()
    const minutes = ['minute', '1min', 'min', 'minutely']
    expect(validIntervals).toHaveLength(57)
    for (const spelling of validIntervals) {
      const lastDay = /-(mon|tue|wed|thu|fri|sat)$/.exec(spelling)?.[1]
      const expected = minutes.includes(spelling)
        ? 'minute'
        : lastDay
          ? `w-${lastDay}`
          : canonical[spelling.replace(/^1/, '')[0]!]
      for (const written of [
        spelling,
        spelling.toUpperCase(),
        `${spelling[0]!.toUpperCase()}${spelling.slice(1)}`,
      ]) {
        const { body } = await ask(`past_day?by_code=FORTIES_USD&interval=${written}`)
        expect({
          written,
          interval: body.data.metadata.interval,
          interval_requested: body.data.metadata.interval_requested,
        }).toEqual({ written, interval: expected!, interval_requested: written })
      }
    }
  })

  const [fast, twice, daily, weekly] = ['WTI_USD', 'DATED_BRENT_USD', 'FORTIES_USD', 'US_RIG_COUNT']
  test.each([
    [`past_day?by_code=${fast}`, 'raw', false],
    [`past_week?by_code=${fast}`, 'hour', true],
    [`past_week?by_code=${twice}`, 'raw', false],
    [`past_month?by_code=${fast}`, 'day', true],
    [`past_month?by_code=${twice}`, 'day', true],
    [`past_month?by_code=${daily}`, 'raw', false],
    [`past_year?by_code=${fast}`, 'day', true],
    [`past_year?by_code=${twice}`, 'day', true],
    [`past_year?by_code=${daily},${weekly}`, 'raw', false],
    [`past_year?by_code=${daily},${fast}`, 'day', true],
    [`historical?by_code=${fast}`, 'day', true],
    [`historical?by_code=${weekly}`, 'raw', false],
    [`past_day?by_code=${fast}&days=1`, 'raw', false],
    [`past_day?by_code=${fast}&days=2`, 'hour', true],
    [`past_day?by_code=${fast}&days=7`, 'hour', true],
    [`past_day?by_code=${fast}&days=8`, 'day', true],
    [`2026-11-14?by_code=${fast}`, 'raw', false],
    [`past_day?by_code=${fast}&end_date=2026-11-14`, 'raw', false],
    [`past_day?by_code=${fast}&days=31&interval=raw`, 'raw', false],
    [`past_day?by_code=${fast}&days=32&interval=raw`, 'hour', true],
    [`past_day?by_code=${fast}&days=32&interval=minute`, 'hour', true],
    [`past_day?by_code=${fast}&days=31&interval=minute`, 'minute', false],
    [
      `historical?by_code=${fast}&interval=raw&start_date=2026-10-01&end_date=2026-10-31`,
      'raw',
      false,
    ],
    [
      `historical?by_code=${fast}&interval=raw&start_date=2026-10-01&end_date=2026-11-01`,
      'hour',
      true,
    ],
    [`past_year?by_code=${twice}&interval=raw`, 'raw', false],
    [`past_year?by_code=${daily},${fast}&interval=raw`, 'hour', true],
    [`past_year?by_code=${fast}&interval=raw&as_of=2026-11-01T00:00:00Z`, 'raw', false],
    [`past_year?by_code=${fast}&interval=week`, 'week', false],
  ] as [string, string, boolean][])(
    '%s is served as %s (downsampled: %p)',
    async (path, interval, downsampled) => {
      const { body } = await empty.ask(path)
      expect({
        interval: body.data.metadata.interval,
        downsampled: body.data.metadata.downsampled,
      }).toEqual({ interval, downsampled })
    },
  )

  test('minutes are the prices as published', async () => {
    const { ask, record } = openWindowInstance()
    record('WTI_USD', [1, 2, 3], startAt, 30_000)
    expect(await ask('past_day?by_code=WTI_USD&interval=min').then(summaryOf)).toEqual(
      await ask('past_day?by_code=WTI_USD').then(summaryOf),
    )
  })
})

describe('GET /v1/prices/past_*: refusals', () => {
  test.each([
    ['past_day?by_code=WIT_USD', 'invalid_code', 'Unknown commodity code: WIT_USD. Did you mean'],
    [
      'past_day?interval=2d',
      'invalid_interval',
      'interval must be raw, minute, hour, day, week, month, quarter or year; got "2d".',
    ],
    [
      'past_day?start_date=2026-11-02&end_date=2026-11-01',
      'INVALID_DATE_RANGE',
      'start_date (2026-11-02) is after end_date (2026-11-01).',
    ],
    [
      'past_day?start_date=2027-01-01',
      'INVALID_DATE_RANGE',
      'start_date (2027-01-01) is after end_date (now).',
    ],
    [
      'past_day?start_date=2026-02-30',
      'INVALID_PARAMETER',
      'start_date must be a date (YYYY-MM-DD) or an ISO 8601 time with a zone; got ',
    ],
    [
      'past_day?end_date=2026-11-01T00:00:00',
      'INVALID_PARAMETER',
      'end_date must be a date (YYYY-MM-DD) or an ISO 8601 time with a zone; got ',
    ],
    ['past_day?at=2026-11-31', 'INVALID_PARAMETER', 'at must be a date (YYYY-MM-DD); got '],
    ['past_week?at=2026-11-14', 'INVALID_PARAMETER', 'at is accepted on /v1/prices/past_day only.'],
    [
      'past_day?period=past_decade',
      'INVALID_PARAMETER',
      'period must be past_day, past_week, past_month or past_year; got ',
    ],
    ['past_day?days=0', 'INVALID_PARAMETER', 'days must be a whole number from 1 to 365; got '],
    ['past_day?days=366', 'INVALID_PARAMETER', 'days must be a whole number from 1 to 365; got '],
    ['past_day?days=0x10', 'INVALID_PARAMETER', 'days must be a whole number from 1 to 365; got '],
    ['past_day?page=0', 'INVALID_PARAMETER', 'page must be a whole number of 1 or more; got '],
    ['past_day?page=1.5', 'INVALID_PARAMETER', 'page must be a whole number of 1 or more; got '],
    [
      'past_day?per_page=0',
      'INVALID_PARAMETER',
      'per_page must be a whole number of 1 or more; got ',
    ],
    [
      'past_day?per_page=abc',
      'INVALID_PARAMETER',
      'per_page must be a whole number of 1 or more; got ',
    ],
    [
      'past_day?per_page=-5',
      'INVALID_PARAMETER',
      'per_page must be a whole number of 1 or more; got ',
    ],
    ['past_day?by_type=spot', 'INVALID_PARAMETER', 'by_type must be '],
    [
      'past_day?format=xml',
      'INVALID_PARAMETER',
      'format must be json, csv, ndjson, parquet, arrow or xlsx; got "xml".',
    ],
    [
      'past_day?as_of=2026-11-01T00:00:00Z&interval=day',
      'INVALID_PARAMETER',
      'as_of returns raw rows, so interval must be raw or absent.',
    ],
    [
      'past_day?as_of=yesterday&interval=raw',
      'INVALID_PARAMETER',
      'as_of must be an ISO 8601 time with a zone',
    ],
    [
      'past_day?as_of=2026-11-01T00:00:00&interval=raw',
      'INVALID_PARAMETER',
      'as_of must be an ISO 8601 time with a zone',
    ],
    [
      `past_day?by_code=${Array(21).fill('WTI_USD').join(',')}`,
      'too_many_codes',
      'At most 20 codes per request; got 21.',
    ],
    [
      '2026-11-14?interval=fortnight',
      'invalid_interval',
      'interval must be raw, minute, hour, day, week, month, quarter or year; got "fortnight".',
    ],
    [
      'historical?start_date=now',
      'INVALID_PARAMETER',
      'start_date must be a date (YYYY-MM-DD) or an ISO 8601 time with a zone; got ',
    ],
  ])('%s: 400 %s, %s', async (path, code, message) => {
    const before = empty.used()
    const { status, headers, body } = await empty.ask(path)
    expect({
      status,
      errorCode: headers.get('x-error-code'),
      errorStatus: headers.get('x-error-status'),
    }).toEqual({ status: 400, errorCode: code, errorStatus: '400' })
    expect(body.message ?? body.error.message).toStartWith(message)
    expect(headers.get('x-error-message')).toStartWith(message.slice(0, 100))
    expect(empty.used()).toBe(before)
  })

  test('an unknown code comes with what a person would have meant', async () => {
    const { ask, record } = openWindowInstance()
    record('WTI_USD', [70], startAt, dayMs)
    const { body } = await ask('past_day?by_code=wti_usdd,NOSUCHTHING,EUR_USD')
    expect(body).toMatchObject({
      status: 'fail',
      code: 'invalid_code',
      data: { error: 'invalid_code', invalid_codes: ['WTI_USDD', 'NOSUCHTHING'] },
    })
    expect(body.data.suggestions[0]).toBe('WTI_USD')
    expect(body.data.suggestions.length).toBeLessThanOrEqual(5)
    expect(body.data.did_you_mean[0]).toEqual({
      code: 'WTI_USD',
      name: 'WTI Crude Oil',
      description: expect.any(String),
      available: true,
    })
    expect(body.data.all_codes_url).toBe('http://localhost/v1/commodities/codes')
  })

  test('a wrong interval comes with all that are right, at the top and inside', async () => {
    const { body } = await empty.ask('past_day?interval=yearly')
    expect(body).toMatchObject({
      status: 'fail',
      valid_intervals: validIntervals,
      data: { interval: 'yearly', valid_intervals: validIntervals },
    })
  })

  test('an invalid window parameter is refused with its name, its value and any short list of allowed values', async () => {
    const { body } = await empty.ask('past_day?period=past_decade')
    expect(body.error).toMatchObject({
      parameter: 'period',
      value: 'past_decade',
      allowed: ['past_day', 'past_week', 'past_month', 'past_year'],
      status: 400,
    })
  })

  test('a price window request without a key reveals nothing about parameters', async () => {
    const response = await empty.get('/v1/prices/past_day?interval=2d')
    expect({ status: response.status, errorCode: response.headers.get('x-error-code') }).toEqual({
      status: 401,
      errorCode: 'UNAUTHORIZED',
    })
  })
})

describe('GET /v1/prices/past_*: pages', () => {
  test('have their place in the headers, and links without the key', async () => {
    const instance = openWindowInstance()
    instance.record(
      'WTI_USD',
      Array.from({ length: 25 }, (_, i) => i),
      startAt,
      minuteMs,
    )
    const base = '/v1/prices/past_day?by_code=WTI_USD&per_page=10'
    const link = (page: number, rel: string) =>
      `<http://localhost${base}&page=${page}>; rel="${rel}"`
    const expected = [
      [1, 10, [link(1, 'first'), link(2, 'next'), link(3, 'last')]],
      [2, 10, [link(1, 'first'), link(1, 'prev'), link(3, 'next'), link(3, 'last')]],
      [3, 5, [link(1, 'first'), link(2, 'prev'), link(3, 'last')]],
      [4, 0, [link(1, 'first'), link(3, 'prev'), link(3, 'last')]],
      [999_999_999, 0, [link(1, 'first'), link(3, 'prev'), link(3, 'last')]],
    ] as const
    for (const [page, count, links] of expected) {
      const response = await instance.get(`${base}&page=${page}&api_key=${instance.token}`)
      const body = await bodyOf(response)
      expect(body.data.prices).toHaveLength(count)
      expect(body.data.metadata.count).toBe(count)
      const names = ['x-total', 'x-total-pages', 'x-page', 'x-per-page', 'x-has-next', 'link']
      expect(names.map(name => response.headers.get(name))).toEqual([
        '25',
        '3',
        String(page),
        '10',
        String(page < 3),
        links.join(', '),
      ])
      expect(body.meta).toEqual({
        page,
        per_page: 10,
        total: 25,
        total_pages: 3,
        has_next: page < 3,
        has_prev: page > 1,
      })
    }
  })

  test.each([
    ['', 100],
    ['&per_page=100', 100],
    ['&per_page=500', 100],
    ['&per_page=1', 1],
  ])('%s holds %p rows', async (query, rows) => {
    const { ask, record } = openWindowInstance()
    record('WTI_USD', Array(150).fill(70), startAt, minuteMs)
    const answer = await ask(`past_day?by_code=WTI_USD${query}`)
    expect({ length: answer.rows.length, per_page: answer.body.meta.per_page }).toEqual({
      length: rows,
      per_page: rows,
    })
  })
})

describe('GET /v1/prices/past_*: as_of', () => {
  const corrected = () => {
    const instance = openWindowInstance()
    instance.write(
      'FORTIES_USD',
      { '2026-11-18T16:30:00Z': 70, '2026-11-19T16:30:00Z': 71 },
      at('2026-11-19T17:00:00Z'),
    )
    instance.write('FORTIES_USD', { '2026-11-18T16:30:00Z': 60 }, at('2026-11-19T18:00:00Z'))
    instance.write(
      'FORTIES_USD',
      { '2026-11-17T16:30:00Z': 69, '2026-11-18T16:30:00Z': 65 },
      at('2026-11-20T10:00:00Z'),
    )
    return instance
  }

  test.each([
    // Before this instance had any values: the first recorded values of earlier observations.
    ['2026-11-19T16:59:59.999Z', [71, 70, 69]],
    ['2026-11-18T20:00:00Z', [70, 69]],
    ['2026-11-19T17:00:00Z', [71, 70]],
    ['2026-11-19T18:00:00Z', [71, 60]],
    ['2026-11-20T09:59:59.999Z', [71, 60]],
    ['2026-11-20T11:00:00%2B01:00', [71, 65, 69]],
    ['2027-01-01T00:00:00Z', [71, 65, 69]],
    ['2026-07-28T00:00:00Z', []],
    ['2026-07-27T23:59:59Z', []],
  ] as [string, number[]][])('at %s the prices were %p', async (asOf, prices) => {
    const { rows, headers, body } = await corrected().ask(
      `past_week?by_code=FORTIES_USD&interval=tick&as_of=${asOf}`,
    )
    expect(rows.map(row => row.price)).toEqual(prices)
    expect(body.meta.total).toBe(prices.length)
    expect(headers.get('x-vintage-as-of')).toBe(isoInstant(at(decodeURIComponent(asOf))))
    expect(headers.get('x-vintage-revision-coverage-since')).toBe('2026-11-19T17:00:00Z')
  })

  test('without an interval as_of returns the raw rows of then', async () => {
    const past = '2026-11-19T18:00:00Z'
    const { rows, body } = await corrected().ask(`past_week?by_code=FORTIES_USD&as_of=${past}`)
    expect(rows.map(row => row.price)).toEqual([71, 60])
    expect(body.data.metadata.interval).toBe('raw')
  })

  test('when the coverage begins is a setting', async () => {
    const instance = openWindowInstance({
      ...unhurried,
      'vintage.coverage_since': '2026-11-20T00:00:00Z',
    })
    instance.write('FORTIES_USD', { '2026-11-18T16:30:00Z': 70 }, at('2026-11-18T17:00:00Z'))
    instance.write('FORTIES_USD', { '2026-11-18T16:30:00Z': 60 }, at('2026-11-19T18:00:00Z'))
    const { rows, headers } = await instance.ask(
      'past_week?by_code=FORTIES_USD&interval=raw&as_of=2026-11-19T20:00:00Z',
    )
    expect({
      price: rows[0]!.price,
      vintageRevisionCoverageSince: headers.get('x-vintage-revision-coverage-since'),
    }).toEqual({ price: 70, vintageRevisionCoverageSince: '2026-11-20T00:00:00Z' })
  })

  test('pages hold still while time passes and corrections come in', async () => {
    const instance = openWindowInstance()
    instance.record('FORTIES_USD', [1, 2, 3, 4, 5, 6], startAt - hourMs, 28 * hourMs)
    const path = `past_week?by_code=FORTIES_USD&interval=raw&as_of=${isoInstant(startAt)}&per_page=2`
    const prices = (await instance.ask(path)).rows.map(row => row.price)
    for (const page of [2, 3]) {
      instance.clock.advance(14 * minuteMs)
      instance.record('FORTIES_USD', [9, 9, 9, 9, 9, 9, 9], startAt - hourMs, 28 * hourMs)
      prices.push(...(await instance.ask(`${path}&page=${page}`)).rows.map(row => row.price))
    }
    expect(prices).toEqual([6, 5, 4, 3, 2, 1])
  })

  test('leaves out quarantined days too', async () => {
    const instance = corrected()
    instance.exclude('FORTIES_USD', '2026-11-18', '2026-11-18', 'test')
    const { rows } = await instance.ask(
      'past_week?by_code=FORTIES_USD&interval=raw&as_of=2026-11-20T00:00:00Z',
    )
    expect(rows.map(row => row.price)).toEqual([71])
  })
})

describe('GET /v1/prices/past_*: metadata', () => {
  test('quarantined days are left out and listed with their reasons', async () => {
    const instance = openWindowInstance()
    instance.record('WTI_USD', Array(8).fill(70), startAt, dayMs)
    instance.record('EUR_USD', Array(8).fill(1), startAt, dayMs)
    instance.exclude('WTI_USD', '2026-11-10', '2026-11-14', 'Source repeated a stale value')
    instance.exclude('WTI_USD', '2026-11-14', '2026-11-15', 'Wrong unit')
    instance.exclude('EUR_USD', '2026-11-18', '2026-11-18', 'Wrong unit')
    instance.exclude('GOLD_USD', '2026-11-18', '2026-11-19', 'Not asked')
    for (const interval of ['raw', 'hour', 'day']) {
      const { rows, body } = await instance.ask(
        `past_week?by_code=WTI_USD,EUR_USD&interval=${interval}`,
      )
      expect(body.data.metadata.quarantine).toEqual({
        excluded_dates: ['2026-11-13', '2026-11-14', '2026-11-15', '2026-11-18'],
        excluded_count: 4,
        reason: 'Source repeated a stale value; Wrong unit',
      })
      const days = (code: string) =>
        rows.filter(row => row.code === code).map(row => row.created_at.slice(8, 10))
      expect([days('WTI_USD'), days('EUR_USD')]).toEqual([
        ['20', '19', '18', '17', '16'],
        ['20', '19', '17', '16', '15', '14', '13'],
      ])
      expect(body.meta.total).toBe(12)
    }
    const week = await instance.ask('past_week?by_code=WTI_USD&interval=week')
    expect(week.rows.map(row => [row.bucket_start, row.sample_count])).toEqual([
      ['2026-11-16T00:00:00Z', 5],
    ])
    expect(
      (await instance.ask('2026-11-19?by_code=WTI_USD')).body.data.metadata.quarantine,
    ).toBeUndefined()
  })

  test('a price window discloses swap instruments with the contract month at the end of its range', async () => {
    const instance = openWindowInstance()
    const disclosures = async (path: string) =>
      (await instance.ask(path)).body.data.metadata.instrument_disclosures
    expect(await disclosures('past_day?by_code=SINGAPORE_JET_KEROSENE_USD,WTI_USD')).toEqual([
      {
        code: 'SINGAPORE_JET_KEROSENE_USD',
        instrument_type: 'calendar_month_average_swap',
        contract_month: '2026-11',
        description: expect.any(String),
        settlement_basis: expect.any(String),
      },
    ])
    expect(
      (await disclosures('historical?by_code=SINGAPORE_MOGAS_92_USD&end_date=2026-10-31'))[0]
        .contract_month,
    ).toBe('2026-10')
    expect(await disclosures('past_day?by_code=WTI_USD')).toBeUndefined()
  })

  test('a price window with fixture data is marked in body and header, and a window without it is not', async () => {
    const instance = openWindowInstance()
    expect(
      (await instance.ask('past_day?by_code=WTI_USD')).headers.get('x-service-data'),
    ).toBeNull()
    instance.services.series.markFixture([instance.series('EUR_USD').id])
    instance.services.catalogue.reload()
    const { headers, body } = await instance.ask('past_day?by_code=WTI_USD,EUR_USD')
    expect(headers.get('x-service-data')).toBe('fixture')
    expect(body.data.metadata.source_description).toBe(
      'Compiled from market reporting; Fixture data: generated for evaluation and development, not a market price',
    )
  })

  test('an answer counts once against the quota, whatever it holds', async () => {
    const instance = openWindowInstance()
    await instance.ask('past_day')
    expect(instance.used()).toBe(1)
    await instance.ask('past_day?page=99')
    await instance.get('/v1/prices/historical?format=csv', instance.token)
    expect(instance.used()).toBe(3)
  })
})

describe('GET /v1/prices/past_*: CSV', () => {
  const filled = () => {
    const instance = openWindowInstance()
    instance.write('WTI_USD', { '2026-11-20T13:00:00Z': 70, '2026-11-20T13:30:00Z': 71.5 })
    instance.write('US_RIG_COUNT', { '2026-11-20T12:00:00Z': 546 })
    return {
      ...instance,
      csv: (path: string, headers = {}) =>
        instance.get(`/v1/prices/${path}`, instance.token, headers),
    }
  }
  const header =
    'code,name,created_at,price,currency,unit,type,source,open,high,low,average,sample_count'

  test('has one line a row, and the pages of the same answer in JSON', async () => {
    const { csv } = filled()
    const response = await csv('past_day?by_code=WTI_USD,US_RIG_COUNT&format=csv&per_page=2')
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect({
      total: response.headers.get('x-total'),
      hasNext: response.headers.get('x-has-next'),
    }).toEqual({ total: '3', hasNext: 'true' })
    expect(await response.text()).toBe(
      `${header}
WTI_USD,WTI Crude Oil,2026-11-20T13:30:00Z,71.5,USD,barrel,spot_price,market_reporting,,,,,
WTI_USD,WTI Crude Oil,2026-11-20T13:00:00Z,70,USD,barrel,spot_price,market_reporting,,,,,
`,
    )
    expect(
      await (
        await csv('past_day?by_code=WTI_USD,US_RIG_COUNT&format=csv&per_page=2&page=2')
      ).text(),
    ).toBe(
      `${header}\nUS_RIG_COUNT,US Rig Count,2026-11-20T12:00:00Z,546,,rigs,rig_count,market_reporting,,,,,\n`,
    )
  })

  test('lines come as NDJSON too, and in pages of up to ten thousand', async () => {
    const { ask, csv, write } = filled()
    const values = Array.from({ length: 300 }, (_, i) => [
      new Date(at('2026-11-20T00:00:00Z') + i * 60_000).toISOString(),
      60 + i / 100,
    ])
    write('BRENT_CRUDE_USD', Object.fromEntries(values))
    const url = 'past_day?by_code=BRENT_CRUDE_USD&per_page=10000'
    const json = await ask(url)
    expect(json.rows.length).toBe(100)
    const response = await csv(`${url}&format=ndjson`)
    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    expect(response.headers.get('x-per-page')).toBe('10000')
    const lines = (await response.text()).trim().split('\n')
    expect(lines.length).toBe(300)
    expect(JSON.parse(lines[0]!)).toEqual(json.rows[0])
    const table = await (await csv(`${url}&format=csv`)).text()
    expect(table.trim().split('\n').length).toBe(301)
  })

  test('has the whole window, not its first page, unless a page is requested', async () => {
    const instance = openTestInstance()
    const token = instance.key()
    const values = Array.from({ length: 1500 }, (_, i) => 60 + i / 100)
    instance.record('WTI_USD', values, startAt - 60_000, 60_000)
    const lines = async (query: string, headers = {}) => {
      const path = `/v1/prices/past_week?by_code=WTI_USD&interval=raw${query}`
      const response = await instance.get(path, token, headers)
      return (await response.text()).trim().split('\n').length
    }
    expect(await lines('&format=csv')).toBe(1501)
    expect(await lines('', { accept: 'text/csv' })).toBe(1501)
    expect(await lines('&format=ndjson')).toBe(1500)
    expect(await lines('&format=csv&per_page=10')).toBe(11)
    expect(await lines('&format=csv&page=1')).toBeLessThan(1501)
  })

  test('fills the last columns for bars', async () => {
    const { csv } = filled()
    expect(
      (await (await csv('past_day?by_code=WTI_USD&interval=hour&format=csv')).text()).split('\n'),
    ).toEqual([
      header,
      'WTI_USD,WTI Crude Oil,2026-11-20T13:30:00Z,71.5,USD,barrel,spot_price,market_reporting,70,71.5,70,70.75,2',
      '',
    ])
  })

  test.each([
    ['past_day?by_code=WTI_USD', { accept: 'text/csv' }, 'text/csv; charset=utf-8'],
    [
      'past_day?by_code=WTI_USD',
      { accept: 'text/csv;q=0, application/json' },
      'application/json; charset=utf-8',
    ],
    [
      'past_day?by_code=WTI_USD',
      { accept: 'text/html, text/csv;q=0.9' },
      'text/csv; charset=utf-8',
    ],
    [
      'past_day?by_code=WTI_USD&format=json',
      { accept: 'text/csv' },
      'application/json; charset=utf-8',
    ],
    ['past_day?by_code=WTI_USD', { accept: '*/*' }, 'application/json; charset=utf-8'],
    [
      'past_day?by_code=WTI_USD&format=csv',
      { accept: 'application/json' },
      'text/csv; charset=utf-8',
    ],
    ['2026-11-20?by_code=WTI_USD&format=csv', {}, 'text/csv; charset=utf-8'],
  ] as [string, Record<string, string>, string][])(
    '%s with %p is %s',
    async (path, headers, type) => {
      const { csv } = filled()
      expect((await csv(path, headers)).headers.get('content-type')).toBe(type)
    },
  )

  test('without rows is its header', async () => {
    const { csv } = filled()
    expect(await (await csv('past_day?by_code=GOLD_USD&format=csv')).text()).toBe(`${header}\n`)
  })
})
