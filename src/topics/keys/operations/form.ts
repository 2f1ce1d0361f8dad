import { domainToASCII } from 'node:url'
import { network } from '../../../config/kinds.ts'
import { t } from '../../../http/answer/schema.ts'
import {
  body,
  checked,
  type FieldOptions,
  flag,
  listOf,
  moment,
  nullable,
  nullableAs,
  optional,
  text,
  whole,
} from '../../../http/input/body-schema.ts'
import { type Problem, type ProblemCode, stateForbids } from '../../../http/problem/problem.ts'
import { camelFields } from '../../../lib/text/name-case.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import { isScope, scopes } from '../../../plans/roles/scopes.ts'
import type { KeyChange, KeyRefusal } from '../service/key-changes.ts'

const listMax = 100
const overlapSecondsMax = 86_400

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const hostPattern = new RegExp(`^(?=.{1,253}$)${label}(?:\\.${label})*$`)

/** A host name as browsers send it: lower case, international names in their ASCII form. */
function hostOf(text: string): string | undefined {
  const host = domainToASCII(text)
  return hostPattern.test(host) ? host : undefined
}

const tokenLike = /[0-9a-f]{64}/i

const tokenInName = 'must not contain a token, because it would be stored.'

/** The name of a key, which may be null; a token in it would be stored and shown as it is. */
export const keyNameField = (charactersMax: number, options?: FieldOptions) =>
  optional(
    nullable(
      checked(text(charactersMax, { examples: ['trading desk'] }), name =>
        tokenLike.test(name) ? tokenInName : undefined,
      ),
      options,
    ),
  )

/** What a key is limited to, such as its networks; null and an empty list do not limit it. */
const limit = <T extends string>(
  item: Parameters<typeof listOf>[0],
  what: Parameters<typeof listOf>[1],
  read: (text: string) => T | undefined,
  description: string,
  countMax = listMax,
) => optional(nullableAs(listOf(item, what, countMax, read), [], { description }))

/** The editable fields of a key; all are optional. */
export const createKeyBody = (nameMax: number) =>
  body({
    name: keyNameField(nameMax),
    allowed_ips: limit(
      t.String({ examples: ['203.0.113.0/24'] }),
      { nouns: 'networks', item: 'an address or a network such as 203.0.113.0/24' },
      network,
      'Networks the key may be used from; null: any.',
    ),
    allowed_domains: limit(
      t.String({ examples: ['example.com'] }),
      { nouns: 'host names', item: 'a host name such as example.com' },
      hostOf,
      'Hosts whose pages may use the key; null: any.',
    ),
    expires_at: optional(
      nullable(moment({ examples: ['2027-12-31T00:00:00Z'] }), {
        description: 'Must be in the future.',
      }),
    ),
    read_only: optional(
      flag({
        description:
          'Allows only requests that change nothing: GET, HEAD, and POST operations that only read, such as a batch of prices or MCP.',
      }),
    ),
    scopes: limit(
      t.String({ enum: scopes, examples: ['prices'] }),
      { nouns: 'scopes', item: scopes },
      text => (isScope(text) ? text : undefined),
      'Scopes of the key; null for all.',
      scopes.length,
    ),
  })

type KeyBody = ReturnType<typeof createKeyBody>

/** The validated changes of a key; only the fields in the body. */
export function readKeyChange(keyBody: KeyBody, input: unknown, now: number): KeyChange {
  const values = keyBody.read(input, (form, { expires_at: expiresAt }) => {
    if (typeof expiresAt === 'number' && expiresAt <= now)
      form.fault('expires_at', 'must be in the future.')
  })
  return camelFields(values)
}

export const RollBody = body({
  overlap_seconds: optional(
    whole(1, overlapSecondsMax, {
      description: 'How long the old token stays valid. Default: 0.',
    }),
  ),
})

/** How long a rolled token stays good alongside the new one. */
export const readOverlapMs = (input: unknown): number =>
  (RollBody.read(input).overlap_seconds ?? 0) * secondMs

/**
 * The result of a change, or its refusal thrown; `revoked` is the code where the key is revoked
 * already.
 */
export function resultOf<T extends object>(
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
        `The account has ${active} active keys of ${limit} allowed. Revoke one first.`,
        {
          limit,
          current_count: active,
        },
      )
    }
    case 'last_active':
      return stateForbids(
        'last_active_key',
        'You cannot revoke the last active key. Create a replacement first.',
      )
    case 'revoked':
      return stateForbids(revoked, 'This API key has been revoked and cannot be reinstated.')
  }
}
