import { describe, expect, test } from 'bun:test'
import { jwtVerify, SignJWT } from 'jose'
import {
  createSessionTokens,
  sessionKeyOf,
} from '../../../../src/topics/account/service/session-tokens.ts'
import type { Session } from '../../../../src/topics/account/store/sessions.ts'

const masterKey = 'a master key for tests'
const tokens = createSessionTokens(masterKey)
const now = Date.parse('2026-11-20T15:00:00Z')
const session: Session = {
  id: 'a-session',
  familyId: 'a-family',
  accountId: 'an-account',
  method: 'password',
  begunAt: now,
  createdAt: now,
  expiresAt: now + 60_000,
  endedAt: null,
  replaced: false,
}
const key = sessionKeyOf(masterKey)
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const claims = {
  typ: 'session',
  sub: 'an-account',
  iat: now / 1000,
  exp: now / 1000 + 60,
  jti: 'a-session',
}
const signed = (payload: Record<string, unknown>, alg = 'HS256', secret = key) =>
  new SignJWT(payload).setProtectedHeader({ alg, typ: 'JWT' }).sign(secret)

test('a session token is a JWT to another library, with the claims of the contract', async () => {
  const { payload, protectedHeader } = await jwtVerify(await tokens.sign(session), key, {
    algorithms: ['HS256'],
    currentDate: new Date(now),
  })
  expect(payload).toEqual(claims)
  expect(protectedHeader.alg).toBe('HS256')
})

test('a signed session token can be read until the second in which it expires', async () => {
  const token = await tokens.sign(session)
  expect(tokens.read(token, now)).toEqual({
    sub: 'an-account',
    iat: claims.iat,
    exp: claims.exp,
    jti: 'a-session',
  })
  expect(tokens.read(token, now + 59_999)).toBeDefined()
  expect(tokens.read(token, now + 60_000)).toBeUndefined()
})

test('a good token that another library signed under the same key is read: only what follows differs from it', async () => {
  expect(tokens.read(await signed(claims), now)).toBeDefined()
})

describe('createSessionTokens: is not read', () => {
  const forged: [string, () => Promise<string> | string][] = [
    [
      'without a signature, alg none',
      () => `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`,
    ],
    [
      'alg none with the signature of another',
      async () =>
        `${part({ alg: 'none' })}.${part(claims)}.${(await signed(claims)).split('.')[2]}`,
    ],
    ['signed with the key, but HS512', () => signed(claims, 'HS512', new Uint8Array(64).fill(1))],
    ['signed with the same key, but HS384', () => signed(claims, 'HS384', key)],
    ['signed under another key', () => signed(claims, 'HS256', sessionKeyOf('another master key'))],
    [
      'signed under the master key itself',
      () => signed(claims, 'HS256', new TextEncoder().encode(masterKey.padEnd(32))),
    ],
    ['of another type', () => signed({ ...claims, typ: 'invitation' })],
    [
      'of no type',
      () => signed({ sub: claims.sub, iat: claims.iat, exp: claims.exp, jti: claims.jti }),
    ],
    [
      'without an end',
      () => signed({ typ: 'session', sub: 'an-account', iat: claims.iat, jti: 'a-session' }),
    ],
    [
      'with an end that is a text',
      () => signed({ ...claims, exp: '9999999999' as never }).catch(() => 'a.b.c'),
    ],
    [
      'without a session',
      () => signed({ typ: 'session', sub: 'an-account', iat: claims.iat, exp: claims.exp }),
    ],
    ['over since a second', () => signed({ ...claims, exp: now / 1000 - 1 })],
    [
      'with the payload of another',
      async () => withPart(await signed(claims), 1, part({ ...claims, sub: 'another-account' })),
    ],
    ['with a changed signature', async () => withPart(await signed(claims), 2, 'A'.repeat(43))],
    ['with a cut signature', async () => (await signed(claims)).slice(0, -1)],
    ['with a longer signature', async () => `${await signed(claims)}A`],
    ['with a fourth part', async () => `${await signed(claims)}.e30`],
    [
      'with a header that this instance does not write',
      () => new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' }).sign(key),
    ],
    ['with two parts', async () => (await signed(claims)).split('.').slice(0, 2).join('.')],
    [
      'with a header that asks for more',
      async () =>
        withPart(
          await signed(claims),
          0,
          part({ alg: 'HS256', typ: 'JWT', kid: '../../dev/null' }),
        ),
    ],
    ['empty', () => ''],
    ['dots', () => '..'],
  ]
  test.each(forged)('a session token is not read that is %s', async (_, make) => {
    expect(tokens.read(await make(), now)).toBeUndefined()
  })
})

function withPart(token: string, index: number, text: string): string {
  const parts = token.split('.')
  parts[index] = text
  return parts.join('.')
}
