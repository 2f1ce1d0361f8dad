import { timingSafeEqual } from 'node:crypto'
import { keyedHash } from '../../../lib/secrets/keyed-hash.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { hourMs } from '../../../lib/time/instant.ts'

/** A page about one account, for every holder of its address. */
export interface BillingPage {
  accountId: string
  returnUrl: string | undefined
  expiresAt: number
}

/**
 * Addresses of pages that show what an account has bought; they are signed, not stored, and end by
 * themselves.
 */
export type BillingPages = ReturnType<typeof createBillingPages>

const lifetimeMs = hourMs
const context = 'billing page'

export function createBillingPages({ masterKey, clock }: { masterKey: string; clock: Clock }) {
  const signed = (text: string) => Buffer.from(keyedHash(masterKey, context, text))
  return {
    open(accountId: string, returnUrl?: string) {
      const expiresAt = clock.now() + lifetimeMs
      const page: BillingPage = { accountId, returnUrl, expiresAt }
      const text = Buffer.from(JSON.stringify(page)).toString('base64url')
      return {
        path: `/billing/portal?session=${text}.${signed(text).toString('base64url')}`,
        expiresAt,
      }
    },
    /** Undefined for an address that was not made here, or is over. */
    read(token: string) {
      const [text = '', signature = ''] = token.split('.')
      const [presented, expected] = [Buffer.from(signature, 'base64url'), signed(text)]
      if (presented.length !== expected.length || !timingSafeEqual(presented, expected))
        return undefined
      const page = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as BillingPage
      return clock.now() < page.expiresAt ? page : undefined
    },
  }
}
