import { t } from 'elysia'
import { integer } from '../../../../http/answer/integer.ts'
import { PageMetaShape } from '../../../../http/input/page.ts'
import { momentParameter, textParameter } from '../../../../http/input/typed.ts'
import { envelope, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { orNull } from '../../../../http/operations/schema.ts'
import { invalidParameter } from '../../../../http/problem/problem.ts'
import { isoInstant, parseDay, parseInstant } from '../../../../lib/time/instant.ts'
import type { AuditEntry } from '../../store/audit.ts'

export type AdminAuditDeps = Pick<Context, 'audit' | 'keys'>

const perPageMax = 500

const EntryShape = t.Object(
  {
    id: integer({ description: 'Rises by one from entry to entry.', examples: [42] }),
    at: t.String({ format: 'date-time' }),
    actor: t.String({
      description:
        'Who: `operator` with the name of the token, `command` with the user of the system, `key` or `person` with an id, `feed` with its name, `stranger` for a sign-in that was refused.',
      examples: ['operator ci'],
    }),
    account_id: orNull(t.String(), 'The account of a key or a person.'),
    email: orNull(t.String(), 'Its address, where it has one still.'),
    action: t.String({
      description: 'What: a request by its method and route, `sign in`, `import`, a run.',
      examples: ['PATCH /admin/v1/accounts/:id'],
    }),
    thing: t.String({
      description: 'To which: the path of a request, a batch, an account, a run.',
      examples: ['/admin/v1/accounts/00000000-0000-4000-8000-000000000101'],
    }),
    from: orNull(t.String({ examples: ['203.0.113.7'] }), 'Null: from inside.'),
    outcome: t.String({
      description: 'The status of a request, or how it ended in a word.',
      examples: ['200'],
    }),
    details: orNull(
      t.Record(t.String(), t.Union([t.String(), t.Number()])),
      'What the answer said of the thing. No secret and no address of a person is in it.',
    ),
    hash: t.String({
      description: 'SHA-256 of this entry and of the hash before it, hexadecimal.',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
  },
  { title: 'AuditEntry' },
)

/** Who did what to which thing, from where and when. */
export function auditAdminOperations({ audit, keys }: AdminAuditDeps) {
  const rowOf = (entry: AuditEntry): (typeof EntryShape)['static'] => ({
    id: entry.id,
    at: isoInstant(entry.at),
    actor: entry.actor,
    account_id: entry.accountId,
    email:
      (entry.accountId === null ? undefined : keys.account(entry.accountId)?.account.email) ?? null,
    action: entry.action,
    thing: entry.thing,
    from: entry.place,
    outcome: entry.outcome,
    details: entry.details === null ? null : JSON.parse(entry.details),
    hash: Buffer.from(entry.hash).toString('hex'),
  })
  const timeOf = (name: string, text: string): number => {
    const at = parseInstant(text) ?? parseDay(text)
    if (at === undefined) throw invalidParameter(name, text, 'is no time, such as 2026-11-20.')
    return at
  }
  /** An address stands for the account that has it: entries know accounts only. */
  const actorOf = (text: string) => keys.accountByEmail(text.toLowerCase())?.account.id ?? text
  return [
    operation('GET /admin/v1/audit', {
      operationId: 'listAuditEntries',
      summary: 'The audit trail',
      description:
        'Who did what to which thing, from where and when, the newest first: every request that changed something or read a secret, by token, key, person or command, every sign-in, every import and run of a feed. Entries are a chain of hashes that `wellhead verify` checks; they are kept for `audit.keep_days`.',
      access: { operator: 'service' },
      page: { max: perPageMax },
      query: {
        since: momentParameter({
          description: 'From this day or instant on.',
          examples: ['2026-11-01'],
        }),
        until: momentParameter({
          description: 'Before this day or instant.',
          examples: ['2026-12-01'],
        }),
        actor: textParameter({
          description: 'Part of an actor, the id of an account, or its address.',
          examples: ['command ann'],
        }),
        thing: textParameter({
          description: 'Part of the action, the thing or the details.',
          examples: ['WTI_USD'],
        }),
      },
      answers: { 200: envelope(t.Object({ entries: t.Array(EntryShape), meta: PageMetaShape })) },
      handle: ({ query, page }) => {
        const filter = {
          ...(query.since !== undefined && { since: timeOf('since', query.since) }),
          ...(query.until !== undefined && { until: timeOf('until', query.until) }),
          ...(query.actor !== undefined && { actor: actorOf(query.actor) }),
          ...(query.thing !== undefined && { thing: query.thing }),
        }
        const rows = audit.list(filter, page.perPage, page.offset)
        const meta = page.meta(audit.total(filter))
        return success({ entries: rows.map(rowOf), meta })
      },
    }),
  ]
}
