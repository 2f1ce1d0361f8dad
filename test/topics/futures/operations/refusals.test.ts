import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { runs } from '../../../support/full.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import {
  answered,
  at,
  manyRequests,
  openFuturesInstance,
  problemOf,
} from '../../../support/topics/futures.ts'

const friday = at('2026-11-20T15:00:00Z')
const copy = openFuturesInstance(friday, {}, manyRequests)
const token = copy.key()
const ask = (path: string, from: TestInstance = copy, key = token) => answered(from, path, key)

describe('GET /v1/futures/…: bad parameters are named', () => {
  const cases: [string, string, string | undefined][] = [
    ['brent/historical?contract=nope', 'INVALID_PARAMETER', 'contract'],
    ['brent/historical?contract=WTI_FUTURES_2027_01', 'INVALID_PARAMETER', 'contract'],
    ['brent/historical?contract=13', 'INVALID_PARAMETER', 'contract'],
    ['brent/historical?contract=2027-13', 'INVALID_PARAMETER', 'contract'],
    ['brent/historical?from=2026-02-30', 'INVALID_PARAMETER', 'from'],
    ['brent/historical?end_date=yesterday', 'INVALID_PARAMETER', 'end_date'],
    ['brent/historical?from=2026-11-02&to=2026-11-01', 'INVALID_DATE_RANGE', undefined],
    ['brent/historical?interval=hour', 'INVALID_PARAMETER', 'interval'],
    ['brent/historical?interval=fortnight', 'invalid_interval', undefined],
    ['brent/historical?contracts=13', 'INVALID_PARAMETER', 'contracts'],
    ['brent/historical?page=0', 'INVALID_PARAMETER', 'page'],
    ['brent/ohlc?days=0', 'INVALID_PARAMETER', 'days'],
    ['brent/ohlc?days=0x10', 'INVALID_PARAMETER', 'days'],
    ['brent/ohlc?interval=1h', 'INVALID_PARAMETER', 'interval'],
    ['brent/intraday?date=20261120', 'INVALID_PARAMETER', 'date'],
    ['brent/spreads?days=366', 'INVALID_PARAMETER', 'days'],
    ['brent/curve?date=2026-13-01', 'INVALID_PARAMETER', 'date'],
    ['brent/continuous?months=61', 'INVALID_PARAMETER', 'months'],
    ['brent/spread-history', 'MISSING_PARAMETER', 'from'],
    ['brent/spread-history?from=2026-11-01', 'MISSING_PARAMETER', 'to'],
    [
      'brent/spread-history?from=2026-11-01&to=2026-11-10&contract2=x',
      'INVALID_PARAMETER',
      'contract2',
    ],
    ['spreads?contract1=CL.1', 'MISSING_PARAMETER', 'contract2'],
    ['spreads?contract1=CL.1&contract2=CL.13', 'INVALID_PARAMETER', 'contract2'],
    ['latest?contract=coal', 'INVALID_PARAMETER', 'contract'],
  ]
  for (const [path, code, parameter] of cases) {
    test(`${path} is ${code}`, async () => {
      const { status, headers, body } = await ask(`/v1/futures/${path}`)
      expect({ status, errorCode: headers.get('x-error-code') }).toEqual({
        status: 400,
        errorCode: code,
      })
      if (parameter !== undefined) expect(problemOf(body).parameter).toBe(parameter)
    })
  }
})

test('an instance without futures returns DATA_NOT_AVAILABLE instead of an empty result', async () => {
  const empty = openTestInstance(manyRequests, friday)
  const key = empty.key()
  const missing = [
    '',
    '/historical',
    '/ohlc',
    '/intraday',
    '/spreads',
    '/continuous',
    '/spread-history?from=2026-01-01&to=2026-02-01',
  ]
  const paths = [
    ...missing.map(tail => `/v1/futures/exch-brent${tail}`),
    ...['latest', 'curve', 'spreads?contract1=CL.1&contract2=CL.2'].map(
      tail => `/v1/futures/${tail}`,
    ),
  ]
  for (const path of paths) {
    const response = await empty.get(path, key)
    expect({
      path,
      status: response.status,
      errorCode: response.headers.get('x-error-code'),
    }).toEqual({ path, status: 404, errorCode: 'DATA_NOT_AVAILABLE' })
  }
  for (const slug of ['exch-brent', 'uk-carbon']) {
    const response = await empty.get(`/v1/futures/${slug}/curve`, key)
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 200,
      body: {
        error: 'No futures data available for curve analysis',
        date: '2026-11-20',
        contracts: [],
      },
    })
  }
})

describe('GET /v1/futures/…: who may ask', () => {
  const cases: [string, Parameters<typeof copy.key>[1], number, string | null][] = [
    ['free', {}, 200, null],
    ['free', { trial: true }, 200, null],
    ['developer', {}, 403, 'FORBIDDEN'],
    ['developer', { addOns: ['futures_data'] }, 200, null],
    ['starter', {}, 403, 'FORBIDDEN'],
    ['starter', { addOns: ['futures_data'] }, 200, null],
    ['professional', {}, 200, null],
    ['scale', {}, 200, null],
    ['enterprise', {}, 200, null],
  ]
  for (const [plan, options, status, code] of cases) {
    test(`${plan} ${JSON.stringify(options)}: ${status}`, async () => {
      const key = copy.key(plan, options)
      for (const path of [
        '/v1/futures/exch-brent',
        '/v1/futures/uka/curve',
        '/v1/futures/latest',
      ]) {
        const response = await copy.get(path, key)
        expect({
          status: response.status,
          errorCode: response.headers.get('x-error-code'),
        }).toEqual({ status, errorCode: code })
        const body = (await response.json()) as { error: Record<string, unknown> }
        if (status === 403)
          expect(body.error).toMatchObject({
            addon: 'futures_data',
            required_feature: 'futures',
            current_plan: plan,
          })
      }
    })
  }

  test('the free allowance ends with 402, counted like any other request', async () => {
    const key = copy.key('free')
    for (let i = 0; i < 50; i++)
      expect((await copy.get('/v1/futures/exch-brent/curve', key)).status).toBe(200)
    const { status, body, headers } = await ask('/v1/futures/exch-brent', copy, key)
    expect({
      status,
      error_code: body.error_code,
      ratelimitState: headers.get('x-ratelimit-state'),
    }).toEqual({ status: 402, error_code: 'FREE_TIER_LIMIT_EXCEEDED', ratelimitState: 'exhausted' })
  })

  test('refusals and unknown slugs cost nothing', async () => {
    const key = copy.key('free')
    for (const path of [
      '/v1/futures/nope',
      '/v1/futures/brent/ohlc?days=x',
      '/v1/futures/uk-carbon/ohlc',
    ])
      await copy.get(path, key)
    const { headers } = await ask('/v1/futures/brent', copy, key)
    expect(headers.get('x-ratelimit-used')).toBe('1')
  })
})

test('any futures parameter value results in data or in an error that names the parameter', async () => {
  const day = fc.oneof(
    fc
      .date({
        min: new Date('0001-01-01T00:00:00Z'),
        max: new Date('9999-12-31T00:00:00Z'),
        noInvalidDate: true,
      })
      .map(date => date.toISOString().slice(0, 10)),
    fc.constantFrom(
      '',
      '2026-11-20',
      '1970-01-01',
      '9999-12-31',
      '2026-11-20T23:30:00+14:00',
      '-1',
      'now',
    ),
  )
  const contract = fc.oneof(
    fc
      .tuple(fc.integer({ min: 0, max: 9999 }), fc.integer({ min: 0, max: 13 }))
      .map(([year, month]) => `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}`),
    fc.constantFrom(
      '',
      '0',
      '1',
      '12',
      '13',
      'BRENT_FUTURES_9999_12',
      'BRENT_FUTURES_0000_01',
      'CL.1',
      '1e1',
    ),
  )
  const number = fc.constantFrom(
    '',
    '0',
    '1',
    '12',
    '60',
    '365',
    '1825',
    '999999999999999',
    '-1',
    '1.5',
    'NaN',
  )
  const slug = fc.constantFrom('brent', 'CL.12', 'ng', 'eua', 'uk-carbon')
  const tail = fc.constantFrom(
    '',
    '/historical',
    '/ohlc',
    '/intraday',
    '/spreads',
    '/curve',
    '/spread-history',
    '/continuous',
  )
  const query = fc.record(
    {
      from: day,
      to: day,
      date: day,
      contract,
      contract1: contract,
      contract2: contract,
      days: number,
      months: number,
      contracts: number,
      page: number,
      per_page: number,
      interval: fc.constantFrom('', 'day', 'week', '1m', 'raw'),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(slug, tail, query, async (name, end, parameters) => {
      const { status, headers } = await ask(
        `/v1/futures/${name}${end}?${new URLSearchParams(parameters as Record<string, string>)}`,
      )
      expect([200, 400, 404]).toContain(status)
      if (status === 400) expect(headers.get('x-error-message')).not.toBe('')
    }),
    { numRuns: runs(250) },
  )
}, 20_000)
