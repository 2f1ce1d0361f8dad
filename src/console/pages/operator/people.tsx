import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type {
  OperatorAccount as Account,
  OperatorAccountDetail as Detail,
} from '../../../topics/operator/operations/people/account-row.ts'
import type { OrganizationShape as Organization } from '../../../topics/operator/operations/people/organizations.ts'
import { Parted, Result, ShownOnce, Tag } from '../../parts/bits.tsx'
import { Button, Confirmed, Side } from '../../parts/buttons.tsx'
import { Spark } from '../../parts/charts/spark.tsx'
import { Input, SearchField, Select, Submit } from '../../parts/fields.tsx'
import { beginImpersonation, type Impersonation } from '../../parts/person/impersonation.ts'
import {
  useOperator,
  useOperatorChange,
  useOperatorPages,
} from '../../parts/person/operator-token.tsx'
import { featureText } from '../../parts/person/plans.ts'
import { boot } from '../../parts/requests/boot.ts'
import { type Pages, pagedRows } from '../../parts/requests/pages.ts'
import { actions, aside, type Column, column } from '../../parts/tables/columns.tsx'
import { KeyForm, keyActions, keyColumns } from '../../parts/tables/key-columns.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { bound, sets, submits } from '../../parts/text/form.ts'
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

/** A text with a secret that is shown once. */
interface Secret {
  text: string
  secret: string
}

interface NewKey {
  data: { api_key: { plain_token?: string } }
}

interface SignInLink {
  data: { sign_in_url: string }
}

/** What an operator does to accounts; `shown` gets the secrets that it brings. */
function useAccountChanges(answer: Pages<Account>, shown: Signal<Secret | undefined>) {
  const { change, ...outcome } = useOperatorChange(answer)
  return {
    outcome,
    make: (email: string, plan: string) =>
      change('/admin/v1/accounts', 'POST', { email, plan }, ({ data }: NewKey) => {
        shown.value = {
          text: `The first key for ${email}, shown once:`,
          secret: data.api_key.plain_token ?? '',
        }
      }),
    invite: (email: string) =>
      change(
        '/admin/v1/invitations',
        'POST',
        { email },
        ({ data }: { data: { message: string } }) => data.message,
      ),
    link: ({ id, email }: Account) =>
      change(`/admin/v1/accounts/${id}/link`, 'POST', {}, ({ data }: SignInLink) => {
        shown.value = { text: `One-time sign-in link for ${email}:`, secret: data.sign_in_url }
      }),
    lookAt: ({ id }: Account) =>
      change(`/admin/v1/accounts/${id}/look`, 'POST', {}, ({ data }: { data: Impersonation }) =>
        beginImpersonation(data),
      ),
    change: ({ id }: Account, body: object) => change(`/admin/v1/accounts/${id}`, 'PATCH', body),
  }
}

type AccountChanges = ReturnType<typeof useAccountChanges>

/** Accounts, their plans and keys, impersonation, and organizations. */
export function People() {
  const typed = useSignal(new URLSearchParams(location.search).get('search') ?? '')
  const path = `/admin/v1/accounts?per_page=50&usage=true${typed.value ? `&q=${encodeURIComponent(typed.value)}` : ''}`
  const answer = useOperatorPages<Account>(path, 'accounts')
  const shown = useSignal<Secret | undefined>(undefined)
  const changes = useAccountChanges(answer, shown)
  const opened = useSignal('')
  const account = answer.rows?.find(({ id }) => id === opened.value)
  /** Counts changes of plans: the figures load again. */
  const planChanges = useSignal(0)
  const invoices = useInvoices(planChanges.value)
  const results = (
    <>
      <Result {...changes.outcome} />
      {shown.value && <ShownOnce what={shown.value.text} secret={shown.value.secret} />}
    </>
  )
  return (
    <>
      {!account && results}
      <CustomerFigures
        key={planChanges.value}
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
        empty="No account has that address. Create one, or search again."
        actions={<SearchField label="Search" placeholder="Search" of={typed} />}
        columns={accountColumns(
          invoiceStatesOf(invoices),
          async () => {
            planChanges.value += 1
            await answer.reload()
          },
          opened,
        )}
      />
      <NewAccount changes={changes} />
      {account && (
        <Customer
          account={account}
          changes={changes}
          onChange={() => void answer.reload()}
          onClose={sets(opened, '')}
        >
          {results}
        </Customer>
      )}
      <Organizations />
    </>
  )
}

const accountColumns = (
  invoiceStates: ReturnType<typeof invoiceStatesOf>,
  onPlanChanged: () => Promise<void>,
  opened: Signal<string>,
): readonly Column<Account>[] => [
  column('Account', 'email', ({ email, created_at: at, suspended_at: suspendedAt }) =>
    twoLines(<Parted text={email} />, `since ${day(at)}${suspendedAt ? ', suspended' : ''}`),
  ),
  column('Plan', 'plan', account => (
    <PlanChoice account={account} plans={plans} onChanged={onPlanChanged} />
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
    show: account => <Active isActive={account.suspended_at === null} />,
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
]

const Active = ({ isActive }: { isActive: boolean }) =>
  isActive ? <Tag mood="good">Active</Tag> : <Tag mood="bad">Suspended</Tag>

function NewAccount({ changes }: { changes: AccountChanges }) {
  const email = useSignal('')
  const plan = useSignal('free')
  /** The address stays where it was refused. */
  const send = async (work: Promise<boolean>) => {
    if (await work) email.value = ''
  }
  return (
    <details class="card">
      <summary>Add account</summary>
      <form class="row end" onSubmit={submits(() => send(changes.make(email.value, plan.value)))}>
        <Input label="E-mail address" type="email" required {...bound(email)} />
        <Select label="Plan" of={plans} textOf={words} {...bound(plan)} />
        <Submit>Create account</Submit>
        {boot.signup !== 'closed' && boot.signup !== 'company' && (
          <Button
            label="Invite by e-mail"
            isOff={email.value === ''}
            onClick={() => send(changes.invite(email.value))}
          />
        )}
      </form>
    </details>
  )
}

interface CustomerProps {
  account: Account
  changes: AccountChanges
  onChange: () => void
  onClose: () => void
  children: ComponentChildren
}

/** One account over the list: what the operator does to it, and its parts. */
function Customer({ account, changes, onChange, onClose, children }: CustomerProps) {
  const { email, suspended_at: suspendedAt } = account
  return (
    <Side label={`Customer ${email}`} onClose={onClose}>
      <div class="row">
        <Confirmed
          className="tight"
          label="Impersonate"
          question={`Impersonate ${email} for 30 minutes? Access is read-only and recorded in the audit trail.`}
          onConfirm={() => changes.lookAt(account)}
        />
        <Button
          className="tight"
          label="Sign-in link"
          of={`for ${email}`}
          onClick={() => changes.link(account)}
        />
        <Confirmed
          label={suspendedAt ? 'Restore' : 'Suspend'}
          question={
            suspendedAt
              ? `Restore the access of ${email}?`
              : `Suspend ${email}? All of its requests are refused until you restore it.`
          }
          onConfirm={() => changes.change(account, { suspended: suspendedAt === null })}
        />
      </div>
      {children}
      <CustomerParts
        account={account}
        keys={<AccountKeys account={account} onChange={onChange} />}
      />
    </Side>
  )
}

/** The keys of one account: made, rolled, revoked. */
function AccountKeys({ account, onChange }: { account: Account; onChange: () => void }) {
  const path = `/admin/v1/accounts/${account.id}`
  const answer = useOperator<{ data: { account: Detail } }>(path)
  const { change, ...outcome } = useOperatorChange(answer)
  const shown = useSignal<string | undefined>(undefined)
  const name = useSignal('')
  const detail = answer.data?.data.account
  const make = (at: string, body: object) =>
    change(at, 'POST', body, ({ data }: NewKey) => {
      shown.value = data.api_key.plain_token
      name.value = ''
      onChange()
    })
  const revoke = (id: string) => change(`/admin/v1/keys/${id}`, 'DELETE', undefined, onChange)
  return (
    <>
      {shown.value && <ShownOnce what="The new key, shown once:" secret={shown.value} />}
      <Table
        caption={`Keys of ${account.email}`}
        file="account-keys"
        outcome={outcome}
        of={answer}
        rows={detail?.api_keys}
        empty="No API keys. Create one above."
        note={
          detail &&
          `${number(detail.usage_this_month)} charged requests this month; the plan includes ${detail.features.map(featureText).join(', ') || 'prices only'}.`
        }
        actions={
          <KeyForm name={name} onCreate={() => make(`${path}/keys`, { name: name.value })} />
        }
        columns={({ column }) => [
          ...keyColumns,
          column(
            'State',
            key => (!key.active ? 'ended' : key.suspended_at ? 'suspended' : 'active'),
            {
              show: key =>
                key.active ? <Active isActive={key.suspended_at === null} /> : <Tag>Ended</Tag>,
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
      isTall
      empty="No organizations yet. An owner turns an account into one under Account, Members."
      columns={({ column }) => [
        column('Organization', 'name', ({ name, email, plan }) =>
          twoLines(name, [email ?? 'closed', plan && words(plan)].filter(Boolean).join(', ')),
        ),
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
