import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { PageMetaShape } from '../../../../http/input/page.ts'
import { momentParameter, textParameter } from '../../../../http/input/typed.ts'
import { envelopeOf, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { invalidParameter } from '../../../../http/problem/problem.ts'
import { isoInstant, parseDay, parseInstant } from '../../../../lib/time/instant.ts'
import type { AuditEntry } from '../../store/audit.ts'

export const EntryShape = t.object('AuditEntry', {
  id: t.integer('Increases by one per entry.', 42),
  at: t.String({ format: 'date-time' }),
  actor: t.string(
    "Who acted: `operator` with the token's name, `command` with the system user, `key` or `person` with an id, `feed` with its name, `stranger` for a refused sign-in.",
    'operator ci',
  ),
  account_id: t.orNull(t.String(), 'The account of a key or a person.'),
  email: t.orNull(t.String(), 'Its e-mail address, if it still has one.'),
  action: t.string(
    'The action: a request by method and route, `sign in`, `import` or a run.',
    'PATCH /admin/v1/accounts/:id',
  ),
  thing: t.string(
    'The target: the path of a request, a batch, an account or a run.',
    '/admin/v1/accounts/00000000-0000-4000-8000-000000000101',
  ),
  from: t.stringOrNull('Null for internal actions.', '203.0.113.7'),
  outcome: t.string('The status of a request, or its outcome.', '200'),
  details: t.orNull(
    t.Record(t.String(), t.Union([t.String(), t.Number()])),
    'Details of the change, with the fields that an operator set, before and after; without secrets or personal addresses.',
  ),
  hash: t.string(
    'SHA-256 of this entry and of the hash before it, hexadecimal.',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ),
})
export type EntryShape = (typeof EntryShape)['static']

/** The audit trail: actor, action, subject, place and time. */
export function auditAdminOperations({ audit, keys }: Context) {
  const rowOf = (entry: AuditEntry): EntryShape =>
    answerRow(EntryShape, entry, {
      at: isoInstant(entry.at),
      email:
        (entry.accountId === null ? undefined : keys.account(entry.accountId)?.account.email) ??
        null,
      from: entry.place,
      details: entry.details === null ? null : JSON.parse(entry.details),
      hash: Buffer.from(entry.hash).toString('hex'),
    })
  const timeOf = (name: string, text: string): number => {
    const at = parseInstant(text) ?? parseDay(text)
    if (at === undefined) throw invalidParameter(name, text, 'a day or time, such as 2026-11-20')
    return at
  }
  /**
   * An e-mail address is replaced by the account that has it, because entries hold only accounts.
   */
  const actorOf = (text: string) => keys.accountByEmail(text.toLowerCase())?.account.id ?? text
  return [
    operation('GET /admin/v1/audit', {
      operationId: 'listAuditEntries',
      summary: 'List audit entries',
      description:
        'Returns the audit trail, newest first: who did what, when and from where. It records every request that changed data or read a secret, every sign-in, import and feed run. Entries form a hash chain that `wellhead verify` checks; they are retained for `audit.keep_days`.',
      access: { operator: 'service' },
      page: { max: 500 },
      query: {
        since: momentParameter('From this day or time.', '2026-11-01'),
        until: momentParameter('Before this day or time.', '2026-12-01'),
        actor: textParameter(
          'Part of an actor, the id of an account, or its address.',
          'command ann',
        ),
        thing: textParameter('Part of the action, target or details.', 'WTI_USD'),
      },
      answers: envelopeOf({ entries: t.Array(EntryShape), meta: PageMetaShape }),
      handle: ({ query, page }) => {
        const filter = {
          ...(query.since !== undefined && { since: timeOf('since', query.since) }),
          ...(query.until !== undefined && { until: timeOf('until', query.until) }),
          ...(query.actor !== undefined && { actor: actorOf(query.actor) }),
          ...(query.thing !== undefined && { thing: query.thing }),
        }
        const rows = audit.list(filter, page.perPage, page.offset)
        return success({ entries: rows.map(rowOf), meta: page.meta(audit.total(filter)) })
      },
    }),
  ]
}
