import type { Command } from 'commander'
import { adminRoles } from '../../plans/roles/admin-roles.ts'
import { scopes } from '../../plans/roles/scopes.ts'
import type { CommandTools } from '../command.ts'
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
  leaf(accounts.command('list').description('list accounts'))
    .option('--plan <plan>', 'only accounts on this plan')
    .option('--search <text>', 'only accounts whose address contains this')
    .action(
      run((env, { plan, search }: { plan?: string; search?: string }) =>
        listAccounts(env, { plan: plan || undefined, q: search || undefined }),
      ),
    )
  leaf(
    accounts
      .command('show')
      .argument('<account>', 'id or e-mail address')
      .description('show an account with its keys'),
  ).action(run(showAccount))
  const planOptions = (command: Command) =>
    command
      .option('--plan <plan>', 'plan of the account')
      .option('--add-ons <ids>', 'complete list of add-ons, comma-separated', listed)
  planOptions(
    leaf(
      accounts
        .command('create')
        .argument('<email>')
        .description('create an account with a first key; its token is shown once'),
    ),
  )
    .option('--trial', 'start a trial')
    .action(
      run((env, email: string, options: { plan?: string; addOns?: string[]; trial?: boolean }) =>
        createAccount(env, { email, ...options }),
      ),
    )
  planOptions(
    leaf(
      accounts
        .command('set')
        .argument('<account>', 'id or e-mail address')
        .description('change an account'),
    ),
  )
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
    accounts
      .command('close')
      .argument('<account>', 'id or e-mail address')
      .description('close an account permanently, with its keys, alerts and webhooks'),
  ).action(run(closeAccount))
  leaf(
    accounts
      .command('erase')
      .argument('<account>', 'id or e-mail address')
      .description('erase the personal data of a closed account; invoices are retained'),
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
    leaf(
      accounts.command(name).argument('<account>', 'id or e-mail address').description(description),
    )
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

interface KeyOptions {
  name?: string
  expires?: string
  readOnly?: boolean
  allowIp?: string[]
  allowDomain?: string[]
  scope?: string[]
}

function keyCommands({ program, leaf, run }: CommandTools) {
  const keys = program.command('keys').description('manage API keys')
  leaf(
    keys
      .command('list')
      .argument('<account>', 'id or e-mail address')
      .description('list the keys of an account'),
  ).action(run(listKeys))
  leaf(
    keys
      .command('create')
      .argument('<account>', 'id or e-mail address')
      .description('create a key; its token is shown once'),
  )
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
    .action(
      run((env, who: string, options: KeyOptions) =>
        createKey(env, who, {
          ...options,
          allowedIps: options.allowIp,
          allowedDomains: options.allowDomain,
          scopes: options.scope,
        }),
      ),
    )
  leaf(
    keys
      .command('roll')
      .argument('<key>', 'id of the key')
      .description('rotate the token of a key'),
  )
    .option('--overlap <seconds>', 'how long the old token stays valid', Number)
    .action(
      run((env, id: string, { overlap }: { overlap?: number }) =>
        rollKey(env, id, { overlapSeconds: overlap }),
      ),
    )
  leaf(
    keys
      .command('revoke')
      .argument('<key>', 'id of the key')
      .description('revoke a key permanently'),
  ).action(run(revokeKey))
  leaf(
    keys
      .command('suspend')
      .argument('<key>', 'id of the key')
      .description('suspend a key until it is resumed'),
  ).action(run((env, id: string) => suspendKey(env, id)))
  leaf(
    keys
      .command('resume')
      .argument('<key>', 'id of the key')
      .description('reinstate a suspended key'),
  ).action(run((env, id: string) => suspendKey(env, id, false)))
}

function tokenCommands({ program, leaf, run }: CommandTools) {
  const token = program.command('token').description('manage admin tokens')
  leaf(token.command('list').description('list admin tokens')).action(run(listAdminTokens))
  leaf(
    token
      .command('create')
      .argument('<name>', 'name in the audit trail')
      .requiredOption('--role <role>', `role: ${adminRoles.join(', ')}`)
      .description('create an admin token; it is shown once'),
  ).action(
    run((env, name: string, { role }: { role: string }) => createAdminToken(env, name, role)),
  )
  leaf(
    token
      .command('revoke')
      .argument('<token>', 'id of the token')
      .description('revoke an admin token permanently'),
  ).action(run(revokeAdminToken))
  leaf(
    token.command('rotate').description('create a new token with all rights and revoke all others'),
  ).action(run(rotateAdminToken))
}
