import { expect, test } from 'bun:test'
import { expectShape } from '../../../../support/interface/shape.ts'
import { openSourceInstance, row, rowServer } from '../../../../support/topics/sources.ts'

const path = '/admin/v1/sources'

interface Answer {
  data: Record<string, unknown> & {
    sources: Record<string, unknown>[]
    meta: Record<string, unknown>
  }
  error_code: string
}

function openOperatorInstance() {
  const instance = openSourceInstance()
  const headers = { authorization: `Bearer ${instance.services.adminTokens.rotate()}` }
  const bodyOf = async (answer: Promise<Response>) => {
    const response = await answer
    return {
      status: response.status,
      code: response.headers.get('x-error-code'),
      body: (await response.json()) as Answer,
    }
  }
  return {
    ...instance,
    list: (query = '') => bodyOf(instance.get(`${path}${query}`, undefined, headers)),
    sync: (id: string) =>
      bodyOf(instance.send('POST', `${path}/${id}/sync`, '', undefined, headers)),
  }
}

test('the operator sees the sources of all accounts, without their configuration', async () => {
  const instance = openOperatorInstance()
  const url = 'https://example.com/rows?key=example'
  const first = await instance.make({
    name: 'Terminal feed',
    source_type: 'api',
    scraper_config: { url },
    credentials: { token: 'example' },
  })
  const pushed = { name: 'pushed', source_type: 'webhook', credentials: { secret: 'x'.repeat(32) } }
  const second = await instance.make(pushed, instance.key())
  const { status, body } = await instance.list()
  expect({ status, sources: body.data.sources.map(source => source.id) }).toEqual({
    status: 200,
    sources: [first, second],
  })
  expect(body.data.sources[0]).toEqual({
    id: first,
    name: 'Terminal feed',
    source_type: 'api',
    status: 'pending',
    has_credentials: true,
    last_sync_at: null,
    next_sync_at: '2026-11-20T15:00:00Z',
    successful_syncs: 0,
    failed_syncs: 0,
    last_error: null,
    created_at: '2026-11-20T15:00:00Z',
    updated_at: '2026-11-20T15:00:00Z',
    account_id: instance.source(first).accountId,
    account_email: 'person1@example.com',
  })
  expect(body.data.sources[1]).not.toHaveProperty('ingest_url')
  expectShape(instance.app, path, body)
  const ids = async (query: string) =>
    (await instance.list(query)).body.data.sources.map(source => source.id)
  expect([
    await ids('?name=PUSHED'),
    await ids(`?name=${first}`),
    await ids('?name=push'),
    await ids('?per_page=1&page=2'),
  ]).toEqual([[second], [first], [], [second]])
  expect((await instance.list('?page=0')).status).toBe(400)
})

test('an operator sync returns its outcome, including failures, and the source continues from there', async () => {
  let answer = () => Response.json([row])
  const rows = rowServer(() => answer())
  try {
    const instance = openOperatorInstance()
    const id = await instance.make({
      source_type: 'api',
      scraper_config: { url: rows.url, interval_minutes: 30 },
    })
    const done = await instance.sync(id)
    expect({ status: done.status, data: done.body.data }).toEqual({
      status: 200,
      data: expect.objectContaining({
        status: 'success',
        trigger: 'operator',
        received: 1,
        inserted: 1,
        records_synced: 1,
        error: null,
      }),
    })
    expect(instance.source(id).nextSyncAt).toBe(instance.clock.now() + 30 * 60_000)
    answer = () => new Response('', { status: 500 })
    const failed = await instance.sync(id)
    expect({ status: failed.status, data: failed.body.data }).toEqual({
      status: 200,
      data: expect.objectContaining({ status: 'failed', records_synced: null }),
    })
    expect(failed.body.data.error).toMatch(/500/)
    const { data } = await instance.ask<{ data: { logs: { trigger: string }[] } }>(
      'GET',
      `/v1/data-sources/${id}/logs`,
    )
    expect(data.data.logs.map(log => log.trigger)).toEqual(['operator', 'operator'])
    expectShape(instance.app, '/v1/data-sources/:id/logs', data)
  } finally {
    rows.stop()
  }
})

test('an operator sync leaves a paused source paused and returns 404 for an unknown source', async () => {
  const instance = openOperatorInstance()
  const id = await instance.make({
    source_type: 'api',
    status: 'paused',
    scraper_config: { url: 'http://127.0.0.1:1/' },
  })
  expect(await instance.sync(id)).toMatchObject({ status: 422, code: 'data_source_not_synced' })
  expect(instance.source(id).status).toBe('paused')
  expect((await instance.sync('00000000-0000-4000-8000-999999999999')).status).toBe(404)
  expect((await instance.sync('x')).status).toBe(404)
})

test('the operator alone may ask', async () => {
  const instance = openSourceInstance()
  const id = await instance.make({ source_type: 'file' })
  expect((await instance.get(path, instance.token)).status).toBe(401)
  expect((await instance.send('POST', `${path}/${id}/sync`, '', instance.token)).status).toBe(401)
  expect(instance.source(id).failedSyncs).toBe(0)
})
