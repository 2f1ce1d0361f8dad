import { fieldsText } from '../lib/text/json.ts'
import { wrongValue } from '../lib/text/wrong-value.ts'
import type { EntryShape as EntryLine } from '../topics/operator/operations/system/audit.ts'
import type { CommandEnvironment, CommandTools } from './command.ts'
import { tableOf } from './table.ts'

interface AuditOptions {
  since?: string
  until?: string
  actor?: string
  thing?: string
  limit?: string
}

const perPage = 500
const limitUsual = 100

const entryTable = (entries: readonly EntryLine[]) =>
  tableOf(entries, {
    ID: 'id',
    TIME: 'at',
    WHO: entry => (entry.email === null ? entry.actor : `${entry.actor} (${entry.email})`),
    FROM: 'from',
    ACTION: 'action',
    OBJECT: 'thing',
    OUTCOME: 'outcome',
    DETAILS: entry => fieldsText(entry.details ?? {}) || '-',
  })

const listAudit = async (env: CommandEnvironment, options: AuditOptions): Promise<void> => {
  const limit = Number(options.limit ?? limitUsual)
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new Error(wrongValue('--limit', 'a whole number above 0', options.limit))
  const filter = new URLSearchParams({ per_page: String(Math.min(limit, perPage)) })
  for (const name of ['since', 'until', 'actor', 'thing'] as const) {
    const value = options[name]
    if (value !== undefined) filter.set(name, value)
  }
  const all: EntryLine[] = []
  for (let page = 1; all.length < limit; page += 1) {
    const { entries } = await env.answer<{ entries: EntryLine[] }>(
      'GET',
      `/admin/v1/audit?${filter}&page=${page}`,
    )
    all.push(...entries)
    if (entries.length < Math.min(limit, perPage)) break
  }
  env.print(all.slice(0, limit), entryTable)
}

/** `audit`: who did what. */
export function auditCommands({ program, leaf, run }: CommandTools) {
  leaf(program, 'audit', 'show the audit trail: who did what, newest first')
    .option('--since <time>', 'from this day or time')
    .option('--until <time>', 'before this day or time')
    .option('--actor <who>', 'part of an actor, an account, or its address')
    .option('--thing <what>', 'part of the action, target or details')
    .option('--limit <number>', `maximum number of entries (default: ${limitUsual})`)
    .action(run(listAudit))
}
