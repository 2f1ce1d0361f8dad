import type { Command } from 'commander'
import { oneLine } from '../lib/log/log.ts'
import { firstLine } from './accounts/sign-in.ts'
import type { ProgramEnvironment } from './environment.ts'

interface Irreversible {
  /** The irreversible loss, as a sentence. */
  loss: string
  /** Whether these options of the command are harmless; absent: none are. */
  isHarmless?(options: Readonly<Record<string, unknown>>): boolean
}

/**
 * Irreversible commands. Commands with a way back are not among them: a batch can be undone, a
 * quarantine lifted, a key resumed, and a restore keeps the database that it replaces.
 */
export const irreversible: Readonly<Record<string, Irreversible>> = {
  'accounts close': {
    loss: 'The account, its keys and everything that it owns will be closed permanently.',
  },
  'accounts erase': { loss: 'All personal data will be deleted permanently.' },
  'keys revoke': { loss: 'The key stops working permanently.' },
  'keys roll': {
    loss: 'The current token of the key stops working immediately.',
    isHarmless: ({ overlap }) => typeof overlap === 'number' && overlap > 0,
  },
  'token revoke': { loss: 'The admin token stops working permanently.' },
  'token rotate': { loss: 'All earlier admin tokens stop working immediately.' },
  'invoices void': { loss: 'The invoice is voided permanently and no longer owed.' },
  'subscriptions cancel': {
    loss: 'The account loses its plan immediately, without a credit.',
    isHarmless: ({ now }) => now !== true,
  },
}

/** Adds `--yes` to irreversible commands, and makes them ask for confirmation first. */
export function confirmIrreversible(program: Command, env: ProgramEnvironment): void {
  const walk = (command: Command, words: readonly string[]) => {
    const rule = irreversible[words.join(' ')]
    if (rule) {
      command.option('--yes', 'do not ask for confirmation; this cannot be undone')
      command.hook('preAction', () => confirm(command, words.join(' '), rule, env))
    }
    for (const each of command.commands) walk(each, [...words, each.name()])
  }
  walk(program, [])
}

async function confirm(
  command: Command,
  name: string,
  { loss, isHarmless }: Irreversible,
  env: ProgramEnvironment,
): Promise<void> {
  const options = command.opts()
  if (options.yes === true || isHarmless?.(options)) return
  const called = oneLine([name, ...command.args].join(' '))
  if (!env.canAsk) throw new Error(`${called}: ${loss} Add --yes to run it without a terminal.`)
  env.err(`${called}: ${loss}`)
  env.err('Continue? [y/N]')
  const answer = await firstLine(env.stdin)
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new Error(`${name}: nothing was changed.`)
}
