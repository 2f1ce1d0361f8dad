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
  const accounts = program.command('accounts').description('accounts, their plans and add-ons')
  leaf(accounts.command('list').description('list accounts'))
    .option('--plan <plan>', 'only those on this plan')
    .option('--search <text>', 'only those whose address holds this')
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
      .description('an account with its keys'),
  ).action((who: string, options: JsonOption) => act(options, env => showAccount(env, who)))
  const planOptions = (command: Command) =>
    command
      .option('--plan <plan>', 'plan of the account')
      .option('--add-ons <ids>', 'all add-ons the account has, comma-separated', listed)
  planOptions(
    leaf(
      accounts
        .command('create')
        .argument('<email>')
        .description('make an account with a first key; its token is shown once'),
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
    .option('--suspend', 'refuse its keys')
    .option('--resume', 'take its keys again')
    .option('--confirm', 'count its e-mail address as confirmed')
    .option('--email <address>', 'give it another e-mail address')
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
      .description('end an account, its keys and what works for it, for good'),
  ).action((who: string, options: JsonOption) => act(options, env => closeAccount(env, who)))
  leaf(
    accounts
      .command('erase')
      .argument('<account>', 'id or e-mail address')
      .description('forget the person of a closed account; invoices stay'),
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
      .description('set the password that stands on the first line of standard input'),
  ).action((who: string, options: JsonOption) =>
    act(options, env => setPassword(env, who, readPassword)),
  )
  leaf(
    accounts
      .command('link')
      .argument(...account)
      .description('make a link that signs in once'),
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
      .description('remove the second step of signing in, for who has lost it'),
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
  const keys = program.command('keys').description('API keys')
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
      .description('make a key; its token is shown once'),
  )
    .option('--name <text>', 'label')
    .option('--expires <time>', 'ISO 8601 time with a zone')
    .option('--read-only', 'good for reading only')
    .option('--allow-ip <network>', 'good from this address or network only; repeatable', collect)
    .option('--allow-domain <host>', 'good from pages of this host only; repeatable', collect)
    .option(
      '--scope <part>',
      `good for this part of the interface only: ${scopes.join(', ')}; repeatable`,
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
    keys.command('roll').argument('<key>', 'id of the key').description('give a key a new token'),
  )
    .option('--overlap <seconds>', 'how long the old token stays good', Number)
    .action((id: string, options: JsonOption & { overlap?: number }) =>
      act(options, env =>
        rollKey(env, id, options.overlap === undefined ? {} : { overlapSeconds: options.overlap }),
      ),
    )
  leaf(
    keys.command('revoke').argument('<key>', 'id of the key').description('end a key for good'),
  ).action((id: string, options: JsonOption) => act(options, env => revokeKey(env, id)))
  leaf(
    keys
      .command('suspend')
      .argument('<key>', 'id of the key')
      .description('refuse a key until it is resumed'),
  ).action((id: string, options: JsonOption) => act(options, env => suspendKey(env, id)))
  leaf(
    keys
      .command('resume')
      .argument('<key>', 'id of the key')
      .description('take a suspended key again'),
  ).action((id: string, options: JsonOption) => act(options, env => suspendKey(env, id, false)))
}

function tokenCommands(program: Command, leaf: (command: Command) => Command, act: OperatorAction) {
  const token = program.command('token').description('tokens of the operator')
  leaf(token.command('list').description('list them')).action((options: JsonOption) =>
    act(options, env => listAdminTokens(env)),
  )
  leaf(
    token
      .command('create')
      .argument('<name>', 'by which the audit trail names it')
      .requiredOption('--role <role>', `what it is good for: ${adminRoles.join(', ')}`)
      .description('make one; it is shown once'),
  ).action((name: string, options: JsonOption & { role: string }) =>
    act(options, env => createAdminToken(env, name, options.role)),
  )
  leaf(
    token.command('revoke').argument('<token>', 'id of the token').description('end one for good'),
  ).action((id: string, options: JsonOption) => act(options, env => revokeAdminToken(env, id)))
  leaf(
    token.command('rotate').description('make a new one for everything; all earlier ones end'),
  ).action((options: JsonOption) => act(options, env => rotateAdminToken(env)))
}
