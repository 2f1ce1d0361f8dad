import { describe, expect, test } from 'bun:test'
import { isLimited, isScope, scopeOf, scopes } from '../../../src/plans/roles/scopes.ts'
import { interfaceRows } from '../../support/interface/interface.ts'

const keyed = interfaceRows.filter(row => row.access === 'key' || row.access === 'key-header-only')

/**
 * Operations for every key: they reveal nothing of an account, or call other paths for their
 * caller.
 */
const open = [
  'GET /openbb/metric',
  'GET /openbb/table',
  'GET /v1/excel/run',
  'GET /v1/excel/run.xml',
  'GET /v1/status',
  'GET /v1/webhook-ips',
  'POST /mcp',
]

describe('scopeOf', () => {
  test('names a scope for every route that takes a key, but for those that every key may ask', () => {
    expect(keyed.length).toBeGreaterThan(200)
    const without = keyed
      .filter(row => scopeOf(row.path) === undefined)
      .map(row => `${row.method} ${row.path}`)
    expect(without.sort()).toEqual(open)
  })

  test('leaves no scope without a route', () => {
    expect([...new Set(keyed.flatMap(row => scopeOf(row.path) ?? []))].sort()).toEqual(
      [...scopes].sort(),
    )
  })

  test.each([
    ['/v1/prices/latest', 'prices'],
    ['/v1/prices', 'prices'],
    ['/v1/stream', 'streams'],
    ['/cable', 'streams'],
    ['/billing/plans', 'account'],
    ['/v1/pricesx', undefined],
    ['/health', undefined],
  ])('%s is of %p', (path, scope) => expect(scopeOf(path)).toBe(scope as never))
})

test.each([
  ['prices', true],
  ['Prices', false],
  ['toString', false],
  ['', false],
])('%p is a scope: %p', (text, expected) => expect(isScope(text)).toBe(expected))

const plain = { readOnly: false, expiresAt: null, allowedIps: [], allowedDomains: [], scopes: [] }
test.each([
  ['nothing', false, plain],
  ['reading only', true, { ...plain, readOnly: true }],
  ['an expiry', true, { ...plain, expiresAt: 1 }],
  ['a network', true, { ...plain, allowedIps: ['10.0.0.0/8'] }],
  ['a domain', true, { ...plain, allowedDomains: ['example.com'] }],
  ['a scope', true, { ...plain, scopes: ['prices'] }],
])('a key with %s is limited: %p', (_, expected, key) => expect(isLimited(key)).toBe(expected))
