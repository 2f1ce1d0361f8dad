import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import type { InternalRoute } from 'elysia'
import { front } from '../../src/http/front.ts'
import { linker } from '../../src/http/problem/links.ts'
import { part } from '../support/full.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import { boundless, innardsIn, type Row, rows } from '../support/interface/every-route.ts'
import { controls } from '../support/interface/hostile.ts'

let copy: DemoInstance

beforeAll(() => {
  copy = demoInstance(undefined, boundless)
}, 120_000)
// Its database is closed by then, and nothing can be put away into it.
afterAll(() => rmSync(copy.dir, { recursive: true, force: true }))

const named = (row: Row) => `${row.method} ${row.path}`
const pathOf = (row: Row) => row.sample ?? row.path.replace(/\{\w+\}/g, '1')
const keyFor = (row: Row) =>
  row.access === 'operator' || row.access === 'keyless' ? null : copy.apiKey
/** The token is requested again, because one of the routes makes another. */
const operator = (row: Row): Record<string, string> =>
  row.access === 'operator'
    ? { authorization: `Bearer ${copy.running.services.adminTokens.rotate()}` }
    : {}

async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.includes('event-stream')) return response.text()
  await response.body?.cancel()
  return ''
}

/**
 * Contents that no response header may have: a control character, or a line that a client wrote.
 */
function injectedIn({ headers }: Response): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  const control = /[\x00-\x08\x0a-\x1f\x7f]/
  return [...headers]
    .filter(([name, value]) => name === 'x-injected' || control.test(value))
    .map(([name]) => name)
}

const hostile = `a${controls}\u00ff`
const splitting = 'x\r\nX-Injected: 1\r\n\r\n<script>'
const reflected = [
  'x-request-id',
  'idempotency-key',
  'origin',
  'referer',
  'if-none-match',
  'accept',
  'accept-language',
  'user-agent',
  'content-type',
]

describe('every route: control characters', () => {
  for (const row of part(rows)) {
    test(`in a request to ${named(row)} neither break it nor appear in a response header`, async () => {
      const shared = { key: keyFor(row), ...(row.body !== undefined && { body: row.body }) }
      const every = Object.fromEntries(reflected.map(name => [name, hostile]))
      const joined = `${pathOf(row)}${pathOf(row).includes('?') ? '&' : '?'}`
      const injected = encodeURIComponent(splitting)
      const answers = [
        await copy.ask(row.method, pathOf(row), {
          ...shared,
          headers: { ...every, ...operator(row) },
        }),
        await copy.ask(
          row.method,
          `${joined}by_code=${injected}&code=${injected}&page=${injected}&format=${injected}`,
          {
            ...shared,
            headers: operator(row),
          },
        ),
        await copy.ask(row.method, row.path.replace(/\{\w+\}/g, injected), {
          ...shared,
          headers: operator(row),
        }),
      ]
      for (const response of answers) {
        expect(response.status, await textOf(response)).toBeLessThan(500)
        expect(injectedIn(response)).toEqual([])
      }
      expect(answers[0]!.headers.get('x-request-id') ?? '').not.toContain('\x01')
    })
  }
})

describe('every route: the spelling of an address', () => {
  const other = (path: string): string[] => [
    `/${path}`,
    `//${path}`,
    `${path}/`,
    path.toUpperCase(),
    path.replace('/', '/./'),
    path.replace('/', '/x/../'),
    path.replace('/', '/%2e%2e/'),
    path.replace(/\/(\w)/, (_, letter: string) => `/%${letter.charCodeAt(0).toString(16)}`),
    path.replace(/\/(?=[^/]*$)/, '//'),
    path.replace(/\/(?=[^/]*$)/, '%2f'),
    path.replace(/\/(?=[^/]*$)/, '\\'),
    `${path};x=1`,
    `${path}%00`,
    `${path}%20`,
    `${path}.json`,
  ]

  test('no other spelling of a path and no other host opens a route that requires a key', async () => {
    const { app, services } = copy.running
    const door = front({
      handle: request => app.handle(request),
      ids: services.ids,
      links: linker(services.config),
      corsOrigins: [],
      vary: '',
      originals: new WeakMap(),
    })
    const opened: string[] = []
    for (const row of rows.filter(({ access }) => access !== 'keyless' && access !== '??')) {
      const path = pathOf(row).replace(/\?.*/, '')
      for (const spelling of other(path).filter(candidate => /^[/\\]/.test(candidate))) {
        for (const host of ['localhost', 'localhost/health', '127.0.0.1:1']) {
          if (host !== 'localhost' && spelling !== `${path}/`) continue
          const response = await door(
            new Request(`http://localhost${spelling}`, { method: row.method, headers: { host } }),
          )
          const text = await textOf(response)
          const refused =
            response.status >= 400 || (text.includes('auth_failed') && path.endsWith('.xml'))
          if (!refused)
            opened.push(`${row.method} ${host}${spelling} ${response.status} ${text.slice(0, 100)}`)
        }
      }
    }
    expect(opened).toEqual([])
  })
})

describe('every route when the database is gone', () => {
  test('every route fails without a word of what failed', async () => {
    copy.running.services.db.close()
    const hidden = (copy.running.app.routes as InternalRoute[])
      .filter(
        ({ method, hooks }) =>
          (hooks as { detail?: { hide?: boolean } }).detail?.hide === true &&
          ['GET', 'POST'].includes(method),
      )
      .map(
        ({ method, path }): Row => ({
          method,
          path: path.replace(/:(\w+)/g, '{$1}'),
          access: 'key',
          sample: null,
          success: 200,
        }),
      )
    let failed = 0
    for (const row of [...rows, ...hidden]) {
      const headers: Record<string, string> =
        row.access === 'operator' ? { authorization: `Bearer ${copy.adminToken}` } : {}
      const response = await copy.ask(row.method, pathOf(row), {
        key: keyFor(row),
        headers,
        ...(row.body !== undefined && { body: row.body }),
      })
      const text = await textOf(response)
      if (response.status < 400) continue
      expect(innardsIn(text, copy) ?? '', named(row)).toBe('')
      expect(text, named(row)).not.toMatch(/closed database/i)
      if (response.status < 500) continue
      failed += 1
      expect(response.headers.has('x-request-id'), named(row)).toBe(true)
      expect(JSON.stringify([...response.headers]), named(row)).not.toMatch(
        /SQLITE|closed database/i,
      )
    }
    expect(failed).toBeGreaterThan(30)
  })
})
