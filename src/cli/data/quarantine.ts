import { oneLine } from '../../lib/log/log.ts'
import type { QuarantineRow as Range } from '../../topics/operator/operations/data/quarantine.ts'
import { type CommandEnvironment, type CommandTools, printJson } from '../command.ts'
import { tableOf } from '../table.ts'

const path = '/admin/v1/quarantine'

/** A range as one line whose fields are separated by tabs, for scripts. */
const printRange = (env: CommandEnvironment, range: Range, label = '') => {
  if (env.json) return printJson(env, range)
  const fields = [String(range.id), range.code, range.from, range.to, range.reason]
  env.out(label + fields.map(oneLine).join('\t'))
}

const addQuarantine = async (
  env: CommandEnvironment,
  code: string,
  from: string,
  to: string | undefined,
  { reason }: { reason: string },
): Promise<void> =>
  printRange(env, await env.answer<Range>('POST', path, { code, from, to, reason }))

const listQuarantine = async (env: CommandEnvironment): Promise<void> =>
  env.print(await env.answer<Range[]>('GET', path), ranges =>
    ranges.length === 0
      ? ['No quarantined days.']
      : tableOf(ranges, { ID: 'id', CODE: 'code', FROM: 'from', TO: 'to', REASON: 'reason' }),
  )

const removeQuarantine = async (env: CommandEnvironment, id: string): Promise<void> =>
  printRange(
    env,
    await env.answer<Range>('DELETE', `${path}/${encodeURIComponent(id)}`),
    'lifted: ',
  )

/** `quarantine`: days of a series that no read returns. */
export function quarantineCommands({ program, leaf, run }: CommandTools) {
  const quarantine = program.command('quarantine').description('hide days of a series from reads')
  leaf(quarantine, 'add', 'quarantine a day or a range of days', ['<code>'], ['<from>'], ['[to]'])
    .requiredOption('--reason <text>', 'reason, for the audit trail')
    .action(run(addQuarantine))
  leaf(quarantine, 'list', 'list the quarantined ranges').action(run(listQuarantine))
  leaf(quarantine, 'remove', 'lift the quarantine of a range', ['<id>']).action(
    run(removeQuarantine),
  )
}
