import { t } from '../../../../http/answer/schema.ts'
import { body, flag, noBody } from '../../../../http/input/body-schema.ts'
import { PageMetaShape } from '../../../../http/input/page.ts'
import { codeParameter, parsed, textParameter } from '../../../../http/input/typed.ts'
import { envelopeOf, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { type Operations, operation } from '../../../../http/operations/operation.ts'
import {
  invalidParameter,
  notFound,
  refusedField,
  stateForbids,
} from '../../../../http/problem/problem.ts'
import { NestedProblem, ValidationProblem } from '../../../../http/problem/shape.ts'
import { isoInstant, isoOrNull } from '../../../../lib/time/instant.ts'
import { planIds } from '../../../../plans/tiers.ts'
import {
  AccountBody,
  createNewAccountBody,
  readAccountChange,
  readNewAccount,
} from '../../../account/operations/account-form.ts'
import type { ClosingRefusal } from '../../../account/service/closing.ts'
import {
  createKeyBody,
  RollBody,
  readKeyChange,
  readOverlapMs,
  resultOf,
} from '../../../keys/operations/form.ts'
import {
  type AccountState,
  heldKeys,
  type Keyring,
  type KeyState,
} from '../../../keys/service/keyring.ts'
import {
  createAdminRows,
  NewOperatorKey,
  OperatorAccount,
  OperatorAccountDetail,
  OperatorKey,
} from './account-row.ts'

const access = { operator: 'people' } as const
const params = { id: t.String({ examples: ['00000000-0000-4000-8000-000000000001'] }) }
const SuspensionBody = body({ suspended: flag() })

const AccountAnswer = envelopeOf({ account: OperatorAccountDetail })
const KeyAnswer = envelopeOf({ api_key: OperatorKey })
const NewKeyAnswer = envelopeOf({ api_key: NewOperatorKey })

/** Accounts and keys for the operator, with the functions of the command line. */
export const accountAdminOperations: Operations = [
  accounts,
  oneAccount,
  ending,
  accountKeys,
  oneKey,
]

/** The account with an id; 404 without one. */
export function accountOf(keys: Keyring, id: string): AccountState {
  const account = keys.account(id)
  if (!account) throw notFound('account', id)
  return account
}

function keyOf(keys: Keyring, id: string): KeyState {
  const key = keys.byId(id)
  if (!key) throw notFound('API key', id)
  return key
}

function accounts({ keys, meter, keyChanges: changes, nameMax, now }: Context) {
  const { accountRow, usageRow, accountDetail, madeRow } = createAdminRows(keys, meter, now)
  const newAccountBody = createNewAccountBody(nameMax)
  const matching = (query: { email?: string; q?: string; plan?: string }) => {
    const [email, part] = [query.email?.toLowerCase(), query.q?.toLowerCase()]
    return keys
      .accounts()
      .filter(({ account }) => !email || account.email === email)
      .filter(({ account }) => !part || account.email.includes(part))
      .filter(({ account }) => !query.plan || account.plan === query.plan)
      .sort((a, b) => b.account.createdAt - a.account.createdAt)
  }
  return [
    operation('GET /admin/v1/accounts', {
      operationId: 'listAccounts',
      summary: 'List accounts',
      description: 'Returns the accounts, newest first.',
      access,
      page: { max: 100 },
      query: {
        email: textParameter('The account with this address.', 'eval@example.com', {
          format: 'email',
        }),
        q: textParameter('Part of the address.', '@example.com'),
        plan: codeParameter('Id of a plan.', 'enterprise'),
        usage: parsed.flag('Also the usage of each account. Default: false.'),
      },
      answers: t.Object({
        status: t.Literal('success'),
        data: t.Object({ accounts: t.Array(OperatorAccount) }),
        meta: PageMetaShape,
      }),
      handle: ({ query, page }) => {
        if (query.plan && !planIds.some(plan => plan === query.plan))
          throw invalidParameter('plan', query.plan, planIds)
        const accounts = matching(query)
        const hasUsage = query.usage === true
        const meta = page.meta(accounts.length)
        return {
          ...success({
            accounts: accounts.slice(page.offset, page.offset + page.perPage).map(state => ({
              ...accountRow(state),
              ...(hasUsage && { usage: usageRow(state) }),
            })),
          }),
          meta,
        }
      },
    }),
    operation('POST /admin/v1/accounts', {
      operationId: 'createAccount',
      creates: '/admin/v1/accounts/:id',
      summary: 'Create an account',
      description:
        'Creates an account and returns it with its first key, whose token is returned only in this response. The address counts as confirmed unless `email_confirmed` is false.',
      access,
      idempotent: true,
      body: newAccountBody.schema,
      answers: {
        201: envelopeOf({ account: OperatorAccountDetail, api_key: NewOperatorKey }),
      },
      handle: ({ body }) => {
        const newAccount = readNewAccount(newAccountBody, body)
        const account = changes.createAccount(newAccount)
        if (!account) {
          throw refusedField('email', 'email: has an account already.', newAccount.email)
        }
        return success({ account: accountDetail(account.account), api_key: madeRow(account.key) })
      },
    }),
  ]
}

function oneAccount({ keys, meter, keyChanges: changes, accountClosing, now }: Context) {
  const { accountDetail } = createAdminRows(keys, meter, now)
  return [
    operation('GET /admin/v1/accounts/:id', {
      operationId: 'getOperatorAccount',
      counted: /^(?:usage_this_month|requests_used|last_used_at)$/,
      summary: 'Get an account',
      description: 'Returns an account with its plan, usage and keys.',
      access,
      params,
      answers: AccountAnswer,
      handle: ({ params: { id } }) => success({ account: accountDetail(accountOf(keys, id)) }),
    }),
    operation('PATCH /admin/v1/accounts/:id', {
      operationId: 'updateAccount',
      summary: 'Update an account',
      description:
        "Changes the address, plan or add-ons, starts or ends a trial, suspends or reinstates the account, or confirms its address. Other fields keep their values. Links sent to an earlier address stop working. Changes apply to the account's next request.",
      access,
      params,
      body: AccountBody.schema,
      answers: AccountAnswer,
      handle: ({ body, params: { id } }) => {
        const state = accountOf(keys, id)
        const { email, ...change } = readAccountChange(body, state.account.plan)
        if (email !== undefined && accountClosing.changeAddress(state, email) === 'taken')
          throw refusedField('email', 'email: has an account already.', email)
        return success({ account: accountDetail(changes.changeAccount(state, change)) })
      },
    }),
  ]
}

export const Ended = envelopeOf({
  account: t.Object({
    id: t.String(),
    email: t.String({ examples: ['erased-00000000-0000-4000-8000-000000000101@invalid'] }),
    closed_at: t.String({ format: 'date-time' }),
    erased_at: t.orNull(t.String({ format: 'date-time' }), 'Null: not yet.'),
  }),
})

const refusedBecause: Readonly<Record<ClosingRefusal, string>> = {
  taken: 'The address has an account already.',
  in_organization:
    'The account owns an organization with other members. Another admin must take it over, or they must leave, first.',
  subscribed: 'The account has an active subscription. Cancel it first.',
  not_closed: 'The account is open. Close it first.',
}

function ending({ keys, accountClosing }: Context) {
  const answer = (state: AccountState, refusal: ClosingRefusal | undefined) => {
    if (refusal !== undefined) throw stateForbids('validation_failed', refusedBecause[refusal])
    const { closedAt, erasedAt } = accountClosing.statusOf(state)!
    return success({
      account: {
        id: state.account.id,
        email: state.account.email,
        closed_at: isoInstant(closedAt),
        erased_at: isoOrNull(erasedAt),
      },
    })
  }
  const response = { 200: Ended, 404: NestedProblem, 422: ValidationProblem }
  return [
    operation('DELETE /admin/v1/accounts/:id', {
      operationId: 'closeAccount',
      summary: 'Close an account',
      description:
        'Closes an account: permanently deletes its keys, sessions, password, alerts, watches, deliveries, webhooks and data sources, and suspends it. Financial records are retained; `POST /admin/v1/accounts/{id}/erase` erases personal data. A member of an organization leaves it. Refused while a subscription is active or the account owns an organization with other members.',
      access,
      params,
      answers: response,
      handle: ({ params: { id } }) => {
        const state = accountOf(keys, id)
        return answer(state, accountClosing.close(state))
      },
    }),
    operation('POST /admin/v1/accounts/:id/erase', {
      operationId: 'eraseAccount',
      summary: 'Erase the personal data of a closed account',
      description:
        'Erases addresses, phone numbers, e-mails, key names and settings of a closed account. Invoices, subscriptions, purchases and usage counts are retained under its id. Backups keep the data until they expire.',
      access,
      idempotent: true,
      params,
      body: noBody,
      answers: response,
      handle: ({ params: { id } }) => {
        const state = accountOf(keys, id)
        return answer(state, accountClosing.erase(state))
      },
    }),
  ]
}

function accountKeys({ keys, meter, keyChanges: changes, nameMax, now }: Context) {
  const keyBody = createKeyBody(nameMax)
  const { listed, madeRow } = createAdminRows(keys, meter, now)
  return [
    operation('GET /admin/v1/accounts/:id/keys', {
      operationId: 'listAccountKeys',
      summary: 'List the API keys of an account',
      description: 'Returns the keys of an account, active keys first, then newest first.',
      access,
      params,
      answers: envelopeOf({ api_keys: t.Array(OperatorKey), total_count: t.integer() }),
      handle: ({ params: { id } }) => {
        const accountKeys = heldKeys(accountOf(keys, id))
        return success({ api_keys: listed(accountKeys), total_count: accountKeys.length })
      },
    }),
    operation('POST /admin/v1/accounts/:id/keys', {
      operationId: 'createAccountKey',
      summary: 'Create an API key for an account',
      description: 'Creates a key; its token is returned only in this response.',
      access,
      idempotent: true,
      params,
      body: keyBody.schema,
      answers: { 201: NewKeyAnswer },
      handle: ({ body, params: { id } }) => {
        const account = accountOf(keys, id)
        const created = resultOf(changes.createKey(account, readKeyChange(keyBody, body, now())))
        return success({ api_key: madeRow(created) })
      },
    }),
  ]
}

function oneKey({ keys, meter, keyChanges: changes, now }: Context) {
  const { keyRow, madeRow } = createAdminRows(keys, meter, now)
  return [
    operation('PATCH /admin/v1/keys/:id', {
      operationId: 'suspendKey',
      summary: 'Suspend or reinstate an API key',
      description: 'Suspends or reinstates a key. Requests with a suspended key get 403.',
      access,
      params,
      body: SuspensionBody.schema,
      answers: KeyAnswer,
      handle: ({ body, params: { id } }) => {
        const { suspended } = SuspensionBody.read(body)
        return success({ api_key: keyRow(changes.suspendKey(keyOf(keys, id), suspended)) })
      },
    }),
    operation('POST /admin/v1/keys/:id/roll', {
      operationId: 'rotateAccountKey',
      summary: 'Rotate the API key of an account',
      description:
        'Returns a new token for the key, only in this response. The old token ends immediately, or after `overlap_seconds`.',
      access,
      idempotent: true,
      params,
      body: RollBody.schema,
      answers: NewKeyAnswer,
      handle: ({ body, params: { id } }) => {
        const overlapMs = readOverlapMs(body)
        const rolled = resultOf(changes.rollKey(keyOf(keys, id), overlapMs))
        return success({ api_key: madeRow(rolled) })
      },
    }),
    operation('DELETE /admin/v1/keys/:id', {
      operationId: 'revokeAccountKey',
      summary: 'Revoke the API key of an account',
      description: 'Revokes a key permanently, even the last active key of its account.',
      access,
      params,
      answers: { 200: KeyAnswer, 422: ValidationProblem },
      handle: ({ params: { id } }) =>
        success({
          api_key: keyRow(
            resultOf(
              changes.revokeKey(keyOf(keys, id), { evenLast: true }),
              'api_key_already_revoked',
            ),
          ),
        }),
    }),
  ]
}
