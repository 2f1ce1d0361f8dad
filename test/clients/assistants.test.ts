import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  type CompleteRequest,
  EmptyResultSchema,
  ErrorCode,
  type McpError,
  type ReadResourceRequest,
} from '@modelcontextprotocol/sdk/types.js'
import type { Wellhead } from '../../clients/testkit/src/testkit.ts'
import { binary } from '../support/instance/binary.ts'
import { environmentOf, runProgram, sharedInstance } from '../support/interface/packages.ts'
import { needs } from '../support/needs.ts'

const resultMax = 25_000

let copy: Wellhead
beforeAll(async () => {
  copy = await sharedInstance()
}, 600_000)

const overHttp = (apiKey: string) =>
  new StreamableHTTPClientTransport(new URL('/mcp', copy.url), {
    requestInit: { headers: { authorization: `Bearer ${apiKey}` } },
  })

const overStdio = () =>
  new StdioClientTransport({
    command: binary(),
    args: ['mcp'],
    env: { PATH: process.env.PATH ?? '', ...environmentOf(copy) },
    stderr: 'pipe',
  })

interface Content {
  type: string
  text: string
}

async function connected(transport: StreamableHTTPClientTransport | StdioClientTransport) {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport as Parameters<typeof client.connect>[0])
  /** The text of a tool's result, and whether it is a refusal. */
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name, arguments: args })
    const [content] = result.content as Content[]
    return { isError: result.isError === true, text: content!.text }
  }
  const ask = async <T>(name: string, args: Record<string, unknown> = {}): Promise<T> => {
    const { isError, text } = await call(name, args)
    expect(isError, text).toBe(false)
    expect(text.length).toBeLessThan(resultMax)
    return JSON.parse(text) as T
  }
  return { client, call, ask }
}

for (const [name, transport] of [
  ['over HTTP with the key', () => overHttp(copy.apiKey)],
  ['over standard input and output', overStdio],
] as const) {
  describe(`an assistant ${name}`, () => {
    let assistant: Awaited<ReturnType<typeof connected>>
    beforeAll(async () => {
      assistant = await connected(transport())
    }, 60_000)
    afterAll(() => assistant.client.close())

    test('an assistant receives a list of tools with schemas that marks the tools that change something', async () => {
      const { tools } = await assistant.client.listTools()
      expect(tools.map(tool => tool.name).sort()).toEqual([
        'compare',
        'create_alert',
        'find_paths',
        'futures_curve',
        'latest_prices',
        'list_alerts',
        'price_history',
        'query_prices',
        'read',
        'search_codes',
        'storage',
        'why_did_it_move',
      ])
      for (const tool of tools) {
        expect(tool.description!.length, tool.name).toBeGreaterThan(40)
        expect(tool.inputSchema.type).toBe('object')
        for (const property of Object.values(tool.inputSchema.properties ?? {})) {
          const { description, items } = property as {
            description?: string
            items?: { description?: string }
          }
          expect(description ?? items?.description, tool.name).toBeString()
        }
        for (const required of tool.inputSchema.required ?? [])
          expect(tool.inputSchema.properties![required], tool.name).not.toHaveProperty('default')
      }
      const writing = tools.filter(tool => tool.annotations?.readOnlyHint === false)
      expect(writing.map(tool => tool.name)).toEqual(['create_alert'])
    })

    test('an assistant can search for codes and fetch their prices', async () => {
      const lookup = await assistant.ask<{ codes: { code: string }[]; found: number }>(
        'search_codes',
        { text: 'brent', limit: 3 },
      )
      expect(lookup.codes).toHaveLength(3)
      expect(lookup.found).toBeGreaterThan(3)
      expect(lookup.codes.map(row => row.code)).toContain('BRENT_CRUDE_USD')
      const { prices } = await assistant.ask<{ prices: { code: string; price: number }[] }>(
        'latest_prices',
        { codes: ['brent', 'WTI_USD'] },
      )
      expect(prices.map(row => row.code)).toEqual(['BRENT_CRUDE_USD', 'WTI_USD'])
    })

    test('gets a long history as a summary of all of it and points that fit', async () => {
      interface History {
        points: { at: string; value: number }[]
        summary: {
          count: number
          high: { at: string; value: number }
          last: { at: string; value: number }
        }
      }
      const args = { code: 'WTI_USD', start: '2020-01-01', end: '2026-11-01', points: 40 }
      const { points, summary } = await assistant.ask<History>('price_history', args)
      expect(summary.count).toBeGreaterThan(1_500)
      expect(points.length).toBeLessThanOrEqual(40)
      expect(points).toContainEqual(summary.high)
      expect(points.at(-1)).toEqual(summary.last)
      expect(points.map(point => point.at)).toEqual(points.map(point => point.at).sort())
    })

    test('runs a bounded query over exported prices', async () => {
      interface Queried {
        results: {
          bars: number
          groups_total: number
          groups: { group: string; count: number }[]
        }[]
      }
      const args = {
        codes: ['WTI_USD', 'NATURAL_GAS_USD'],
        start: '2022-01-01',
        end: '2025-12-31',
        group_by: 'year',
      }
      const { results } = await assistant.ask<Queried>('query_prices', args)
      for (const { bars, groups } of results) {
        expect(groups.map(({ group }) => group)).toEqual(['2022', '2023', '2024', '2025'])
        expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(bars)
      }
      const falls = await assistant.ask<Queried>('query_prices', {
        ...args,
        where: { change_below: -3 },
        order_by: 'count',
        groups: 2,
      })
      const [worst, next] = falls.results[1]!.groups
      expect(worst!.count).toBeGreaterThanOrEqual(next!.count)
      expect(falls.results[1]!.groups).toHaveLength(2)
      const refused = await assistant.call('query_prices', {
        codes: ['WTI_USD'],
        where: { sql: 1 },
      })
      expect({ isError: refused.isError, text: refused.text }).toEqual({
        isError: true,
        text: expect.stringContaining('where'),
      })
    })

    test('compares codes, sees a curve, a stock against its season, and why a price moved', async () => {
      interface Compared {
        compared: { code: string; summary: { changePercent: number } }[]
        correlation_90d: unknown
      }
      const { compared, correlation_90d } = await assistant.ask<Compared>('compare', {
        codes: ['WTI_USD', 'NATURAL_GAS_USD'],
        start: '2026-06-01',
      })
      const changes = compared.map(row => row.summary.changePercent)
      expect(changes).toEqual(changes.toSorted((left, right) => right - left))
      expect(correlation_90d).toBeObject()
      const curve = await assistant.ask<{ contracts: unknown[]; shape: string }>('futures_curve', {
        family: 'CL',
      })
      expect(curve.contracts).toHaveLength(12)
      const storage = await assistant.ask<{
        against_season: { zscore: number }
        recent: unknown[]
      }>('storage', { place: 'cushing', weeks: 4 })
      expect(storage.against_season.zscore).toBeNumber()
      expect(storage.recent).toHaveLength(4)
      interface Moved {
        largest_daily_moves: { percent: number }[]
        notes: { title: string }[]
      }
      const moved = await assistant.ask<Moved>('why_did_it_move', { code: 'WTI_USD', days: 60 })
      expect(moved.notes.length).toBeGreaterThan(0)
      const sizes = moved.largest_daily_moves.map(move => Math.abs(move.percent))
      expect(sizes).toEqual(sizes.toSorted((left, right) => right - left))
    })

    test('reads other data, with lists cut to a size, and nothing of the account', async () => {
      const args = { path: '/v1/ei/well-permits', parameters: { state: 'TX' }, rows: 3 }
      const { data } = await assistant.ask<{ data: unknown[] }>('read', args)
      expect(data.slice(0, 3).every(row => typeof row === 'object')).toBe(true)
      expect(data).toHaveLength(4)
      expect(data[3]).toMatch(/more rows/)
      for (const path of [
        '/v1/account',
        '/v1/api-keys',
        '/admin/v1/accounts',
        '/v1/prices/../account',
      ]) {
        const refusal = await assistant.call('read', { path })
        expect(refusal.isError, path).toBe(true)
        expect(refusal.text).toStartWith('path must be a data path')
      }
    })

    test.each([
      ['rig counts', '/v1/rig-counts/latest'],
      ['crack spread', '/v1/spreads/crack'],
      ['gas hubs basis', '/v1/natural-gas/hubs'],
      ['bunker port', '/v1/bunker-fuels/ports/{code}'],
      ['cheapest hours', '/v1/delivery/{code}/cheapest'],
      ['drilling permits by state', '/v1/ei/well-permits/by-state'],
      ['OPEC production by country', '/v1/ei/opec_productions/by_country'],
      ['monthly forecasts', '/v1/forecasts/monthly'],
      ['fuel surcharge', '/v1/fuel-surcharge'],
      ['oil inventories', '/v1/ei/oil_inventories'],
      ['well production states', '/v1/well-production/states'],
      ['diesel price', '/v1/diesel-prices'],
      ['correlation', '/v1/analytics/correlation'],
    ])('finds a path to read by the words of a question: %s', async (text, path) => {
      interface Found {
        paths: { path: string; parameters: string[] }[]
      }
      const { paths } = await assistant.ask<Found>('find_paths', { text })
      expect(paths.map(found => found.path)).toContain(path)
      for (const found of paths) expect(found.parameters).toBeArray()
    })

    test('changes nothing before a person has confirmed it', async () => {
      const count = async () =>
        (await assistant.ask<{ alerts: unknown[] }>('list_alerts')).alerts.length
      const before = await count()
      const alert = { code: 'WTI_USD', operator: 'greater_than', value: 400, name: 'far away' }
      const preview = await assistant.ask<{ created: boolean; would_have_fired: number }>(
        'create_alert',
        alert,
      )
      expect(preview).toMatchObject({ created: false, would_have_fired: 0 })
      expect(await count()).toBe(before)
      const created = await assistant.ask<{ created: boolean; id: string }>('create_alert', {
        ...alert,
        confirm: true,
      })
      expect(created.created).toBe(true)
      expect(await count()).toBe(before + 1)
      const headers = { authorization: `Token ${copy.apiKey}` }
      await fetch(`${copy.url}/v1/alerts/${created.id}`, { method: 'DELETE', headers })
    })

    test('an assistant receives a readable error for an invalid tool call', async () => {
      const unknown = await assistant.call('latest_prices', { codes: ['BRENT_CRUDE_USB'] })
      expect(unknown).toEqual({ isError: true, text: expect.stringContaining('BRENT_CRUDE_USD') })
      const missing = await assistant.call('price_history', {})
      expect(missing).toEqual({ isError: true, text: expect.stringMatching(/^code: /) })
      for (const [name, args, text] of [
        ['latest_prices', { code: 'WTI_USD' }, 'Unknown argument "code". Did you mean codes?'],
        [
          'search_codes',
          { query: 'brent' },
          'Unknown argument "query". Use text, category or limit.',
        ],
        ['latest_prices', { codes: [] }, 'codes: '],
        ['compare', { codes: ['WTI_USD', 'BRENT_CRUDE_USD'], interval: 'fortnight' }, 'interval'],
      ] as const)
        expect(await assistant.call(name, args)).toEqual({
          isError: true,
          text: expect.stringContaining(text),
        })
      await expect(assistant.client.callTool({ name: 'nope' })).rejects.toThrow(
        'There is no tool nope',
      )
    })

    test('takes lists and numbers as text, as command lines and some models send them', async () => {
      for (const text of ['WTI_USD, BRENT_CRUDE_USD', '["WTI_USD", "BRENT_CRUDE_USD"]']) {
        const { prices } = await assistant.ask<{ prices: { code: string }[] }>('latest_prices', {
          codes: text,
        })
        expect(
          prices.map(({ code }) => code),
          text,
        ).toEqual(['WTI_USD', 'BRENT_CRUDE_USD'])
      }
      const { codes } = await assistant.ask<{ codes: unknown[] }>('search_codes', {
        text: 'oil',
        limit: '2',
      })
      expect(codes).toHaveLength(2)
    })

    test('describes a choice of words as an enumeration', async () => {
      const { tools } = await assistant.client.listTools()
      const history = tools.find(({ name }) => name === 'price_history')!
      expect(history.inputSchema.properties!.interval).toMatchObject({
        type: 'string',
        enum: ['hour', 'day', 'week', 'month'],
      })
      expect(JSON.stringify(tools)).not.toContain('"const"')
    })

    test('has resources and prompts', async () => {
      const { resources } = await assistant.client.listResources()
      expect(resources.map(resource => resource.uri)).toContain('wellhead://catalogue')
      const { contents } = await assistant.client.readResource({ uri: 'wellhead://catalogue' })
      expect((contents[0] as { text: string }).text).toContain('- WTI_USD: WTI Crude Oil')
      const { prompts } = await assistant.client.listPrompts()
      expect(prompts.map(prompt => prompt.name)).toEqual(['morning_brief', 'explain_move'])
      const { messages } = await assistant.client.getPrompt({
        name: 'explain_move',
        arguments: { code: 'WTI_USD' },
      })
      expect((messages[0]!.content as Content).text).toContain('WTI_USD')
      await expect(assistant.client.getPrompt({ name: 'explain_move' })).rejects.toThrow(
        'needs code',
      )
    })

    test('an assistant reads the price of each code as a resource, and completes codes', async () => {
      const { resourceTemplates } = await assistant.client.listResourceTemplates()
      expect(resourceTemplates.map(template => template.uriTemplate)).toEqual([
        'wellhead://prices/{code}',
      ])
      const { contents } = await assistant.client.readResource({ uri: 'wellhead://prices/WTI_USD' })
      expect((contents[0] as { text: string }).text).toContain('"code":"WTI_USD"')
      await expect(assistant.client.readResource({ uri: 'wellhead://prices/' })).rejects.toThrow(
        'There is no wellhead://prices/',
      )
      const complete = async (ref: CompleteRequest['params']['ref'], name: string, value: string) =>
        (await assistant.client.complete({ ref, argument: { name, value } })).completion.values
      const template = { type: 'ref/resource', uri: 'wellhead://prices/{code}' } as const
      const brief = { type: 'ref/prompt', name: 'morning_brief' } as const
      expect(await complete(template, 'code', 'brent_c')).toContain('BRENT_CRUDE_USD')
      expect(await complete(template, 'code', '')).toHaveLength(100)
      const [first] = await complete(brief, 'codes', 'WTI_USD,NATURAL_GAS_U')
      expect(first).toBe('WTI_USD,NATURAL_GAS_USD')
    })

    test('a wrong request gets the error number that the protocol has for it', async () => {
      const { client } = assistant
      const numberOf = (request: Promise<unknown>) =>
        request.then(
          () => 'none',
          (error: McpError) => error.code,
        )
      const read = (uri: string) => numberOf(client.readResource({ uri }))
      expect(await read('wellhead://nothing')).toBe(-32_002)
      expect(await read('wellhead://prices/NOPE_USD')).toBe(-32_002)
      expect(await read('wellhead://prices/%E0%A4')).toBe(-32_002)
      expect(await numberOf(client.getPrompt({ name: 'nope' }))).toBe(ErrorCode.InvalidParams)
      expect(await numberOf(client.getPrompt({ name: 'explain_move' }))).toBe(
        ErrorCode.InvalidParams,
      )
      expect(await numberOf(client.callTool({ name: 'nope' }))).toBe(ErrorCode.InvalidParams)
      const many = Array.from({ length: 21 }, () => 'WTI_USD').join()
      expect(await read(`wellhead://prices/${many}`)).toBe(ErrorCode.InvalidParams)
      const complete = (ref: CompleteRequest['params']['ref'], name: string) =>
        numberOf(client.complete({ ref, argument: { name, value: '' } }))
      const brief = { type: 'ref/prompt', name: 'morning_brief' } as const
      const prices = { type: 'ref/resource', uri: 'wellhead://prices/{code}' } as const
      expect(await complete(brief, 'code')).toBe(ErrorCode.InvalidParams)
      expect(await complete({ ...brief, name: 'nope' }, 'codes')).toBe(ErrorCode.InvalidParams)
      expect(await complete(prices, 'codes')).toBe(ErrorCode.InvalidParams)
      expect(await complete({ ...prices, uri: 'wellhead://nothing' }, 'code')).toBe(
        ErrorCode.InvalidParams,
      )
      const cursor = 'made-up'
      for (const list of [
        client.listTools({ cursor }),
        client.listResources({ cursor }),
        client.listResourceTemplates({ cursor }),
        client.listPrompts({ cursor }),
      ])
        expect(await numberOf(list)).toBe(ErrorCode.InvalidParams)
      for (const method of [
        'initialize',
        'logging/setLevel',
        'resources/read',
        'prompts/get',
        'tools/call',
        'completion/complete',
      ]) {
        const incomplete = { method, params: {} } as ReadResourceRequest
        const request = client.request(incomplete, EmptyResultSchema)
        expect(await numberOf(request), method).toBe(ErrorCode.InvalidParams)
      }
    })

    test('an assistant may choose how much it is notified of', async () => {
      expect(await assistant.client.setLoggingLevel('warning')).toEqual({})
    })
  })
}

describe('over HTTP', () => {
  const usage = async (apiKey: string) => {
    const headers = { authorization: `Token ${apiKey}` }
    const response = await fetch(`${copy.url}/v1/usage`, { headers })
    return ((await response.json()) as { used: number }).used
  }

  test('the protocol costs nothing, and what tools ask counts as requests of the key', async () => {
    const { apiKey } = await copy.account({ plan: 'free' })
    const { client, ask, call } = await connected(overHttp(apiKey))
    await client.listTools()
    expect(await usage(apiKey)).toBe(0)
    await ask('latest_prices', { codes: ['WTI_USD'] })
    expect(await usage(apiKey)).toBe(1)
    const refusal = await call('create_alert', { code: 'WTI_USD', operator: 'less_than', value: 1 })
    expect(refusal).toEqual({ isError: true, text: expect.stringContaining('INSUFFICIENT_PLAN') })
    expect(await usage(apiKey)).toBe(1)
    await client.close()
  })

  test('a key that is good for another address only opens neither the protocol nor its tools', async () => {
    const { apiKey } = await copy.account({ plan: 'free' })
    const headers = { authorization: `Token ${apiKey}`, 'content-type': 'application/json' }
    const body = (ranges: string[]) => JSON.stringify({ allowed_ips: ranges })
    const create = async (ranges: string[]) => {
      const init = { method: 'POST', headers, body: body(ranges) }
      const response = await fetch(`${copy.url}/v1/api-keys`, init)
      const { data } = (await response.json()) as { data: { api_key: { plain_token: string } } }
      return data.api_key.plain_token
    }
    const { ask, client } = await connected(overHttp(await create(['127.0.0.0/8'])))
    expect(await ask('latest_prices', { codes: ['WTI_USD'] })).toBeObject()
    await client.close()
    await expect(connected(overHttp(await create(['203.0.113.0/24'])))).rejects.toThrow(
      'IP_NOT_ALLOWED',
    )
  })

  test('MCP over HTTP requires a key, and session methods are refused with 405', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const init = { method: 'POST', headers, body: JSON.stringify(message) }
    expect((await fetch(`${copy.url}/mcp`, init)).status).toBe(401)
    expect((await fetch(`${copy.url}/mcp`)).status).toBe(405)
    expect((await fetch(`${copy.url}/mcp`, { method: 'DELETE' })).status).toBe(405)
  })

  test('MCP over HTTP refuses pages of other sites on an address of this machine', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const send = async (more: Record<string, string>) => {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${copy.apiKey}`,
        ...more,
      }
      const init = { method: 'POST', headers, body: JSON.stringify(message) }
      return (await fetch(`${copy.url}/mcp`, init)).status
    }
    expect(await send({ origin: 'http://evil.example.com' })).toBe(403)
    expect(await send({ origin: 'null' })).toBe(403)
    for (const origin of [copy.url, 'http://localhost:6274', 'http://[::1]:1'])
      expect(await send({ origin }), origin).toBe(200)
    expect(await send({ 'mcp-protocol-version': '1999-01-01' })).toBe(400)
  })
})

needs('mcp-inspector').describe('the inspector on its command line', () => {
  const inspect = async (...args: string[]) => {
    const environment = environmentOf(copy)
    const { code, text } = await runProgram(
      ['mcp-inspector', '--cli', ...args],
      tmpdir(),
      environment,
    )
    expect(code, text).toBe(0)
    return JSON.parse(text) as { tools?: { name: string }[]; content?: Content[] }
  }
  const overHttpOptions = () => [
    `${copy.url}/mcp`,
    '--transport',
    'http',
    '--header',
    `Authorization: Bearer ${copy.apiKey}`,
  ]
  const overStdioOptions = () => [
    ...Object.entries(environmentOf(copy)).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
    binary(),
    'mcp',
  ]

  test.each([
    ['over HTTP', overHttpOptions],
    ['over standard input and output', overStdioOptions],
  ])(
    'lists tools and calls one %s',
    async (_, options) => {
      const { tools } = await inspect(...options(), '--method', 'tools/list')
      expect(tools!.map(({ name }) => name)).toContain('query_prices')
      const call = ['--method', 'tools/call', '--tool-name', 'latest_prices']
      const { content } = await inspect(...options(), ...call, '--tool-arg', 'codes=["WTI_USD"]')
      const { prices } = JSON.parse(content![0]!.text) as { prices: { code: string }[] }
      expect(prices.map(({ code }) => code)).toEqual(['WTI_USD'])
    },
    120_000,
  )
})
