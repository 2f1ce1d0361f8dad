import { describe, expect, test } from 'bun:test'
import { isoInstant, minuteMs } from '../../../../src/lib/time/instant.ts'
import type { WatchEvent } from '../../../../src/topics/watches/service/feed.ts'
import { openWatchInstance, startAt, type WatchInstance } from '../../../support/topics/watches.ts'

const path = '/v1/subscriptions'
const events = `${path}/events`

interface Body {
  data: Record<string, unknown> & {
    id: string
    subscriptions: Record<string, unknown>[]
    events: WatchEvent[]
    cursor: number
    has_more: boolean
  }
  code: string
  field: string
  message: string
  limit: number
  current_count: number
  errors: { field: string; value: unknown; message: string }[]
  error: { code: string; feature: string }
}
const json = async (response: Response) => (await response.json()) as Body

const create = async (
  instance: WatchInstance,
  body: unknown,
  token = instance.token,
  headers: Record<string, string> = {},
) => {
  const response = await instance.send('POST', path, body, token, headers)
  expect(response.status).toBe(201)
  return (await json(response)).data
}
const used = (instance: WatchInstance, token = instance.token) =>
  instance.services.meter.quotaUsage(instance.services.keys.find(token)!).used

describe('POST /v1/subscriptions: a new watch', () => {
  test('a new watch has the API defaults at both response levels and first runs after one interval', async () => {
    const instance = openWatchInstance()
    const watch = await create(instance, { codes: ['wti', 'BRENT_CRUDE_USD', 'WTI_USD'] })
    const { subscription, ...top } = watch
    expect(top).toEqual({
      id: watch.id,
      name: null,
      codes: ['WTI_USD', 'BRENT_CRUDE_USD'],
      interval_seconds: 300,
      status: 'active',
      deliver_webhook: false,
      threshold_percent: null,
      source: 'api',
      tool_name: null,
      last_evaluated_at: null,
      next_run_at: isoInstant(startAt + 5 * minuteMs),
      created_at: isoInstant(startAt),
      updated_at: isoInstant(startAt),
    } as never)
    expect(subscription).toEqual(top)
    expect((await json(await instance.get(`${path}/${watch.id}`, instance.token))).data).toEqual(
      watch,
    )
  })

  test('a new watch accepts every writable field and reports which client created it', async () => {
    const instance = openWatchInstance()
    const set = {
      codes: ['BZ'],
      interval_seconds: 60,
      name: 'Brent front',
      deliver_webhook: true,
      threshold_percent: 0.5,
    }
    const watch = await create(instance, set, instance.token, {
      'X-Service-Source': 'mcp',
      'X-Service-Tool': 'price-desk',
    })
    expect(watch).toMatchObject({
      ...set,
      codes: ['BRENT_FUTURES'],
      source: 'mcp',
      tool_name: 'price-desk',
    })
  })

  test('that names no interval has the shortest of a plan that allows no five minutes', async () => {
    const instance = openWatchInstance({}, 'free')
    expect((await create(instance, { codes: ['WTI_USD'] })).interval_seconds).toBe(3600)
  })

  test('is made once for one Idempotency-Key', async () => {
    const instance = openWatchInstance()
    const again = { 'idempotency-key': 'one' }
    const first = await create(instance, { codes: ['WTI_USD'] }, instance.token, again)
    expect((await create(instance, { codes: ['WTI_USD'] }, instance.token, again)).id).toBe(
      first.id,
    )
    expect((await json(await instance.get(path, instance.token))).data.count).toBe(1)
  })

  test.each([
    [{}, 'codes', null],
    [{ codes: [] }, 'codes', null],
    [{ codes: 'WTI_USD' }, 'codes', 'WTI_USD'],
    [{ codes: ['WTI_USD', 'NO_SUCH_USD'] }, 'codes.1', 'NO_SUCH_USD'],
    [{ codes: [7] }, 'codes.0', 7],
    [{ codes: Array.from({ length: 21 }, () => 'WTI_USD') }, 'codes', null],
    [{ codes: ['WTI_USD'], interval_seconds: 59 }, 'interval_seconds', 59],
    [{ codes: ['WTI_USD'], interval_seconds: 60.5 }, 'interval_seconds', 60.5],
    [{ codes: ['WTI_USD'], interval_seconds: '60' }, 'interval_seconds', '60'],
    [{ codes: ['WTI_USD'], interval_seconds: 31 * 86_400 }, 'interval_seconds', 31 * 86_400],
    [{ codes: ['WTI_USD'], name: 'x'.repeat(101) }, 'name', 'x'.repeat(101)],
    [{ codes: ['WTI_USD'], name: 'a\u0000b' }, 'name', 'a\u0000b'],
    [{ codes: ['WTI_USD'], deliver_webhook: 'yes' }, 'deliver_webhook', 'yes'],
    [{ codes: ['WTI_USD'], threshold_percent: 0 }, 'threshold_percent', 0],
    [{ codes: ['WTI_USD'], threshold_percent: -1 }, 'threshold_percent', -1],
    [['WTI_USD'], 'body', null],
  ])('%p is refused and names the field', async (body, field, value) => {
    const instance = openWatchInstance()
    const response = await instance.send('POST', path, body, instance.token)
    const refusal = await json(response)
    expect({
      status: response.status,
      code: refusal.code,
      field: refusal.errors[0]!.field,
      value: refusal.errors[0]!.value,
    }).toEqual({ status: 422, code: 'validation_failed', field, value })
    expect((await json(await instance.get(path, instance.token))).data.count).toBe(0)
  })

  test.each([
    ['free', 1, 3600],
    ['developer', 3, 900],
    ['starter', 10, 300],
    ['professional', 25, 60],
  ] as const)(
    'on %s is one of %i, and no interval is under %i s',
    async (plan, limit, shortest) => {
      const instance = openWatchInstance({}, plan)
      const fast = await instance.send(
        'POST',
        path,
        { codes: ['WTI_USD'], interval_seconds: shortest - 1 },
        instance.token,
      )
      const refusal = await json(fast)
      expect({ status: fast.status, field: refusal.field }).toEqual({
        status: 422,
        field: 'interval_seconds',
      })
      expect(refusal.message).toContain(String(shortest))
      for (let i = 0; i < limit; i += 1)
        await create(instance, { codes: ['WTI_USD'], interval_seconds: shortest })
      const more = await instance.send(
        'POST',
        path,
        { codes: ['WTI_USD'], interval_seconds: shortest },
        instance.token,
      )
      const full = await json(more)
      expect({
        status: more.status,
        code: full.code,
        limit: full.limit,
        current_count: full.current_count,
      }).toEqual({ status: 422, code: 'watch_limit_reached', limit, current_count: limit })
      expect((await json(await instance.get(path, instance.token))).data).toMatchObject({
        count: limit,
        limit,
      })
    },
  )

  test('with webhooks is for plans that have them, also when it is changed', async () => {
    const instance = openWatchInstance({}, 'starter')
    const refused = await instance.send(
      'POST',
      path,
      { codes: [], deliver_webhook: true },
      instance.token,
    )
    expect({ status: refused.status, feature: (await json(refused)).error.feature }).toEqual({
      status: 403,
      feature: 'webhooks',
    })
    const { id } = await create(instance, { codes: ['WTI_USD'] })
    expect(
      (await instance.send('PATCH', `${path}/${id}`, { deliver_webhook: true }, instance.token))
        .status,
    ).toBe(403)
    expect(
      (await instance.send('PATCH', `${path}/${id}`, { deliver_webhook: false }, instance.token))
        .status,
    ).toBe(200)
  })

  test('a new watch ignores fields that the caller cannot set', async () => {
    const instance = openWatchInstance()
    const watch = await create(instance, {
      codes: ['WTI_USD'],
      id: 'mine',
      source: 'operator',
      next_run_at: '2020-01-01T00:00:00Z',
      account_id: 'x',
      status: 'paused',
    })
    expect(watch).toMatchObject({
      source: 'api',
      status: 'active',
      next_run_at: isoInstant(startAt + 5 * minuteMs),
    })
    expect(watch.id).not.toBe('mine')
  })
})

test('the list is the account’s own, newest first, without a limit where the plan has none', async () => {
  const instance = openWatchInstance()
  const [first, second] = [
    await create(instance, { codes: ['WTI_USD'] }),
    await create(instance, { codes: ['BRENT_CRUDE_USD'] }),
  ]
  await create(instance, { codes: ['GOLD_USD'] }, instance.key())
  const { data } = await json(await instance.get(path, instance.token))
  expect({
    subscriptions: data.subscriptions.map(row => row.id),
    count: data.count,
    limit: data.limit,
  }).toEqual({ subscriptions: [second.id, first.id], count: 2, limit: null })
})

describe('PATCH /v1/subscriptions/{id}: a change', () => {
  test('sets the fields that it names and leaves the rest; only another interval moves the next run', async () => {
    const instance = openWatchInstance()
    const { id } = await create(instance, {
      codes: ['WTI_USD'],
      interval_seconds: 600,
      name: 'one',
      threshold_percent: 2,
    })
    instance.clock.advance(minuteMs)
    const change = async (body: unknown) =>
      (await json(await instance.send('PATCH', `${path}/${id}`, body, instance.token))).data
    const due = isoInstant(startAt + 10 * minuteMs)
    expect(await change({ name: 'two', codes: ['BRENT_CRUDE_USD'] })).toMatchObject({
      name: 'two',
      codes: ['BRENT_CRUDE_USD'],
      threshold_percent: 2,
      next_run_at: due,
    })
    expect(
      await change({ name: null, threshold_percent: null, interval_seconds: 600 }),
    ).toMatchObject({
      name: null,
      threshold_percent: null,
      next_run_at: due,
    })
    expect(await change({ interval_seconds: 120 })).toMatchObject({
      interval_seconds: 120,
      next_run_at: isoInstant(startAt + 3 * minuteMs),
    })
    expect(await change({ status: 'paused' })).toMatchObject({
      status: 'paused',
      next_run_at: null,
    })
    instance.clock.advance(minuteMs)
    expect(await change({ status: 'active' })).toMatchObject({
      status: 'active',
      next_run_at: isoInstant(startAt + 4 * minuteMs),
    })
    expect(await change({})).toMatchObject({
      updated_at: isoInstant(startAt + 2 * minuteMs),
      created_at: isoInstant(startAt),
    })
    const wrong = await instance.send(
      'PATCH',
      `${path}/${id}`,
      { status: 'deleted', codes: [] },
      instance.token,
    )
    expect([wrong.status, (await json(wrong)).errors.map(fault => fault.field)]).toEqual([
      422,
      ['codes', 'status'],
    ])
  })
})

test('a deleted watch is gone and its events stay', async () => {
  const instance = openWatchInstance()
  const { id } = await create(instance, { codes: ['WTI_USD'], interval_seconds: 60 })
  instance.clock.advance(minuteMs)
  await instance.services.watchRuns.pass()
  const removed = await instance.send('DELETE', `${path}/${id}`, undefined, instance.token)
  expect(await removed.json()).toEqual({ status: 'success', data: { id, deleted: true } })
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const response =
      method === 'GET'
        ? await instance.get(`${path}/${id}`, instance.token)
        : await instance.send(method, `${path}/${id}`, {}, instance.token)
    expect(response.status).toBe(404)
  }
  expect((await json(await instance.get(events, instance.token))).data.events[0]!.watch_id).toBe(id)
  instance.clock.advance(minuteMs)
  await instance.services.watchRuns.pass()
  expect(instance.events()).toHaveLength(2)
})

test('another account’s watch answers exactly like one that does not exist', async () => {
  const instance = openWatchInstance()
  const { id } = await create(instance, { codes: ['WTI_USD'] })
  const stranger = instance.key()
  const request = { 'x-request-id': 'same' }
  for (const [method, suffix] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['GET', 'events?watch_id='],
  ] as const) {
    const answers = []
    for (const watchId of [id, '00000000-0000-4000-8000-000000009999', 'no-id']) {
      const to = suffix === '' ? `${path}/${watchId}` : `${path}/${suffix}${watchId}`
      const response =
        method === 'GET'
          ? await instance.get(to, stranger, request)
          : await instance.send(method, to, {}, stranger, request)
      // The error repeats the id of the request.
      answers.push([response.status, (await response.text()).replaceAll(watchId, 'ID')])
    }
    expect(answers[0]![0]).toBe(404)
    expect(new Set(answers.map(answer => JSON.stringify(answer))).size).toBe(1)
  }
  expect((await instance.get(`${path}/${id}`, instance.token)).status).toBe(200)
})

describe('GET /v1/subscriptions/events: the feed', () => {
  const filled = async () => {
    const instance = openWatchInstance()
    instance.price('WTI_USD', 70)
    const [all, oneCode] = [
      await create(instance, { codes: ['WTI_USD', 'GOLD_USD'], interval_seconds: 60 }),
      await create(instance, { codes: ['WTI_USD'], interval_seconds: 120 }),
    ]
    for (let i = 0; i < 4; i += 1) {
      instance.clock.advance(minuteMs)
      await instance.services.watchRuns.pass()
    }
    return { instance, all: all.id, one: oneCode.id }
  }

  test('is walked by its cursor without a gap and without a repeat, whatever the page', async () => {
    const { instance } = await filled()
    const whole = instance.events()
    expect(whole.length).toBeGreaterThan(10)
    for (const limit of [1, 3, 100]) {
      const walked: WatchEvent[] = []
      let more = true
      for (let since = 0; more; ) {
        const { data } = await json(
          await instance.get(`${events}?since=${since}&limit=${limit}`, instance.token),
        )
        expect(data.events.length).toBeLessThanOrEqual(limit)
        walked.push(...data.events)
        more = data.has_more
        since = data.cursor
      }
      expect(walked).toEqual(whole)
    }
  })

  test('of one watch has its events only, with the numbers of the whole', async () => {
    const { instance, one } = await filled()
    const { data } = await json(await instance.get(`${events}?watch_id=${one}`, instance.token))
    expect(data.events).toEqual(instance.events().filter(event => event.watch_id === one))
    expect(data.events.length).toBe(2)
  })

  test('past its end returns no events and the cursor of the request', async () => {
    const { instance } = await filled()
    const { data } = await json(await instance.get(`${events}?since=999999`, instance.token))
    expect(data).toEqual({ events: [], cursor: 999_999, has_more: false } as never)
    expect((await json(await instance.get(events, instance.key()))).data).toEqual({
      events: [],
      cursor: 0,
      has_more: false,
    } as never)
  })

  test('does not count, and is there when the quota is used up', async () => {
    const instance = openWatchInstance({}, 'free')
    const before = used(instance)
    await instance.get(events, instance.token)
    expect(used(instance)).toBe(before)
    for (let i = 0; i < 51; i += 1) await instance.get(path, instance.token)
    expect((await instance.get(path, instance.token)).status).toBe(402)
    expect((await instance.get(events, instance.token)).status).toBe(200)
  })

  test('the watch event feed caps a limit above 500 at 500 and refuses a value that is not a number', async () => {
    const { instance } = await filled()
    expect((await instance.get(`${events}?limit=501`, instance.token)).status).toBe(200)
    for (const query of ['limit=0', 'limit=x', 'since=-1', 'since=1.5', 'since=0x10']) {
      const response = await instance.get(`${events}?${query}`, instance.token)
      expect({ status: response.status, code: (await json(response)).error.code }, query).toEqual({
        status: 400,
        code: 'INVALID_PARAMETER',
      })
    }
  })

  test('the watch event feed of each account has its own sequence numbers, which hide the activity of others', async () => {
    const instance = openWatchInstance()
    const otherToken = instance.key()
    await create(instance, { codes: ['WTI_USD', 'BRENT_CRUDE_USD'], interval_seconds: 60 })
    await create(instance, { codes: ['WTI_USD'], interval_seconds: 60 }, otherToken)
    for (let i = 0; i < 3; i += 1) {
      instance.clock.advance(minuteMs)
      await instance.services.watchRuns.pass()
    }
    const seqs = async (token: string) =>
      (await json(await instance.get(events, token))).data.events.map(event => event.seq)
    expect(await seqs(instance.token)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(await seqs(otherToken)).toEqual([1, 2, 3, 4])
  })
})
