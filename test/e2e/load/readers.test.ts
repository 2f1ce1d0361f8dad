import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { documentText } from '../../../scripts/clients/document.ts'
import { remove, type Server, start, temporaryDir } from '../../support/instance/binary.ts'

const dir = temporaryDir()
let server: Server

const dayMs = 86_400_000
const firstDay = Date.parse('2026-10-01T00:00:00Z')

const isoDay = (day: number) => new Date(firstDay + day * dayMs).toISOString()

async function push(observations: { code: string; observed_at: string; price: number }[]) {
  const response = await fetch(`${server.url}/admin/v1/observations`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.adminToken}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ observations }),
  })
  expect(response.status).toBe(200)
}

const statistics = async (code: string) => {
  const response = await server.get(`/v1/analytics/statistics?code=${code}&period=90`)
  return { status: response.status, body: (await response.json()) as { data: Statistics } }
}

interface Statistics {
  statistics: { data_points: number; max: number; min: number }
}

beforeAll(async () => {
  server = await start('serve', dir)
  await push(
    Array.from({ length: 20 }, (_, day) => ({
      code: 'WTI_USD',
      observed_at: isoDay(day),
      price: 70 + day / 10,
    })),
  )
})

afterAll(async () => {
  await server.stop()
  remove(dir)
})

describe('reader threads', () => {
  test('a heavy response includes every write that was acknowledged before its request', async () => {
    for (let round = 0; round < 40; round += 1) {
      const price = 90 + round / 100
      await push([{ code: 'WTI_USD', observed_at: isoDay(19), price }])
      const { body } = await statistics('WTI_USD')
      expect(body.data.statistics.max).toBe(price)
    }
  })

  test('a day that goes into quarantine leaves heavy answers at once, and comes back', async () => {
    const before = (await statistics('WTI_USD')).body.data.statistics.data_points
    const headers = {
      authorization: `Bearer ${server.adminToken}`,
      'content-type': 'application/json',
    }
    const added = await fetch(`${server.url}/admin/v1/quarantine`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        code: 'WTI_USD',
        from: '2026-10-05',
        to: '2026-10-06',
        reason: 'a test',
      }),
    })
    const { id } = ((await added.json()) as { data: { id: number } }).data
    expect((await statistics('WTI_USD')).body.data.statistics.data_points).toBe(before - 2)
    await fetch(`${server.url}/admin/v1/quarantine/${id}`, { method: 'DELETE', headers })
    expect((await statistics('WTI_USD')).body.data.statistics.data_points).toBe(before)
  })

  test('a code that had no data is answered as soon as it has some', async () => {
    expect((await statistics('BRENT_CRUDE_USD')).status).toBe(404)
    await push(
      Array.from({ length: 10 }, (_, day) => ({
        code: 'BRENT_CRUDE_USD',
        observed_at: isoDay(day),
        price: 75 + day,
      })),
    )
    const { status, body } = await statistics('BRENT_CRUDE_USD')
    expect(status).toBe(200)
    expect(body.data.statistics.data_points).toBe(10)
  })

  test('a heavy answer is counted and carries every header of its key', async () => {
    const used = async () => {
      const response = await server.get('/v1/analytics/statistics?code=WTI_USD')
      expect(response.headers.get('ratelimit-policy')).toContain('quota')
      return Number(response.headers.get('x-ratelimit-used'))
    }
    const first = await used()
    expect(await used()).toBe(first + 1)
  })

  test('a heavy response is the same in every content coding and lists each Vary header once', async () => {
    const path = '/v1/prices/latest'
    const ask = (coding: string, headers: Record<string, string> = {}) =>
      server.get(path, { 'accept-encoding': coding, ...headers })
    const plain = await ask('identity')
    const text = await plain.text()
    expect(text.length).toBeGreaterThan(1024)
    expect(plain.headers.get('content-encoding')).toBeNull()
    for (const coding of ['gzip', 'br', 'zstd']) {
      const encoded = await ask(coding)
      expect(encoded.headers.get('content-encoding')).toBe(coding)
      const varies = encoded.headers.get('vary')!.toLowerCase().split(', ')
      expect(varies).toContain('accept-encoding')
      expect(new Set(varies).size).toBe(varies.length)
      // The runtime decodes what it names.
      expect(await encoded.text()).toBe(text)
      const etag = encoded.headers.get('etag')!
      expect(etag).toEndWith(`-${coding}"`)
      const again = await ask(coding, { 'if-none-match': etag })
      expect({ status: again.status, etag: again.headers.get('etag') }).toEqual({
        status: 304,
        etag,
      })
    }
  })

  test('an invalid heavy request is refused with the same error as any other request', async () => {
    const response = await server.get('/v1/analytics/statistics?code=NO_SUCH_CODE')
    expect(response.status).toBe(400)
    expect(response.headers.get('x-error-code')).toBe('invalid_code')
  })
})

describe('the OpenAPI document', () => {
  const documentOf = async (toml: string) => {
    const other = temporaryDir()
    const config = join(other, 'wellhead.toml')
    await Bun.write(config, toml)
    const one = await start('serve', other, '--config', config)
    try {
      return await (await one.get('/openapi.json')).text()
    } finally {
      await one.stop()
      remove(other)
    }
  }

  test('that came with the binary is the one that its routes make', async () => {
    const shipped = await (await server.get('/openapi.json')).text()
    expect(shipped.length).toBeGreaterThan(1_000_000)
    expect(Bun.hash(shipped)).toBe(Bun.hash(await documentText(undefined)))
  })

  test('the OpenAPI document is rebuilt for other settings, identically with and without a query worker', async () => {
    const brand = '[brand]\nheader_prefix = "X-Desk-"\n'
    const [byReader, byMain] = await Promise.all([
      documentOf(brand),
      documentOf(`${brand}[readers]\nthreads = 0\n`),
    ])
    expect(byMain.length).toBeGreaterThan(1_000_000)
    expect(byMain).toContain('X-Desk-')
    expect(Bun.hash(byReader)).toBe(Bun.hash(byMain))
  })
})

describe('GET /admin/v1/export', () => {
  const exported = async (codes: string, coding = 'identity') => {
    const response = await fetch(`${server.url}/admin/v1/export?codes=${codes}`, {
      headers: { authorization: `Bearer ${server.adminToken}`, 'accept-encoding': coding },
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-encoding') ?? 'identity').toBe(coding)
    return response.text()
  }

  test('codes named twice or in any order are exported once, in their order', async () => {
    const once = await exported('BRENT_CRUDE_USD,WTI_USD')
    expect(await exported('WTI_USD,WTI_USD,BRENT_CRUDE_USD')).toBe(once)
    expect(once.split('\n')).toHaveLength(1 + 10 + 20 + 1)
  })

  test('an export larger than what goes over at once arrives whole', async () => {
    const days = 4_000
    for (let from = 0; from < days * 24; from += 10_000)
      await push(
        Array.from({ length: Math.min(10_000, days * 24 - from) }, (_, hour) => ({
          code: 'NATURAL_GAS_USD',
          observed_at: new Date(firstDay - (from + hour + 1) * 3_600_000).toISOString(),
          // Not alike enough to be small when encoded.
          price: 3 + (((from + hour) * 7919) % 9973) / 10_000,
        })),
      )
    const text = await exported('NATURAL_GAS_USD')
    const lines = text.trimEnd().split('\n')
    expect(lines).toHaveLength(1 + days * 24)
    expect(lines.at(-1)).toStartWith('NATURAL_GAS_USD,2026-09-30T23:00:00Z,')
    for (const coding of ['gzip', 'br', 'zstd'])
      expect(Bun.hash(await exported('NATURAL_GAS_USD', coding))).toBe(Bun.hash(text))
  })
})
