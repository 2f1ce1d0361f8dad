import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, minuteMs, parseInstant } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'

interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a body is what the test says it is
  body: any
}

/**
 * An instance with a key that asks for latest prices; every body of a 200 is checked against its
 * documentation.
 */
function openLatestInstance(flags: Record<string, string> = {}) {
  const instance = openTestInstance(flags)
  const token = instance.key()
  return {
    ...instance,
    token,
    used: () => instance.services.meter.quotaUsage(instance.services.keys.find(token)!).used,
    async ask(codes?: string, headers: Record<string, string> = {}): Promise<Answer> {
      const response = await instance.get(
        `/v1/prices/latest${codes === undefined ? '' : `?by_code=${codes}`}`,
        token,
        headers,
      )
      const body =
        response.status === 304 ? await response.text() : await json<Answer['body']>(response)
      if (response.status === 200) expectShape(instance.app, '/v1/prices/latest', body)
      return { status: response.status, headers: response.headers, body }
    },
    write(code: string, values: Record<string, number>, recordedAt?: number) {
      const { series } = instance.services.catalogue.resolve(code, startAt)!
      const points = Object.entries(values).map(([text, value]) => ({
        seriesId: series.id,
        observedAt: parseInstant(text)!,
        value,
      }))
      instance.services.ingest.write(points, recordedAt)
    },
  }
}

const codesOf = ({ body }: Answer) => body.data.prices.map((row: { code: string }) => row.code)

describe('GET /v1/prices/latest: one code', () => {
  test('is answered flat, with how its price changed and where it comes from', async () => {
    const { ask, write } = openLatestInstance()
    write(
      'WTI_USD',
      { '2026-10-20T15:00:00Z': 65, '2026-11-12T00:00:00Z': 75, '2026-11-19T14:55:00Z': 71.75 },
      startAt - 5,
    )
    write('WTI_USD', { '2026-11-20T14:55:00Z': 71.2349 }, parseInstant('2026-11-20T14:56:00.250Z'))
    const { status, body } = await ask('wti_usd')
    expect(status).toBe(200)
    expect(body).toEqual({
      status: 'success',
      data: {
        code: 'WTI_USD',
        name: 'WTI Crude Oil',
        price: 71.23,
        formatted: '$71.23',
        currency: 'USD',
        unit: 'barrel',
        type: 'spot_price',
        source: 'market_reporting',
        data_source: 'market_reporting',
        created_at: '2026-11-20T14:55:00Z',
        updated_at: '2026-11-20T14:56:00.250Z',
        change_24h: -0.52,
        change_24h_percent: -0.72,
        changes: {
          '24h': { amount: -0.52, percent: -0.72, previous_price: 71.75 },
          '7d': { amount: -3.77, percent: -5.02, previous_price: 75 },
          '30d': { amount: 6.23, percent: 9.59, previous_price: 65 },
        },
        metadata: {
          source: 'market_reporting',
          source_description: 'Compiled from market reporting',
          cadence: 'intraday_5m',
          last_recorded_at: '2026-11-20T14:56:00.250Z',
        },
      },
    })
  })

  test('without anything to compare with has no changes', async () => {
    const { ask, record } = openLatestInstance()
    record('WTI_USD', [70], startAt, dayMs)
    const { body } = await ask('WTI_USD')
    expect({
      change_24h: body.data.change_24h,
      change_24h_percent: body.data.change_24h_percent,
      changes: body.data.changes,
    }).toEqual({ change_24h: null, change_24h_percent: null, changes: {} })
  })

  test.each([
    ['WTI_USD', -37.63, '-$37.63'],
    ['GOLD_USD', 4123.4, '$4,123.40'],
    ['NATURAL_GAS_GBP', 79.4, '79.40p'],
    ['DUTCH_TTF_EUR', 31.15, '€31.150'],
    ['DIESEL_LIST_B7_DKK', 15.49, 'DKK 15.49'],
    ['EUR_USD', 1.15756, '1.1576'],
    ['US_RIG_COUNT', 546, '546'],
  ])('%s at %p reads %s', async (code, value, formatted) => {
    const { ask, record } = openLatestInstance()
    record(code, [value], startAt, dayMs)
    expect((await ask(code)).body.data.formatted).toBe(formatted)
  })

  test('a latest price requested by alias is returned under its own code together with the requested alias', async () => {
    const { ask, record } = openLatestInstance()
    record('WCS_CRUDE_USD', [55], startAt, dayMs)
    const { body } = await ask('western_canadian_select')
    expect({ code: body.data.code, requested_code: body.data.requested_code }).toEqual({
      code: 'WCS_CRUDE_USD',
      requested_code: 'WESTERN_CANADIAN_SELECT',
    })
    expect((await ask('wcs_crude_usd')).body.data.requested_code).toBeUndefined()
    expect((await ask('wcs')).body.data.requested_code).toBe('WCS')
  })

  test('a futures family answers with its front contract, another one after that has expired', async () => {
    const { ask, record, clock } = openLatestInstance()
    record('UKA_FUTURES', [55.8], startAt, dayMs)
    const first = (await ask('uka_futures')).body.data
    expect(first.code).toMatch(/^UKA_FUTURES_2026_1[12]$/)
    expect({ requested_code: first.requested_code, price: first.price, type: first.type }).toEqual({
      requested_code: 'UKA_FUTURES',
      price: 55.8,
      type: 'futures_price',
    })
    clock.advance(60 * dayMs)
    record('UKA_FUTURES', [57], startAt + 60 * dayMs, dayMs)
    const later = (await ask('UKA_FUTURES')).body.data
    expect(later.code).toMatch(/^UKA_FUTURES_2027_\d\d$/)
    expect(later.requested_code).toBe('UKA_FUTURES')
  })

  test('a latest physical crude price reports its freshness, and physical crude and list prices are dated by day', async () => {
    const { ask, record, clock } = openLatestInstance()
    record('FORTIES_USD', [70], parseInstant('2026-11-19T16:30:00Z')!, dayMs)
    record('DIESEL_LIST_B7_DKK', [13], parseInstant('2026-11-20T00:00:00Z')!, dayMs)
    const freshness = async () => {
      const { as_of, data_status, stale } = (await ask('FORTIES_USD')).body.data
      return { as_of, data_status, stale }
    }
    expect(await freshness()).toEqual({ as_of: '2026-11-19', data_status: 'current', stale: false })
    clock.set(parseInstant('2026-11-24T00:00:00Z')!)
    expect(await freshness()).toEqual({ as_of: '2026-11-19', data_status: 'delayed', stale: false })
    clock.set(parseInstant('2026-11-25T00:00:00Z')!)
    expect(await freshness()).toEqual({ as_of: '2026-11-19', data_status: 'stale', stale: true })
    const list = (await ask('DIESEL_LIST_B7_DKK')).body.data
    expect({ as_of: list.as_of, data_status: list.data_status, stale: list.stale }).toEqual({
      as_of: '2026-11-20',
      data_status: undefined,
      stale: undefined,
    })
  })

  test('a latest month-average swap price identifies its instrument type', async () => {
    const { ask, record } = openLatestInstance()
    record('SINGAPORE_MOGAS_92_USD', [80], startAt, dayMs)
    expect((await ask('SINGAPORE_MOGAS_92_USD')).body.data.instrument_disclosure).toEqual({
      code: 'SINGAPORE_MOGAS_92_USD',
      instrument_type: 'calendar_month_average_swap',
      contract_month: '2026-11',
      description: expect.any(String),
      settlement_basis: expect.any(String),
    })
  })

  test('a latest price from demo data is marked as fixture data in body and header', async () => {
    const instance = openLatestInstance()
    instance.record('WTI_USD', [70], startAt, dayMs)
    expect((await instance.ask('WTI_USD')).headers.get('x-service-data')).toBeNull()
    instance.services.series.markFixture([
      instance.services.catalogue.resolve('WTI_USD', startAt)!.series.id,
    ])
    instance.services.catalogue.reload()
    instance.services.latestPrices.forgetAll()
    const { headers, body } = await instance.ask('WTI_USD')
    expect(headers.get('x-service-data')).toBe('fixture')
    expect(body.data.metadata.source_description).toStartWith('Fixture data')
  })

  test('skips a quarantined newest day', async () => {
    const instance = openLatestInstance()
    instance.record('WTI_USD', [70, 700], startAt, dayMs)
    const { series } = instance.services.catalogue.resolve('WTI_USD', startAt)!
    instance.services.quarantine.add({
      seriesId: series.id,
      fromOn: '2026-11-20',
      toOn: '2026-11-20',
      reason: 'test',
      createdAt: startAt,
    })
    expect((await instance.ask('WTI_USD')).body.data.price).toBe(70)
  })
})

describe('GET /v1/prices/latest: several codes', () => {
  test('are a list in the order asked, each once, with those without a price named', async () => {
    const { ask, record } = openLatestInstance()
    for (const code of ['WTI_USD', 'BRENT_CRUDE_USD', 'WCS_CRUDE_USD'])
      record(code, [70], startAt, dayMs)
    const answer = await ask('wti_usd,GOLD_USD,WCS,BRENT_CRUDE_USD,WTI_USD,,MARS_USD')
    expect(codesOf(answer)).toEqual(['WTI_USD', 'WCS_CRUDE_USD', 'BRENT_CRUDE_USD'])
    expect({
      missing_codes: answer.body.data.missing_codes,
      count: answer.body.data.count,
    }).toEqual({ missing_codes: ['GOLD_USD', 'MARS_USD'], count: 3 })
    expect(answer.body.data.prices[1].requested_code).toBe('WCS')
  })

  test('stay a list when they come down to one', async () => {
    const { ask, record } = openLatestInstance()
    record('WTI_USD', [70], startAt, dayMs)
    for (const codes of ['WTI_USD,WTI_USD', 'WTI_USD,GOLD_USD'])
      expect(codesOf(await ask(codes))).toEqual(['WTI_USD'])
    for (const codes of ['WTI_USD,', ',WTI_USD', '%20WTI_USD%20'])
      expect((await ask(codes)).body.data.code).toBe('WTI_USD')
  })

  test('may be twenty and not twenty-one, counted as they were sent', async () => {
    const { ask, record } = openLatestInstance()
    record('WTI_USD', [70], startAt, dayMs)
    const times = (n: number) => Array(n).fill('WTI_USD').join(',')
    expect((await ask(times(20))).body.data.count).toBe(1)
    const { status, body, headers } = await ask(times(21))
    expect({ status, errorCode: headers.get('x-error-code') }).toEqual({
      status: 400,
      errorCode: 'too_many_codes',
    })
    expect(body).toMatchObject({
      status: 'fail',
      code: 'too_many_codes',
      message: 'At most 20 codes per request; got 21.',
      data: { error: 'too_many_codes', max: 20, requested: 21 },
    })
  })

  test('none at all are every code that has a price, the codes of the free tier first, then by code', async () => {
    const { ask, record } = openLatestInstance()
    for (const code of ['AMNA_USD', 'FORTIES_USD', 'DIESEL_USD', 'US_RIG_COUNT', 'WTI_USD'])
      record(code, [70], startAt, dayMs)
    for (const codes of [undefined, '', ',']) {
      const answer = await ask(codes)
      // AMNA_USD is listed without a source: what was recorded for it is answered to those who ask
      // for it by name.
      expect(codesOf(answer)).toEqual(['WTI_USD', 'DIESEL_USD', 'FORTIES_USD', 'US_RIG_COUNT'])
      expect(answer.body.data).toEqual({ prices: expect.any(Array), count: 4 })
    }
  })
})

describe('GET /v1/prices/latest: every code is one kept body', () => {
  const opened = () => {
    const instance = openLatestInstance()
    instance.record('WTI_USD', [70], startAt, dayMs)
    instance.record('GOLD_USD', [4000], startAt, dayMs)
    const every = async () => {
      const { body, headers } = await instance.ask()
      return { cache: headers.get('x-cache'), rows: body.data.prices, etag: headers.get('etag') }
    }
    return { ...instance, every }
  }

  test('that is the same until something changes', async () => {
    const { every } = opened()
    const [first, second] = [await every(), await every()]
    expect({ first: first.cache, second: second.cache }).toEqual({ first: 'MISS', second: 'HIT' })
    expect({ rows: second.rows, etag: second.etag }).toEqual({ rows: first.rows, etag: first.etag })
  })

  const changes: Record<string, (instance: ReturnType<typeof opened>) => unknown> = {
    'a newer price': ({ record, clock }) => {
      clock.set(startAt + minuteMs)
      record('GOLD_USD', [4100], startAt + minuteMs, dayMs)
    },
    'the time of a price that was recorded before': ({ record, clock }) => {
      record('GOLD_USD', [4100], startAt + minuteMs, dayMs)
      clock.set(startAt + minuteMs)
    },
    'a correction': ({ record }) => record('GOLD_USD', [4050], startAt, dayMs),
    'the first price of a code': ({ record }) => record('DIESEL_USD', [2], startAt, dayMs),
    'a value taken out': ({ services }) =>
      services.ingest.withdraw(services.catalogue.named('GOLD_USD')!.id, [startAt]),
    'age alone': ({ clock }) => clock.set(startAt + 30 * dayMs),
  }
  test.each(Object.keys(changes))(
    'and another one after %s, as each code by itself',
    async name => {
      const instance = opened()
      const before = await instance.every()
      changes[name]!(instance)
      const after = await instance.every()
      expect(after.cache).toBe('MISS')
      // No row contains its age, but all are checked again.
      expect(after.etag === before.etag).toBe(name === 'age alone')
      for (const row of after.rows) expect((await instance.ask(row.code)).body.data).toEqual(row)
    },
  )
})

describe('GET /v1/prices/latest: refusals', () => {
  test('unknown codes, all of them, with what a person would have meant', async () => {
    const { ask, record, used } = openLatestInstance()
    record('WTI_USD', [70], startAt, dayMs)
    const { status, headers, body } = await ask('WTI_USDD,WTI_USD,nosuchthing')
    expect({ status, errorCode: headers.get('x-error-code'), used: used() }).toEqual({
      status: 400,
      errorCode: 'invalid_code',
      used: 0,
    })
    expect(body).toEqual({
      status: 'fail',
      code: 'invalid_code',
      message: expect.stringContaining(
        'Unknown commodity codes: WTI_USDD, NOSUCHTHING. Did you mean WTI_USD',
      ),
      request_id: headers.get('x-request-id'),
      docs_url: 'http://localhost/docs#invalid_code',
      data: {
        error: 'invalid_code',
        message: body.message,
        suggestions: body.data.did_you_mean.map((suggestion: { code: string }) => suggestion.code),
        invalid_codes: ['WTI_USDD', 'NOSUCHTHING'],
        all_codes_url: 'http://localhost/v1/commodities/codes',
        did_you_mean: expect.any(Array),
      },
    })
    expect(body.data.did_you_mean[0]).toEqual({
      code: 'WTI_USD',
      name: 'WTI Crude Oil',
      description: expect.any(String),
      available: true,
    })
  })

  test('a suggested code without data is marked unavailable, and the message explains how to list such codes', async () => {
    const { body } = await openLatestInstance().ask('GOLD_USDD')
    expect(body.data.did_you_mean[0]).toMatchObject({
      code: 'GOLD_USD',
      available: false,
      unavailable_reason: 'no_observations',
    })
    expect(body.message).toContain('include_unavailable=true')
  })

  test('a single known code without a price', async () => {
    const { ask, used } = openLatestInstance()
    const { status, body } = await ask('GOLD_USD')
    expect({ status, used: used() }).toEqual({ status: 404, used: 0 })
    expect(body.error).toMatchObject({
      code: 'DATA_NOT_AVAILABLE',
      status: 404,
      message: 'GOLD_USD has no current price.',
      retry: { retryable: false },
    })
  })

  test.each(['past_week', 'historical'])(
    'an empty window of an alias without a price names the codes that have one: %s',
    async name => {
      const instance = openTestInstance()
      instance.record('DUTCH_TTF_EUR', [31], startAt, dayMs)
      const key = instance.key('professional')
      const metadataOf = async (code: string) => {
        const answer = await instance.get(`/v1/prices/${name}?by_code=${code}`, key)
        expect(answer.status).toBe(200)
        const body = (await answer.json()) as { data: { metadata: Record<string, unknown> } }
        return body.data.metadata
      }
      const { codes, missing_codes, suggestions } = await metadataOf('TTF')
      expect(missing_codes).toEqual(codes)
      expect(suggestions).toEqual(['DUTCH_TTF_EUR'])
      const priced = await metadataOf('DUTCH_TTF_EUR')
      expect([priced.missing_codes, priced.suggestions]).toEqual([undefined, undefined])
    },
  )

  test('a window of a discontinued code has its values and does not name it as missing', async () => {
    const instance = openTestInstance()
    const { catalogue, seriesChanges } = instance.services
    const terms = { name: 'Ended', category: 'own', unit: 'barrel', currency: 'USD' }
    seriesChanges.add([{ code: 'DESK_ENDED_USD', terms }])
    instance.record('DESK_ENDED_USD', [31], startAt, dayMs)
    const { terms: stored } = catalogue.named('DESK_ENDED_USD')!
    seriesChanges.put(catalogue.named('DESK_ENDED_USD')!, { ...stored!, active: false })
    const path = '/v1/prices/past_week?by_code=DESK_ENDED_USD'
    const answer = await instance.get(path, instance.key('professional'))
    const { data } = (await answer.json()) as {
      data: { prices: unknown[]; metadata: Record<string, unknown> }
    }
    expect(data.prices).toHaveLength(1)
    expect(data.metadata.missing_codes).toBeUndefined()
  })

  test.each([
    ['/v1/prices/latest?by_code=TTF', 'DUTCH_TTF_EUR'],
    ['/v1/prices/metrics?by_code=TTF', 'DUTCH_TTF_EUR'],
    ['/v1/prices/convert?by_code=TTF&to_unit=mmbtu', 'DUTCH_TTF_EUR'],
    ['/v1/prices/latest?by_code=EUA', 'EU_CARBON_EUR'],
  ])(
    'an alias of a futures contract without a price names the codes that have one: %s',
    async (path, code) => {
      const instance = openTestInstance()
      instance.record(code, [31], startAt, dayMs)
      const answer = await instance.get(path, instance.key('professional'))
      const { error } = (await answer.json()) as {
        error: { code: string; message: string; suggestions: string[] }
      }
      expect({ status: answer.status, code: error.code }).toEqual({
        status: 404,
        code: 'DATA_NOT_AVAILABLE',
      })
      expect(error.message).toEndWith(`has no current price. Did you mean ${code}?`)
      expect(error.suggestions).toEqual([code])
    },
  )

  test('a latest price request without a key is refused as unauthorized whatever it requests', async () => {
    const response = await openLatestInstance().get('/v1/prices/latest?by_code=NOSUCHTHING')
    expect({ status: response.status, errorCode: response.headers.get('x-error-code') }).toEqual({
      status: 401,
      errorCode: 'UNAUTHORIZED',
    })
  })
})

describe('GET /v1/prices/latest: ETag and If-None-Match', () => {
  test('is not sent again, does not count and takes a slot all the same', async () => {
    const { ask, record, used } = openLatestInstance()
    record('WTI_USD', [70, 71], startAt - hourMs, dayMs)
    const first = await ask('WTI_USD')
    const etag = first.headers.get('etag')!
    expect(etag).toMatch(/^"[^"]+"$/)
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await ask('WTI_USD', { 'if-none-match': header })
      expect({
        status: again.status,
        body: again.body,
        etag: again.headers.get('etag'),
        contentType: again.headers.get('content-type'),
      }).toEqual({ status: 304, body: '', etag, contentType: null })
    }
    expect(used()).toBe(1)
    expect((await ask('WTI_USD', { 'if-none-match': '"other"' })).status).toBe(200)
    expect(used()).toBe(2)
    for (let i = 6; i < 60; i++)
      expect((await ask('WTI_USD', { 'if-none-match': etag })).status).toBe(304)
    expect((await ask('WTI_USD', { 'if-none-match': etag })).status).toBe(429)
  })

  test('is sent again once it changed: by a write, a correction, a quarantine, and for lists too', async () => {
    const instance = openLatestInstance()
    instance.record('FORTIES_USD', [69, 70], startAt - dayMs, dayMs)
    instance.record('WTI_USD', [70], startAt, dayMs)
    const { series } = instance.services.catalogue.resolve('FORTIES_USD', startAt)!
    const changes: [string, () => void][] = [
      ['a write', () => instance.record('FORTIES_USD', [71], startAt, dayMs)],
      ['a correction', () => instance.record('FORTIES_USD', [72], startAt, dayMs)],
      [
        'a quarantine',
        () =>
          instance.services.quarantine.add({
            seriesId: series.id,
            fromOn: '2026-11-20',
            toOn: '2026-11-20',
            reason: 'test',
            createdAt: 0,
          }),
      ],
      ['its age', () => instance.clock.set(startAt + 4 * dayMs)],
    ]
    for (const [why, change] of changes) {
      const answers = await Promise.all(
        ['FORTIES_USD', 'FORTIES_USD,WTI_USD', undefined].map(
          async codes => [codes, (await instance.ask(codes)).headers.get('etag')!] as const,
        ),
      )
      for (const [codes, etag] of answers)
        expect(
          (await instance.ask(codes, { 'if-none-match': etag })).status,
          `${why} ${codes}`,
        ).toBe(304)
      change()
      instance.clock.advance(minuteMs)
      for (const [codes, etag] of answers)
        expect(
          (await instance.ask(codes, { 'if-none-match': etag })).status,
          `${why} ${codes}`,
        ).toBe(200)
    }
  })

  test('the same value again changes nothing', async () => {
    const { ask, record } = openLatestInstance()
    record('WTI_USD', [70], startAt, dayMs)
    const etag = (await ask('WTI_USD')).headers.get('etag')!
    record('WTI_USD', [70], startAt, dayMs)
    expect((await ask('WTI_USD', { 'if-none-match': etag })).status).toBe(304)
  })

  test('a body is made once: the second answer is a hit, with the same bytes', async () => {
    const { get, token, record } = openLatestInstance()
    record('WTI_USD', [70], startAt, dayMs)
    const answers = []
    for (let i = 0; i < 2; i++) {
      const response = await get('/v1/prices/latest?by_code=WTI_USD', token)
      answers.push([
        response.headers.get('x-cache'),
        response.headers.get('etag'),
        await response.text(),
      ])
    }
    expect(answers[0]![0]).toBe('MISS')
    expect(answers[1]).toEqual(['HIT', answers[0]![1]!, answers[0]![2]!])
  })
})
