import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect, createServer as createSocketServer } from 'node:net'
import { after, describe, test } from 'node:test'
import {
  ConnectionFailed,
  createClient,
  InvalidRequest,
  InvalidWebhook,
  NotFound,
  QuotaExceeded,
  RateLimited,
  Unauthorized,
  Unavailable,
  verifyWebhook,
} from 'wellhead-client'

const url = process.env.WELLHEAD_URL
const apiKey = process.env.WELLHEAD_API_KEY
const adminToken = process.env.WELLHEAD_ADMIN_TOKEN

/** A client that writes down how long it would have waited. */
function napping(options = {}) {
  const naps = []
  const sleep = async ms => void naps.push(ms)
  return { naps, client: createClient({ url, apiKey, sleep, ...options }) }
}

async function control(method, path, body) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  assert.ok(response.ok, await response.clone().text())
  return await response.json()
}

const fault = (path, code, count = 1) => control('POST', '/_dev/faults', { path, code, count })
const advance = async duration => (await control('POST', '/_dev/clock', { advance: duration })).now
const { client } = napping()

async function all(items) {
  const list = []
  for await (const item of items) list.push(item)
  return list
}

after(() => control('DELETE', '/_dev/faults'))

describe('prices', () => {
  test('one code or several are answered as rows in the order asked', async () => {
    const codesOf = rows => rows.map(row => row.code)
    assert.deepEqual(codesOf(await client.latest('WTI_USD')), ['WTI_USD'])
    const codes = ['BRENT_CRUDE_USD', 'WTI_USD', 'EUR_USD']
    assert.deepEqual(codesOf(await client.latest(...codes)), codes)
  })

  test('more codes than one request takes are asked for in several', async () => {
    const lists = await Promise.all(
      ['crude_oil', 'fx'].map(category => client.api.getCommodities({ category })),
    )
    const codes = lists.flatMap(({ data }) => data.map(({ code }) => code))
    assert.ok(codes.length > 20)
    assert.deepEqual(
      (await client.latest(...codes)).map(row => row.code),
      codes,
    )
  })

  test('a history has every row of all pages once', async () => {
    const rows = await all(client.history('WTI_USD', { start: '2025-01-01', interval: 'day' }))
    const { meta } = await client.api.getHistoricalPrices({
      byCode: 'WTI_USD',
      startDate: '2025-01-01',
      interval: 'day',
    })
    assert.ok(meta.total_pages > 3)
    assert.equal(rows.length, meta.total)
    const times = rows.map(row => row.created_at)
    assert.deepEqual(times, [...new Set(times)].sort().reverse())
  })

  test('rows of an operation with a path and a bigger page', async () => {
    const rows = await all(
      client.rows('getFuturesHistory', 'exch-wti', { from: '2026-01-01', perPage: 50 }),
    )
    assert.ok(rows.length > 150)
    assert.equal(new Set(rows.map(row => row.date)).size, rows.length)
  })

  test('as of answers what was known then', async () => {
    const at = new Date('2026-11-20T14:51:00Z')
    const record = async price => {
      const row = { code: 'DUBAI_CRUDE_USD', observed_at: at.toISOString(), price }
      await control('POST', '/admin/v1/observations', { observations: [row] })
      const known = await advance('PT1M')
      await advance('PT1M')
      return known
    }
    const known = await record(71.03)
    await record(72.04)
    const range = { start: at, end: at }
    const [now] = await all(client.history('DUBAI_CRUDE_USD', { ...range, interval: 'raw' }))
    const [then] = await all(client.history('DUBAI_CRUDE_USD', { ...range, asOf: known }))
    assert.deepEqual([now.price, then.price], [72.04, 71.03])
  })
})

describe('refusals', () => {
  test('each status is an error of its own with code and request id', async () => {
    const refusal = await client.latest('NOPE_USD').catch(error => error)
    assert.ok(refusal instanceof InvalidRequest)
    assert.deepEqual([refusal.status, refusal.code], [400, 'invalid_code'])
    assert.match(refusal.message, /NOPE_USD/)
    assert.ok(refusal.requestId)
    const stranger = createClient({ url, apiKey: '0'.repeat(64) })
    await assert.rejects(stranger.api.getAccount(), Unauthorized)
    await assert.rejects(client.api.getAlert('00000000-0000-4000-8000-00000000ffff'), NotFound)
    await assert.rejects(client.api.createAlert({ name: '' }), error => {
      return error instanceof InvalidRequest && error.status === 422
    })
  })

  test('a rate limit is waited for as long as the service says', async () => {
    const { client, naps } = napping()
    await fault('/v1/prices/latest', 'RATE_LIMIT_EXCEEDED', 2)
    assert.equal((await client.latest('WTI_USD')).length, 1)
    assert.deepEqual(naps, [12_000, 12_000])
  })

  test('a wait longer than allowed is an error at once', async () => {
    const { client, naps } = napping({ longestWaitMs: 10_000 })
    await fault('/v1/prices/latest', 'RATE_LIMIT_EXCEEDED')
    const refusal = await client.latest('WTI_USD').catch(error => error)
    assert.ok(refusal instanceof RateLimited)
    assert.equal(refusal.retryAfterSeconds, 12)
    assert.deepEqual(naps, [])
  })

  test('a used up quota is not tried again', async () => {
    const { api_key } = await control('POST', '/_dev/accounts', { plan: 'free' })
    const { client, naps } = napping({ apiKey: api_key })
    for (let number = 0; number < 50; number += 1) await client.latest('WTI_USD')
    const refusal = await client.latest('WTI_USD').catch(error => error)
    assert.ok(refusal instanceof QuotaExceeded)
    assert.deepEqual([refusal.status, naps], [402, []])
  })

  test('a read is tried so often and no more', async () => {
    const { client, naps } = napping()
    await fault('/v1/prices/latest', 'INTERNAL_ERROR', 9)
    await assert.rejects(client.latest('WTI_USD'), Unavailable)
    assert.equal(naps.length, 3)
    const { faults } = await control('GET', '/_dev/faults')
    assert.equal(faults[0].count, 5)
    await control('DELETE', '/_dev/faults')
  })

  test('what changes something is tried again only under an idempotency key', async () => {
    const { client, naps } = napping()
    await fault('/v1/alerts', 'OVERLOADED')
    const alert = await client.api.createAlert({
      name: 'from a retry in JavaScript',
      commodity_code: 'WTI_USD',
      condition_operator: 'greater_than',
      condition_value: 500,
    })
    assert.equal(naps.length, 1)
    const same = (await client.api.listAlerts()).filter(item => item.name === alert.name)
    assert.deepEqual(
      same.map(item => item.id),
      [alert.id],
    )
    await fault('/v1/alerts/{id}', 'OVERLOADED')
    await assert.rejects(client.api.updateAlert(alert.id, { enabled: false }), Unavailable)
    assert.equal(naps.length, 1)
    await client.api.deleteAlert(alert.id)
  })

  test('a request that its caller ends is ended and not tried again', async () => {
    const { client, naps } = napping()
    await control('POST', '/_dev/faults', { path: '/v1/health', delay_ms: 60_000, count: 1 })
    const leaving = new AbortController()
    const request = client.api.getHealth({}, { signal: leaving.signal })
    leaving.abort()
    await assert.rejects(request, { name: 'AbortError' })
    assert.deepEqual(naps, [])
  })
})

describe('broken connections', () => {
  /** A service that closes the first connections before it answers. */
  async function breaking(breaks) {
    const requests = []
    const server = createSocketServer(socket => {
      socket.once('data', data => {
        requests.push(String(data))
        if (requests.length <= breaks) return socket.destroy()
        const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close'
        socket.end(`${head}\r\nContent-Length: 15\r\n\r\n{"status":"ok"}`)
      })
    })
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
    after(() => server.close())
    return { requests, url: `http://127.0.0.1:${server.address().port}` }
  }

  test('a read is sent again after a broken connection', async () => {
    const service = await breaking(2)
    const { client, naps } = napping({ url: service.url })
    assert.deepEqual(await client.api.getHealth(), { status: 'ok' })
    assert.equal(naps.length, 2)
    assert.ok(naps[0] < naps[1])
  })

  test('what changes something fails at once', async () => {
    const service = await breaking(99)
    const { client, naps } = napping({ url: service.url })
    await assert.rejects(client.api.updateAlert('id', { enabled: false }), ConnectionFailed)
    assert.deepEqual(naps, [])
  })
})

describe('streams', () => {
  /** Passes connections on, and cuts the first ones off after the first event that came through. */
  async function cutting(cuts) {
    let connections = 0
    const target = new URL(url)
    const server = createSocketServer(near => {
      connections += 1
      const isCut = connections <= cuts
      const far = connect(Number(target.port), target.hostname)
      near.pipe(far)
      let text = ''
      far.on('data', data => {
        if (!isCut) return near.write(data)
        text += data
        const end = text.indexOf('\n\n', text.indexOf('data:'))
        if (!text.includes('data:') || end === -1) return
        far.destroy()
        near.end(text.slice(0, end + 2))
      })
      for (const socket of [near, far]) socket.on('error', () => undefined)
      near.on('close', () => far.destroy())
      far.on('close', () => !isCut && near.destroy())
    })
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
    after(() => server.close())
    const address = `http://127.0.0.1:${server.address().port}`
    return { url: address, connections: () => connections }
  }

  test('one that is cut off goes on after the last event and repeats none', async () => {
    let since = 0
    for (let hasMore = true; hasMore; ) {
      const { data } = await client.api.listWatchEvents({ since, limit: 500 })
      since = data.cursor
      hasMore = data.has_more
    }
    const body = { codes: ['WTI_USD', 'EUR_USD'], interval_seconds: 60 }
    const { data: watch } = await client.api.createWatch(body)
    await advance('PT5M')
    const { data } = await client.api.listWatchEvents({ since })
    assert.ok(data.events.length >= 8)
    const proxy = await cutting(3)
    const { client: streaming } = napping({ url: proxy.url })
    const events = []
    for await (const event of streaming.stream({ since, reconnects: 3 })) {
      events.push(event)
      if (events.length === data.events.length) break
    }
    assert.deepEqual(
      events.map(event => event.data),
      data.events,
    )
    assert.deepEqual(
      events.map(event => event.id),
      data.events.map(event => String(event.seq)),
    )
    assert.equal(proxy.connections(), 4)
    await client.api.deleteWatch(watch.id)
  })

  test('one that is aborted ends', async () => {
    const leaving = new AbortController()
    const events = client.stream({ signal: leaving.signal })
    const next = events.next()
    setTimeout(() => leaving.abort(), 50)
    assert.equal((await next).done, true)
  })

  test('one that is not allowed says so', async () => {
    const stranger = createClient({ url, apiKey: '0'.repeat(64) })
    await assert.rejects(stranger.stream({ since: 0 }).next(), Unauthorized)
  })
})

describe('webhooks', () => {
  const deliveries = []
  const server = createServer((request, response) => {
    const chunks = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      deliveries.push({ body: Buffer.concat(chunks), headers: request.headers })
      response.writeHead(204).end()
    })
  })
  after(() => server.close())

  async function delivered(options = {}) {
    if (!server.listening) await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
    const target = `http://127.0.0.1:${server.address().port}/hook`
    const { data: webhook } = await client.api.createWebhook({
      url: target,
      events: ['price.updated'],
      ...options,
    })
    const sent = await client.api.testWebhook(webhook.id)
    assert.equal(sent.data.success, true)
    await client.api.deleteWebhook(webhook.id)
    const { body, headers } = deliveries.at(-1)
    return { secret: webhook.secret, body, headers, now: Number(headers['webhook-timestamp']) }
  }

  const without = (headers, pattern) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !pattern.test(name)))

  test('a delivery of the service is verified by either of its signatures', async () => {
    for (const signature_scheme of ['timestamped', 'body']) {
      const { secret, body, headers, now } = await delivered({ signature_scheme })
      const own = without(headers, /^webhook-/)
      const standard = without(headers, /^x-service-/)
      for (const sent of [headers, own, standard, new Headers(standard)]) {
        const event = await verifyWebhook(secret, body, sent, { now })
        assert.equal(event.type, 'webhook.test')
      }
      assert.equal((await verifyWebhook(secret, String(body), headers, { now })).id.length, 30)
    }
  })

  test("a secret of one's own verifies too", async () => {
    const { body, headers, now } = await delivered({ secret: 'correct horse battery staple' })
    const sent = without(headers, /^x-service-/)
    assert.ok(await verifyWebhook('correct horse battery staple', body, sent, { now }))
  })

  test('another secret, body or time does not verify', async () => {
    const { secret, body, headers, now } = await delivered()
    const changed = String(body).replace('webhook', 'webhoax')
    const verifications = [
      [`whsec_${'0'.repeat(48)}`, body, headers, { now }],
      [secret, changed, headers, { now }],
      [secret, body, headers, { now: now + 301 }],
      [secret, body, headers, { now: now - 301 }],
      [secret, body, without(headers, /timestamp/), { now }],
    ]
    for (const args of verifications) await assert.rejects(verifyWebhook(...args), InvalidWebhook)
  })
})
