import { afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { createOutboxJob } from '../../../../src/instance/jobs/outbox.ts'
import { hourMs, minuteMs } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

interface Received {
  body: string
  headers: Record<string, string>
}

interface Log extends Record<string, unknown> {
  id: string
  event_id: string
  status: string
}

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

/** An instance with one endpoint at a receiver on this machine, and everything in between. */
async function opened(settings: Record<string, unknown> = {}) {
  const instance = openTestInstance({
    'egress.allow': '127.0.0.0/8',
    'limits.per_minute': '100000',
  })
  const token = instance.key('enterprise', { email: 'owner@example.com' })
  const received: Received[] = []
  let answer = () => new Response('thank you')
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      received.push({ body: await request.text(), headers: Object.fromEntries(request.headers) })
      return answer()
    },
  })
  closers.push(() => void server.stop(true))
  const { clock } = instance
  const { outbox, log } = instance.services
  const job = createOutboxJob({ outbox, clock, log, concurrency: 20, perLane: 4 })
  closers.push(() => job.halt())
  const ask = async <T>(method: string, path: string, body?: unknown) => {
    const response =
      method === 'GET'
        ? await instance.get(path, token)
        : await instance.send(method, path, body ?? '', token)
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as T & { data: never },
    }
  }
  const url = `http://127.0.0.1:${server.port}/hook`
  const created = await ask<object>('POST', '/v1/webhooks', {
    url,
    events: ['price.updated'],
    ...settings,
  })
  expect(created.status).toBe(201)
  const webhook = created.body.data as { id: string; secret: string }
  const path = `/v1/webhooks/${webhook.id}`
  const logged = async (query = '') =>
    (
      await ask<{ events: Log[]; webhook_events: Log[]; meta: object }>(
        'GET',
        `${path}/events${query}`,
      )
    ).body
  return {
    instance,
    clock,
    token,
    received,
    ask,
    webhook,
    path,
    url,
    logged,
    reply(respond: () => Response) {
      answer = respond
    },
    shut: () => server.stop(true),
    async send() {
      await job.pass()
      await job.settled()
    },
    price(value: number, code = 'WTI_USD') {
      instance.services.ingest.write([
        { seriesId: instance.services.catalogue.named(code)!.id, observedAt: clock.now(), value },
      ])
    },
  }
}

const hmac = (secret: string, text: string) =>
  createHmac('sha256', secret).update(text).digest('hex')
const standard = (secret: string, { headers, body }: Received) =>
  `v1,${createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`)
    .digest('base64')}`

describe('a delivery to an endpoint', () => {
  test('carries the event of a recorded price with headers and signatures that verify over its bytes', async () => {
    const { price, send, received, webhook, clock } = await opened()
    price(71.5)
    clock.advance(1000)
    await send()
    expect(received.length).toBe(1)
    const [{ body, headers }] = received as [Received]
    const event = JSON.parse(body)
    expect(Object.keys(event)).toEqual(['id', 'type', 'event', 'created_at', 'data'])
    expect(event).toMatchObject({
      type: 'price.updated',
      event: 'price.updated',
      created_at: '2026-11-20T15:00:00Z',
      data: { value: 71.5 },
    })
    const timestamp = String(startAt / 1000 + 1)
    expect(headers).toMatchObject({
      'x-service-event': 'price.updated',
      'x-service-event-id': event.id,
      'x-service-signature-timestamp': timestamp,
      'content-type': 'application/json',
      'user-agent': 'Wellhead-Webhooks/2.0',
      'webhook-id': event.id,
      'webhook-timestamp': timestamp,
    })
    expect(headers['x-service-signature']).toBe(hmac(webhook.secret, `${body}.${timestamp}`))
    expect(headers['webhook-signature']).toBe(standard(webhook.secret, received[0]!))
  })
  test('is accepted by a receiver that uses the library of Standard Webhooks, and by it alone with its secret and bytes', async () => {
    const { price, send, received, webhook, ask, path } = await opened()
    price(71.5)
    await send()
    const [{ body, headers }] = received as [Received]
    const library = new Webhook(webhook.secret)
    // The library compares the timestamp with the clock of its machine; the instance's stands still.
    setSystemTime(startAt)
    try {
      expect(library.verify(body, headers)).toEqual(JSON.parse(body))
      expect(() => library.verify(`${body} `, headers)).toThrow()
      const rotated = (await ask('POST', `${path}/rotate_secret`)).body.data as { secret: string }
      expect(() => new Webhook(rotated.secret).verify(body, headers)).toThrow()
    } finally {
      setSystemTime()
    }
  })
  test('of an endpoint with the scheme "body" is signed over the body alone', async () => {
    const { price, send, received, webhook } = await opened({ signature_scheme: 'body' })
    price(71.5)
    await send()
    expect(received[0]!.headers['x-service-signature']).toBe(
      `sha256=${hmac(webhook.secret, received[0]!.body)}`,
    )
  })
  test('during an overlap is signed with both secrets in the standard header and with the new one in ours', async () => {
    const { price, send, received, webhook, ask, path, clock } = await opened()
    const rotated = (await ask('POST', `${path}/rotate_secret`, { overlap_seconds: 60 })).body
      .data as { secret: string }
    price(71.5)
    await send()
    const [first] = received as [Received]
    expect(first.headers['webhook-signature']!.split(' ')).toEqual([
      standard(rotated.secret, first),
      standard(webhook.secret, first),
    ])
    expect(first.headers['x-service-signature']).toBe(
      hmac(rotated.secret, `${first.body}.${startAt / 1000}`),
    )
    clock.advance(minuteMs)
    price(71.6)
    await send()
    expect(received[1]!.headers['webhook-signature']).toBe(standard(rotated.secret, received[1]!))
  })
  test('to an alert’s own target is signed with the account’s secret', async () => {
    const { instance, token, url, send, received, ask } = await opened({
      url: 'http://127.0.0.1:9/other',
    })
    const accountId = instance.services.keys.find(token)!.account.account.id
    instance.services.events.emitTo(url.replace('9/other', ''), {
      type: 'price_alert.triggered',
      data: { alert_id: 'a' },
      at: startAt,
      dedupe: 'a',
      accountId,
    })
    await send()
    const { secret } = (await ask('GET', '/v1/account/webhook-secret')).body.data as {
      secret: string
    }
    expect(received[0]!.headers['x-service-signature']).toBe(
      hmac(secret, `${received[0]!.body}.${startAt / 1000}`),
    )
  })
  test('counts in the record of its endpoint', async () => {
    const { price, send, ask, path, reply, clock } = await opened({ max_retries: 0 })
    price(71)
    await send()
    expect((await ask('GET', path)).body.data).toMatchObject({
      successful_deliveries: 1,
      last_delivery_status: 'success',
    })
    reply(() => new Response('no', { status: 500 }))
    clock.advance(1000)
    price(72)
    await send()
    expect((await ask('GET', path)).body.data).toMatchObject({
      successful_deliveries: 1,
      failed_deliveries: 1,
      consecutive_failures: 1,
      last_delivery_status: 'failed',
      last_delivery_at: '2026-11-20T15:00:01Z',
    })
  })
})

describe('ten deliveries that fail in a row', () => {
  test('switch the endpoint off; what waits goes out when it is active again', async () => {
    const { price, send, ask, path, reply, clock, received, logged, instance } = await opened()
    reply(() => new Response('no', { status: 400 }))
    for (let i = 0; i < 10; i += 1) {
      price(70 + i)
      await send()
      clock.advance(1000)
    }
    expect((await ask('GET', path)).body.data).toMatchObject({
      status: 'disabled',
      active: false,
      disabled_reason: 'consecutive_failures',
    })
    const mailMessages = instance.services.outbox.log.page('email', 'email', {}, 10, 0).entries
    expect(mailMessages.length).toBe(1)
    price(99)
    await ask('POST', `${path}/events/${(await logged()).events[0]!.event_id}/resend`)
    await send()
    expect(received.length).toBe(10)
    reply(() => new Response('fine'))
    expect((await ask('PATCH', path, { status: 'active' })).body.data).toMatchObject({
      status: 'active',
      consecutive_failures: 0,
    })
    await send()
    expect(received.length).toBe(11)
    expect((await logged()).events.map(entry => entry.status)).toEqual([
      'delivered',
      ...Array.from({ length: 9 }, () => 'failed'),
    ])
  })
})

describe('POST /v1/webhooks/{id}/test: a test', () => {
  interface Tested {
    success: boolean
    event_id: string
    response_body: string | null
  }
  const tested = async ({ ask, path }: Awaited<ReturnType<typeof opened>>, body?: unknown) =>
    (await ask('POST', `${path}/test`, body)).body.data as unknown as Tested

  test('a webhook test sends one event immediately and returns the result', async () => {
    const instance = await opened()
    const answer = await tested(instance)
    expect(answer).toMatchObject({
      success: true,
      status: 'delivered',
      status_code: 200,
      response_code: 200,
      response_body: 'thank you',
      error: null,
    })
    expect(JSON.parse(instance.received[0]!.body)).toMatchObject({
      id: answer.event_id,
      type: 'webhook.test',
      data: { webhook_id: instance.webhook.id, timestamp: '2026-11-20T15:00:00Z' },
    })
    expect((await instance.logged()).events).toMatchObject([
      { event_id: answer.event_id, event_type: 'webhook.test', status: 'delivered', attempts: 1 },
    ])
  })
  test('sends a sample of any type, under its canonical name', async () => {
    const instance = await opened()
    await tested(instance, { event_type: 'alert.triggered' })
    await tested(instance, { event_type: 'drilling.well_permits.batch' })
    expect(instance.received.map(request => JSON.parse(request.body).type)).toEqual([
      'price_alert.triggered',
      'drilling.well_permits.batch',
    ])
    expect(
      (await instance.ask('POST', `${instance.path}/test`, { event_type: 'made.up' })).status,
    ).toBe(422)
  })
  test('a failed webhook test returns 200, is not retried and does not count against the endpoint', async () => {
    const instance = await opened()
    instance.reply(() => new Response('x'.repeat(5000), { status: 500 }))
    const answer = await tested(instance)
    expect(answer).toMatchObject({ success: false, status: 'failed', status_code: 500 })
    expect(answer.response_body!.length).toBe(1024)
    instance.clock.advance(24 * hourMs)
    await instance.send()
    expect(instance.received.length).toBe(1)
    expect((await instance.ask('GET', instance.path)).body.data).toMatchObject({
      consecutive_failures: 0,
    })
    instance.shut()
    expect(await tested(instance)).toMatchObject({
      success: false,
      status: 'failed',
      status_code: null,
      response_body: null,
      error: expect.any(String),
    })
  })
  test('is sent to a disabled endpoint, too', async () => {
    const instance = await opened({ status: 'disabled' })
    expect(await tested(instance)).toMatchObject({ success: true })
  })
})

describe('GET /v1/webhooks/{id}/events: the log', () => {
  const filled = async () => {
    const instance = await opened({
      events: ['price.*'],
      commodity_filters: ['WTI_USD'],
      max_retries: 0,
    })
    instance.price(70)
    await instance.send()
    instance.clock.advance(1000)
    instance.reply(() => new Response('no', { status: 503 }))
    instance.price(80)
    await instance.send()
    instance.clock.advance(1000)
    instance.price(81, 'BRENT_CRUDE_USD')
    return instance
  }
  test('shows what became of every event, newest first', async () => {
    const { logged, webhook } = await filled()
    const { events, webhook_events: same, meta, ...rest } = await logged()
    expect(
      events.map(entry => [
        entry.event_type,
        entry.status,
        entry.attempts,
        entry.status_code,
        entry.error,
      ]),
    ).toEqual([
      ['price.updated', 'skipped', 0, null, 'commodity_filter'],
      ['price.significant_change', 'failed', 1, 503, expect.stringContaining('503')],
      ['price.updated', 'failed', 1, 503, expect.stringContaining('503')],
      ['price.updated', 'delivered', 1, 200, null],
    ])
    expect(events[3]).toMatchObject({
      webhook_id: webhook.id,
      response_status_code: 200,
      last_error: null,
      payload: { id: events[3]!.event_id, type: 'price.updated' },
      created_at: '2026-11-20T15:00:00Z',
      delivered_at: '2026-11-20T15:00:00Z',
      next_attempt_at: null,
    })
    expect(meta).toEqual({
      page: 1,
      per_page: 50,
      total: 4,
      total_pages: 1,
      has_next: false,
      has_prev: false,
    })
    expect(same).toEqual(events)
    expect(Object.keys(rest)).toEqual([])
  })
  test('is found by status and by type or alias, page by page', async () => {
    const { logged, ask, path } = await filled()
    const ids = (await logged()).events.map(entry => entry.id)
    const idsOf = async (query: string) => (await logged(query)).events.map(entry => entry.id)
    expect(await idsOf('?status=failed')).toEqual(ids.slice(1, 3))
    expect(await idsOf('?status=skipped')).toEqual(ids.slice(0, 1))
    expect(await idsOf('?status=retry_scheduled')).toEqual([])
    expect(await idsOf('?event_type=price.significant_change')).toEqual(ids.slice(1, 2))
    expect(await idsOf('?event_type=price.alert')).toEqual([])
    expect(await idsOf('?event_type=price.updated&status=failed')).toEqual(ids.slice(2, 3))
    expect(await idsOf('?per_page=3&page=2')).toEqual(ids.slice(3))
    const page = await ask<object>('GET', `${path}/events?per_page=3`)
    expect({ total: page.headers.get('x-total'), hasNext: page.headers.get('x-has-next') }).toEqual(
      { total: '4', hasNext: 'true' },
    )
    const refused = await ask<{ error: object }>('GET', `${path}/events?status=leased`)
    expect({ status: refused.status, error: refused.body.error }).toMatchObject({
      status: 400,
      error: { code: 'INVALID_PARAMETER', parameter: 'status', allowed: expect.any(Array) },
    })
  })
  test('keeps the exchange where debug mode is on', async () => {
    const { price, send, logged, ask, path, clock, webhook } = await opened()
    price(70)
    await send()
    await ask('PATCH', path, { debug_mode: true })
    clock.advance(1000)
    price(71)
    await send()
    const [debugged, plain] = (await logged()).events
    expect(plain).not.toHaveProperty('debug')
    expect(debugged!.debug).toEqual({
      request_headers: expect.objectContaining({ 'X-Service-Event': 'price.updated' }),
      response_headers: expect.any(Object),
      response_body: 'thank you',
      timing: {
        connect_ms: expect.any(Number),
        first_byte_ms: expect.any(Number),
        total_ms: expect.any(Number),
      },
      tls: null,
    })
    expect(JSON.stringify(debugged)).not.toContain(webhook.secret)
  })
  test('shows when a delivery is tried again', async () => {
    const { price, send, logged, reply } = await opened()
    reply(() => new Response('no', { status: 500 }))
    price(70)
    await send()
    const [entry] = (await logged('?status=retry_scheduled')).events
    const waitMs = Date.parse(entry!.next_attempt_at as string) - startAt
    expect(waitMs).toBeGreaterThanOrEqual(minuteMs)
    expect(waitMs).toBeLessThanOrEqual(1.05 * minuteMs)
  })
})

describe('POST /v1/webhooks/{id}/replay and /v1/webhooks/{id}/events/{event_id}/resend: sending again', () => {
  test('an event that was recorded without its data is not sent', async () => {
    const { instance, price, send, received, ask, path, logged, token } = await opened()
    const { keys } = instance.services
    const { account } = keys.find(token)!.account
    keys.putAccount({ ...account, plan: 'starter' })
    price(71.5)
    keys.putAccount(account)
    const [entry] = (await logged()).events
    expect(entry).toMatchObject({ status: 'skipped', last_error: 'feature_not_in_plan' })
    const answer = await ask('POST', `${path}/events/${entry!.event_id}/resend`)
    expect(answer.status).toBe(404)
    expect(JSON.stringify(answer.body)).toContain('DATA_NOT_AVAILABLE')
    await send()
    expect(received).toEqual([])
  })
  test('one event: the same id and body with a fresh timestamp, by either id', async () => {
    const { price, send, received, logged, ask, path, clock } = await opened()
    price(70)
    await send()
    const [entry] = (await logged()).events
    for (const id of [entry!.id, entry!.event_id]) {
      clock.advance(minuteMs)
      const answer = await ask('POST', `${path}/events/${id}/resend`)
      expect(answer.status).toBe(202)
      expect(answer.body.data).toMatchObject({
        id: entry!.id,
        event_id: entry!.event_id,
        status: 'pending',
      })
      await send()
    }
    expect(new Set(received.map(request => request.body)).size).toBe(1)
    expect(
      received.map(request => Number(request.headers['webhook-timestamp']) - startAt / 1000),
    ).toEqual([0, 60, 120])
  })
  test('an event that is not there, or of another endpoint, is not found', async () => {
    const instance = await opened()
    instance.price(70)
    await instance.send()
    const otherWebhook = (
      await instance.ask('POST', '/v1/webhooks', { url: instance.url, events: ['*'] })
    ).body.data as { id: string }
    const [entry] = (await instance.logged()).events
    for (const where of [
      `${instance.path}/events/evt_x`,
      `/v1/webhooks/${otherWebhook.id}/events/${entry!.id}`,
    ]) {
      expect((await instance.ask('POST', `${where}/resend`)).status).toBe(404)
    }
  })
  test('a range: what failed, or all of it, by type and time', async () => {
    const { price, send, received, ask, path, reply, clock } = await opened({
      events: ['price.*'],
      max_retries: 0,
    })
    const at = () => new Date(clock.now()).toISOString()
    price(70)
    await send()
    clock.advance(minuteMs)
    const later = at()
    reply(() => new Response('no', { status: 500 }))
    price(80)
    await send()
    reply(() => new Response('fine'))
    const replay = async (body: object) => {
      const before = received.length
      const answer = await ask('POST', `${path}/replay`, body)
      expect(answer.status).toBe(202)
      await send()
      return [(answer.body.data as { replayed: number }).replayed, received.length - before]
    }
    const from = '2026-11-20T00:00:00Z'
    expect(await replay({ from, to: later })).toEqual([0, 0])
    expect(await replay({ from, event_types: ['price.threshold'] })).toEqual([0, 0])
    expect(await replay({ from: later, event_types: ['price.significant_change'] })).toEqual([1, 1])
    expect(await replay({ from })).toEqual([1, 1])
    expect(await replay({ from })).toEqual([0, 0])
    expect(await replay({ from, to: later, status: 'all' })).toEqual([1, 1])
    expect(await replay({ from, status: 'all' })).toEqual([3, 3])
  })
  const table: [body: object, field: string][] = [
    [{}, 'from'],
    [{ from: 'yesterday' }, 'from'],
    [{ from: '2026-11-20T16:00:00Z' }, 'from'],
    [{ from: '2026-11-20T10:00:00Z', to: '2026-11-20T10:00:00Z' }, 'from'],
    [{ from: '2026-11-20T10:00:00Z', to: 'later' }, 'to'],
    [{ from: '2026-11-20T10:00:00Z', status: 'skipped' }, 'status'],
    [{ from: '2026-11-20T10:00:00Z', event_types: 'price.updated' }, 'event_types'],
  ]
  test('a webhook replay with an invalid range is refused with the name of the invalid field', async () => {
    const { ask, path } = await opened()
    for (const [body, field] of table) {
      const answer = await ask<{ errors: { field: string }[] }>('POST', `${path}/replay`, body)
      expect({ status: answer.status, field: answer.body.errors[0]!.field }).toEqual({
        status: 422,
        field,
      })
    }
  })
})

test('what waits for a deleted endpoint is dropped', async () => {
  const { price, send, received, ask, path, instance, webhook } = await opened()
  price(70)
  await ask('DELETE', path)
  await send()
  expect(received).toEqual([])
  expect(
    instance.services.outbox.log
      .page('webhook', webhook.id, {}, 10, 0)
      .entries.map(entry => entry.state),
  ).toEqual(['failed'])
})
