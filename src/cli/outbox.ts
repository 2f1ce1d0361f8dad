import type { Command } from 'commander'
import { heldReason, type KeptBack } from '../outbox/held-back.ts'
import type { HeldShape as HeldLine } from '../topics/operator/operations/system/outbox.ts'
import type { CommandEnvironment, CommandTools } from './command.ts'
import { tableOf } from './table.ts'

interface Choice {
  kind?: string
  ids?: readonly string[]
}

const heldPath = '/admin/v1/outbox/held'

/** Lists how many messages a restore held back, and how many it did not. */
export function heldLines({
  messages: { webhook, email, sms },
  deliveries,
  prices,
}: KeptBack): string[] {
  const counts = [webhook, email, sms, deliveries, prices]
  if (counts.every(count => count === 0)) return ['The backup has no pending messages.']
  return [
    `held: ${countOf(webhook, 'webhook')}, ${countOf(email, 'e-mail')}, ${countOf(sms, 'text message')}`,
    `skipped: ${countOf(deliveries, 'scheduled delivery', 'scheduled deliveries')} whose time has come`,
    `dropped: ${countOf(prices, 'price')} that alerts had not evaluated yet`,
    `They are logged as "${heldReason}". To send them: wellhead outbox release; webhooks also: POST /v1/webhooks/{id}/replay`,
    'Not held: due watches and billing periods run at the start, and prices that are recorded again create events again.',
  ]
}

const countOf = (n: number, singular: string, many = `${singular}s`): string =>
  `${n} ${n === 1 ? singular : many}`

/** Lists the messages that restores held back, in the order in which they were created. */
export const listHeld = async (
  env: CommandEnvironment,
  { kind }: Pick<Choice, 'kind'> = {},
): Promise<void> => {
  const all = await env.rows<HeldLine>(heldPath, 'held', { kind })
  env.print(all, lines =>
    tableOf(lines, {
      ID: 'id',
      KIND: 'kind',
      TYPE: 'event_type',
      EVENT: 'event_id',
      DETAILS: 'about',
      ACCOUNT: 'account_id',
      CREATED: 'created_at',
    }),
  )
}

/** Sends the messages that restores held back. */
export const releaseHeld = async (
  env: CommandEnvironment,
  { kind, ids }: Choice,
): Promise<void> => {
  let released = 0
  for (;;) {
    const done = await env.answer<{ released: number; more: boolean }>(
      'POST',
      '/admin/v1/outbox/release',
      { kind, ids },
    )
    released += done.released
    if (!done.more) break
  }
  env.print({ released }, () => [`released: ${countOf(released, 'message')}`])
}

/** `outbox`: what a restore kept back. */
export function outboxCommands({ program, leaf, run }: CommandTools) {
  const outbox = program.command('outbox').description('manage messages held by a restore')
  const ofKind = (command: Command) =>
    command.option('--kind <kind>', 'only this kind: webhook, email or sms')
  ofKind(leaf(outbox, 'held', 'list held messages')).action(run(listHeld))
  ofKind(
    leaf(outbox, 'release', 'send held messages with their original ids', [
      '[ids...]',
      'messages; none: all',
    ]),
  ).action(
    run((env, ids: string[], { kind }: Choice) =>
      releaseHeld(env, { kind, ...(ids.length > 0 && { ids }) }),
    ),
  )
}
