import { useSignal } from '@preact/signals'
import type {
  OperatorAccount as Account,
  OperatorAccountDetail as Detail,
} from '../../../topics/operator/operations/people/account-row.ts'
import type { OrganizationShape as Organization } from '../../../topics/operator/operations/people/organizations.ts'
import {
  Button,
  Confirmed,
  Input,
  Parted,
  Refused,
  Result,
  SearchField,
  Select,
  ShownOnce,
  Side,
  Submit,
  Tag,
} from '../../parts/bits.tsx'
import { Spark } from '../../parts/charts/spark.tsx'
import { beginImpersonation, type Impersonation } from '../../parts/person/impersonation.ts'
import { asOperator, useOperatorPages } from '../../parts/person/operator-token.tsx'
import { featureText } from '../../parts/person/plans.ts'
import { useAttempt, useLoaded } from '../../parts/requests/ask.ts'
import { boot } from '../../parts/requests/boot.ts'
import { pagedRows } from '../../parts/requests/pages.ts'
import { actions, aside } from '../../parts/tables/columns.tsx'
import { KeyForm, keyActions, keyColumns } from '../../parts/tables/key-columns.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { bound, boundSelect, sets, submits } from '../../parts/text/form.ts'
import { ago, day, number, words } from '../../parts/text/format.ts'
import {
  CustomerFigures,
  CustomerParts,
  InvoiceTag,
  invoiceStatesOf,
  PlanChoice,
  UsageBar,
  useInvoices,
} from './customer.tsx'

const plans = ['free', 'developer', 'starter', 'professional', 'scale', 'enterprise'] as const

/** Accounts, their plans and keys, impersonation, and organizations. */
export function People() {
  const typed = useSignal(new URLSearchParams(location.search).get('search') ?? '')
  const email = useSignal('')
  const plan = useSignal('free')
  const shown = useSignal<{ text: string; secret: string } | undefined>(undefined)
  const path = `/admin/v1/accounts?per_page=50&usage=true${typed.value ? `&q=${encodeURIComponent(typed.value)}` : ''}`
  const answer = useOperatorPages<Account>(path, 'accounts')
  const { attempt, ...outcome } = useAttempt()
  const opened = useSignal('')
  const account = answer.rows?.find(({ id }) => id === opened.value)
  /** Counts changes of plans: the figures load again. */
  const changes = useSignal(0)
  const invoices = useInvoices(changes.value)
  const invoiceStates = invoiceStatesOf(invoices)
  const make = () =>
    attempt(async () => {
      const { data } = await asOperator<{ data: { api_key: { plain_token?: string } } }>(
        '/admin/v1/accounts',
        { method: 'POST', body: { email: email.value, plan: plan.value } },
      )
      shown.value = {
        text: `The first key for ${email.value}, shown once:`,
        secret: data.api_key.plain_token ?? '',
      }
      email.value = ''
      await answer.reload()
    })
  const invite = () =>
    attempt(async () => {
      await asOperator('/admin/v1/invitations', { method: 'POST', body: { email: email.value } })
      const invited = email.value
      email.value = ''
      return `An invitation was sent to ${invited}. Its link is valid for 7 days.`
    })
  const link = (account: Account) =>
    attempt(async () => {
      const signIn = await asOperator<{ data: { sign_in_url: string } }>(
        `/admin/v1/accounts/${account.id}/link`,
        { method: 'POST', body: {} },
      )
      shown.value = {
        text: `One-time sign-in link for ${account.email}:`,
        secret: signIn.data.sign_in_url,
      }
    })
  const lookAt = (account: Account) =>
    attempt(async () => {
      const { data } = await asOperator<{ data: Impersonation }>(
        `/admin/v1/accounts/${account.id}/look`,
        {
          method: 'POST',
          body: {},
        },
      )
      beginImpersonation(data)
    })
  const change = (account: Account, body: object) =>
    attempt(async () => {
      await asOperator(`/admin/v1/accounts/${account.id}`, { method: 'PATCH', body })
      await answer.reload()
    })
  return (
    <>
      {!account && <Result {...outcome} />}
      {shown.value && !account && <ShownOnce what={shown.value.text} secret={shown.value.secret} />}
      <CustomerFigures
        key={changes.value}
        invoices={invoices}
        accounts={answer.total}
        usage={
          answer.rows && answer.rows.length === answer.total
            ? answer.rows.flatMap(({ usage }) => usage ?? [])
            : undefined
        }
      />
      <Table
        caption="Accounts"
        {...pagedRows(answer)}
        keyOf={({ id }) => id}
        empty="No account has that address. Create one, or search again."
        actions={<SearchField label="Search" placeholder="Search" of={typed} />}
        columns={({ column }) => [
          column('Account', 'email', account => (
            <>
              <Parted text={account.email} />
              <div class="quiet small">
                since <span class="nowrap">{day(account.created_at)}</span>
                {account.suspended_at && ', suspended'}
              </div>
            </>
          )),
          column('Plan', 'plan', account => (
            <PlanChoice
              account={account}
              plans={plans}
              onChanged={async () => {
                changes.value += 1
                await answer.reload()
              }}
            />
          )),
          column('Usage', ({ usage }) => usage?.requests_used, {
            isWide: true,
            show: ({ usage }) => usage && <UsageBar usage={usage} />,
          }),
          {
            name: '30 days',
            isWide: true,
            show: ({ usage }) => usage?.days.some(Boolean) && <Spark values={usage.days} />,
          },
          column('Last request', ({ usage }) => usage?.last_request_at, { ...aside, write: ago }),
          column('Invoices', ({ id }) => invoiceStates.get(id), {
            isWide: true,
            show: ({ id }) => <InvoiceTag state={invoiceStates.get(id)} />,
          }),
          column('State', account => (account.suspended_at ? 'suspended' : 'active'), {
            isWide: true,
            show: account =>
              account.suspended_at ? (
                <Tag mood="bad">Suspended</Tag>
              ) : (
                <Tag mood="good">Active</Tag>
              ),
          }),
          {
            ...actions,
            show: account => (
              <button
                type="button"
                class="tight"
                aria-label={`Details of ${account.email}`}
                aria-haspopup="dialog"
                onClick={sets(opened, account.id)}
              >
                Details
              </button>
            ),
          },
        ]}
      />
      <details class="card">
        <summary>Add account</summary>
        <form class="row end" onSubmit={submits(() => make())}>
          <Input label="E-mail address" type="email" required {...bound(email)} />
          <Select label="Plan" of={plans} textOf={words} {...boundSelect(plan)} />
          <Submit>Create account</Submit>
          {boot.signup !== 'closed' && boot.signup !== 'company' && (
            <Button label="Invite by e-mail" isOff={email.value === ''} onClick={() => invite()} />
          )}
        </form>
      </details>
      {account && (
        <Side label={`Customer ${account.email}`} onClose={sets(opened, '')}>
          <div class="row">
            <Confirmed
              className="tight"
              label="Impersonate"
              question={`Impersonate ${account.email} for 30 minutes? Access is read-only and recorded in the audit trail.`}
              onConfirm={() => lookAt(account)}
            />
            <button
              type="button"
              class="tight"
              aria-label={`Sign-in link for ${account.email}`}
              onClick={() => void link(account)}
            >
              {' '}
              Sign-in link{' '}
            </button>
            <Confirmed
              label={account.suspended_at ? 'Restore' : 'Suspend'}
              question={
                account.suspended_at
                  ? `Restore the access of ${account.email}?`
                  : `Suspend ${account.email}? All of its requests are refused until you restore it.`
              }
              onConfirm={() => change(account, { suspended: account.suspended_at === null })}
            />
          </div>
          <Result {...outcome} />
          {shown.value && <ShownOnce what={shown.value.text} secret={shown.value.secret} />}
          <CustomerParts
            account={account}
            keys={<AccountKeys account={account} onChange={() => void answer.reload()} />}
          />
        </Side>
      )}
      <Organizations />
    </>
  )
}

/** The keys of one account: made, rolled, revoked. */
function AccountKeys({ account, onChange }: { account: Account; onChange: () => void }) {
  const answer = useLoaded(account.id, () =>
    asOperator<{ data: { account: Detail } }>(`/admin/v1/accounts/${account.id}`),
  )
  const { refusal, attempt } = useAttempt()
  const shown = useSignal<string | undefined>(undefined)
  const name = useSignal('')
  const detail = answer.data?.data.account
  const make = (path: string, body: object) =>
    attempt(async () => {
      const { data } = await asOperator<{ data: { api_key: { plain_token?: string } } }>(path, {
        method: 'POST',
        body,
      })
      shown.value = data.api_key.plain_token
      name.value = ''
      await answer.reload()
      onChange()
    })
  const revoke = (id: string) =>
    attempt(async () => {
      await asOperator(`/admin/v1/keys/${id}`, { method: 'DELETE' })
      await answer.reload()
      onChange()
    })
  return (
    <>
      {refusal.value && <Refused error={refusal.value} />}
      {shown.value && <ShownOnce what="The new key, shown once:" secret={shown.value} />}
      <Table
        caption={`Keys of ${account.email}`}
        file="account-keys"
        of={answer}
        rows={detail?.api_keys}
        keyOf={({ id }) => id}
        empty="No API keys. Create one above."
        note={
          detail &&
          `${number(detail.usage_this_month)} requests this month; the plan includes ${detail.features.map(featureText).join(', ') || 'prices only'}.`
        }
        actions={
          <KeyForm
            name={name}
            onCreate={() => make(`/admin/v1/accounts/${account.id}/keys`, { name: name.value })}
          />
        }
        columns={({ column }) => [
          ...keyColumns,
          column(
            'State',
            key => (!key.active ? 'ended' : key.suspended_at ? 'suspended' : 'active'),
            {
              show: key =>
                !key.active ? (
                  <Tag>Ended</Tag>
                ) : key.suspended_at ? (
                  <Tag mood="bad">Suspended</Tag>
                ) : (
                  <Tag mood="good">Active</Tag>
                ),
            },
          ),
          keyActions({
            onRoll: id => make(`/admin/v1/keys/${id}/roll`, {}),
            onRevoke: revoke,
          }),
        ]}
      />
    </>
  )
}

/** Users who share an account. */
function Organizations() {
  const answer = useOperatorPages<Organization>(
    '/admin/v1/organizations?per_page=100',
    'organizations',
  )
  return (
    <Table
      caption="Organizations"
      {...pagedRows(answer)}
      keyOf={({ id }) => id}
      isTall
      empty="No organizations yet. An owner turns an account into one under Account, Members."
      columns={({ column }) => [
        column('Organization', 'name', organization => (
          <>
            {organization.name}
            <div class="quiet small">
              {organization.email ?? 'closed'}
              {organization.plan && `, ${words(organization.plan)}`}
            </div>
          </>
        )),
        column(
          'Members',
          ({ members }) => members.map(({ email, role }) => `${email} ${role}`).join(', '),
          {
            className: 'break',
            show: ({ members }) =>
              members.map(member => (
                <div key={member.email} class="row">
                  <span>
                    <Parted text={member.email} />
                  </span>
                  <span class="quiet small">
                    {words(member.role)}
                    {member.account_id === null && ', invited'}
                  </span>
                </div>
              )),
          },
        ),
        column('Since', 'created_at', { ...aside, write: day }),
      ]}
    />
  )
}
