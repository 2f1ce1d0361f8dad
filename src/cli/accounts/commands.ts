import type { Command } from 'commander'
import { adminRoles } from '../../plans/roles/admin-roles.ts'
import { scopes } from '../../plans/roles/scopes.ts'
import { anAccount, type CommandTools } from '../command.ts'
import {
  changeAccount,
  closeAccount,
  createAccount,
  eraseAccount,
  listAccounts,
  showAccount,
} from './accounts.ts'
import {
  createAdminToken,
  listAdminTokens,
  revokeAdminToken,
  rotateAdminToken,
} from './admin-tokens.ts'
import { createKey, listKeys, revokeKey, rollKey, suspendKey } from './keys.ts'
import { endSessions, makeLink, removeTwoFactor, setPassword } from './sign-in.ts'

const aKey = ['<key>', 'id of the key'] as const
const collect = (value: string, before: string[] = []) => [...before, value]
const listed = (text: string) =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(Boolean)

interface SetOptions {
  email?: string
  plan?: string
  addOns?: string[]
  trial?: boolean
  suspend?: boolean
  resume?: boolean
  confirm?: boolean
}

/** `accounts`, `keys` and `token`: the operator's commands over `/admin/v1`. */
export function accountCommands(tools: CommandTools, readPassword: () => Promise<string>) {
  const { program, leaf, run } = tools
  const accounts = program.command('accounts').description('manage accounts, plans and add-ons')
  leaf(accounts, 'list', 'list accounts')
    .option('--plan <plan>', 'only accounts on this plan')
    .option('--search <text>', 'only accounts whose address contains this')
    .action(run(listAccounts))
  leaf(accounts, 'show', 'show an account with its keys', anAccount).action(run(showAccount))
  const planOptions = (command: Command) =>
    command
      .option('--plan <plan>', 'plan of the account')
      .option('--add-ons <ids>', 'complete list of add-ons, comma-separated', listed)
  planOptions(
    leaf(accounts, 'create', 'create an account with a first key; its token is shown once', [
      '<email>',
    ]),
  )
    .option('--trial', 'start a trial')
    .action(
      run((env, email: string, options: { plan?: string; addOns?: string[]; trial?: boolean }) =>
        createAccount(env, { email, ...options }),
      ),
    )
  planOptions(leaf(accounts, 'set', 'change an account', anAccount))
    .option('--trial', 'start a trial')
    .option('--suspend', 'suspend the account: its keys are refused')
    .option('--resume', 'reinstate the account')
    .option('--confirm', 'mark its e-mail address as confirmed')
    .option('--email <address>', 'change its e-mail address')
    .action(
      run((env, who: string, options: SetOptions) => {
        const { email, plan, addOns, trial, suspend, resume, confirm } = options
        return changeAccount(env, who, {
          email,
          plan: plan || undefined,
          addOns,
          ...(trial && { trial: true }),
          ...((suspend || resume) && { suspended: suspend === true }),
          ...(confirm && { emailConfirmed: true }),
        })
      }),
    )
  leaf(
    accounts,
    'close',
    'close an account permanently, with its keys, alerts and webhooks',
    anAccount,
  ).action(run(closeAccount))
  leaf(
    accounts,
    'erase',
    'erase the personal data of a closed account; invoices are retained',
    anAccount,
  ).action(run(eraseAccount))
  signInCommands(accounts, tools, readPassword)
  keyCommands(tools)
  tokenCommands(tools)
}

function signInCommands(
  accounts: Command,
  { leaf, run }: CommandTools,
  readPassword: () => Promise<string>,
) {
  const onAccount = (name: string, description: string) =>
    leaf(accounts, name, description, anAccount)
  onAccount('password', 'set the password to the first line of standard input').action(
    run((env, who: string) => setPassword(env, who, readPassword)),
  )
  onAccount('link', 'create a one-time sign-in link').action(run(makeLink))
  onAccount('sign-out', 'end every session of an account').action(run(endSessions))
  onAccount(
    'second-step-off',
    'remove two-factor authentication, for a person who lost the device',
  ).action(run(removeTwoFactor))
}

function keyCommands({ program, leaf, run }: CommandTools) {
  const keys = program.command('keys').description('manage API keys')
  leaf(keys, 'list', 'list the keys of an account', anAccount).action(run(listKeys))
  leaf(keys, 'create', 'create a key; its token is shown once', anAccount)
    .option('--name <text>', 'name of the key')
    .option('--expires <time>', 'expiry, as an ISO 8601 time with a zone')
    .option('--read-only', 'restrict the key to reading')
    .option(
      '--allow-ip <network>',
      'restrict the key to this address or network; repeatable',
      collect,
    )
    .option('--allow-domain <host>', 'restrict the key to pages of this host; repeatable', collect)
    .option(
      '--scope <part>',
      `restrict the key to this scope: ${scopes.join(', ')}; repeatable`,
      collect,
    )
    .action(run(createKey))
  leaf(keys, 'roll', 'rotate the token of a key', aKey)
    .option('--overlap <seconds>', 'how long the old token stays valid', Number)
    .action(run(rollKey))
  leaf(keys, 'revoke', 'revoke a key permanently', aKey).action(run(revokeKey))
  leaf(keys, 'suspend', 'suspend a key until it is resumed', aKey).action(
    run((env, id: string) => suspendKey(env, id)),
  )
  leaf(keys, 'resume', 'reinstate a suspended key', aKey).action(
    run((env, id: string) => suspendKey(env, id, false)),
  )
}

function tokenCommands({ program, leaf, run }: CommandTools) {
  const token = program.command('token').description('manage admin tokens')
  leaf(token, 'list', 'list admin tokens').action(run(listAdminTokens))
  leaf(token, 'create', 'create an admin token; it is shown once', [
    '<name>',
    'name in the audit trail',
  ])
    .requiredOption('--role <role>', `role: ${adminRoles.join(', ')}`)
    .action(run(createAdminToken))
  leaf(token, 'revoke', 'revoke an admin token permanently', ['<token>', 'id of the token']).action(
    run(revokeAdminToken),
  )
  leaf(token, 'rotate', 'create a new token with all rights and revoke all others').action(
    run(rotateAdminToken),
  )
}
