import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { SignJWT } from 'jose'
import { secondMs } from '../../../lib/time/instant.ts'
import type { Session } from '../store/sessions.ts'

/** The claims of a session token: the account, its validity (Unix seconds), and the session. */
export interface SessionClaims {
  sub: string
  iat: number
  exp: number
  jti: string
}

/** The kind of token, which distinguishes it from other JWTs under the same key. */
const kind = 'session'
const header = { alg: 'HS256', typ: 'JWT' } as const
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The key that session tokens are signed with. */
export const sessionKeyOf = (masterKey: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', masterKey, '', 'session tokens', 32))

/**
 * Signs and reads session tokens: JWT, HS256, under a key that is drawn from the master key and
 * used for nothing else.
 */
export function createSessionTokens(masterKey: string) {
  const key = sessionKeyOf(masterKey)
  const ownHeader = encoded(header)

  /**
   * The gate is synchronous: a single promise would make every response of the instance one. So the
   * signature is checked here, where the library would return a promise. Nothing of the token
   * chooses how: its header must be, byte for byte, the one that this instance writes.
   */
  const isOurs = (head: string, payload: string, signature: string): boolean => {
    if (head !== ownHeader) return false
    const expected = Buffer.from(
      createHmac('sha256', key).update(`${head}.${payload}`).digest('base64url'),
    )
    const bytes = Buffer.from(signature)
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  }

  return {
    sign: ({ id, accountId, createdAt, expiresAt }: Session) =>
      new SignJWT({ typ: kind })
        .setProtectedHeader(header)
        .setSubject(accountId)
        .setIssuedAt(Math.floor(createdAt / secondMs))
        .setExpirationTime(Math.floor(expiresAt / secondMs))
        .setJti(id)
        .sign(key),
    /** The claims of a token of ours that is in force at `now` (Unix ms). */
    read(token: string, now: number): SessionClaims | undefined {
      const [head, payload, signature, ...rest] = token.split('.')
      if (!head || !payload || !signature || rest.length > 0 || !isOurs(head, payload, signature))
        return undefined
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Record<
        string,
        unknown
      >
      const { sub, iat, exp, jti, typ } = claims
      if (typ !== kind || typeof sub !== 'string' || typeof jti !== 'string') return undefined
      if (typeof iat !== 'number' || typeof exp !== 'number' || now >= exp * secondMs)
        return undefined
      return { sub, iat, exp, jti }
    },
  }
}
