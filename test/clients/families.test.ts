import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Wellhead } from '../../clients/testkit/src/testkit.ts'
import { sharedInstance, startInstance } from '../support/interface/packages.ts'

/**
 * What families of existing clients call and rely on, in their own words, against the binary: with
 * the shipped profiles, which an evaluation copy has, and without any.
 */

type Fields = Record<string, unknown>

interface Family {
  name: string
  agent: string
}

const families: Family[] = [
  { name: 'go', agent: 'prices-go/1.2' },
  { name: 'php', agent: 'prices-php' },
  { name: 'node', agent: 'prices-node/2.0.1' },
  { name: 'python', agent: 'prices-python/0.4' },
  { name: 'openbb', agent: 'OpenBB-Platform/4.1' },
  { name: 'sheets', agent: 'prices-google-sheets/3.1' },
  { name: 'excel', agent: 'prices-excel/1.0' },
  { name: 'mcp', agent: 'prices-mcp/1.1' },
]

interface Answer {
  status: number
  text: string
  headers: Headers
  /** Of JSON. */
  body: Fields
  data: Fields
}

/** A client that knows nothing but its address, its key and its name. */
const clientOf = (copy: Wellhead, agent: string) => {
  const send = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${copy.url}${path}`, {
      method,
      headers: {
        authorization: `Token ${copy.apiKey}`,
        'user-agent': agent,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const parsed = (text === '' ? {} : JSON.parse(text)) as Fields
    const { status, headers } = response
    return { status, headers, text, body: parsed, data: parsed.data as Fields }
  }
  return { get: (path: string) => send('GET', path), send }
}

/** A Sunday, with nothing traded on it; the codes that everybody tries first are enough. */
const sunday = '2026-11-22T12:00:00Z'
const newAlert = {
  name: 'family',
  commodity_code: 'WTI_USD',
  condition_operator: 'greater_than',
  condition_value: 500,
}

let shipped: Wellhead
let bare: Wellhead
const bareData = mkdtempSync(join(tmpdir(), 'wellhead-bare-'))
beforeAll(async () => {
  writeFileSync(join(bareData, 'wellhead.toml'), 'client_profiles = []\n')
  shipped = await startInstance({ clock: sunday, world: { size: 'small' } })
  bare = await startInstance({ clock: sunday, world: { size: 'small' }, data: bareData })
}, 600_000)
afterAll(async () => {
  await shipped.stop()
  await bare.stop()
  rmSync(bareData, { recursive: true, force: true })
})

/** A quota that is used up, as the next request meets it. */
const quotaEnds = (copy: Wellhead) =>
  copy.fault({ path: '/v1/prices/latest', code: 'MONTHLY_QUOTA_EXCEEDED', count: 1 })

async function deletedAlert({ send }: ReturnType<typeof clientOf>): Promise<Answer> {
  const created = await send('POST', '/v1/alerts', newAlert)
  expect(created.status, created.text).toBe(201)
  return await send('DELETE', `/v1/alerts/${created.body.id}`)
}

describe.each(families)('a client of the family $name', ({ agent }) => {
  test('with the shipped profiles: what every family relies on', async () => {
    const { get } = clientOf(shipped, agent)
    const latest = await get('/v1/prices/latest?by_code=BRENT_CRUDE_USD')
    expect(latest.data.price).toBeNumber()
    expect((latest.data.prices as Fields[])[0]).toMatchObject({ code: 'BRENT_CRUDE_USD' })

    const { data, body } = await get('/v1/prices/past_year?by_code=BRENT_CRUDE_USD&interval=day')
    expect((data.prices as Fields[]).length).toBeGreaterThan(240)
    expect(body.meta).toMatchObject({ has_next: false, total_pages: 1 })

    const past = await get('/v1/prices/past_day?by_code=BRENT_CRUDE_USD')
    expect((past.data.prices as Fields[]).length).toBeGreaterThan(100)
    expect(past.data.metadata).toMatchObject({ window_shifted: true })

    const some = await get('/v1/prices/latest?by_code=BRENT_CRUDE_USD,NOPE_USD,WTI_USD')
    expect((some.data.prices as Fields[]).map(row => row.code)).toEqual([
      'BRENT_CRUDE_USD',
      'WTI_USD',
    ])
    expect(some.data.missing_codes).toEqual(['NOPE_USD'])

    await quotaEnds(shipped)
    const refused = await get('/v1/prices/latest')
    expect({ status: refused.status, retryAfter: refused.headers.get('retry-after') }).toEqual({
      status: 429,
      retryAfter: '60',
    })
    expect(refused.body.reset).toMatchObject({ in_seconds: 86_400 })
  })

  test('without profiles: the documented shapes', async () => {
    const client = clientOf(bare, agent)
    const { get } = client
    const latest = await get('/v1/prices/latest?by_code=BRENT_CRUDE')
    expect({ code: latest.data.code, requested_code: latest.data.requested_code }).toEqual({
      code: 'BRENT_CRUDE_USD',
      requested_code: 'BRENT_CRUDE',
    })
    expect(latest.data).not.toContainKey('prices')
    expect(latest.headers.get('vary') ?? '').not.toContain('User-Agent')
    const year = await get('/v1/prices/past_year?by_code=BRENT_CRUDE_USD&interval=day')
    expect(year.body.meta).toMatchObject({ per_page: 100, has_next: true })
    const past = await get('/v1/prices/past_day?by_code=BRENT_CRUDE_USD')
    expect(past.data.prices).toEqual([])
    expect((await get('/v1/prices/latest?by_code=WTI_USD,NOPE_USD')).status).toBe(400)
    await quotaEnds(bare)
    expect((await get('/v1/prices/latest')).headers.get('retry-after')).toBe('86400')
    const nobodys = '/v1/alerts/00000000-0000-4000-8000-0000000000ff'
    expect((await get(nobodys)).body.error).toMatchObject({ code: 'NOT_FOUND' })
    expect((await deletedAlert(client)).status).toBe(204)
    expect((await get('/v1/webhooks')).data).toContainKey('webhooks')
  })
})

describe('what one family alone relies on', () => {
  const agentOf = (name: string) => families.find(family => family.name === name)!.agent
  const clientIn = (name: string) => clientOf(shipped, agentOf(name))
  /** Against the copy that has all of its data. */
  const fullClientIn = async (name: string) => clientOf(await sharedInstance(), agentOf(name))

  test('go decodes into structs: no null where a number or a text is expected', async () => {
    const { get, send } = await fullClientIn('go')
    // Stocks have no currency.
    const codes = ['CUSHING_STORAGE', 'WTI_USD']
    const path = '/v1/prices/latest?by_code=CUSHING_STORAGE'
    const rows = [
      (await get(path)).data,
      ...((await get(`/v1/prices/past_month?by_code=${codes}`)).data.prices as Fields[]),
      ...((await send('POST', '/v1/prices/batch', { codes })).data.prices as Fields[]),
    ]
    const nulls = rows.flatMap(row =>
      Object.keys(row).filter(
        key => row[key] === null && (key === 'currency' || key.startsWith('change')),
      ),
    )
    expect(nulls).toEqual([])
    const documented = await clientOf(await sharedInstance(), 'curl/8').get(path)
    expect(documented.data.currency).toBeNull()
  }, 600_000)

  test('go reads an error as a text and a list from data', async () => {
    const { get } = clientIn('go')
    const refusal = (await get('/v1/alerts/00000000-0000-4000-8000-0000000000ff')).body
    expect(refusal).toMatchObject({ error: expect.any(String), error_code: 'NOT_FOUND' })
    for (const path of ['/v1/webhooks', '/v1/data-sources', '/v1/api-keys', '/v1/subscriptions'])
      expect((await get(path)).data, path).toBeArray()
  })

  test('the Go client gets storage in one unit, with a change that matches the difference of its values', async () => {
    const { get } = await fullClientIn('go')
    const cushing = (await get('/v1/storage/cushing')).data
    const rows = (await get('/v1/storage/history/cushing')).data as unknown as Fields[]
    const all = (await get('/v1/storage')).data as Record<string, Fields>
    expect(cushing.unit).toBe('thousand_barrels')
    expect({ unit: rows[0]!.unit, value: rows[0]!.value }).toEqual({
      unit: 'thousand_barrels',
      value: cushing.value,
    })
    expect(all.cushing).toMatchObject({ unit: 'thousand_barrels', value: cushing.value })
    const step = Number(rows[0]!.value) - Number(rows[1]!.value)
    expect(Number(cushing.change)).toBeCloseTo(step, 3)
    const curve = await get('/v1/futures/exch-wti/curve')
    expect(curve.data).toBeArray()
    expect((curve.body.meta as Fields).slug).toBe('exch-wti')
  }, 600_000)

  test('php parses every answer as JSON and reads lists by their name', async () => {
    const client = clientIn('php')
    const gone = await deletedAlert(client)
    expect({ status: gone.status, text: gone.text }).toEqual({ status: 200, text: '{}' })
    await client.send('POST', '/v1/alerts', newAlert)
    const { body } = await client.get('/v1/alerts')
    expect(body.count).toBe((body.alerts as Fields[]).length)
    expect((await client.get('/v1/alerts/none')).body.error).toBeString()
  })

  test.each(['node', 'python'])('%s awaits a deletion as JSON', async name => {
    const client = clientIn(name)
    const gone = await deletedAlert(client)
    expect({ status: gone.status, text: gone.text }).toEqual({ status: 200, text: '{}' })
    expect((await client.get('/v1/alerts/none')).body.error).toBeObject()
  })

  test('openbb finds a symbol under the name that it asked for', async () => {
    const { get } = clientIn('openbb')
    const { data } = await get('/v1/prices/latest?by_code=BRENT,WTI')
    expect((data.prices as Fields[]).map(row => row.code)).toEqual(['BRENT', 'WTI'])
    expect((await get('/v1/prices/latest?by_code=BRENT')).data.code).toBe('BRENT')
  })

  test.each(['sheets', 'excel'])('%s offers few categories and reads whole lists', async name => {
    const { get } = clientIn(name)
    const rows = (await get('/v1/commodities')).data as unknown as Fields[]
    const categories = new Set(rows.map(row => row.category))
    for (const category of ['oil', 'gas', 'products', 'coal', 'power'])
      expect(categories).toContain(category)
    expect(categories).not.toContain('crude_oil')
    expect((await get('/v1/data-sources')).data).toBeArray()
  })

  test('mcp hands ports and arbitrage to a model as they are', async () => {
    const { get } = await fullClientIn('mcp')
    const path = '/v1/bunker-fuels/spreads/ports?from=SIN&to=RTM&grade=VLSFO'
    const { data } = await get(path)
    expect(data.from_port).toEqual({ code: 'SIN', name: 'Singapore', region: 'Asia' })
    expect((data.spreads as Fields).arbitrage_opportunity).toMatch(/^(buy at|none:) .* USD\/t/)
    const spreads = await get('/v1/futures/exch-wti/spread-history')
    expect(spreads.status).toBe(200)
  }, 600_000)
})
