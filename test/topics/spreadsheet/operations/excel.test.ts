import { describe, expect, test } from 'bun:test'
import { XMLParser } from 'fast-xml-parser'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'
import { openRoutes } from '../../../support/instance/routes.ts'

const parser = new XMLParser({ parseTagValue: false, trimValues: false })
const contentOf = async (answer: Response) =>
  parser.parse(await answer.text()).service as Record<string, unknown>
const dataOf = async (answer: Response) =>
  ((await answer.json()) as { data: Record<string, unknown> }).data
const usedBy = (instance: TestInstance, token: string) => {
  const { services } = instance
  return services.meter.quotaUsage(services.keys.find(token)!).used
}

function stocked(flags: Record<string, string> = {}) {
  const instance = openRoutes(flags)
  instance.record('WTI_USD', [70.1, 71.234], startAt - 60_000, 3_600_000)
  instance.record('BRENT_CRUDE_USD', [75], startAt - 120_000, 1)
  instance.record('BRENT_FRONT_SPREAD_USD', [-1.05], startAt - 120_000, 1)
  return instance
}

const run = (path: string, suffix = '') => `/v1/excel/run${suffix}?path=${encodeURIComponent(path)}`

describe('GET /v1/excel/run', () => {
  const instance = stocked()
  const token = instance.key()

  test('carries the rows of the path, its scalars first, twelve columns at most', async () => {
    const answer = await instance.get(
      `${run('/v1/prices/latest')}&by_code=WTI_USD,BRENT_CRUDE_USD`,
      token,
    )
    expect(answer.status).toBe(200)
    const body = (await answer.json()) as { data: Record<string, unknown> }
    expect(instance.documented('/v1/excel/run', body)).toBe(true)
    const { data } = body
    expect(data).toMatchObject({
      message: '2 of 2 rows.',
      retrieved_at: '2026-11-20T15:00:00Z',
      returned_row_count: 2,
      source_row_count: 2,
    })
    expect(data.columns).toHaveLength(12)
    expect((data.columns as string[]).slice(0, 4)).toEqual(['code', 'name', 'price', 'formatted'])
    expect((data.rows as unknown[][]).map(row => row.slice(0, 4))).toEqual([
      ['WTI_USD', 'WTI Crude Oil', 71.23, '$71.23'],
      ['BRENT_CRUDE_USD', 'Brent Crude Oil', 75, '$75.00'],
    ])
  })

  test('has the last day with prices where the past day has none, unless the span is stated', async () => {
    const sunday = Date.parse('2026-11-22T12:00:00Z')
    const weekend = openTestInstance()
    weekend.record('WTI_USD', [70.1, 71.234], startAt - 60_000, 3_600_000)
    weekend.record('BRENT_CRUDE_USD', [75], startAt - 120_000, 1)
    const key = weekend.key()
    weekend.clock.set(sunday)
    const counted = async (query: string) => {
      const answer = await weekend.get(`${run('/v1/prices/past_day')}&${query}`, key)
      return (await dataOf(answer)).source_row_count
    }
    expect([
      await counted('by_code=WTI_USD'),
      await counted('commodity=wti_usd,BRENT_CRUDE_USD'),
      await counted('by_code=WTI_USD&days=1'),
      await counted('by_code=WTI_USD&at=2026-11-22'),
    ]).toEqual([2, 3, 0, 0])
    weekend.record('WTI_USD', [72], sunday - 60_000, 1)
    expect(await counted('by_code=WTI_USD')).toBe(1)
  })

  for (const path of [
    'v1/prices/latest',
    '//v1/prices/latest',
    '/v1/prices/../prices/latest',
    '/v1/prices/latest?by_code=WTI_USD',
  ]) {
    test(`the spreadsheet understands the path ${path}`, async () => {
      const answer = await instance.get(`${run(path)}&by_code=WTI_USD`, token)
      expect((await dataOf(answer)).source_row_count).toBe(1)
    })
  }

  for (const path of [
    '/v1/account',
    '/v1/prices/../account',
    '/v1/prices/%2e%2e/account',
    '/v1/pricesque',
    '/admin/v1/series',
    'http://elsewhere.example/v1/prices/latest',
    '/\\elsewhere.example/v1/prices',
    '/v1/excel/run',
    '',
  ]) {
    test(`${path || 'no path'} is refused`, async () => {
      const answer = await instance.get(run(path), token)
      expect(answer.status).toBe(400)
      expect(answer.headers.get('x-error-code')).toBe(
        path ? 'INVALID_PARAMETER' : 'MISSING_PARAMETER',
      )
    })
  }

  test('rows beyond the limit stay out and are counted', async () => {
    const rows = JSON.stringify(Array.from({ length: 150 }, (_, i) => ({ i })))
    const count = async (limit: string) => {
      const data = await dataOf(
        await instance.get(`${run('/v1/storage/any')}&rows=${rows}${limit}`, token),
      )
      return [data.returned_row_count, data.source_row_count]
    }
    expect(await count('')).toEqual([25, 150])
    expect(await count('&limit=7')).toEqual([7, 150])
    expect(await count('&limit=400')).toEqual([100, 150])
    expect((await instance.get(`${run('/v1/storage/any')}&limit=0`, token)).status).toBe(400)
  })

  for (const suffix of ['', '.xml']) {
    test(`a long answer is cut to what a sheet can read${suffix}`, async () => {
      const rows = JSON.stringify(
        Array.from({ length: 100 }, () => ({ text: 'x'.repeat(400), amount: 1 })),
      )
      const answer = await instance.get(
        `${run('/v1/storage/any', suffix)}&limit=100&rows=${rows}`,
        token,
      )
      const text = await answer.text()
      expect(text.length).toBeLessThan(32_767)
      const returned = Number(/returned_row_count(?:>|":)(\d+)/.exec(text)![1])
      expect(returned).toBeGreaterThan(60)
      expect(returned).toBeLessThan(100)
      expect(text).toContain(suffix ? '<source_row_count>100<' : '"source_row_count":100')
    })
  }

  test('spreadsheet output never turns text into formulas and keeps numbers numeric', async () => {
    const rows = JSON.stringify([
      { a: '=1+1', b: '+x', c: '-2', d: '@sum', e: -2, f: '2-1', g: null, h: true },
    ])
    const { rows: cells } = await dataOf(
      await instance.get(`${run('/v1/storage/any')}&rows=${encodeURIComponent(rows)}`, token),
    )
    expect(cells).toEqual([["'=1+1", "'+x", "'-2", "'@sum", -2, '2-1', null, true]])
  })

  test('a refusal of the path is passed on as it is, under the same request id', async () => {
    const answer = await instance.get(`${run('/v1/prices/latest')}&by_code=NOPE_USD`, token, {
      'x-request-id': 'sheet-1',
    })
    expect(answer.status).toBe(400)
    expect(answer.headers.get('x-error-code')).toBe('invalid_code')
    expect(answer.headers.get('x-request-id')).toBe('sheet-1')
    expect(await answer.json()).toMatchObject({
      status: 'fail',
      code: 'invalid_code',
      request_id: 'sheet-1',
      data: { invalid_codes: ['NOPE_USD'] },
    })
  })

  test('a path that does not exist, or answers no rows, is refused', async () => {
    const unknown = await instance.get(run('/v1/prices/nothing/here'), token)
    expect({ status: unknown.status, xErrorCode: unknown.headers.get('x-error-code') }).toEqual({
      status: 404,
      xErrorCode: 'NOT_FOUND',
    })
    expect((await instance.get(run('/v1/status'), token)).status).toBe(400)
  })

  test('an unexpected error in a spreadsheet request reveals no internal details', async () => {
    const text = await (await instance.get(run('/v1/rig-counts/fails'), token)).text()
    expect(text).toContain('INTERNAL_ERROR')
    expect(text).not.toContain('secret text')
  })
})

describe('GET /v1/excel/run: what a table costs', () => {
  test('one request, one rate slot', async () => {
    const instance = stocked()
    const token = instance.key()
    const answer = await instance.get(`${run('/v1/prices/latest')}&by_code=WTI_USD`, token)
    expect(usedBy(instance, token)).toBe(1)
    expect(answer.headers.get('x-ratelimit-used')).toBe('1')
    expect(answer.headers.get('ratelimit')).toContain('"burst";r=59')
  })

  test('the key may be in the address, and is not passed on', async () => {
    const instance = stocked()
    const token = instance.key()
    const answer = await instance.get(
      `${run('/v1/prices/latest?api_key=other')}&by_code=WTI_USD&api_key=${token}`,
    )
    expect(answer.status).toBe(200)
    expect(usedBy(instance, token)).toBe(1)
  })

  for (const [name, path] of [
    ['a refusal', `${run('/v1/prices/latest')}&by_code=NOPE_USD`],
    ['a refusal in XML', `${run('/v1/prices/latest', '.xml')}&by_code=NOPE_USD`],
    ['a path that is none in XML', run('/v1/account', '.xml')],
    ['no codes in XML', '/v1/prices/excel-latest.xml'],
  ] as const) {
    test(`a table of the spreadsheet costs nothing for ${name}`, async () => {
      const instance = stocked()
      const token = instance.key()
      await instance.get(path, token)
      expect(usedBy(instance, token)).toBe(0)
    })
  }

  test('the feature that the path needs', async () => {
    const instance = stocked()
    const [free, paid] = [instance.key('free'), instance.key('developer')]
    const refused = await instance.get(run('/v1/spreads/any'), free)
    expect(refused.status).toBe(403)
    expect(refused.headers.get('x-error-code')).toBe('INSUFFICIENT_PLAN')
    expect(await contentOf(await instance.get(run('/v1/spreads/any', '.xml'), free))).toMatchObject(
      {
        status: 'forbidden',
      },
    )
    expect(usedBy(instance, free)).toBe(0)
    expect((await dataOf(await instance.get(run('/v1/spreads/any'), paid))).rows).toEqual([
      ['any', -1.5],
    ])
  })

  test('the spreadsheet gateway enforces the rate window of the requested path', async () => {
    const instance = stocked()
    const token = instance.key()
    const statuses: unknown[] = []
    for (let i = 0; i < 6; i++)
      statuses.push(
        (await contentOf(await instance.get(run('/v1/marine-fuels/any', '.xml'), token))).status,
      )
    expect(statuses).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'rate_limited'])
    expect(usedBy(instance, token)).toBe(5)
  })

  test('a request outside the spreadsheet gateway still requires its own credentials', async () => {
    const instance = stocked()
    expect((await instance.get('/v1/spreads/any')).status).toBe(401)
  })
})

describe('GET /v1/excel/run.xml', () => {
  const instance = stocked()
  const token = instance.key()

  test('has the shape that sheets look for', async () => {
    const answer = await instance.get(
      `${run('/v1/storage/any', '.xml')}&rows=[{"a":1,"b":{"c":"x","d":null}},{"a":2}]`,
      token,
    )
    expect(answer.headers.get('content-type')).toBe('application/xml; charset=utf-8')
    expect(await answer.text()).toBe(
      '<?xml version="1.0" encoding="UTF-8"?><service><status>ok</status><message>2 of 2 rows.</message><retrieved_at>2026-11-20T15:00:00Z</retrieved_at>' +
        '<returned_row_count>2</returned_row_count><source_row_count>2</source_row_count><columns><col1>a</col1><col2>b.c</col2><col3>b.d</col3></columns>' +
        '<rows><row><col1>1</col1><col2>x</col2><col3></col3></row><row><col1>2</col1><col2></col2><col3></col3></row></rows></service>',
    )
  })

  test('comes by suffix, by format and by Accept, and JSON otherwise', async () => {
    const path = '/v1/prices/excel-latest'
    const typeOf = async (url: string, headers = {}) =>
      (await instance.get(url, token, headers)).headers.get('content-type')!.split(';')[0]
    const [asXml, asJson] = ['application/xml', 'application/json']
    expect(await typeOf(`${path}?codes=WTI_USD`)).toBe(asJson)
    expect(await typeOf(`${path}.xml?codes=WTI_USD`)).toBe(asXml)
    expect(await typeOf(`${path}?codes=WTI_USD&format=xml`)).toBe(asXml)
    expect(await typeOf(`${path}?codes=WTI_USD`, { accept: 'application/xml' })).toBe(asXml)
    expect(await typeOf(`${path}?codes=WTI_USD&format=json`, { accept: 'application/xml' })).toBe(
      asJson,
    )
    expect(
      await typeOf(`${path}?codes=WTI_USD`, { accept: 'application/json, application/xml;q=0.5' }),
    ).toBe(asJson)
    expect((await instance.get(`${path}?codes=WTI_USD&format=csv`, token)).status).toBe(400)
  })

  for (const path of [
    run('/v1/prices/latest', '.xml'),
    '/v1/prices/excel-latest.xml?codes=WTI_USD',
    `${run('/v1/prices/latest')}&format=xml`,
  ]) {
    test(`${path}: every refusal is readable`, async () => {
      const shut = stocked()
      const status = async (key?: string) => {
        const answer = await shut.get(path, key)
        expect(answer.status).toBe(200)
        expect(answer.headers.get('content-type')).toStartWith('application/xml')
        expect(answer.headers.get('x-error-code')).toBeNull()
        return (await contentOf(answer)).status
      }
      expect(await status()).toBe('auth_failed')
      expect(await status('0'.repeat(64))).toBe('auth_failed')

      const suspended = shut.key()
      const { keys } = shut.services
      keys.changeKey(keys.find(suspended)!, { suspendedAt: startAt })
      expect(await status(suspended)).toBe('forbidden')

      const free = shut.key('free')
      for (let i = 0; i < 50; i++) expect(await status(free)).toBe('ok')
      expect(await status(free)).toBe('quota_exceeded')
      expect(usedBy(shut, free)).toBe(50)

      const busy = shut.key('enterprise')
      for (let i = 0; i < 60; i++) expect(await status(busy)).toBe('ok')
      expect(await status(busy)).toBe('rate_limited')
    })
  }

  for (const [name, path, status] of [
    ['an unknown code', `${run('/v1/prices/latest', '.xml')}&by_code=NOPE_USD`, 'invalid_request'],
    ['an unknown path', run('/v1/prices/none/such', '.xml'), 'not_found'],
    ['a path outside the data', run('/v1/account', '.xml'), 'invalid_request'],
    [
      'a known code without a price',
      `${run('/v1/prices/latest', '.xml')}&by_code=OMAN_CRUDE_USD`,
      'not_found',
    ],
    ['a fault of ours', run('/v1/rig-counts/fails', '.xml'), 'error'],
    [
      'twenty-one codes',
      `/v1/prices/excel-latest.xml?codes=${Array(21).fill('WTI_USD').join(',')}`,
      'invalid_request',
    ],
  ] as const) {
    test(`${name} is ${status}, without rows`, async () => {
      const answer = await instance.get(path, token)
      expect(answer.status).toBe(200)
      const content = await contentOf(answer)
      expect(content.status).toBe(status)
      expect(content.message).toBeString()
      expect(content.rows ?? content.prices).toBe('')
    })
  }

  test('the refusal is on record as what it was', async () => {
    const ownInstance = stocked()
    const own = ownInstance.key()
    await ownInstance.get(run('/v1/account', '.xml'), own)
    const hours = ownInstance.services.meter.hours(
      [ownInstance.services.keys.find(own)!],
      startAt - 3_600_000,
      startAt + 3_600_000,
    )
    expect(
      hours.map(({ endpoint, statusClass, requests, metered }) => [
        endpoint,
        statusClass,
        requests,
        metered,
      ]),
    ).toEqual([['/v1/excel/run.xml', 4, 1, 0]])
  })

  test('the root element is a setting', async () => {
    const renamed = stocked({ 'brand.xml_root': 'desk' })
    expect(await (await renamed.get('/v1/prices/excel-latest.xml')).text()).toContain(
      '<desk><status>auth_failed</status>',
    )
  })
})

describe('GET /v1/prices/excel-latest', () => {
  const instance = stocked()
  const token = instance.key()
  const blank = { value: null, formatted: '', timestamp: null }

  test('keeps the order and every place', async () => {
    const answer = await instance.get(
      '/v1/prices/excel-latest?codes=brent_crude_usd,NOPE_USD,OMAN_CRUDE_USD,WTI_USD,WTI_USD',
      token,
    )
    const body = (await answer.json()) as { data: { rows: unknown } }
    expect(instance.documented('/v1/prices/excel-latest', body)).toBe(true)
    const { rows } = body.data
    expect(rows).toMatchObject([
      {
        code: 'BRENT_CRUDE_USD',
        name: 'Brent Crude Oil',
        value: 75,
        formatted: '$75.00',
        currency: 'USD',
        unit: 'barrel',
        status: 'ok',
      },
      {
        code: 'NOPE_USD',
        name: '',
        currency: '',
        unit: '',
        source: '',
        status: 'invalid_code',
        ...blank,
      },
      { code: 'OMAN_CRUDE_USD', currency: 'USD', unit: 'barrel', status: 'no_data', ...blank },
      { code: 'WTI_USD', value: 71.23, timestamp: '2026-11-20T14:59:00Z', status: 'ok' },
      { code: 'WTI_USD', value: 71.23, status: 'ok' },
    ])
  })

  test('names a price that is stale, which is a price all the same', async () => {
    const aged = stocked()
    const key = aged.key()
    const statusOf = async () => {
      const { rows } = await dataOf(
        await aged.get('/v1/prices/excel-latest?codes=WTI_USD,NOPE_USD', key),
      )
      return (rows as { status: string; data_status: string }[]).map(row => [
        row.status,
        row.data_status,
      ])
    }
    expect(await statusOf()).toEqual([
      ['ok', 'current'],
      ['invalid_code', ''],
    ])
    aged.clock.advance(40 * 86_400_000)
    expect((await statusOf())[0]).toEqual(['ok', 'stale'])
  })

  test('has all fields of every row in one order', async () => {
    const text = await (
      await instance.get('/v1/prices/excel-latest.xml?by_code=NOPE_USD,WTI_USD', token)
    ).text()
    const order =
      '<code><name><value><formatted><currency><unit><source><timestamp><status><data_status>'
    const rows = [...text.matchAll(/<price>(.*?)<\/price>/g)].map(match =>
      match[1]!.replace(/<\/\w+>|[^<>]+(?=<\/)/g, ''),
    )
    expect(rows).toEqual([order, order])
  })

  test('a negative price is a number, its text is not a formula', async () => {
    const { rows } = await dataOf(
      await instance.get('/v1/prices/excel-latest?codes=BRENT_FRONT_SPREAD_USD', token),
    )
    expect(rows).toMatchObject([{ value: -1.05, formatted: "'-$1.05" }])
  })

  test('a code that would be a formula is not one', async () => {
    const { rows } = await dataOf(
      await instance.get(
        `/v1/prices/excel-latest?codes=${encodeURIComponent('=HYPERLINK("x")')}`,
        token,
      ),
    )
    expect(rows).toMatchObject([{ code: `'=HYPERLINK("X")`, status: 'invalid_code' }])
  })

  test('no codes, and more than twenty, are refused', async () => {
    const codeOf = async (query: string) =>
      (await instance.get(`/v1/prices/excel-latest${query}`, token)).headers.get('x-error-code')
    expect(await codeOf('')).toBe('MISSING_PARAMETER')
    expect(await codeOf(`?codes=${Array(21).fill('WTI_USD').join(',')}`)).toBe('too_many_codes')
  })
})
