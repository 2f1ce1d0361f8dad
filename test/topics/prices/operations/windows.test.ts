import { describe, expect, test } from 'bun:test'
import { dayMs, isoInstant } from '../../../../src/lib/time/instant.ts'
import { validIntervals } from '../../../../src/topics/prices/math/interval.ts'
import { startAt } from '../../../support/instance/instance.ts'
import { type Answer, at, openWindowInstance } from '../../../support/topics/windows.ts'

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
