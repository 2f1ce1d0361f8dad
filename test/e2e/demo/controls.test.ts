import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { remove, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'

const startAt = '2026-11-18T15:00:00Z'

const quickCheck = (path: string): unknown[] => {
  const db = new Database(path, { readonly: true })
  try {
    return db.query('PRAGMA quick_check').values().flat()
  } finally {
    db.close()
  }
}

describe('the controls of a demo instance', () => {
  const dir = temporaryDir()
  let server: Server
  beforeAll(async () => {
    server = await start('dev', dir, '--clock', startAt, '--seed', '7', '--world', 'small')
  })
  afterAll(async () => {
    await server.stop()
    remove(dir)
  })

  const control = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${server.url}/_dev/${path}`, {
      method,
      headers: { authorization: `Bearer ${server.adminToken}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const brent = async (token = server.apiKey) => {
    const response = await server.get('/v1/prices/latest?by_code=BRENT_CRUDE_USD', {
      authorization: `Token ${token}`,
    })
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as {
        data: { price: number; created_at: string }
        error_code?: string
      },
    }
  }

  test('take the operator’s token and no API key', async () => {
    const response = await fetch(`${server.url}/_dev/clock`, {
      headers: { authorization: `Bearer ${server.apiKey}` },
    })
    expect(response.status).toBe(401)
  })

  test('a configured demo clock stands still until it is moved and only moves forward', async () => {
    expect((await control('GET', 'clock')).body).toEqual({ now: startAt, frozen: true })
    await Bun.sleep(20)
    expect((await control('GET', 'clock')).body.now).toBe(startAt)
    expect((await control('POST', 'clock', { advance: 'PT61S' })).body.now).toBe(
      '2026-11-18T15:01:01Z',
    )
    expect((await control('POST', 'clock', { now: startAt })).status).toBe(422)
    expect((await control('POST', 'clock', { advance: 'soon' })).status).toBe(422)
  })

  test('a free account’s fifty-first request is refused until the clock has passed midnight', async () => {
    const account = await control('POST', 'accounts', { plan: 'free', email: 'free@example.com' })
    expect(account.status).toBe(201)
    const token = account.body.api_key as string
    for (let i = 0; i < 50; i++) expect((await brent(token)).status).toBe(200)
    const refused = await brent(token)
    expect({
      status: refused.status,
      errorCode: refused.body.error_code,
      ratelimitState: refused.headers.get('x-ratelimit-state'),
    }).toEqual({ status: 402, errorCode: 'PAYMENT_REQUIRED', ratelimitState: 'exhausted' })
    await control('POST', 'clock', { now: '2026-11-19T00:00:00Z' })
    expect((await brent(token)).headers.get('x-ratelimit-remaining')).toBe('49')
  })

  test('an invalid demo account is refused with the name of the wrong field', async () => {
    expect((await control('POST', 'accounts', { plan: 'gold' })).body.field).toBe('plan')
    expect((await control('POST', 'accounts', { email: 'free@example.com' })).body.field).toBe(
      'email',
    )
  })

  test('data ages while the feed is paused and catches up afterwards', async () => {
    await control('POST', 'clock', { now: '2026-11-19T12:00:00Z' })
    await control('POST', 'feed', { paused: true })
    const before = (await brent()).body.data.created_at
    await control('POST', 'clock', { advance: 'P1D' })
    expect((await brent()).body.data.created_at).toBe(before)
    await control('POST', 'feed', { paused: false })
    await control('POST', 'clock', { advance: 'PT1S' })
    expect((await brent()).body.data.created_at > before).toBe(true)
  })

  test('restoring a snapshot brings back its time, data and accounts', async () => {
    const kept = await brent()
    const { body: clock } = await control('GET', 'clock')
    expect((await control('POST', 'snapshot', { name: 'before' })).status).toBe(200)
    await control('POST', 'clock', { advance: 'PT6H' })
    const later = (await control('POST', 'accounts', { plan: 'starter' })).body.api_key as string
    expect((await brent(later)).status).toBe(200)
    expect((await control('POST', 'restore', { name: 'before' })).status).toBe(200)
    expect((await control('GET', 'clock')).body).toEqual(clock)
    expect((await brent()).body.data).toEqual(kept.body.data)
    expect((await brent(later)).status).toBe(401)
    expect((await control('POST', 'restore', { name: 'never' })).status).toBe(422)
  })

  test('a snapshot holds the data at the time it was taken and nothing that is written later', async () => {
    const moment = '2026-11-18T09:00:00Z'
    const push = async (price: number) => {
      const response = await fetch(`${server.url}/admin/v1/observations`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${server.adminToken}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          observations: [{ code: 'COAL_USD', observed_at: moment, price }],
        }),
      })
      expect(response.status).toBeLessThan(300)
    }
    const pushed = async () => {
      const response = await server.get(
        '/v1/prices/past_month?by_code=COAL_USD&interval=raw&per_page=100',
      )
      const { data } = (await response.json()) as {
        data: { prices: { price: number; created_at: string }[] }
      }
      return data.prices.filter(row => row.created_at === moment).map(row => row.price)
    }
    await push(91.25)
    expect((await control('POST', 'snapshot', { name: 'pushed' })).status).toBe(200)
    // Large reads of query workers hold checkpoints up while the states change below them.
    const reads = ['/v1/data-quality/reports', '/v1/prices/all', '/v1/analytics/correlation'].map(
      path => server.get(path).then(response => response.text()),
    )
    for (const price of [92.25, 93.25, 94.25]) {
      await push(price)
      expect((await control('POST', 'restore', { name: 'pushed' })).status).toBe(200)
      expect(await pushed()).toEqual([91.25])
    }
    await Promise.all(reads)
    expect(quickCheck(join(dir, 'data', 'wellhead.db'))).toEqual(['ok'])
  }, 60_000)

  test('a demo instance holds at most ten snapshots and says how to free one', async () => {
    const kept = (name: string) => control('POST', 'snapshot', { name })
    // The tests before this one have kept two.
    for (let n = 1; n < 9; n += 1) expect((await kept(`state-${n}`)).status).toBe(200)
    const refused = await kept('one-too-many')
    expect(refused.status).toBe(422)
    expect(JSON.stringify(refused.body)).toContain(
      'name must be one of before, pushed, state-1, state-2, state-3, state-4, state-5, state-6, state-7, state-8; got one-too-many. A demo instance holds at most 10 snapshots: replace one, or delete one with DELETE /_dev/snapshot.',
    )
    expect((await kept('state-8')).status).toBe(200)
    expect((await control('DELETE', 'snapshot', { name: 'state-8' })).body.deleted).toBe('state-8')
    expect((await control('DELETE', 'snapshot', { name: 'state-8' })).status).toBe(422)
    expect((await kept('one-too-many')).status).toBe(200)
    expect(
      readdirSync(join(dir, 'data', 'snapshots')).filter(file => file.includes('state-8')),
    ).toEqual([])
    expect((await control('POST', 'restore', { name: 'one-too-many' })).status).toBe(200)
  }, 60_000)

  test('moving the clock leaves a short WAL, even after a snapshot', async () => {
    await control('POST', 'snapshot', { name: 'before' })
    // Five days write more than 40 MB to the WAL in all.
    await control('POST', 'clock', { advance: 'P5D' })
    const log = statSync(join(dir, 'data', 'wellhead.db-wal'), { throwIfNoEntry: false })
    expect((log?.size ?? 0) / 2 ** 20).toBeLessThan(24)
  }, 120_000)

  test('a reset leads back to the start', async () => {
    expect((await control('POST', 'reset')).body).toEqual({ reset: true, now: startAt })
    expect((await brent()).body.data.created_at <= startAt).toBe(true)
  }, 60_000)

  test('a route refuses on demand: by count, with the headers of the real refusal, and slowly', async () => {
    await control('POST', 'faults', {
      path: '/v1/prices/latest',
      code: 'RATE_LIMIT_EXCEEDED',
      count: 2,
    })
    for (let i = 0; i < 2; i++) {
      const refused = await brent()
      expect({ status: refused.status, errorCode: refused.body.error_code }).toEqual({
        status: 429,
        errorCode: 'RATE_LIMIT_EXCEEDED',
      })
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await brent()).status).toBe(200)
    await control('POST', 'faults', { path: '*', delay_ms: 150, count: 1 })
    const before = Bun.nanoseconds()
    expect((await brent()).status).toBe(200)
    expect((Bun.nanoseconds() - before) / 1e6).toBeGreaterThan(140)
    await control('POST', 'faults', { code: 'STORAGE_UNAVAILABLE' })
    expect((await brent()).status).toBe(503)
    expect((await control('DELETE', 'faults')).body).toEqual({ faults: [] })
    expect((await brent()).status).toBe(200)
    expect((await control('POST', 'faults', { code: 'NO_SUCH_CODE' })).body.field).toBe('code')
  })

  needs('test:full').test('a route can be slower than a connection may idle', async () => {
    await control('POST', 'faults', { path: '*', delay_ms: 11_000, count: 1 })
    expect((await brent()).status).toBe(200)
  })
})
