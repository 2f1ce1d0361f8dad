import { domainToASCII } from 'node:url'
import { t } from 'elysia'
import { network } from '../../config-keys.ts'
import { integer } from '../../http/answer/integer.ts'
import { type Form, formBody, formOf } from '../../http/input/form.ts'
import { type Problem, type ProblemCode, stateForbids } from '../../http/problem/problem.ts'
import { secondMs } from '../../lib/instant.ts'
import type { KeyChange, KeyRefusal } from '../../service/keys/key-changes.ts'

const listMax = 100
const overlapSecondsMax = 86_400

/** What may be set of a key; everything may be left out. */
export const keyBody = (nameMax: number) =>
  formBody(
    t.Object({
      name: t.Optional(
        t.Union([t.String({ maxLength: nameMax, examples: ['trading desk'] }), t.Null()]),
      ),
      allowed_ips: t.Optional(
        t.Array(t.String({ examples: ['203.0.113.0/24'] }), {
          maxItems: listMax,
          description: 'Networks the key may be used from.',
        }),
      ),
      allowed_domains: t.Optional(
        t.Array(t.String({ examples: ['example.com'] }), {
          maxItems: listMax,
          description: 'Hosts whose pages may use the key.',
        }),
      ),
      expires_at: t.Optional(
        t.Union([t.String({ format: 'date-time', examples: ['2027-12-31T00:00:00Z'] }), t.Null()], {
          description: 'In the future.',
        }),
      ),
      read_only: t.Optional(t.Boolean({ description: 'Good for GET and HEAD only.' })),
    }),
  )

export const rollBody = formBody(
  t.Object({
    overlap_seconds: t.Optional(
      integer({
        minimum: 1,
        maximum: overlapSecondsMax,
        description: 'How long the old token stays good; absent: not at all.',
      }),
    ),
  }),
)

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const hostPattern = new RegExp(`^(?=.{1,253}$)${label}(?:\\.${label})*$`)

/** A host name as browsers send it: lower case, international names in their ASCII form. */
function hostOf(text: string): string | undefined {
  const host = domainToASCII(text)
  return hostPattern.test(host) ? host : undefined
}

const tokenLike = /[0-9a-f]{64}/i

/** The name of a key, which may be null; a token in it would be stored and shown as it is. */
export function keyNameOf(
  form: Form,
  field: string,
  charactersMax: number,
): string | null | undefined {
  if (form.isNull(field)) return null
  const name = form.text(field, charactersMax)
  return name !== undefined && tokenLike.test(name)
    ? form.fault(field, 'must not hold a token, which would then be stored.')
    : name
}

/** What a body says of a key, checked; only what it says. */
export function keyChangeOf(body: unknown, nameMax: number, now: number): KeyChange {
  const form = formOf(body)
  const name = keyNameOf(form, 'name', nameMax)
  const allowedIps = form.isNull('allowed_ips')
    ? []
    : form.list('allowed_ips', 'networks such as 203.0.113.0/24', listMax, network)
  const allowedDomains = form.isNull('allowed_domains')
    ? []
    : form.list('allowed_domains', 'host names such as example.com', listMax, hostOf)
  const expiresAt = form.isNull('expires_at') ? null : form.moment('expires_at')
  if (typeof expiresAt === 'number' && expiresAt <= now)
    form.fault('expires_at', 'must be in the future.')
  const readOnly = form.flag('read_only')
  form.check()
  return {
    ...(name !== undefined && { name }),
    ...(allowedIps && { allowedIps }),
    ...(allowedDomains && { allowedDomains }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(readOnly !== undefined && { readOnly }),
  }
}

/** How long a rolled token stays good beside the new one. */
export function overlapMsOf(body: unknown): number {
  const form = formOf(body)
  const seconds = form.integer('overlap_seconds', 1, overlapSecondsMax)
  form.check()
  return (seconds ?? 0) * secondMs
}

/**
 * The result of a change, or its refusal thrown; `revoked` is the code where the key is revoked
 * already.
 */
export function granted<T extends object>(
  result: T | KeyRefusal,
  revoked: ProblemCode = 'api_key_revoked',
): T {
  if ('refused' in result) throw keyProblem(result, revoked)
  return result
}

function keyProblem(refusal: KeyRefusal, revoked: ProblemCode): Problem {
  switch (refusal.refused) {
    case 'limit': {
      const { limit, active } = refusal
      return stateForbids(
        'api_key_limit_reached',
        `The account has ${active} active keys of ${limit} it may have; revoke one first.`,
        {
          limit,
          current_count: active,
        },
      )
    }
    case 'last_active':
      return stateForbids(
        'last_active_key',
        'This is the last active key of the account; create another one before you revoke it.',
      )
    case 'revoked':
      return stateForbids(
        revoked,
        'This API key has been revoked, and a revoked key stays revoked.',
      )
  }
}
