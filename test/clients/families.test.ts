import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Wellhead } from '../../clients/testkit/src/testkit.ts'
import { part } from '../support/full.ts'
import { startInstance } from '../support/interface/packages.ts'
import { type Played, playNode } from './families/node-calls.ts'
import { playFamily } from './families/other-calls.ts'
import { playPython } from './families/python-calls.ts'
import * as senders from './families/senders.ts'
import { type Send, type Sender, sendAs, without } from './families/senders.ts'
import type { WireAnswer } from './families/wire-client.ts'

/**
 * Every method of the published families of clients, with exactly the headers that each sends,
 * against the binary with nothing configured, on a Saturday; and what one without profiles answers.
 */

type Fields = Record<string, unknown>

const saturday = '2026-11-28T15:00:00Z'
const limits = {
  WELLHEAD_LIMITS_MARINE_PER_MINUTE: '1000',
  WELLHEAD_LIMITS_MARINE_HISTORICAL_PER_MINUTE: '1000',
}

let shipped: Wellhead
let bare: Wellhead
const bareData = mkdtempSync(join(tmpdir(), 'wellhead-bare-'))
beforeAll(async () => {
  writeFileSync(join(bareData, 'wellhead.toml'), 'client_profiles = []\n')
  shipped = await startInstance({ clock: saturday, settings: limits })
  bare = await startInstance({ clock: saturday, world: { size: 'small' }, data: bareData })
}, 600_000)
afterAll(async () => {
  await shipped.stop()
  await bare.stop()
  rmSync(bareData, { recursive: true, force: true })
})

const as = (sender: Sender): Send => sendAs(sender, shipped)

/** The calls that differ, each with the difference, so that a failure lists all of them. */
const differing = (played: readonly Played[]): string[] =>
  played
    .filter(({ differences }) => differences.length > 0)
    .map(({ call, differences }) => `${call}: ${differences.slice(0, 3).join(', ')}`)

/** Calls that cannot be played: an unknown path, or no data without a source. */
const nodeExceptions = [
  'GET /v1/spreads/curve-structure/historical',
  'GET /v1/indicators/congressional-trades',
]

const nodeSenders = [
  senders.node,
  without(senders.node, 'User-Agent'),
  without(senders.node, 'X-SDK-Name'),
]
const pythonSenders = [
  senders.python,
  without(senders.python, 'User-Agent'),
  without(senders.python, 'X-SDK-Name'),
  without(without(senders.python, 'User-Agent'), 'X-SDK-Name'),
]

describe('with nothing configured, every method gets the type that its family declares', () => {
  test.each(part(nodeSenders))(
    '$name: 259 of 261 calls',
    async sender => {
      const played = await playNode(as(sender))
      const found = differing(played)
      expect(found.filter(line => !nodeExceptions.some(call => line.startsWith(call)))).toEqual([])
      expect({ calls: played.length, fit: played.length - found.length }).toEqual({
        calls: 261,
        fit: 259,
      })
    },
    120_000,
  )

  test.each(part(pythonSenders))(
    '$name: 156 synchronous and 151 asynchronous methods',
    async sender => {
      const sync = await playPython(as(sender), 'sync')
      expect(differing(sync)).toEqual([])
      expect(sync).toHaveLength(156)
      const awaited = await playPython(as(sender), 'async')
      expect(differing(awaited)).toEqual([])
      expect(awaited).toHaveLength(151)
    },
    120_000,
  )

  test.each([
    [senders.go, 'go', 13],
    [without(senders.go, 'User-Agent'), 'go', 13],
    [senders.php, 'php', 9],
    [without(senders.php, 'User-Agent'), 'php', 9],
    [senders.mcp, 'mcp', 10],
    [without(senders.mcp, 'User-Agent'), 'mcp', 10],
    [senders.sheets, 'sheets', 10],
    [senders.excel, 'excel', 16],
    [senders.recipes, 'recipes', 22],
  ] as const)('%p of %s: all of %i calls', async (sender, family, count) => {
    const played = await playFamily(as(sender), family)
    expect(differing(played)).toEqual([])
    expect(played).toHaveLength(count)
  })

  test('openbb: all of 41 fetches, also on a day on which daily series have no prices', async () => {
    const played = await playFamily(as(senders.openbb), 'openbb')
    expect(differing(played)).toEqual([])
    expect(played).toHaveLength(41)
  })
})

const dataOf = ({ json }: WireAnswer) => (json as Fields).data as Fields
const bodyOf = ({ json }: WireAnswer) => json as Fields

/** A client that no one knows, by its agent. */
const unknownClient = (agent: string): Sender => ({
  name: agent,
  headers: key => [
    ['User-Agent', agent],
    ['Accept', '*/*'],
    ['Authorization', `Token ${key}`],
  ],
})

describe('a client of no family', () => {
  test.each([
    'curl/8.9',
    'python-requests/2.32',
    'Go-http-client/2.0',
    'Mozilla/5.0 (X11)',
    'desk/1',
  ])('%s gets the documented shapes with additions that replace nothing', async agent => {
    const send = as(unknownClient(agent))
    const { prices, ...row } = dataOf(await send('GET', '/v1/prices/latest?by_code=WTI_USD'))
    expect(prices).toEqual([row])
    const documented = await sendAs(unknownClient(agent), bare)('GET', '/v1/webhooks')
    const listed = bodyOf(await send('GET', '/v1/webhooks'))
    expect(Object.keys(dataOf(documented))).toEqual(Object.keys(listed.data as Fields))
    expect(listed.webhooks).toEqual((listed.data as Fields).webhooks)
    expect(dataOf(await send('GET', '/v1/commodities'))).toBeArray()
    expect((await send('GET', '/v1/prices/latest?by_code=WTI_USD,NOPE_USD')).status).toBe(400)
  })

  test('an entity tag of one code is that of the body with the list, and answers 304', async () => {
    const send = as(unknownClient('desk/1'))
    const first = await send('GET', '/v1/prices/latest?by_code=WTI_USD')
    const tag = first.headers.get('etag')!
    const conditional: Sender = {
      name: 'conditional',
      headers: (key, request) => [
        ...unknownClient('desk/1').headers(key, request),
        ['If-None-Match', tag],
      ],
    }
    const again = await as(conditional)('GET', '/v1/prices/latest?by_code=WTI_USD')
    expect(again.status).toBe(304)
    expect((await as(conditional)('GET', '/v1/prices/latest?by_code=GOLD_USD')).status).toBe(200)
  })

  test('the documented shapes alone, where the list of profiles is empty', async () => {
    const send = sendAs(unknownClient('prices-go/1.2'), bare)
    const latest = await send('GET', '/v1/prices/latest?by_code=WTI_USD')
    expect(dataOf(latest)).not.toContainKey('prices')
    expect(latest.headers.get('vary') ?? '').not.toContain('User-Agent')
    expect((await send('GET', '/v1/prices/latest?by_code=WTI_USD,NOPE_USD')).status).toBe(400)
    expect((bodyOf(await send('GET', '/v1/alerts/none')).error as Fields).code).toBe('NOT_FOUND')
  })
})

describe('the facts that a family relies on in addition to its types', () => {
  test.each([senders.go, senders.php, senders.node, senders.python, senders.sheets, senders.mcp])(
    '$name waits a minute at most where its quota is used up',
    async sender => {
      await shipped.fault({
        path: '/v1/prices/latest',
        code: 'MONTHLY_QUOTA_EXCEEDED',
        count: 1,
      })
      const refused = await as(sender)('GET', '/v1/prices/latest?by_code=WTI_USD')
      expect({ status: refused.status, after: refused.headers.get('retry-after') }).toEqual({
        status: 429,
        after: '60',
      })
    },
  )

  test('go gets storage in one unit, and errors as text', async () => {
    const send = as(senders.go)
    const cushing = dataOf(await send('GET', '/v1/storage/cushing'))
    const rows = dataOf(await send('GET', '/v1/storage/history/cushing')) as unknown as Fields[]
    expect({ unit: cushing.unit, value: cushing.value }).toEqual({
      unit: 'thousand_barrels',
      value: rows[0]!.value,
    })
    expect(cushing.change).toBeCloseTo(Number(rows[0]!.value) - Number(rows[1]!.value), 3)
    expect(bodyOf(await send('GET', '/v1/alerts/none')).error).toBeString()
  })

  test.each([senders.node, senders.python])(
    '$name gets webhooks that are signed as its own helper verifies',
    async sender => {
      const created = await as(sender)('POST', '/v1/webhooks', {
        body: { url: 'http://127.0.0.1:9/hook', events: ['price.updated'] },
      })
      expect(dataOf(created).signature_scheme).toBe('body')
    },
  )

  test('mcp gets no null change, because it formats every change that is there', async () => {
    const overview = dataOf(await as(senders.mcp)('GET', '/v1/prices/all')).data as Fields
    const rows = Object.values(overview.prices as Record<string, Fields>)
    expect(rows.length).toBeGreaterThan(900)
    expect(rows.filter(row => row.change_24h_percent === null)).toEqual([])
  })

  test('a spreadsheet offers few categories', async () => {
    const rows = dataOf(await as(senders.sheets)('GET', '/v1/commodities')) as unknown as Fields[]
    const categories = new Set(rows.map(row => row.category))
    for (const category of ['oil', 'gas', 'products', 'coal', 'power'])
      expect(categories).toContain(category)
    expect(categories).not.toContain('crude_oil')
  })
})

test('contracts whose session has not settled have no nulls for the Node family', async () => {
  const monday = await startInstance({
    clock: '2026-11-30T02:00:00Z',
    world: { size: 'small' },
    settings: limits,
  })
  try {
    const unsettled = await monday.get('/v1/futures/exch-brent')
    expect(await unsettled.text()).toContain('"settlement_date":null')
    const played = await playNode(sendAs(senders.node, monday))
    expect(differing(played).filter(line => line.includes('/v1/futures'))).toEqual([])
  } finally {
    await monday.stop()
  }
}, 240_000)
