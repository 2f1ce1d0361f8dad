import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { remove, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { provider, type Stand } from '../../support/servers/provider.ts'
import { until } from '../../support/until.ts'

interface Span {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  status?: { code: number }
}
interface Traces {
  resourceSpans: { scopeSpans: { spans: Span[] }[] }[]
}

const dir = temporaryDir()
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const clientSpan = '00f067aa0ba902b7'
let [collector, receiver]: [Stand, Stand] = [undefined!, undefined!]
let server: Server

beforeAll(async () => {
  collector = await provider(['ok'], '{}')
  receiver = await provider(['ok'], '{}')
  const config = join(dir, 'wellhead.toml')
  await Bun.write(
    config,
    `egress.allow = ["127.0.0.0/8"]\nplans = "unlimited"\notel.endpoint = "${collector.url}"\nlog.access = 1\nlog.file = "${join(dir, 'log')}"\n`,
  )
  server = await start('serve', dir, '--config', config)
}, 120_000)
afterAll(async () => {
  await server.stop()
  collector.close()
  receiver.close()
  remove(dir)
})

const post = async (path: string, token: string, body: unknown, headers = {}) => {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  expect(response.status, await response.clone().text()).toBeLessThan(300)
  return response
}
const spansOf = (stand: Stand): Span[] =>
  stand.requests
    .flatMap(({ body }) => (JSON.parse(body) as Traces).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
const push = (price: number, headers: Record<string, string>) =>
  post(
    '/admin/v1/observations',
    `Bearer ${server.adminToken}`,
    { observations: [{ code: 'WTI_USD', observed_at: new Date().toISOString(), price }] },
    headers,
  )

test('one trace goes from the client through the request to the webhook and to the log', async () => {
  await post('/v1/webhooks', `Token ${server.apiKey}`, {
    url: receiver.url,
    events: ['price.updated'],
  })
  await push(70, { traceparent: `00-${traceId}-${clientSpan}-01` })
  const delivery = await until('the webhook arrives', () => receiver.requests[0])
  const spanOf = (kind: number) =>
    until('both spans arrive', () => spansOf(collector).find(span => span.kind === kind))
  const [request, sent] = await Promise.all([spanOf(2), spanOf(3)])
  expect(collector.requests[0]!.path).toBe('/v1/traces')
  expect(request).toMatchObject({
    traceId,
    parentSpanId: clientSpan,
    name: 'POST /admin/v1/observations',
  })
  expect(sent).toMatchObject({
    traceId,
    parentSpanId: request.spanId,
    name: 'POST price.updated',
  })
  expect(sent.status).toBeUndefined()
  expect(delivery.headers.traceparent).toBe(`00-${traceId}-${sent.spanId}-01`)
  expect(BigInt(request.endTimeUnixNano) >= BigInt(request.startTimeUnixNano)).toBe(true)
  await until('the log has the trace', async () =>
    (await Bun.file(join(dir, 'log')).text()).includes(traceId),
  )
}, 60_000)

test('a trace that is not recorded reaches the webhook as it came, and no span is sent', async () => {
  const before = [spansOf(collector).length, receiver.requests.length] as const
  const traceparent = `00-${traceId}-${clientSpan}-00`
  await push(71, { traceparent })
  await until('the webhook arrives', () => receiver.requests[before[1]])
  expect(receiver.requests.at(-1)!.headers.traceparent).toBe(traceparent)
  expect(spansOf(collector).length).toBe(before[0])
})

test('a request without a trace, or with a wrong one, gives its webhook none', async () => {
  const wrong: Record<string, string>[] = [{}, { traceparent: 'secret' }]
  for (const [i, headers] of wrong.entries()) {
    const before = receiver.requests.length
    await push(72 + i, headers)
    await until('the webhook arrives', () => receiver.requests[before])
    expect(receiver.requests.at(-1)!.headers).not.toContainKey('traceparent')
  }
})

test('a collector that is gone delays no request, and is named in the log once', async () => {
  collector.close()
  const startedAt = performance.now()
  for (let i = 0; i < 50; i += 1)
    await server.get('/v1/prices/latest?by_code=WTI_USD', {
      traceparent: `00-${traceId}-${clientSpan}-01`,
    })
  expect(performance.now() - startedAt).toBeLessThan(5000)
  const failures = async () =>
    (await Bun.file(join(dir, 'log')).text())
      .split('\n')
      .filter(line => line.includes('trace_export_failed')).length
  await until('the log names it', async () => (await failures()) > 0)
  expect(await failures()).toBe(1)
}, 60_000)
