import { describe, expect, test } from 'bun:test'
import { dayMs, isoInstant, minuteMs } from '../../../../src/lib/time/instant.ts'
import { planIds } from '../../../../src/plans/tiers.ts'
import {
  type FrontDoor,
  gates,
  openFrontDoor,
  rateOf,
  startAt,
} from '../../../support/instance/front-door.ts'

const codeOf = (response: Response) => response.headers.get('x-error-code')
const burstOf = (response: Response) =>
  /"burst";r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]
const times = async (n: number, ask: () => Promise<Response>): Promise<Response[]> => {
  const answers: Response[] = []
  for (let i = 0; i < n; i += 1) answers.push(await ask())
  return answers
}
const statusesOf = async (n: number, ask: () => Promise<Response>) =>
  (await times(n, ask)).map(response => response.status)

describe('createGate: credentials', () => {
  const good = 'KEY'
  const spellings: [string, number][] = [
    ['Token KEY', 200],
    ['token KEY', 200],
    ['TOKEN KEY', 200],
    ['tOkEn KEY', 200],
    ['Bearer KEY', 200],
    ['bearer KEY', 200],
    ['BEARER KEY', 200],
    ['Token  KEY', 200],
    ['Token    KEY', 200],
    [' Token KEY ', 200],
    ['Token KEY   ', 200],
    ['Token \tKEY', 200],
    ['Token\tKEY', 401],
    ['TokenKEY', 401],
    ['Token:KEY', 401],
    ['Token=KEY', 401],
    ['Token token=KEY', 401],
    ['Token token="KEY"', 401],
    ['Token "KEY"', 401],
    ['Token <KEY>', 401],
    ["Token 'KEY'", 401],
    ['KEY', 401],
    ['Token', 401],
    ['Token ', 401],
    ['', 401],
    [' ', 401],
    ['Bearer', 401],
    ['Basic KEY', 401],
    ['Basic S0VZOg==', 401],
    ['Digest username="KEY"', 401],
    ['ApiKey KEY', 401],
    ['Negotiate KEY', 401],
    ['Tokens KEY', 401],
    ['Token KEY KEY', 401],
    ['Token KEY,', 401],
    ['Token KEY, Token KEY', 401],
    ['Token KEY, Basic KEY', 401],
    ['Basic KEY, Token KEY', 401],
    ['Token KEY;q=1', 401],
    ['Token KEY0', 401],
    ['Token 0KEY', 401],
    ['Token CUT', 401],
    ['Token UPPER', 401],
    ['Token NONHEX', 401],
    ['Token ZEROS', 401],
    ['Token LONG', 401],
    ['Token KEY\u00e9', 401],
    ['Token KEY%20', 401],
    ['Token null', 401],
    ['Token undefined', 401],
    ['Bearer a.b.c', 401],
    ['Token 0xKEY', 401],
  ]
  test.each(spellings)('the header %j is answered %p', async (spelling, status) => {
    const door = openFrontDoor()
    const { token } = door.open()
    const forms: Record<string, string> = {
      CUT: token.slice(0, 63),
      UPPER: token.toUpperCase(),
      NONHEX: `g${token.slice(1)}`,
      ZEROS: '0'.repeat(64),
      LONG: token.repeat(200),
      [good]: token,
    }
    const authorization = spelling.replace(/KEY|CUT|UPPER|NONHEX|ZEROS|LONG/g, word => forms[word]!)
    const response = await door.get('/probe/free', undefined, { authorization })
    expect(response.status).toBe(status)
    const body = (await response.json()) as { error?: Record<string, unknown> }
    if (status === 401) {
      expect(body.error).toMatchObject({
        code: 'UNAUTHORIZED',
        status: 401,
        request_id: response.headers.get('x-request-id'),
        docs: 'http://localhost/docs#UNAUTHORIZED',
        signup_url: 'http://localhost/signup',
        demo_endpoint: '/v1/demo/prices',
        retry: { retryable: false },
      })
      expect(response.headers.get('x-error-status')).toBe('401')
      expect(response.headers.get('x-ratelimit-limit')).toBeNull()
    }
  })

  test('the query parameter is good on GET and HEAD, and only without a header', async () => {
    const door = openFrontDoor()
    const { token } = door.open()
    const query = `?api_key=${token}`
    const rows: [string, string, Record<string, string>, number][] = [
      ['GET', `/probe/free${query}`, {}, 200],
      ['HEAD', `/probe/free${query}`, {}, 200],
      ['GET', `/probe/free?api_key=${token}%20`, {}, 200],
      ['GET', `/probe/free?other=1&api_key=${token}`, {}, 200],
      ['GET', `/probe/free?api_key=`, {}, 401],
      ['GET', `/probe/free?API_KEY=${token}`, {}, 401],
      ['GET', `/probe/free?x_api_key=${token}`, {}, 401],
      ['GET', `/probe/free?api_key=wrong&api_key=${token}`, {}, 401],
      ['GET', `/probe/free${query}`, { authorization: '' }, 401],
      ['GET', `/probe/free${query}`, { authorization: 'Token wrong' }, 401],
      ['GET', `/probe/free${query}`, { authorization: 'Basic x' }, 401],
      ['GET', '/probe/free?api_key=wrong', { authorization: `Token ${token}` }, 200],
      ['POST', `/probe/counted${query}`, {}, 401],
      ['DELETE', `/v1/api-keys/x${query}`, {}, 401],
    ]
    for (const [method, path, headers, status] of rows) {
      // A different address for each row: ten failures from one fill its window.
      door.address = `198.51.100.${rows.findIndex(row => row[1] === path)}`
      const response = await door.ask(method, path, { headers })
      expect({ method, path, headers, status: response.status }).toEqual({
        method,
        path,
        headers,
        status,
      })
    }
  })

  test('routes that take the header only refuse the query parameter', async () => {
    const door = openFrontDoor()
    const { token, key } = door.open()
    const id = key.key.id
    const routes: [string, string][] = [
      ['GET', '/v1/account'],
      ['GET', '/v1/api-keys'],
      ['POST', '/v1/api-keys'],
      ['PATCH', `/v1/api-keys/${id}`],
      ['DELETE', `/v1/api-keys/${id}`],
      ['POST', `/v1/api-keys/${id}/roll`],
      ['GET', '/probe/header'],
    ]
    for (const [method, path] of routes) {
      const response = await door.ask(method, `${path}?api_key=${token}`)
      expect({ path, status: response.status, code: codeOf(response) }).toEqual({
        path,
        status: 401,
        code: 'UNAUTHORIZED',
      })
    }
    expect(id).toBe(key.key.id)
    expect((await door.get('/v1/account', token)).status).toBe(200)
  })

  test('a failure takes a slot of the address, and a good key is let in from a full one', async () => {
    const door = openFrontDoor()
    const { token } = door.open()
    const wrong = () => door.get('/probe/counted', 'f'.repeat(64))
    expect(await statusesOf(11, wrong)).toEqual([...Array.from({ length: 10 }, () => 401), 429])
    const refused = await wrong()
    expect((await refused.json()) as object).toMatchObject({
      error_code: 'RATE_LIMIT_EXCEEDED',
      retry_after: 60,
      limit: 10,
      window_seconds: 60,
    })
    expect(refused.headers.get('retry-after')).toBe('60')
    expect((await door.get('/probe/counted', token)).status).toBe(200)
    expect((await door.get('/probe/open')).status).toBe(429)
    door.clock.advance(minuteMs)
    expect((await wrong()).status).toBe(401)
  })

  test('a hundred thousand random keys from one address leave no trace in memory', async () => {
    const door = openFrontDoor()
    const { keys } = door.services
    for (let i = 0; i < 2000; i += 1) keys.find(door.services.ids.token())
    Bun.gc(true)
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 100_000; i += 1) keys.find(`${String(i).padStart(64, '0')}`)
    Bun.gc(true)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(4 * 2 ** 20)
  })
})

describe('createGate: the operator', () => {
  test('is let in by the admin token as a bearer, or from this machine, and by no API key', async () => {
    const door = openFrontDoor()
    const { token } = door.open()
    const ask = async (authorization?: string) =>
      (
        await door.get(
          '/admin/v1/accounts',
          undefined,
          authorization === undefined ? {} : { authorization },
        )
      ).status
    expect(await ask(`Bearer ${door.adminToken}`)).toBe(200)
    expect(await ask(`bearer ${door.adminToken}`)).toBe(200)
    for (const wrong of [
      undefined,
      '',
      'Bearer',
      `Token ${door.adminToken}`,
      `Bearer ${token}`,
      `Bearer ${door.adminToken.toUpperCase()}`,
    ]) {
      expect({ wrong, answer: await ask(wrong) }).toEqual({ wrong, answer: 401 })
    }
    expect((await door.get(`/admin/v1/accounts?api_key=${door.adminToken}`)).status).toBe(401)
    expect((await door.local('GET', '/admin/v1/accounts')).status).toBe(200)
    expect((await door.get('/v1/account', door.adminToken)).status).toBe(401)
  })
})

describe('createGate: the plan', () => {
  // Y: in the plan. A: to be had as an add-on. D: inside the allowance. Rows as in the contract's
  // table.
  const table: [string, string][] = [
    ['calculated_metrics', '-YYYYYY'],
    ['analytics', '---YYYY'],
    ['forecast', '----YYY'],
    ['energy_intelligence', '----YYY'],
    ['well_permits', '----AYY'],
    ['well_production', '----AAY'],
    ['webhooks', '----YYY'],
    ['standard_alerts', '----YYY'],
    ['analytics_alerts', '---YYYY'],
    ['futures', 'DDAAYYY'],
    ['sms', 'AAAAYYY'],
    ['streaming', '----YYY'],
    ['data_connector', '----YYY'],
  ]
  const columns = ['free', 'trial', ...planIds.slice(1)]
  const addOns: Record<string, string> = {
    futures: 'futures_data',
    well_permits: 'well_permits',
    well_production: 'well_production',
    sms: 'sms',
  }
  const codes: Record<string, string> = {
    futures: 'FORBIDDEN',
    well_production: 'ENTERPRISE_REQUIRED',
  }

  const openOn = (door: FrontDoor, column: string, addOns: string[] = []) =>
    door.open(column === 'trial' ? 'free' : column, { trial: column === 'trial', addOns: addOns })

  test.each(table)('%s is open to %s', async (feature, row) => {
    const door = openFrontDoor()
    for (const [i, column] of columns.entries()) {
      const { token } = openOn(door, column)
      const response = await door.get(`/probe/feature/${feature}`, token)
      const open = row[i] === 'Y' || row[i] === 'D'
      expect({ column, status: response.status }).toEqual({ column, status: open ? 200 : 403 })
      if (open) continue
      const { error } = (await response.json()) as { error: Record<string, unknown> }
      const required = planIds[table.find(([name]) => name === feature)![1].indexOf('Y', 2) - 1]
      expect(error).toMatchObject({
        code: codes[feature] ?? 'INSUFFICIENT_PLAN',
        feature,
        required_feature: feature,
        upgrade_required: true,
        status: 403,
        current_plan: column === 'trial' ? 'free' : column,
        required_plan: required,
        recommended_plan: required,
        upgrade_url: 'http://localhost/account/plan',
      })
      expect(error.message).toMatch(/tier|upgrade/)
      expect(error.addon).toBe(row[i] === 'A' ? addOns[feature] : undefined)
      expect(error.billing_url).toBe(row[i] === 'A' ? 'http://localhost/account/plan' : undefined)
      expect(rateOf(response)).toMatchObject({ used: '0', tier: column })
      if (row[i] === 'A') {
        const opened = openOn(door, column, [addOns[feature]!])
        expect((await door.get(`/probe/feature/${feature}`, opened.token)).status).toBe(200)
      }
    }
  })

  test('one of several features is enough', async () => {
    const door = openFrontDoor()
    const statuses = await Promise.all(
      ['free', 'developer', 'starter', 'professional'].map(
        async plan => (await door.get('/probe/either', door.open(plan).token)).status,
      ),
    )
    expect(statuses).toEqual([403, 403, 200, 200])
  })

  test('refusals of the intelligence family are flat', async () => {
    const door = openFrontDoor()
    const response = await door.get('/probe/flat', door.open('free').token)
    const body = (await response.json()) as Record<string, unknown>
    expect(body).toMatchObject({
      error_code: 'INSUFFICIENT_PLAN',
      code: 'INSUFFICIENT_PLAN',
      status: 403,
      required_tier: 'Reservoir Mastery',
    })
    expect(body.error).toBe(body.message)
    expect(body.upgrade_url).toBe('http://localhost/account/plan')
  })
})

describe('createGate: the order of checks', () => {
  /** Everything wrong at once; then one fault after the other is taken away. */
  test('is credentials, key, address, plan, rate, quota, input, existence', async () => {
    const door = openFrontDoor()
    const { token, key } = door.open('free')
    const { keys } = door.services
    const remaining: (string | null)[] = []
    const note = (response: Response) => {
      remaining.push(codeOf(response))
      return response
    }
    const ask = (path: string, credential = token) => door.get(path, credential).then(note)

    // The quota is used up, and then the window of an exhausted key too.
    await statusesOf(50, () => door.get('/probe/counted', token))
    await statusesOf(5, () => door.get('/probe/counted', token))
    keys.changeKey(key, {
      suspendedAt: startAt,
      allowedIps: ['10.0.0.0/8'],
      allowedDomains: ['example.com'],
    })

    expect((await ask('/probe/nothing', 'wrong')).status).toBe(404)
    await ask('/probe/feature/analytics?number=x', 'wrong')
    await ask('/probe/feature/analytics?number=x')
    keys.changeKey(key, { suspendedAt: null })
    await ask('/probe/feature/analytics?number=x')
    keys.changeKey(key, { allowedIps: [] })
    await ask('/probe/feature/analytics?number=x')
    keys.changeKey(key, { allowedDomains: [] })
    await ask('/probe/feature/analytics?number=x')
    await ask('/probe/counted?number=x&answer=404')
    door.clock.advance(minuteMs)
    await ask('/probe/counted?number=x&answer=404')
    door.clock.advance(dayMs)
    await ask('/probe/counted?number=x&answer=404')
    await ask('/probe/counted?answer=404')
    expect(remaining).toEqual([
      'ROUTE_NOT_FOUND',
      'UNAUTHORIZED',
      'KEY_SUSPENDED',
      'IP_NOT_ALLOWED',
      'DOMAIN_NOT_ALLOWED',
      'INSUFFICIENT_PLAN',
      'RATE_LIMIT_EXCEEDED',
      'PAYMENT_REQUIRED',
      'INVALID_PARAMETER',
      'NOT_FOUND',
    ])
  })

  test('an unknown route returns 404 before the caller is checked', async () => {
    const door = openFrontDoor()
    const response = await door.get('/v1/unknown', door.open().token)
    expect({
      status: response.status,
      text: await response.text(),
      contentType: response.headers.get('content-type'),
    }).toEqual({ status: 404, text: '', contentType: 'text/html' })
    expect(response.headers.get('x-request-id')).toBeNull()
    expect(response.headers.get('x-error-code')).toBe('ROUTE_NOT_FOUND')
  })

  test('a refusal for the plan has taken its slot', async () => {
    const door = openFrontDoor()
    const { token } = door.open('free')
    expect(burstOf(await door.get('/probe/feature/analytics', token))).toBe('59')
    expect(burstOf(await door.get('/probe/counted', token))).toBe('58')
  })

  test('a body that is not valid JSON can be refused before credentials are checked', async () => {
    const door = openFrontDoor()
    const response = await door.ask('POST', '/v1/api-keys', { body: '{' })
    expect({ status: response.status, code: codeOf(response) }).toEqual({
      status: 400,
      code: 'MALFORMED_JSON',
    })
  })
})

describe('createGate: what counts', () => {
  const rows: [string, string, number, string][] = [
    ['an answer', '/probe/counted', 200, '1'],
    ['a 304', '/probe/counted?answer=304', 304, '0'],
    ['a 404', '/probe/counted?answer=404', 404, '0'],
    ['a fault of ours', '/probe/counted?answer=500', 500, '0'],
    ['a parameter that does not fit', '/probe/counted?number=x', 400, '0'],
    ['a feature outside the plan', '/probe/feature/analytics', 403, '0'],
    ['a route without meter', '/probe/free', 200, '0'],
    ['the account', '/v1/account', 200, '0'],
    ['the keys', '/v1/api-keys', 200, '0'],
    ['the usage', '/v1/usage', 200, '0'],
    ['the report on the use of the service', '/v1/analytics/performance', 200, '1'],
  ]
  test.each(rows)('%s (%s, %p): %p of the quota, one slot', async (_, path, status, used) => {
    const door = openFrontDoor()
    const { token } = door.open('free')
    const response = await door.get(path, token)
    expect({
      status: response.status,
      used: rateOf(response).used,
      burst: burstOf(response),
    }).toEqual({ status, used, burst: '59' })
    expect(rateOf(await door.get('/probe/free', token)).used).toBe(used)
  })

  test('HEAD counts as GET', async () => {
    const door = openFrontDoor()
    const { token } = door.open('free')
    const response = await door.ask('HEAD', '/probe/counted', { token })
    expect({
      status: response.status,
      text: await response.text(),
      used: rateOf(response).used,
    }).toEqual({ status: 200, text: '', used: '1' })
  })

  test('keyless routes take no notice of a key', async () => {
    const door = openFrontDoor()
    const { token, key } = door.open('free')
    for (const credential of [token, 'wrong']) {
      const response = await door.get('/probe/open', credential)
      expect({
        status: response.status,
        ratelimitTier: response.headers.get('x-ratelimit-tier'),
      }).toEqual({ status: 200, ratelimitTier: null })
    }
    expect(door.services.meter.quotaUsage(key).used).toBe(0)
    expect(key.lastUsedAt).toBeNull()
  })

  test('requests at once do not overshoot, and answers that fail give their place back', async () => {
    const door = openFrontDoor()
    const { token } = door.open('free')
    const ask = (path: string) => door.get(path, token)
    await statusesOf(48, () => ask('/probe/counted'))
    const [first, second] = [ask('/probe/slow?name=a'), ask('/probe/slow?name=b')]
    // Both are on their way, so nothing is left for a third.
    const third = await ask('/probe/counted')
    expect({ status: third.status, code: codeOf(third) }).toEqual({
      status: 402,
      code: 'PAYMENT_REQUIRED',
    })
    gates.waiting.get('a')!({ done: true })
    gates.waiting.get('b')!({ wrong: true } as never)
    expect({ first: (await first).status, second: (await second).status }).toEqual({
      first: 200,
      second: 500,
    })
    door.clock.advance(minuteMs)
    expect(await statusesOf(2, () => ask('/probe/counted'))).toEqual([200, 402])
  })

  test('a place that is given back after midnight goes to the day it was taken from', async () => {
    const door = openFrontDoor()
    const { token, key } = door.open('free')
    door.clock.set(Date.parse('2026-11-20T23:59:59Z'))
    const slow = door.get('/probe/slow?name=midnight', token)
    door.clock.advance(1000)
    await door.get('/probe/counted', token)
    gates.waiting.get('midnight')!({ wrong: true } as never)
    expect((await slow).status).toBe(500)
    expect(door.services.meter.quotaUsage(key).used).toBe(1)
    door.services.meter.flush()
    const counters = door.services.db
      .query('SELECT starts_at, used FROM quota_counters ORDER BY starts_at')
      .all()
    expect(counters).toEqual([
      { starts_at: Date.parse('2026-11-20T00:00:00Z'), used: 0 },
      { starts_at: Date.parse('2026-11-21T00:00:00Z'), used: 1 },
    ])
  })
})

describe('createGate: rolling windows', () => {
  test('admit sixty requests of a key in any sixty seconds', async () => {
    const door = openFrontDoor()
    const { token } = door.open()
    const ask = () => door.get('/probe/free', token)
    expect(await statusesOf(59, ask)).toEqual(Array.from({ length: 59 }, () => 200))
    door.clock.advance(30_000)
    expect(await statusesOf(2, ask)).toEqual([200, 429])
    const refused = await ask()
    expect((await refused.json()) as object).toMatchObject({
      error_code: 'RATE_LIMIT_EXCEEDED',
      code: 'RATE_LIMIT_EXCEEDED',
      status: 429,
      retry: { retryable: true },
      retry_after: 30,
      limit: 60,
      window_seconds: 60,
    })
    expect(refused.headers.get('retry-after')).toBe('30')
    expect(refused.headers.get('ratelimit')).toBe('"quota";r=10000000;t=896370, "burst";r=0;t=60')
    door.clock.advance(29_999)
    expect((await ask()).status).toBe(429)
    door.clock.advance(1)
    expect(await statusesOf(60, ask)).toEqual([...Array.from({ length: 59 }, () => 200), 429])
  })

  test('of two keys of one account are two', async () => {
    const door = openFrontDoor()
    const { token, account } = door.open()
    const { token: other } = door.services.keys.addKey(account)
    await statusesOf(60, () => door.get('/probe/free', token))
    expect([
      (await door.get('/probe/free', token)).status,
      (await door.get('/probe/free', other)).status,
    ]).toEqual([429, 200])
  })

  test('marine routes count against their own rolling window in addition to the general window', async () => {
    const door = openFrontDoor()
    const { token } = door.open()
    const marine = await times(31, () => door.get('/probe/marine', token))
    expect(marine.map(answer => answer.status)).toEqual([
      ...Array.from({ length: 30 }, () => 200),
      429,
    ])
    expect(marine[0]!.headers.get('ratelimit-policy')).toBe(
      '"quota";q=10000000;w=2592000, "burst";q=60;w=60, "marine";q=30;w=60',
    )
    expect(burstOf(marine[30]!)).toBe('29')
    expect(await statusesOf(6, () => door.get('/probe/marine-historical', token))).toEqual([
      200, 200, 200, 200, 200, 429,
    ])
    expect(await statusesOf(24, () => door.get('/probe/free', token))).toEqual([
      ...Array.from({ length: 23 }, () => 200),
      429,
    ])
    expect(rateOf(await door.get('/probe/free', token)).used).toBe('35')
  })

  test('of the demo hold for an hour, and are shown in its headers', async () => {
    const door = openFrontDoor()
    const [first, ...rest] = await times(21, () => door.get('/probe/demo'))
    expect([first, ...rest].map(answer => answer!.status)).toEqual([
      ...Array.from({ length: 20 }, () => 200),
      429,
    ])
    expect({
      ratelimitLimit: first!.headers.get('x-ratelimit-limit'),
      ratelimitRemaining: first!.headers.get('x-ratelimit-remaining'),
    }).toEqual({ ratelimitLimit: '20', ratelimitRemaining: '19' })
    expect(first!.headers.get('x-ratelimit-reset')).toBe(String((startAt + 3_600_000) / 1000))
    expect((await rest[19]!.json()) as object).toMatchObject({
      error_code: 'RATE_LIMIT_EXCEEDED',
      limit: 20,
      window_seconds: 3600,
      retry_after: 3600,
    })
    expect((await door.get('/probe/open')).status).toBe(200)
    door.clock.advance(3_600_000)
    expect((await door.get('/probe/demo')).status).toBe(200)
  })

  test('are not asked on routes that nothing limits', async () => {
    const door = openFrontDoor()
    expect(new Set(await statusesOf(100, () => door.get('/probe/unlimited')))).toEqual(
      new Set([200]),
    )
  })

  test('let a used-up key in five times in sixty seconds, whatever it asks', async () => {
    const door = openFrontDoor()
    const { token } = door.open('free')
    await statusesOf(50, () => door.get('/probe/counted', token))
    const answers = await times(7, () => door.get('/probe/counted', token))
    expect(answers.map(answer => answer.status)).toEqual([402, 402, 402, 402, 402, 429, 429])
    expect(answers[0]!.headers.get('ratelimit')).toBe('"quota";r=0;t=32400, "burst";r=4;t=60')
    expect(answers[5]!.headers.get('retry-after')).toBe('60')
    expect(rateOf(answers[5]!)).toMatchObject({
      state: 'exhausted',
      window: 'daily_counter',
      used: '50',
      remaining: '0',
    })
    door.clock.advance(minuteMs)
    // Uncounted requests succeed, so that a blocked account can see the block.
    expect(await statusesOf(6, () => door.get('/v1/account', token))).toEqual([
      200, 200, 200, 200, 200, 429,
    ])
  })

  test('of a suspended key are five too, and every answer is the suspension', async () => {
    const door = openFrontDoor()
    const { token, key, account } = door.open()
    door.changes.suspendKey(key, true)
    const answers = await times(6, () => door.get('/v1/account', token))
    expect(answers.map(codeOf)).toEqual(Array.from({ length: 6 }, () => 'KEY_SUSPENDED'))
    expect(answers.map(burstOf)).toEqual(['4', '3', '2', '1', '0', '0'])
    door.changes.suspendKey(key, false)
    expect((await door.get('/v1/account', token)).status).toBe(200)
    door.changes.changeAccount(account, { suspended: true })
    const response = await door.get('/v1/account', token)
    expect({
      status: response.status,
      code: codeOf(response),
      tier: rateOf(response).tier,
    }).toEqual({ status: 403, code: 'KEY_SUSPENDED', tier: 'enterprise' })
  })
})

describe('clientAddress', () => {
  const proxies = { 'server.trusted_proxies': '10.0.0.0/8,2001:db8:ffff::/48' }
  /** Whether the second of two addresses finds the window that the first one filled. */
  const share = async (
    flags: Record<string, string>,
    first: [string, string?],
    other: [string, string?],
  ) => {
    const door = openFrontDoor({ flags })
    const ask = ([address, forwarded]: [string, string?]) => {
      door.address = address
      return door.get(
        '/probe/open',
        undefined,
        forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
      )
    }
    for (let i = 0; i < 10; i += 1) expect((await ask(first)).status).toBe(200)
    expect((await ask(first)).status).toBe(429)
    return (await ask(other)).status === 429
  }

  test.each<[string, Record<string, string>, [string, string?], [string, string?], boolean]>([
    ['neighbours in a /64', {}, ['2001:db8:1:2::1'], ['2001:db8:1:2:ffff:ffff:ffff:ffff'], true],
    ['neighbours outside it', {}, ['2001:db8:1:2::1'], ['2001:db8:1:3::1'], false],
    ['neighbours in IPv4', {}, ['203.0.113.1'], ['203.0.113.2'], false],
    ['an IPv4 address and its form in IPv6', {}, ['203.0.113.1'], ['::ffff:203.0.113.1'], true],
    [
      'clients that claim to be others',
      {},
      ['203.0.113.1', '198.51.100.1'],
      ['203.0.113.1', '198.51.100.2'],
      true,
    ],
    [
      'clients that claim it past a proxy',
      proxies,
      ['203.0.113.1', '198.51.100.1'],
      ['203.0.113.1', '198.51.100.2'],
      true,
    ],
    [
      'clients of a proxy',
      proxies,
      ['10.0.0.1', '198.51.100.1'],
      ['10.0.0.1', '198.51.100.2'],
      false,
    ],
    [
      'a client that comes through two proxies',
      proxies,
      ['10.0.0.1', '198.51.100.1'],
      ['10.0.0.2', '198.51.100.1, 10.0.0.9'],
      true,
    ],
    [
      'clients that write before the proxy',
      proxies,
      ['10.0.0.1', '1.1.1.1, 198.51.100.1'],
      ['10.0.0.1', '2.2.2.2, 198.51.100.1'],
      true,
    ],
    [
      'clients that write a proxy',
      proxies,
      ['10.0.0.1', '1.1.1.1, 10.0.0.5, 198.51.100.1'],
      ['10.0.0.1', '198.51.100.1'],
      true,
    ],
    [
      'clients whose proxy writes ports',
      proxies,
      ['10.0.0.1', '1.1.1.1, 198.51.100.1:999'],
      ['10.0.0.1', '2.2.2.2, 198.51.100.1:1000'],
      true,
    ],
    [
      'clients whose proxy writes brackets',
      proxies,
      ['10.0.0.1', '[2001:db8:1::1]:99'],
      ['10.0.0.1', '2001:db8:1::2'],
      true,
    ],
    [
      'clients whose proxy writes words',
      proxies,
      ['10.0.0.1', '1.1.1.1, unknown'],
      ['10.0.0.1', '2.2.2.2, unknown'],
      true,
    ],
    [
      'clients of a proxy in IPv6',
      proxies,
      ['2001:db8:ffff::1', '198.51.100.1'],
      ['2001:db8:ffff::2', '198.51.100.2'],
      false,
    ],
    ['proxies that name no client', proxies, ['10.0.0.1', ''], ['10.0.0.1'], true],
  ])('%s', async (_, flags, first, other, shared) => {
    expect(await share(flags, first, other)).toBe(shared)
  })
})

test('every answer to a key has every header of its state', async () => {
  const door = openFrontDoor()
  const rows: [string, Parameters<FrontDoor['open']>[1], Record<string, string | null>][] = [
    [
      'free',
      {},
      {
        limit: '50',
        window: 'daily_counter',
        state: 'free',
        tier: 'free',
        reset: '2026-11-21T00:00:00Z',
      },
    ],
    [
      'free',
      { trial: true },
      {
        limit: '10000',
        window: 'trial_counter',
        state: 'trial_active',
        tier: 'trial',
        reset: '2026-11-27T15:00:00Z',
      },
    ],
    [
      'starter',
      {},
      {
        limit: '50000',
        window: 'monthly_counter',
        state: 'paid_active',
        tier: 'starter',
        reset: '2026-12-01T00:00:00Z',
      },
    ],
    [
      'scale',
      { confirmed: false },
      {
        limit: '50',
        window: 'daily_counter',
        state: 'unconfirmed_capped',
        tier: 'scale',
        reset: '2026-11-21T00:00:00Z',
      },
    ],
  ]
  for (const [plan, options, expected] of rows) {
    const { token } = door.open(plan, options)
    for (const path of [
      '/probe/counted',
      '/probe/counted?answer=404',
      '/probe/counted?answer=500',
      '/probe/counted?answer=304',
      '/v1/usage',
    ]) {
      const response = await door.get(path, token, { 'x-request-id': 'mine-1' })
      expect(rateOf(response)).toMatchObject(expected)
      expect(rateOf(response).used).toBe('1')
      expect(rateOf(response).remaining).toBe(String(Number(expected.limit) - 1))
      expect(response.headers.get('x-request-id')).toBe('mine-1')
      expect(response.headers.get('ratelimit-policy')).toMatch(
        /^"quota";q=\d+;w=\d+, "burst";q=60;w=60$/,
      )
      expect(response.headers.get('ratelimit')).toMatch(/^"quota";r=\d+;t=\d+, "burst";r=\d+;t=60$/)
    }
  }
  expect(isoInstant(startAt)).toBe('2026-11-20T15:00:00Z')
})
