import type { Static } from '@sinclair/typebox'
import { withoutAbsent } from '../../lib/text/json.ts'
import { firstPlan } from '../../plans/plans.ts'
import type {
  OperatorAccountDetail as AccountDetail,
  OperatorAccount as AccountLine,
} from '../../topics/operator/operations/people/account-row.ts'
import type { Ended } from '../../topics/operator/operations/people/accounts.ts'
import type { LedgerSubscription } from '../../topics/operator/operations/people/subscriptions.ts'
import { accountsPath, type CommandEnvironment } from '../command.ts'
import { tableOf } from '../table.ts'
import { type KeyLine, keyTable, tokenLines } from './keys.ts'

export interface AccountChanges {
  /** A new e-mail address. */
  email?: string
  plan?: string
  /** The complete list of add-ons. */
  addOns?: readonly string[]
  trial?: boolean
  suspended?: boolean
  emailConfirmed?: boolean
}

/** Unusual states of an account, in a few words. */
function stateOf(account: AccountLine): string {
  const { suspended_at, email_confirmed_at, tier, trial_ends_at } = account
  const states = [
    suspended_at ? 'suspended' : '',
    email_confirmed_at ? '' : 'unconfirmed',
    tier === 'trial' ? `trial to ${trial_ends_at}` : '',
  ].filter(Boolean)
  return states.join(', ') || 'active'
}

const accountTable = (accounts: readonly AccountLine[]) =>
  tableOf(accounts, {
    ID: 'id',
    EMAIL: 'email',
    PLAN: 'plan',
    'ADD-ONS': account => account.add_ons.join(',') || '-',
    STATE: account => stateOf(account),
    KEYS: 'active_keys',
    CREATED: 'created_at',
  })

/** Finds an account by its id or its e-mail address. */
export const accountOf = async (env: CommandEnvironment, who: string): Promise<{ id: string }> =>
  (await env.answer<{ account: AccountDetail }>('GET', await env.accountPath(who))).account

const detailLines = (account: AccountDetail) => [
  ...accountTable([account]),
  '',
  `${account.plan}: ${account.features.join(', ') || 'no extra features'}`,
  `${account.usage_this_month} charged requests this month`,
  '',
  ...keyTable(account.api_keys),
]

/** Lists accounts, newest first, optionally of one plan or whose address contains a text. */
export const listAccounts = async (
  env: CommandEnvironment,
  { plan, search }: { plan?: string; search?: string } = {},
): Promise<void> => {
  const all = await env.rows<AccountLine>(accountsPath, 'accounts', {
    plan: plan || undefined,
    q: search || undefined,
  })
  env.print(all, rows => (rows.length === 0 ? ['No accounts.'] : accountTable(rows)))
}

/** Shows an account with its keys. */
export const showAccount = async (env: CommandEnvironment, who: string): Promise<void> =>
  env.showField('account', detailLines, 'GET', await env.accountPath(who))

/** Makes an account with its first key and prints the token, this once. */
export const createAccount = async (
  env: CommandEnvironment,
  { email, keyName, ...changes }: AccountChanges & { email: string; keyName?: string },
): Promise<void> => {
  const body = { key_name: keyName, ...wireOf({ ...changes, email }) }
  await env.show(createdLines, 'POST', accountsPath, body)
}

const createdLines = ({
  account,
  api_key,
}: {
  account: AccountDetail
  api_key: KeyLine & { plain_token: string }
}) => [...accountTable([account]), '', ...tokenLines('API key', api_key.plain_token)]

/**
 * Changes the given attributes of an account: plan, add-ons, trial, suspension, confirmation of its
 * address.
 */
export const changeAccount = async (
  env: CommandEnvironment,
  who: string,
  changes: AccountChanges,
): Promise<void> => {
  const body = withoutAbsent(wireOf(changes))
  if (Object.keys(body).length === 0)
    throw new Error('name at least one change, such as --plan; --help lists them')
  const lines = (account: AccountLine) => accountTable([account])
  const path = await env.accountPath(who)
  await env.showField('account', lines, 'PATCH', path, body)
  if (changes.plan !== undefined) await warnOfBilling(env, path, changes.plan)
}

/** Says what a running subscription to another plan continues to bill, and how to change both. */
async function warnOfBilling(env: CommandEnvironment, path: string, plan: string) {
  const { id, email } = (await env.answer<{ account: AccountDetail }>('GET', path)).account
  const sold = await env.rows<LedgerSubscription>('/admin/v1/subscriptions', 'subscriptions', {
    account: id,
  })
  const running = sold.find(({ ended_at }) => ended_at === null)
  if (!running || running.plan === plan || running.price === 0) return
  const price = `USD ${(running.price / 100).toFixed(2)} a ${running.billing_period === 'yearly' ? 'year' : 'month'}`
  const change =
    plan === firstPlan
      ? `wellhead subscriptions cancel ${email}`
      : `wellhead subscriptions agree ${email} --plan ${plan} --price PRICE`
  env.err(
    `Billing has not changed: the subscription to ${running.plan} continues at ${price}. To change the plan and its billing together, run ${change}.`,
  )
}

const wireOf = ({ email, plan, addOns, trial, suspended, emailConfirmed }: AccountChanges) => ({
  email,
  plan,
  add_ons: addOns,
  trial,
  suspended,
  email_confirmed: emailConfirmed,
})

type EndedAccount = Static<typeof Ended>['data']['account']

const endAccount = async (
  env: CommandEnvironment,
  method: 'DELETE' | 'POST',
  who: string,
  tail = '',
): Promise<void> => {
  const lines = (account: EndedAccount) =>
    tableOf([account], { ID: 'id', EMAIL: 'email', CLOSED: 'closed_at', ERASED: 'erased_at' })
  await env.showField('account', lines, method, `${await env.accountPath(who)}${tail}`)
}

/** Closes an account permanently; its data is kept until it is erased. */
export const closeAccount = (env: CommandEnvironment, who: string): Promise<void> =>
  endAccount(env, 'DELETE', who)

/** Erases the personal data of a closed account; invoices are retained. */
export const eraseAccount = (env: CommandEnvironment, who: string): Promise<void> =>
  endAccount(env, 'POST', who, '/erase')
