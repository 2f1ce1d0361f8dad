import { beforeAll, describe, expect, test } from 'bun:test'
import { expectShape } from '../../../support/interface/shape.ts'
import {
  openSourceInstance,
  row,
  rowServer,
  type SourceInstance,
} from '../../../support/topics/sources.ts'

const path = '/v1/data-sources'
const unknown = '00000000-0000-4000-8000-999999999999'
const basic = {
  name: 'Terminal feed',
  source_type: 'api',
  credentials: { token: 'example' },
  scraper_config: {},
}

interface Answer {
  data: Record<string, unknown> & { id: string; data_source: Record<string, unknown> }
  code: string
  field: string
  errors: { field: string; message: string; value: unknown }[]
}

let instance: SourceInstance
beforeAll(() => {
  instance = openSourceInstance({ 'data_sources.per_account': '1000' })
})
const ask = (method: string, more: string, body?: unknown, token?: string) =>
  instance.ask<Answer>(method, path + more, body, token)
const create = async (source: Record<string, unknown>, token?: string) =>
  (await ask('POST', '', { data_source: source }, token)).data.data

describe('POST /v1/data-sources', () => {
  test('is answered twice over, without its credentials, and read back the same', async () => {
    const { status, data } = await ask('POST', '', { data_source: basic })
    expect(status).toBe(201)
    const { data_source: inner, ...outer } = data.data
    expect(outer).toEqual(inner as never)
    expect(outer).toEqual({
      id: outer.id,
      name: 'Terminal feed',
      source_type: 'api',
      status: 'pending',
      scraper_config: {},
      has_credentials: true,
      last_sync_at: null,
      next_sync_at: null,
      successful_syncs: 0,
      failed_syncs: 0,
      last_error: null,
      created_at: '2026-11-20T15:00:00Z',
      updated_at: '2026-11-20T15:00:00Z',
    })
    const read = await ask('GET', `/${outer.id}`)
    expect(read.data.data).toEqual(data.data)
    expectShape(instance.app, '/v1/data-sources/:id', read.data)
  })

  test('a data source can be created unwrapped with a status and no configuration and is listed first', async () => {
    const { status, data } = await ask('POST', '', {
      name: 'bare',
      source_type: 'Custom',
      status: 'paused',
    })
    expect([
      status,
      data.data.source_type,
      data.data.status,
      data.data.scraper_config,
      data.data.has_credentials,
    ]).toEqual([201, 'custom', 'paused', null, false])
    const list = await ask('GET', '')
    expectShape(instance.app, path, list.data)
    const { data_sources: rows, count } = list.data.data as unknown as {
      data_sources: { id: string }[]
      count: number
    }
    expect({ id: rows[0]!.id, length: rows.length }).toEqual({ id: data.data.id, length: count })
  })

  test('a webhook data source states the address to which rows are pushed', async () => {
    const created = await create({
      name: 'pushed',
      source_type: 'webhook',
      credentials: { secret: 'x'.repeat(32) },
    })
    expect(created.ingest_url).toBe(`http://localhost${path}/${created.id}/ingest`)
    expect(created.next_sync_at).toBeNull()
  })

  test('is made once for one Idempotency-Key', async () => {
    const send = () =>
      instance.send('POST', path, { data_source: { ...basic, name: 'once' } }, instance.token, {
        'idempotency-key': 'abc',
      })
    const [first, second] = [await send(), await send()]
    expect({
      firstStatus: first.status,
      secondStatus: second.status,
      idempotentReplayed: second.headers.get('idempotent-replayed'),
    }).toEqual({ firstStatus: 201, secondStatus: 201, idempotentReplayed: 'true' })
    expect(await second.text()).toBe(await first.text())
  })

  const config = (scraper_config: unknown, source_type = 'api') => ({
    ...basic,
    source_type,
    scraper_config,
  })
  test.each([
    [{ ...basic, name: undefined }, 'name', /is required/],
    [{ ...basic, name: '  ' }, 'name', /must not be empty/],
    [{ ...basic, name: 'x'.repeat(101) }, 'name', /at most 100/],
    [{ ...basic, name: 5 }, 'name', /^name must be text; got 5\.$/],
    [{ ...basic, name: 'a\u0000' }, 'name', /^name must have no unpaired surrogates and no null/],
    [{ ...basic, source_type: undefined }, 'source_type', /is required/],
    [{ ...basic, source_type: 'a b' }, 'source_type', /must be a word/],
    [{ ...basic, status: 'error' }, 'status', /must be active or paused/],
    [{ ...basic, credentials: 'text' }, 'credentials', /must be a JSON object/],
    [{ ...basic, credentials: ['text'] }, 'credentials', /must be a JSON object/],
    [{ ...basic, credentials: { token: 5 } }, 'credentials', /must have values/],
    [{ ...basic, credentials: { token: '' } }, 'credentials', /must have values/],
    [{ ...basic, credentials: { 'to ken': 'abc' } }, 'credentials', /must have names/],
    [
      {
        ...basic,
        credentials: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`a${i}`, 'x'])),
      },
      'credentials',
      /at most 20/,
    ],
    [config('text'), 'scraper_config', /must be a JSON object/],
    [config({ note: 'x'.repeat(20_000) }), 'scraper_config', /at most 16384/],
    [config({ note: 'a\0b' }), 'scraper_config', /null characters/],
    [config({ url: 'ftp://example.com/a' }), 'scraper_config.url', /https address/],
    [
      config({ url: 'https://me:word@example.com/a' }),
      'scraper_config.url',
      /must not contain a user name/,
    ],
    [config({ interval_minutes: 0 }), 'scraper_config.interval_minutes', /whole number from 1/],
    [config({ path: '../x.csv' }, 'file'), 'scraper_config.path', /without "\.\."/],
    [config({ path: '/etc/passwd' }, 'file'), 'scraper_config.path', /relative path/],
  ] as const)('%j is refused for %p', async (source, field, message) => {
    const { status, data, text } = await ask('POST', '', { data_source: source })
    expect(status, text).toBe(422)
    expect(data).toMatchObject({ code: 'validation_failed', field })
    expect(data.errors[0]!.message).toMatch(message)
  })

  test('an account cannot create more data sources than its limit', async () => {
    const small = openSourceInstance({ 'data_sources.per_account': '2' })
    await small.make(basic)
    await small.make(basic)
    const { status, data } = await small.ask<Answer>('POST', path, { data_source: basic })
    expect({ status, data }).toEqual({
      status: 422,
      data: expect.objectContaining({
        code: 'data_source_limit_reached',
        limit: 2,
        current_count: 2,
      }),
    })
  })
})

test.each([
  'http://127.0.0.1/x',
  'https://127.0.0.1/x',
  'https://localhost/x',
  'https://[::1]/x',
  'https://[::ffff:127.0.0.1]/x',
  'https://2130706433/x',
  'https://0x7f.1/x',
  'https://10.0.0.1/x',
  'https://192.168.1.1/x',
  'https://169.254.169.254/latest/meta-data',
  'https://[fd00::1]/x',
  'http://example.com/x',
  'file:///etc/passwd',
])(
  '%s is refused as the address of a source where the operator only allows public ones',
  async url => {
    const closed = openSourceInstance({ 'egress.allow': '' })
    const created = await closed.ask<Answer>('POST', path, {
      data_source: { ...basic, scraper_config: { url } },
    })
    expect({ status: created.status, field: created.data.field }).toEqual({
      status: 422,
      field: 'scraper_config.url',
    })
    const id = await closed.make(basic)
    const changed = await closed.ask<Answer>('PATCH', `${path}/${id}`, {
      data_source: { scraper_config: { url } },
    })
    expect({ status: changed.status, field: changed.data.field }).toEqual({
      status: 422,
      field: 'scraper_config.url',
    })
  },
)

describe('PATCH /v1/data-sources/{id}', () => {
  test('sets what it names and leaves the rest', async () => {
    const { id } = await create({ ...basic, scraper_config: { url: 'https://example.com/a' } })
    const change = async (data_source: unknown) =>
      (await ask('PATCH', `/${id}`, { data_source })).data.data
    expect(await change({ name: 'renamed' })).toMatchObject({
      name: 'renamed',
      scraper_config: { url: 'https://example.com/a' },
      has_credentials: true,
    })
    expect(await change({ scraper_config: null })).toMatchObject({
      name: 'renamed',
      scraper_config: null,
      next_sync_at: null,
    })
    expect(await change({ credentials: null })).toMatchObject({ has_credentials: false })
    expect(await change({ status: 'paused' })).toMatchObject({
      status: 'paused',
      next_sync_at: null,
    })
    expect(await change({ scraper_config: { url: 'https://example.com/b' } })).toMatchObject({
      status: 'paused',
      next_sync_at: null,
    })
    expect(await change({ status: 'active' })).toMatchObject({
      status: 'active',
      next_sync_at: '2026-11-20T15:00:00Z',
    })
    expect(await change({})).toMatchObject({ status: 'active', name: 'renamed' })
  })
  test('can set nothing that is not the caller’s to set', async () => {
    const { id } = await create(basic)
    const before = instance.source(id)
    const { data } = await ask('PATCH', `/${id}`, {
      data_source: {
        id: unknown,
        account_id: unknown,
        successful_syncs: 9,
        failed_syncs: 9,
        last_error: 'x',
        next_sync_at: '2027-01-01T00:00:00Z',
        has_credentials: false,
        revision: 99,
        source_type: 'api',
      },
    })
    expect(data.data).toMatchObject({
      id,
      successful_syncs: 0,
      failed_syncs: 0,
      last_error: null,
      next_sync_at: null,
      has_credentials: true,
    })
    expect(instance.source(id)).toEqual({ ...before, updatedAt: instance.clock.now() })
  })
  test.each([
    [{ source_type: 'file' }, 'source_type'],
    [{ status: 'failed' }, 'status'],
    [{ name: '' }, 'name'],
    [{ credentials: 'x' }, 'credentials'],
  ])('%j is refused', async (data_source, field) => {
    const { id } = await create(basic)
    const { status, data } = await ask('PATCH', `/${id}`, { data_source })
    expect({ status, field: data.field }).toEqual({ status: 422, field })
  })
})

test('a deleted source is gone, with its rows', async () => {
  const { url, stop } = rowServer()
  const token = instance.key()
  const { id } = await create({ name: 'x', source_type: 'api', scraper_config: { url } }, token)
  await instance.syncAll()
  stop()
  const prices = async () =>
    (
      await instance.ask<{ data: { count: number } }>(
        'GET',
        '/v1/prices/data-connector',
        undefined,
        token,
      )
    ).data.data.count
  expect(await prices()).toBe(1)
  const { status, data } = await ask('DELETE', `/${id}`, undefined, token)
  expect({ status, data: data.data }).toEqual({ status: 200, data: { id, deleted: true } as never })
  expect({
    status: (await ask('GET', `/${id}`, undefined, token)).status,
    prices: await prices(),
  }).toEqual({ status: 404, prices: 0 })
})

describe('/v1/data-sources/{id}/logs, health and test', () => {
  test('is tested without a trace, logged and summed up', async () => {
    let rows: unknown[] = [row, { ...row, price: 'x' }]
    const { url, stop } = rowServer(() => Response.json(rows))
    const { id } = await create({ name: 'x', source_type: 'api', scraper_config: { url } })
    const tested = await ask('POST', `/${id}/test`)
    expectShape(instance.app, '/v1/data-sources/:id/test', tested.data)
    expect(tested.data.data).toEqual({
      success: true,
      duration_ms: 0,
      records_count: 1,
      error: null,
      rejected: 1,
      rejections: [expect.stringMatching(/^row 2: price x/)],
      sample_data: [
        {
          timestamp: '2026-11-20T09:30:00Z',
          fuel_type: 'VLSFO',
          port: 'SINGAPORE',
          region: 'APAC',
          price: 531.5,
          currency: 'USD',
          unit: 'MT',
        },
      ],
    } as never)
    expect((await ask('GET', `/${id}/logs`)).data.data).toEqual({ logs: [] } as never)
    await instance.syncAll()
    const logs = await ask('GET', `/${id}/logs`)
    expectShape(instance.app, '/v1/data-sources/:id/logs', logs.data)
    expect((logs.data.data as unknown as { logs: unknown[] }).logs).toEqual([
      {
        id: expect.any(String),
        data_source_id: id,
        status: 'success',
        trigger: 'schedule',
        records_synced: 1,
        duration_ms: 0,
        error: null,
        received: 2,
        inserted: 1,
        revised: 0,
        unchanged: 0,
        rejected: 1,
        rejections: [expect.stringMatching(/^row 2: price x/)],
        started_at: '2026-11-20T15:00:00Z',
        completed_at: '2026-11-20T15:00:00Z',
      },
    ])
    const health = await ask('GET', `/${id}/health`)
    expectShape(instance.app, '/v1/data-sources/:id/health', health.data)
    expect(health.data.data).toEqual({
      id,
      status: 'healthy',
      success_rate: 100,
      avg_duration_ms: 0,
      last_sync_status: 'success',
      last_sync_at: '2026-11-20T15:00:00Z',
      recent_errors: [],
    } as never)
    rows = [{ ...row, price: 'x' }]
    expect((await ask('POST', `/${id}/test`)).data.data).toMatchObject({
      success: false,
      records_count: 0,
      error: expect.stringMatching(/^none of the 1 rows/),
    })
    stop()
  })

  test('a data source test reports missing settings before any data can be read', async () => {
    const test = async (source: Record<string, unknown>) =>
      (await ask('POST', `/${(await create({ name: 'x', ...source })).id}/test`, {})).data.data
    expect(await test({ source_type: 'api', scraper_config: {} })).toMatchObject({
      success: false,
      records_count: null,
      error: expect.stringMatching(/^scraper_config.url is missing/),
    })
    expect(await test({ source_type: 'file' })).toMatchObject({
      success: false,
      error: expect.stringMatching(/^scraper_config.path is missing/),
    })
    expect(await test({ source_type: 'sftp' })).toMatchObject({
      success: false,
      error: expect.stringMatching(/^this build does not sync sources of type sftp/),
    })
    expect(await test({ source_type: 'webhook' })).toMatchObject({
      success: false,
      error: expect.stringMatching(/^nothing can be pushed yet/),
    })
    expect(
      await test({ source_type: 'webhook', credentials: { secret: 'x'.repeat(16) } }),
    ).toMatchObject({
      success: true,
      records_count: 0,
    })
  })

  test('credentials are replaced as a whole', async () => {
    const { url, requests, stop } = rowServer()
    const { id } = await create({
      name: 'x',
      source_type: 'api',
      scraper_config: { url },
      credentials: { token: 'the-first-token', api_key: 'beside-it' },
    })
    const ids: unknown[] = []
    for (const token of ['the-second-token', 'the-third-token']) {
      const { status, data } = await ask('POST', `/${id}/rotate_credentials`, {
        credentials: { token },
      })
      expect({ status, success: data.data.success }).toEqual({ status: 200, success: true })
      expectShape(instance.app, '/v1/data-sources/:id/rotate_credentials', data)
      ids.push(data.data.credential_id)
    }
    expect(new Set(ids).size).toBe(2)
    await instance.syncAll()
    stop()
    expect(
      requests.map(request => [
        request.headers.get('authorization'),
        request.headers.get('x-api-key'),
      ]),
    ).toEqual([['Bearer the-third-token', undefined]])
    for (const body of [{}, { credentials: null }, { credentials: {} }, { credentials: 'x' }]) {
      expect(
        (await ask('POST', `/${id}/rotate_credentials`, body)).status,
        JSON.stringify(body),
      ).toBe(422)
    }
  })
})

describe('/v1/data-sources/{id} of another account', () => {
  test('looks like one that does not exist, on every path', async () => {
    const { id } = await create(basic)
    const stranger = instance.key()
    const answers = (path: string) =>
      Promise.all(
        [
          ['GET', `/${path}`],
          ['PATCH', `/${path}`, { data_source: { name: 'mine' } }],
          ['DELETE', `/${path}`],
          ['POST', `/${path}/test`],
          ['GET', `/${path}/logs`],
          ['GET', `/${path}/health`],
          ['POST', `/${path}/rotate_credentials`, { credentials: { token: 'mine' } }],
        ].map(async ([method, more, body]) => {
          const { status, data } = await ask(method as string, more as string, body, stranger)
          const {
            request_id: _,
            message,
            ...error
          } = (data as unknown as { error: { message: string; request_id: string } }).error
          return [status, error, message.replace(decodeURIComponent(path), 'ID')]
        }),
      )
    const [foreign, none, malformed] = [
      await answers(id),
      await answers(unknown),
      await answers('..%2f..'),
    ]
    expect(foreign.map(([status]) => status)).toEqual([404, 404, 404, 404, 404, 404, 404])
    expect(foreign).toEqual(none)
    expect(malformed).toEqual(none)
    expect(instance.source(id).name).toBe('Terminal feed')
    expect((await ask('GET', '', undefined, stranger)).data.data).toEqual({
      data_sources: [],
      count: 0,
    } as never)
  })
})
