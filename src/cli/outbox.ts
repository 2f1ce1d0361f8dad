import type { Command } from 'commander'
import { heldReason, type KeptBack } from '../outbox/held-back.ts'
import type { HeldShape as HeldLine } from '../topics/operator/operations/system/outbox.ts'
import {
  allRows,
  answerOf,
  type CommandEnvironment,
  type CommandTools,
  print,
  runAgainstServer,
} from './command.ts'
import { table } from './table.ts'

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

/** Lists what restores kept back, in the order in which it was made. */
export const listHeld = (
  env: CommandEnvironment,
  { kind }: Pick<Choice, 'kind'> = {},
): Promise<number> =>
  runAgainstServer(env, 'outbox held', async () => {
    const all = await allRows<HeldLine>(env, heldPath, 'held', { kind })
    print(env, all, lines =>
      table(
        ['ID', 'KIND', 'TYPE', 'EVENT', 'ABOUT', 'ACCOUNT', 'CREATED'],
        lines.map(line => [
          line.id,
          line.kind,
          line.event_type,
          line.event_id,
          line.about ?? '-',
          line.account_id ?? '-',
          line.created_at,
        ]),
      ),
    )
  })

/** Sends what restores kept back. */
export const releaseHeld = (env: CommandEnvironment, { kind, ids }: Choice): Promise<number> =>
  runAgainstServer(env, 'outbox release', async () => {
    let released = 0
    for (;;) {
      const done = await answerOf<{ released: number; more: boolean }>(
        env,
        'POST',
        '/admin/v1/outbox/release',
        { kind, ids },
      )
      released += done.released
      if (!done.more) break
    }
    print(env, { released }, () => [`released: ${countOf(released, 'message')}`])
  })

/** `outbox`: what a restore kept back. */
export function outboxCommands({ program, leaf, run }: CommandTools) {
  const outbox = program.command('outbox').description('manage messages held by a restore')
  const ofKind = (command: Command) =>
    leaf(command).option('--kind <kind>', 'only this kind: webhook, email or sms')
  ofKind(outbox.command('held').description('list them')).action(run(listHeld))
  ofKind(
    outbox
      .command('release')
      .argument('[ids...]', 'messages; none: all')
      .description('send held messages, under their own ids'),
  ).action(
    run((env, ids: string[], { kind }: Choice) =>
      releaseHeld(env, { kind, ...(ids.length > 0 && { ids }) }),
    ),
  )
}
