import { beforeAll, describe, expect, test } from 'bun:test'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'

interface Webhook extends Record<string, unknown> {
  id: string
  secret?: string
}

const path = '/v1/webhooks'
const url = 'https://hooks.example.com/energy'
const basic = { url, events: ['price.updated'] }
const unlimited = { 'limits.per_minute': '100000' }

let whole: TestInstance
let token: string
beforeAll(() => {
  whole = openTestInstance(unlimited)
  token = whole.key('enterprise')
})

const json = async (response: Response) =>
  (await response.json()) as {
    data: never
    errors: { field: string; value: unknown }[]
    code: string
  }
const create = async (body: unknown, key = token, instance = whole): Promise<Webhook> => {
  const response = await instance.send('POST', path, body, key)
  expect(response.status).toBe(201)
  return (await json(response)).data
}
const change = (id: string, body: unknown, key = token) =>
  whole.send('PATCH', `${path}/${id}`, body, key)
const remove = (id: string) => whole.send('DELETE', `${path}/${id}`, undefined, token)

describe('POST /v1/webhooks: a new endpoint', () => {
  test('a new webhook endpoint has the API defaults and shows its secret once', async () => {
    const webhook = await create(basic)
    expect(webhook).toEqual({
      ...basic,
      id: webhook.id,
      commodity_filters: [],
      state_filters: [],
      description: null,
      conditions: [],
      condition_logic: 'any',
      debug_mode: false,
      status: 'active',
      active: true,
      disabled_reason: null,
      signature_scheme: 'timestamped',
      ordered: false,
      honor_retry_after: false,
      rate_limit_per_second: 10,
      timeout_seconds: 30,
      max_retries: 5,
      successful_deliveries: 0,
      failed_deliveries: 0,
      consecutive_failures: 0,
      last_delivery_status: null,
      last_delivery_at: null,
      created_at: '2026-11-20T15:00:00Z',
      updated_at: '2026-11-20T15:00:00Z',
      secret: expect.stringMatching(/^whsec_[0-9a-f]{48}$/),
      secret_hint: expect.stringMatching(/^whsec_….{4}$/),
    })
    const { secret, ...shown } = webhook
    expect((await json(await whole.get(`${path}/${webhook.id}`, token))).data).toEqual(
      shown as never,
    )
    for (const answer of [
      await whole.get(path, token),
      await whole.get(`${path}/${webhook.id}`, token),
      await change(webhook.id, { ordered: true }),
    ])
      expect(await answer.text()).not.toContain(secret!)
    await remove(webhook.id)
  })
  test('takes everything that can be set of it', async () => {
    const set = {
      url: `${url}?a=1`,
      events: ['price.*', 'alert.triggered', 'watch.evaluated'],
      description: 'desk',
      condition_logic: 'all',
      debug_mode: true,
      signature_scheme: 'body',
      ordered: true,
      honor_retry_after: true,
      rate_limit_per_second: 50,
      timeout_seconds: 1,
      max_retries: 0,
      secret: 'a secret of my own',
    }
    const webhook = await create({
      ...set,
      status: 'paused',
      commodity_filters: ['wti', 'BRENT_CRUDE_USD'],
      state_filters: ['tx', 'NM'],
    })
    expect(webhook).toMatchObject({
      ...set,
      status: 'disabled',
      active: false,
      disabled_reason: null,
      secret_hint: '… own',
    })
    expect(webhook).toMatchObject({
      commodity_filters: ['WTI_USD', 'BRENT_CRUDE_USD'],
      state_filters: ['TX', 'NM'],
    })
    await remove(webhook.id)
  })
  test('takes one condition or a list of them, and answers a list', async () => {
    const condition = {
      commodity: 'wti_usd',
      operator: 'between',
      min_value: 70,
      max_value: 80,
      trigger_on: 'exit',
      value: null,
      timeframe: null,
    }
    const webhook = await create({ ...basic, conditions: condition })
    expect(webhook.conditions).toEqual([
      {
        commodity: 'WTI_USD',
        operator: 'between',
        min_value: 70,
        max_value: 80,
        trigger_on: 'exit',
      },
    ])
    const list = [
      { commodity: 'WTI_USD', operator: 'greater_than', value: 80 },
      { commodity: 'GOLD_USD', operator: 'percent_decrease', value: 5, timeframe: '7d' },
    ]
    expect((await json(await change(webhook.id, { conditions: list }))).data).toMatchObject({
      conditions: list,
    })
    expect((await json(await change(webhook.id, { conditions: null }))).data).toMatchObject({
      conditions: [],
    })
    await remove(webhook.id)
  })
  test('is made once for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'once' }
    const answers = [
      await whole.send('POST', path, basic, token, headers),
      await whole.send('POST', path, basic, token, headers),
    ]
    const [first, second] = await Promise.all(
      answers.map(async response => (await json(response)).data as Webhook),
    )
    expect(second).toEqual(first!)
    expect(answers.map(response => response.status)).toEqual([201, 201])
    await remove(first!.id)
  })
})

describe('an event that this service does not send', () => {
  test.each([
    ['price.updatd', 'price.updated'],
    ['prices.*', 'price.*'],
    ['alert.trigered', 'alert.triggered'],
    ['invoice.payed', 'invoice.paid'],
    ['price.*.*', 'price.*'],
    ['Price.Updated', 'price.updated'],
  ])(
    '%p is refused with the nearest, %p, when it is made and when it is changed',
    async (name, nearest) => {
      const { id } = await create(basic)
      const events = ['invoice.paid', name]
      for (const response of [
        await whole.send('POST', path, { ...basic, events }, token),
        await change(id, { events }),
      ]) {
        expect({
          status: response.status,
          errorCode: response.headers.get('x-error-code'),
        }).toEqual({ status: 422, errorCode: 'validation_failed' })
        const text = await response.text()
        expect(JSON.parse(text).message).toContain(`got "${name}". Did you mean ${nearest}?`)
      }
      await remove(id)
    },
  )
})

describe('POST /v1/webhooks: a body that does not fit', () => {
  const condition = (more: object) => ({
    conditions: [{ commodity: 'WTI_USD', operator: 'greater_than', value: 1, ...more }],
  })
  const table: [body: unknown, fields: string[]][] = [
    [undefined, ['url', 'events']],
    [[], ['body']],
    [{}, ['url', 'events']],
    [{ url }, ['events']],
    [{ ...basic, url: 7 }, ['url']],
    [{ ...basic, url: null }, ['url']],
    [{ ...basic, url: 'ftp://example.com' }, ['url']],
    [{ ...basic, url: 'http://hooks.example.com/' }, ['url']],
    [{ ...basic, url: 'https://127.0.0.1/' }, ['url']],
    [{ ...basic, url: 'https://10.1.2.3/' }, ['url']],
    [{ ...basic, url: 'https://169.254.169.254/latest' }, ['url']],
    [{ ...basic, url: 'https://user:pass@hooks.example.com/' }, ['url']],
    [{ ...basic, url: `${url}/${'a'.repeat(2048)}` }, ['url']],
    [{ ...basic, events: [] }, ['events']],
    [{ ...basic, events: 'price.updated' }, ['events']],
    [{ ...basic, events: null }, ['events']],
    [{ ...basic, events: ['price.updated', ''] }, ['events.1']],
    [{ ...basic, events: ['a b'] }, ['events.0']],
    [{ ...basic, events: ['a'.repeat(101)] }, ['events.0']],
    [{ ...basic, events: [1] }, ['events.0']],
    [{ ...basic, events: Array.from({ length: 51 }, (_, i) => `type.${i}`) }, ['events']],
    [{ ...basic, commodity_filters: ['WTI_USD', 'NO_SUCH_USD'] }, ['commodity_filters.1']],
    [{ ...basic, commodity_filters: 'WTI_USD' }, ['commodity_filters']],
    [
      { ...basic, commodity_filters: Array.from({ length: 101 }, () => 'WTI_USD') },
      ['commodity_filters'],
    ],
    [{ ...basic, state_filters: ['TX', 'XX'] }, ['state_filters.1']],
    [{ ...basic, state_filters: ['CT'] }, ['state_filters.0']],
    [{ ...basic, description: 'a'.repeat(256) }, ['description']],
    [{ ...basic, description: '\ud800' }, ['description']],
    [{ ...basic, conditions: 'any' }, ['conditions']],
    [{ ...basic, conditions: [null] }, ['conditions.0']],
    [
      { ...basic, conditions: ['WTI_USD'] },
      ['conditions.0', 'conditions.0.commodity', 'conditions.0.operator'],
    ],
    [
      { ...basic, conditions: Array.from({ length: 21 }, () => condition({}).conditions[0]) },
      ['conditions'],
    ],
    [{ ...basic, conditions: [{}] }, ['conditions.0.commodity', 'conditions.0.operator']],
    [{ ...basic, ...condition({ commodity: 'NO_SUCH_USD' }) }, ['conditions.0.commodity']],
    [{ ...basic, ...condition({ operator: 'equals' }) }, ['conditions.0.operator']],
    [{ ...basic, ...condition({ value: undefined }) }, ['conditions.0.value']],
    [{ ...basic, ...condition({ value: null }) }, ['conditions.0.value']],
    [{ ...basic, ...condition({ value: '80' }) }, ['conditions.0.value']],
    [{ ...basic, ...condition({ value: 1_000_001 }) }, ['conditions.0.value']],
    [{ ...basic, ...condition({ value: -1_000_001 }) }, ['conditions.0.value']],
    [
      { ...basic, ...condition({ operator: 'percent_increase', value: 0 }) },
      ['conditions.0.value'],
    ],
    [
      { ...basic, ...condition({ operator: 'percent_increase', value: -1 }) },
      ['conditions.0.value'],
    ],
    [
      { ...basic, ...condition({ operator: 'percent_increase', timeframe: '2h' }) },
      ['conditions.0.timeframe'],
    ],
    [{ ...basic, ...condition({ operator: 'between', min_value: 1 }) }, ['conditions.0.max_value']],
    [
      { ...basic, ...condition({ operator: 'between', min_value: 2, max_value: 1 }) },
      ['conditions.0.max_value'],
    ],
    [
      {
        ...basic,
        ...condition({ operator: 'between', min_value: 1, max_value: 2, trigger_on: 'both' }),
      },
      ['conditions.0.trigger_on'],
    ],
    [{ ...basic, condition_logic: 'none' }, ['condition_logic']],
    [{ ...basic, debug_mode: 'yes' }, ['debug_mode']],
    [{ ...basic, status: 'off' }, ['status']],
    [{ ...basic, secret: 'a'.repeat(15) }, ['secret']],
    [{ ...basic, secret: 'a'.repeat(129) }, ['secret']],
    [{ ...basic, secret: null }, ['secret']],
    [{ ...basic, secret: 1234567890123456 }, ['secret']],
    [{ ...basic, signature_scheme: 'none' }, ['signature_scheme']],
    [{ ...basic, ordered: 1 }, ['ordered']],
    [{ ...basic, honor_retry_after: 'true' }, ['honor_retry_after']],
    [{ ...basic, rate_limit_per_second: 0 }, ['rate_limit_per_second']],
    [{ ...basic, rate_limit_per_second: 51 }, ['rate_limit_per_second']],
    [{ ...basic, rate_limit_per_second: 1.5 }, ['rate_limit_per_second']],
    [{ ...basic, timeout_seconds: 0 }, ['timeout_seconds']],
    [{ ...basic, timeout_seconds: 31 }, ['timeout_seconds']],
    [{ ...basic, max_retries: -1 }, ['max_retries']],
    [{ ...basic, max_retries: 6 }, ['max_retries']],
    [{ url: 'x', events: [], max_retries: 9 }, ['url', 'events', 'max_retries']],
  ]
  for (const [body, fields] of table) {
    test(`${JSON.stringify(body)?.slice(0, 90)} is refused because of ${fields.join(', ')}`, async () => {
      const response = await whole.send('POST', path, body ?? '', token)
      const answer = await json(response)
      expect(response.status).toBe(422)
      expect(answer.code).toBe('validation_failed')
      expect(answer.errors.map(fault => fault.field).sort()).toEqual([...fields].sort())
    })
  }
  test('is refused where it would change an endpoint, too, and changes nothing', async () => {
    const webhook = await create(basic)
    const before = await (await whole.get(`${path}/${webhook.id}`, token)).text()
    for (const body of [
      { events: [] },
      { url: 'http://10.0.0.1/' },
      { ordered: true, max_retries: 6 },
    ]) {
      expect((await change(webhook.id, body)).status).toBe(422)
    }
    expect(await (await whole.get(`${path}/${webhook.id}`, token)).text()).toBe(before)
    await remove(webhook.id)
  })
  test('is not repeated where it held a secret', async () => {
    const answer = await (
      await whole.send('POST', path, { ...basic, secret: 'short secret' }, token)
    ).text()
    expect(answer).not.toContain('short secret')
  })
  test('sets nothing that is not the caller’s to set', async () => {
    const webhook = await create({
      ...basic,
      id: '00000000-0000-4000-8000-000000000999',
      account_id: 'other',
      successful_deliveries: 9,
      disabled_reason: 'x',
      created_at: '2020-01-01T00:00:00Z',
      consecutive_failures: 9,
    })
    expect(webhook.id).not.toBe('00000000-0000-4000-8000-000000000999')
    expect(webhook).toMatchObject({
      successful_deliveries: 0,
      consecutive_failures: 0,
      disabled_reason: null,
      created_at: '2026-11-20T15:00:00Z',
    })
    await remove(webhook.id)
  })
})

describe('who may have what', () => {
  test('the plan limits how many there are, and deleting makes room', async () => {
    const key = whole.key('professional')
    const webhooks: Webhook[] = []
    for (let i = 0; i < 25; i += 1)
      webhooks.push(await create({ ...basic, status: i % 2 ? 'disabled' : 'active' }, key))
    const response = await whole.send('POST', path, basic, key)
    expect(response.status).toBe(422)
    expect(await json(response)).toMatchObject({
      code: 'webhook_limit_reached',
      limit: 25,
      current_count: 25,
    })
    const listed = (await json(await whole.get(path, key))).data as {
      webhooks: Webhook[]
      count: number
      limit: number
    }
    expect({ count: listed.count, limit: listed.limit }).toEqual({ count: 25, limit: 25 })
    expect(listed.webhooks.map(webhook => webhook.id)).toEqual(
      webhooks.map(webhook => webhook.id).reverse(),
    )
    await whole.send('DELETE', `${path}/${webhooks[0]!.id}`, undefined, key)
    await create(basic, key)
  })
  test('events of well permits need well_permits, whatever else is wrong with the body', async () => {
    const [without, withAddOn] = [
      whole.key('professional'),
      whole.key('professional', { addOns: ['well_permits'] }),
    ]
    for (const name of [
      'drilling.well_permit.new',
      'drilling.well_permits.batch',
      'drilling.well_permit.*',
    ]) {
      const refused = await whole.send('POST', path, { url: 'nonsense', events: [name] }, without)
      expect(refused.status).toBe(403)
      expect(await refused.text()).toContain('"feature":"well_permits"')
      await create({ ...basic, events: [name] }, withAddOn)
    }
    const webhook = await create({ ...basic, events: ['*'] }, without)
    expect(
      (await change(webhook.id, { events: ['drilling.well_permit.new'] }, without)).status,
    ).toBe(403)
    expect((await change(webhook.id, { description: 'x' }, without)).status).toBe(200)
  })
  test('a webhook endpoint of another account is reported as not found for every operation', async () => {
    const webhook = await create(basic)
    const stranger = whole.key('enterprise')
    const requestsFor = (id: string) => [
      ['GET', `${path}/${id}`],
      ['PATCH', `${path}/${id}`, { ordered: true }],
      ['DELETE', `${path}/${id}`],
      ['POST', `${path}/${id}/test`, {}],
      ['POST', `${path}/${id}/rotate_secret`, {}],
      ['GET', `${path}/${id}/events`],
      ['POST', `${path}/${id}/events/evt_1/resend`],
      ['POST', `${path}/${id}/replay`, { from: '2026-11-01T00:00:00Z' }],
    ]
    const unknown = [
      '00000000-0000-4000-8000-00000000dead',
      'nonsense',
      `${webhook.id}%00`,
      '__proto__',
    ]
    const answersFor = async (id: string, key: string) => {
      const answers: unknown[] = []
      for (const [method, where, body] of requestsFor(id)) {
        const response =
          method === 'GET'
            ? await whole.get(where as string, key)
            : await whole.send(method as string, where as string, body ?? '', key)
        const { error } = (await response.json()) as { error: Record<string, unknown> }
        // The message repeats the id of the request.
        const message = String(error.message).replace(/"[^"]*"/, 'the id')
        answers.push([response.status, error.code, message])
      }
      return answers
    }
    const foreign = await answersFor(webhook.id, stranger)
    expect(new Set(foreign.map(answer => (answer as unknown[])[0]))).toEqual(new Set([404]))
    for (const id of unknown) expect(await answersFor(id, stranger)).toEqual(foreign)
    expect((await whole.get(`${path}/${webhook.id}`, token)).status).toBe(200)
    await remove(webhook.id)
  })
})

describe('PATCH /v1/webhooks/{id}: changing an endpoint', () => {
  test('leaves what the body does not name', async () => {
    const webhook = await create({
      ...basic,
      description: 'desk',
      commodity_filters: ['WTI_USD'],
      conditions: { commodity: 'WTI_USD', operator: 'less_than', value: 1 },
    })
    whole.clock.advance(1000)
    const { secret: _secret, ...rest } = webhook
    const changed = (await json(await change(webhook.id, { debug_mode: true }))).data as Webhook
    expect(changed).toEqual({ ...rest, debug_mode: true, updated_at: expect.any(String) })
    expect(changed.updated_at).not.toBe(webhook.updated_at)
    expect((await json(await change(webhook.id, {}))).data).toMatchObject({
      debug_mode: true,
      description: 'desk',
    })
    expect(
      (await json(await change(webhook.id, { description: null, commodity_filters: [] }))).data,
    ).toMatchObject({
      description: null,
      commodity_filters: [],
    })
    await remove(webhook.id)
  })
  test('to active ends the row of failures', async () => {
    const webhook = await create(basic)
    whole.services.db.query('UPDATE webhooks SET failed_in_a_row = 7 WHERE id = ?').run(webhook.id)
    expect((await json(await change(webhook.id, { status: 'inactive' }))).data).toMatchObject({
      status: 'disabled',
      consecutive_failures: 7,
    })
    expect((await json(await change(webhook.id, { status: 'active' }))).data).toMatchObject({
      status: 'active',
      consecutive_failures: 0,
    })
    await remove(webhook.id)
  })
  test('its secret shows it, because the caller set it', async () => {
    const webhook = await create(basic)
    const answer = (await json(await change(webhook.id, { secret: 'another secret 1' })))
      .data as Webhook
    expect(answer.secret).toBe('another secret 1')
    expect(whole.services.webhooks.secrets(whole.services.webhooks.byId(webhook.id)!)).toEqual([
      'another secret 1',
    ])
    await remove(webhook.id)
  })
  test('changes to a webhook endpoint survive a restart', async () => {
    const webhook = await create({
      ...basic,
      conditions: { commodity: 'WTI_USD', operator: 'percent_increase', value: 5, timeframe: '1h' },
    })
    await change(webhook.id, { max_retries: 2, ordered: true, state_filters: ['TX'] })
    const before = await (await whole.get(path, token)).text()
    whole.services.webhooks.reload()
    expect(await (await whole.get(path, token)).text()).toBe(before)
    await remove(webhook.id)
  })
})

describe('POST /v1/webhooks/{id}/rotate_secret: rotating a secret', () => {
  const secretsOf = (id: string) =>
    whole.services.webhooks.secrets(whole.services.webhooks.byId(id)!)

  test('makes a new one that alone signs from then on', async () => {
    const webhook = await create(basic)
    const rotated = (
      await json(await whole.send('POST', `${path}/${webhook.id}/rotate_secret`, '', token))
    ).data as Webhook
    expect(rotated.secret).toMatch(/^whsec_[0-9a-f]{48}$/)
    expect(rotated.secret).not.toBe(webhook.secret)
    expect(secretsOf(webhook.id)).toEqual([rotated.secret!])
    await remove(webhook.id)
  })
  test('a secret rotated with an overlap continues to sign alongside the new secret until the overlap ends', async () => {
    const webhook = await create(basic)
    const body = { secret: 'a secret of my own', overlap_seconds: 60 }
    const rotated = (
      await json(await whole.send('POST', `${path}/${webhook.id}/rotate_secret`, body, token))
    ).data as Webhook
    expect(rotated).toMatchObject({ secret: body.secret, secret_hint: '… own' })
    expect(secretsOf(webhook.id)).toEqual([body.secret, webhook.secret!])
    whole.clock.advance(60_000)
    expect(secretsOf(webhook.id)).toEqual([body.secret])
    await remove(webhook.id)
  })
  const table: [body: unknown, field: string][] = [
    [{ secret: 'short' }, 'secret'],
    [{ overlap_seconds: -1 }, 'overlap_seconds'],
    [{ overlap_seconds: 86_401 }, 'overlap_seconds'],
    [{ overlap_seconds: '60' }, 'overlap_seconds'],
  ]
  for (const [body, field] of table) {
    test(`rotating the secret of an endpoint with ${JSON.stringify(body)} is refused`, async () => {
      const webhook = await create(basic)
      const response = await whole.send('POST', `${path}/${webhook.id}/rotate_secret`, body, token)
      expect({ status: response.status, field: (await json(response)).errors[0]!.field }).toEqual({
        status: 422,
        field,
      })
      expect(secretsOf(webhook.id)).toEqual([webhook.secret!])
      await remove(webhook.id)
    })
  }
})

test('secrets are nowhere at rest', async () => {
  const webhook = await create({ ...basic, secret: 'canary-of-an-endpoint' })
  await whole.send(
    'POST',
    `${path}/${webhook.id}/rotate_secret`,
    { secret: 'canary-after-rotating', overlap_seconds: 60 },
    token,
  )
  const account = (await json(await whole.get('/v1/account/webhook-secret', token))).data as {
    secret: string
  }
  const rest = Buffer.from(whole.services.db.serialize()).toString('latin1') + whole.log.join('')
  for (const secret of ['canary-of-an-endpoint', 'canary-after-rotating', account.secret])
    expect(rest).not.toContain(secret)
  await remove(webhook.id)
})

describe("/v1/account/webhook-secret: the account's secret", () => {
  const secretPath = '/v1/account/webhook-secret'
  const secretOf = async (response: Response) =>
    (await json(response)).data as { secret: string; created_at: string }

  test('is made when it is first asked for, and stays', async () => {
    const key = whole.key('free')
    const first = await secretOf(await whole.get(secretPath, key))
    expect(first).toEqual({
      secret: expect.stringMatching(/^whsec_[0-9a-f]{48}$/),
      created_at: expect.any(String),
    })
    whole.clock.advance(1000)
    expect(await secretOf(await whole.get(secretPath, key))).toEqual(first)
  })
  test('is another one for another account and after it is rolled', async () => {
    const [key, otherKey] = [whole.key(), whole.key()]
    const first = await secretOf(await whole.get(secretPath, key))
    expect((await secretOf(await whole.get(secretPath, otherKey))).secret).not.toBe(first.secret)
    const rolled = await secretOf(await whole.send('POST', `${secretPath}/roll`, '', key))
    expect(rolled.secret).not.toBe(first.secret)
    expect(await secretOf(await whole.get(secretPath, key))).toEqual(rolled)
  })
})

test('deleting an endpoint ends it', async () => {
  const webhook = await create(basic)
  const response = await remove(webhook.id)
  expect((await json(response)).data).toEqual({ id: webhook.id, deleted: true } as never)
  expect((await whole.get(`${path}/${webhook.id}`, token)).status).toBe(404)
  expect((await remove(webhook.id)).status).toBe(404)
})
