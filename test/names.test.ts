import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Ajv from 'ajv'
import addFormats from 'ajv-formats'
import { Elysia } from 'elysia'
import { documentNames } from '../src/http/openapi/introduction.ts'
import { documentOf, type OpenApiDocument } from '../src/http/openapi/openapi.ts'
import { shippedCatalogue } from '../src/topics/catalogue/files/shipped.ts'
import { part } from './support/full.ts'
import type { DemoInstance } from './support/instance/demo-instance.ts'
import { openTestInstance } from './support/instance/instance.ts'
import { clientsInstance, inOtherNames, otherNames } from './support/instance/renamed-instance.ts'
import { interfaceRows } from './support/interface/interface.ts'
import { answered, type Receiver, receiver } from './support/servers/receiver.ts'
import { serveApp } from './support/topics/streaming.ts'

const rows = interfaceRows
  // Settings are named as the configuration of the program names them.
  .filter(row => row.sample !== null && row.path !== '/admin/v1/settings')
  .map(row => ({
    ...row,
    sample: inOtherNames(row.sample!),
    body: row.body && JSON.parse(inOtherNames(JSON.stringify(row.body))),
  }))

/**
 * Names that no one must see where the operator has set others. The command is `wellhead`
 * everywhere.
 */
const defaults =
  /Wellhead|X-Service-|\bexch[-_]|<\/?service>|EnergyPricesChannel|wellhead@localhost/i
const seenIn = (text: string) => defaults.exec(text.replaceAll(/`wellhead [a-z]+/g, ''))?.[0]

let copy: DemoInstance
let hooks: Receiver
beforeAll(async () => {
  copy = clientsInstance()
  hooks = await receiver(socket => socket.end(answered('200 OK')))
}, 240_000)
afterAll(() => hooks.close())

describe('the API under other names', () => {
  const schemas = new Ajv({ strict: false, allErrors: true })
  addFormats(schemas)
  let paths: OpenApiDocument['paths']
  const parameterless = (path: string) => path.replace(/\{\w+\}/g, '{}').replace(/(.)\/$/, '$1')
  const pointer = (text: string) =>
    encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))

  beforeAll(async () => {
    const document = (await (
      await copy.ask('GET', '/openapi.json', { key: null })
    ).json()) as OpenApiDocument
    paths = document.paths
    schemas.addSchema({ ...document, $id: 'document' })
  })

  for (const row of part(rows)) {
    test(`${row.method} ${row.path} answers as it is documented, and with no other name`, async () => {
      const { method, sample, access, success, body } = row
      const headers =
        access === 'operator' ? { authorization: `Bearer ${copy.adminToken}` } : undefined
      const response = await copy.ask(method, sample, {
        key: access === 'key' || access === 'key-header-only' ? copy.apiKey : null,
        ...(headers && { headers }),
        ...(body !== undefined && { body }),
      })
      const text = await response.text()
      expect(response.status, text.slice(0, 300)).toBe(success)
      expect(seenIn(text)).toBeUndefined()
      expect(seenIn([...response.headers].join('\n'))).toBeUndefined()
      const path = Object.keys(paths).find(key => parameterless(key) === parameterless(row.path))!
      const media =
        paths[path]![method.toLowerCase()]!.responses[String(success)]?.content?.[
          'application/json'
        ]
      if (!media || !response.headers.get('content-type')?.includes('json')) return
      const at = `document#/paths/${pointer(path)}/${method.toLowerCase()}/responses/${success}/content/application~1json/schema`
      const fits = schemas.getSchema(at) ?? schemas.compile({ $ref: at })
      expect(fits(JSON.parse(text)) || fits.errors?.slice(0, 3)).toBe(true)
    })
  }

  test('refusals name none either', async () => {
    const requests: [string, string, unknown?][] = [
      ['GET', '/v1/spreads/curve-structure'],
      ['GET', '/v1/spreads/curve-structure?commodity=NOPE'],
      ['GET', '/v1/futures/merc-wti/ohlc?contract=nope'],
      ['GET', '/v1/futures/merc-wti/spread-history'],
      ['POST', '/v1/webhooks', {}],
      ['POST', '/v1/alerts', {}],
      ['GET', '/v1/prices/latest?by_code=NOPE_USD'],
      ['GET', '/v1/excel/run?path=/nope'],
    ]
    for (const [method, path, body] of requests) {
      const response = await copy.ask(method, path, { ...(body !== undefined && { body }) })
      expect(response.status, path).toBeGreaterThanOrEqual(400)
      expect(
        seenIn(`${await response.text()}${[...response.headers].join('\n')}`),
        path,
      ).toBeUndefined()
    }
  })

  test('messages to people name none', async () => {
    const { running, clock } = copy
    for (const path of ['/v1/auth/link', '/organizations/invitations']) {
      const email = path === '/v1/auth/link' ? 'eval@example.com' : 'guest@names.example'
      expect((await copy.ask('POST', path, { body: { email, role: 'member' } })).ok, path).toBe(
        true,
      )
    }
    await running.runner.advance(clock, clock.now())
    const messages = running.services.inbox.list(undefined)
    expect(messages.length).toBeGreaterThanOrEqual(2)
    for (const message of messages)
      expect(seenIn(JSON.stringify(message)), message.subject ?? message.text).toBeUndefined()
    expect(
      messages.some(message => JSON.stringify(message).includes(otherNames['brand.service_name'])),
    ).toBe(true)
  })
})

describe('exchange words', () => {
  test('every one is accepted, and the first is answered', async () => {
    for (const slug of ['merc-wti', 'bourse-wti', 'BOURSE-WTI', 'wti', 'CL']) {
      const body = (await (await copy.ask('GET', `/v1/futures/${slug}`)).json()) as { slug: string }
      expect(body.slug, slug).toBe('merc-wti')
    }
    for (const commodity of ['MERC_BRENT', 'BOURSE_BRENT', 'bourse_brent']) {
      const { data } = (await (
        await copy.ask('GET', `/v1/spreads/curve-structure?commodity=${commodity}`)
      ).json()) as {
        data: { commodity: string }
      }
      expect(data.commodity).toBe('MERC_BRENT')
    }
  })

  test('an exchange word that is not configured names nothing', async () => {
    expect((await copy.ask('GET', '/v1/futures/exch-wti')).status).toBe(404)
    const refused = await copy.ask('GET', '/v1/spreads/curve-structure?commodity=EXCH_BRENT')
    expect(refused.status).toBe(400)
    const { error } = (await refused.json()) as { error: { allowed: string[] } }
    expect(error.allowed).toContain('MERC_BRENT')
    expect(error.allowed.filter(name => !name.startsWith('MERC_'))).toEqual([])
  })
})

test('a word that is listed twice, or makes an alias that is shipped, names nothing twice', () => {
  const { aliases } = shippedCatalogue(['exch', 'exch', 'merc'])
  const names = aliases.map(aliase => aliase.alias)
  expect(new Set(names).size).toBe(names.length)
  expect(names).toEqual(expect.arrayContaining(['EXCH_WTI', 'MERC_WTI', 'MERC-GASOIL', 'AECO']))
  expect(
    shippedCatalogue(['merc']).aliases.filter(aliase => aliase.alias.startsWith('EXCH')),
  ).toEqual([])
})

describe('the header prefix', () => {
  test('the configured prefix is used for response headers', async () => {
    const response = await copy.ask('GET', '/v1/prices/latest?by_code=WTI_USD')
    expect(response.headers.get('x-kestrel-data')).toBe('fixture')
  })

  test('the configured prefix is used for the headers by which clients identify themselves, and no other prefix is', async () => {
    const sourceOf = async (name: string) => {
      const body = { codes: ['WTI_USD'], interval_seconds: 3600 }
      const created = await copy.ask('POST', '/v1/subscriptions', {
        body,
        headers: { [name]: 'mcp', 'x-kestrel-tool': 'watch_price' },
      })
      const { data } = (await created.json()) as {
        data: { id: string; source: string; tool_name: string | null }
      }
      await copy.ask('DELETE', `/v1/subscriptions/${data.id}`)
      return [data.source, data.tool_name]
    }
    expect(await sourceOf('X-Kestrel-Source')).toEqual(['mcp', 'watch_price'])
    expect(await sourceOf('X-Service-Source')).toEqual(['api', 'watch_price'])
  })

  test('the headers of deliveries are sent under the configured prefix and under the documented one, with the configured user agent', async () => {
    const created = await copy.ask('POST', '/v1/webhooks', {
      body: { url: hooks.url, events: ['price.updated'] },
    })
    const { data } = (await created.json()) as { data: { id: string } }
    const sent = await copy.ask('POST', `/v1/webhooks/${data.id}/test`)
    expect(((await sent.json()) as { data: { success: boolean } }).data.success).toBe(true)
    const { head, headers, body } = hooks.received.at(-1)!
    const own = [...headers.keys()].filter(name => name.startsWith('x-'))
    expect(own.sort()).toEqual([
      'x-kestrel-event',
      'x-kestrel-event-id',
      'x-kestrel-signature',
      'x-kestrel-signature-timestamp',
      'x-service-event',
      'x-service-event-id',
      'x-service-signature',
      'x-service-signature-timestamp',
    ])
    for (const name of ['event', 'event-id', 'signature', 'signature-timestamp'])
      expect(headers.get(`x-service-${name}`)).toBe(headers.get(`x-kestrel-${name}`))
    expect(headers.get('user-agent')).toBe(otherNames['brand.webhook_user_agent'])
    // The documented names are sent to receivers that were written for them.
    expect(seenIn(`${head.replace(/X-Service-[\w-]+: /g, '')}${body}`)).toBeUndefined()
    await copy.ask('DELETE', `/v1/webhooks/${data.id}`)
  })
})

test('the stream is subscribed to by the channels that are set, and by no other', async () => {
  const { services, key } = openTestInstance({
    'brand.stream_channels': otherNames['brand.stream_channels'],
  })
  const served = serveApp(services)
  const socket = new WebSocket(`${served.socketUrl}/cable?token=${key()}`)
  const channels = ['KestrelChannel', 'KestrelFeed', 'EnergyPricesChannel']
  const answers = new Map<string, string>()
  await new Promise<void>((resolve, reject) => {
    socket.onerror = reject
    socket.onmessage = ({ data }) => {
      const { type, identifier } = JSON.parse(String(data)) as {
        type?: string
        identifier?: string
      }
      if (type === 'welcome') {
        for (const channel of channels)
          socket.send(
            JSON.stringify({ command: 'subscribe', identifier: JSON.stringify({ channel }) }),
          )
      }
      if (type?.endsWith('_subscription'))
        answers.set((JSON.parse(identifier!) as { channel: string }).channel, type)
      if (answers.size === channels.length) resolve()
    }
  })
  socket.close()
  await served.stop()
  expect([...answers]).toEqual([
    ['KestrelChannel', 'confirm_subscription'],
    ['KestrelFeed', 'confirm_subscription'],
    ['EnergyPricesChannel', 'reject_subscription'],
  ])
})

test('the document is written with the names in force where a word begins with the written one', async () => {
  const app = new Elysia().get('/a', () => '', {
    detail: {
      security: [],
      summary: 'exch-wti EXCH_WTI `X-Service-Data` myexch-wti MY_EXCH_WTI My-X-Service-Data',
    },
  })
  const summaryOf = async (exchangeWords: string[], headerPrefix: string) => {
    const text = await documentOf(app, {
      serviceName: 'x',
      description: '',
      baseUrl: '/',
      names: documentNames({ exchangeWords, headerPrefix }),
    })()
    return (JSON.parse(text) as OpenApiDocument).paths['/a']!.get!.summary
  }
  expect(await summaryOf(['exch', 'merc'], 'X-Service-')).toBe(
    'exch-wti EXCH_WTI `X-Service-Data` myexch-wti MY_EXCH_WTI My-X-Service-Data',
  )
  expect(await summaryOf(['merc', 'exch'], 'K-')).toBe(
    'merc-wti MERC_WTI `K-Data` myexch-wti MY_EXCH_WTI My-X-Service-Data',
  )
})
