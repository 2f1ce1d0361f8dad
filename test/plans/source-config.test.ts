import { describe, expect, test } from 'bun:test'
import {
  authHeaders,
  isInside,
  pushSecret,
  sourceConfig,
  waitMinutes,
  withoutCredentials,
} from '../../src/plans/source-config.ts'

const faultsOf = (config: Record<string, unknown>) =>
  sourceConfig(config).faults.map(fault => fault.field)

describe('sourceConfig', () => {
  test('is understood as it is written, and has its defaults', () => {
    const { config, faults } = sourceConfig({
      url: 'https://prices.example.com/a',
      items: 'data.prices',
      format: 'JSON',
      interval_minutes: 15,
      anything: { else: 1 },
      fields: { price: 'usd.mid' },
      defaults: { port: 'SINGAPORE' },
      auth: 'header',
      auth_header: 'X-Token',
    })
    expect(faults).toEqual([])
    expect(config).toEqual({
      url: 'https://prices.example.com/a',
      path: undefined,
      items: ['data', 'prices'],
      format: 'json',
      intervalMinutes: 15,
      fields: new Map([['price', ['usd', 'mid']]]),
      defaults: new Map([['port', 'SINGAPORE']]),
      auth: 'header',
      authHeader: 'X-Token',
    } as never)
    expect(sourceConfig(null).config).toMatchObject({
      intervalMinutes: 60,
      items: [],
      url: undefined,
      auth: undefined,
      authHeader: 'X-API-Key',
    })
  })
  test.each([
    [{ url: 5 }, 'url'],
    [{ url: 'https://example.com/\n' }, 'url'],
    [{ path: '../secrets.csv' }, 'path'],
    [{ format: 'xml' }, 'format'],
    [{ items: 'a.b.c.d.e.f.g.h.i.j.k' }, 'items'],
    [{ fields: ['price'] }, 'fields'],
    [{ fields: { price: 3 } }, 'fields.price'],
    [{ defaults: { price: 500 } }, 'defaults.price'],
    [{ defaults: { timestamp: '2026-11-20' } }, 'defaults.timestamp'],
    [{ defaults: { port: {} } }, 'defaults.port'],
    [{ auth: 'digest' }, 'auth'],
    [{ auth_header: 'Host' }, 'auth_header'],
    [{ auth_header: 'Content-Length' }, 'auth_header'],
    [{ auth_header: 'X Y' }, 'auth_header'],
    [{ auth_header: 'X\r\nY' }, 'auth_header'],
    [{ interval_minutes: 0 }, 'interval_minutes'],
    [{ interval_minutes: 1.5 }, 'interval_minutes'],
    [{ interval_minutes: '60' }, 'interval_minutes'],
    [{ interval_minutes: 10_081 }, 'interval_minutes'],
  ])('%j is refused for %p', (config, field) => {
    expect(faultsOf(config)).toEqual([field])
  })
})

test.each([
  ['today.csv', true],
  ['a/b/today.csv', true],
  ['..today/a', true],
  ['..', false],
  ['a/../b', false],
  ['./a', false],
  ['/etc/passwd', false],
  ['a//b', false],
  ['a/', false],
  ['a\\..\\b', false],
  ['C:/a', false],
  ['a\0b', false],
  ['', false],
])('path %p stays inside: %p', (path, is) => {
  expect(isInside(path)).toBe(is)
})

describe('authHeaders and withoutCredentials', () => {
  const headersOf = (config: Record<string, unknown>, credentials: Record<string, string>) =>
    authHeaders(sourceConfig(config).config, credentials)

  test.each([
    [{}, {}, {}],
    [{}, { token: 'abc' }, { Authorization: 'Bearer abc' }],
    [{}, { username: 'me', password: 'pa:ss' }, { Authorization: `Basic ${btoa('me:pa:ss')}` }],
    [{}, { api_key: 'abc' }, { 'X-API-Key': 'abc' }],
    [{ auth_header: 'X-Auth' }, { api_key: 'abc' }, { 'X-Auth': 'abc' }],
    [{ auth: 'header' }, { token: 'abc' }, { 'X-API-Key': 'abc' }],
    [{ auth: 'bearer' }, { api_key: 'abc' }, { Authorization: 'Bearer abc' }],
    [{ auth: 'none' }, { token: 'abc' }, {}],
  ])('with %j of %j go out as %j', (config, credentials, headers) => {
    expect(headersOf(config, credentials)).toEqual({ headers: headers as Record<string, string> })
  })
  test.each([
    [{ auth: 'basic' }, { token: 'a-long-token' }],
    [{ auth: 'bearer' }, { username: 'somebody', password: 'a-long-password' }],
    [{}, { token: 'a-long\r\nX-Evil: token' }],
    [{}, { username: 'some:body', password: 'a-long-password' }],
  ])(
    'the settings %j with the credentials %j are refused with a reason that does not repeat the credentials',
    (config, credentials) => {
      const answer = headersOf(config, credentials as Record<string, string>)
      const { fault } = answer as { fault: string }
      expect(fault).toBeString()
      for (const value of Object.values(credentials)) expect(fault).not.toContain(value)
    },
  )
  test('are taken out of what comes back, as they are and as they are spelled elsewhere', () => {
    const mask = withoutCredentials({ username: 'trader', password: 'S3cret "word"' })
    const echo = JSON.stringify({
      a: 'S3cret "word"',
      b: btoa('trader:S3cret "word"'),
      c: encodeURIComponent('S3cret "word"'),
      d: 531.5,
    })
    expect(JSON.parse(mask(echo))).toEqual({
      a: '[redacted]',
      b: '[redacted]',
      c: '[redacted]',
      d: 531.5,
    })
    expect(withoutCredentials({ token: '12345' })('price 12345')).toBe('price 12345')
  })
  test('open an inbound address only when they are long enough', () => {
    expect(pushSecret({ secret: 'x'.repeat(16) })).toBe('x'.repeat(16))
    expect(pushSecret({ token: 'y'.repeat(16) })).toBe('y'.repeat(16))
    expect([
      pushSecret({ secret: 'x'.repeat(15) }),
      pushSecret({}),
      pushSecret({ password: 'x'.repeat(20) }),
    ]).toEqual([undefined, undefined, undefined])
  })
})

test('a source that fails waits twice as long each time, up to a day', () => {
  expect([0, 1, 2, 3, 4, 5, 6, 100].map(failures => waitMinutes(60, failures))).toEqual([
    60, 60, 120, 240, 480, 960, 1440, 1440,
  ])
  expect(waitMinutes(10_080, 3)).toBe(10_080)
})
