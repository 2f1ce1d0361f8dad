import type { Command } from 'commander'
import { adminRoles } from '../../plans/admin-roles.ts'
import { scopes } from '../../plans/scopes.ts'
import type { JsonOption, OperatorAction } from '../command.ts'
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

/**
 * `accounts`, `keys` and `token`: the operator's commands over `/admin/v1`. `located` adds the
 * options that say where the data is.
 */
export function accountCommands(
  program: Command,
  located: (command: Command) => Command,
  act: OperatorAction,
  readPassword: () => Promise<string>,
) {
  const leaf = (command: Command) => located(command).option('--json', 'print JSON')
  const accounts = program.command('accounts').description('manage accounts, plans and add-ons')
  leaf(accounts.command('list').description('list accounts'))
    .option('--plan <plan>', 'only accounts on this plan')
    .option('--search <text>', 'only accounts whose address contains this')
    .action((options: JsonOption & { plan?: string; search?: string }) =>
      act(options, env =>
        listAccounts(env, {
          ...(options.plan && { plan: options.plan }),
          ...(options.search && { q: options.search }),
        }),
      ),
    )
  leaf(
    accounts
      .command('show')
      .argument('<account>', 'id or e-mail address')
      .description('show an account with its keys'),
  ).action((who: string, options: JsonOption) => act(options, env => showAccount(env, who)))
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
      (
        email: string,
        options: JsonOption & { plan?: string; addOns?: string[]; trial?: boolean },
      ) => act(options, env => createAccount(env, { email, ...options })),
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
      (
        who: string,
        options: JsonOption & {
          email?: string
          plan?: string
          addOns?: string[]
          trial?: boolean
          suspend?: boolean
          resume?: boolean
          confirm?: boolean
        },
      ) =>
        act(options, env =>
          changeAccount(env, who, {
            ...(options.email !== undefined && { email: options.email }),
            ...(options.plan && { plan: options.plan }),
            ...(options.addOns && { addOns: options.addOns }),
            ...(options.trial && { trial: true }),
            ...((options.suspend || options.resume) && { suspended: options.suspend === true }),
            ...(options.confirm && { emailConfirmed: true }),
          }),
        ),
    )
  leaf(
    accounts
      .command('close')
      .argument('<account>', 'id or e-mail address')
      .description('close an account permanently, with its keys, alerts and webhooks'),
  ).action((who: string, options: JsonOption) => act(options, env => closeAccount(env, who)))
  leaf(
    accounts
      .command('erase')
      .argument('<account>', 'id or e-mail address')
      .description('erase the personal data of a closed account; invoices are retained'),
  ).action((who: string, options: JsonOption) => act(options, env => eraseAccount(env, who)))
  signInCommands(accounts, leaf, act, readPassword)
  keyCommands(program, leaf, act)
  tokenCommands(program, leaf, act)
}

function signInCommands(
  accounts: Command,
  leaf: (command: Command) => Command,
  act: OperatorAction,
  readPassword: () => Promise<string>,
) {
  const account = ['<account>', 'id or e-mail address'] as const
  leaf(
    accounts
      .command('password')
      .argument(...account)
      .description('set the password from the first line of standard input'),
  ).action((who: string, options: JsonOption) =>
    act(options, env => setPassword(env, who, readPassword)),
  )
  leaf(
    accounts
      .command('link')
      .argument(...account)
      .description('create a one-time sign-in link'),
  ).action((who: string, options: JsonOption) => act(options, env => makeLink(env, who)))
  leaf(
    accounts
      .command('sign-out')
      .argument(...account)
      .description('end every session of an account'),
  ).action((who: string, options: JsonOption) => act(options, env => endSessions(env, who)))
  leaf(
    accounts
      .command('second-step-off')
      .argument(...account)
      .description('remove two-factor authentication, for users who lost their device'),
  ).action((who: string, options: JsonOption) => act(options, env => removeTwoFactor(env, who)))
}

interface KeyOptions extends JsonOption {
  name?: string
  expires?: string
  readOnly?: boolean
  allowIp?: string[]
  allowDomain?: string[]
  scope?: string[]
}

function keyCommands(program: Command, leaf: (command: Command) => Command, act: OperatorAction) {
  const keys = program.command('keys').description('manage API keys')
  leaf(
    keys
      .command('list')
      .argument('<account>', 'id or e-mail address')
      .description('list the keys of an account'),
  ).action((who: string, options: JsonOption) => act(options, env => listKeys(env, who)))
  leaf(
    keys
      .command('create')
      .argument('<account>', 'id or e-mail address')
      .description('create a key; its token is shown once'),
  )
    .option('--name <text>', 'label')
    .option('--expires <time>', 'ISO 8601 time with a zone')
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
    .action((who: string, options: KeyOptions) =>
      act(options, env =>
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
    .action((id: string, options: JsonOption & { overlap?: number }) =>
      act(options, env =>
        rollKey(env, id, options.overlap === undefined ? {} : { overlapSeconds: options.overlap }),
      ),
    )
  leaf(
    keys
      .command('revoke')
      .argument('<key>', 'id of the key')
      .description('revoke a key permanently'),
  ).action((id: string, options: JsonOption) => act(options, env => revokeKey(env, id)))
  leaf(
    keys
      .command('suspend')
      .argument('<key>', 'id of the key')
      .description('suspend a key until it is resumed'),
  ).action((id: string, options: JsonOption) => act(options, env => suspendKey(env, id)))
  leaf(
    keys
      .command('resume')
      .argument('<key>', 'id of the key')
      .description('reinstate a suspended key'),
  ).action((id: string, options: JsonOption) => act(options, env => suspendKey(env, id, false)))
}

function tokenCommands(program: Command, leaf: (command: Command) => Command, act: OperatorAction) {
  const token = program.command('token').description('manage admin tokens')
  leaf(token.command('list').description('list them')).action((options: JsonOption) =>
    act(options, env => listAdminTokens(env)),
  )
  leaf(
    token
      .command('create')
      .argument('<name>', 'name in the audit trail')
      .requiredOption('--role <role>', `role: ${adminRoles.join(', ')}`)
      .description('create a token; it is shown once'),
  ).action((name: string, options: JsonOption & { role: string }) =>
    act(options, env => createAdminToken(env, name, options.role)),
  )
  leaf(
    token
      .command('revoke')
      .argument('<token>', 'id of the token')
      .description('revoke a token permanently'),
  ).action((id: string, options: JsonOption) => act(options, env => revokeAdminToken(env, id)))
  leaf(
    token.command('rotate').description('create a new token with all rights; all earlier ones end'),
  ).action((options: JsonOption) => act(options, env => rotateAdminToken(env)))
}
