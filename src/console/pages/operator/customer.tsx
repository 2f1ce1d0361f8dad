import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { dayMs } from '../../../lib/time/instant.ts'
import { invoiceStateText } from '../../../plans/billing/invoice.ts'
import type { OperatorAccount } from '../../../topics/operator/operations/people/account-row.ts'
import type { LedgerInvoice as Invoice } from '../../../topics/operator/operations/people/billing.ts'
import type { LedgerSubscription as Subscription } from '../../../topics/operator/operations/people/subscriptions.ts'
import { Figure, Refused, Share, Tag, Waiting } from '../../parts/bits.tsx'
import { Side } from '../../parts/buttons.tsx'
import { Chart } from '../../parts/charts/chart.tsx'
import { Choice, Input, Options, Select, Submit } from '../../parts/fields.tsx'
import { asOperator } from '../../parts/person/operator-token.tsx'
import { moneyOf, requestsOf, usePlans } from '../../parts/person/plans.ts'
import { useAttempt, useLoaded } from '../../parts/requests/ask.ts'
import { now } from '../../parts/requests/boot.ts'
import { allRows } from '../../parts/requests/pages.ts'
import { type Column, column } from '../../parts/tables/columns.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { bound, sets, submits } from '../../parts/text/form.ts'
import { ago, agoOrDash, day, number, words } from '../../parts/text/format.ts'
import { AccountCredits } from './account-credits.tsx'

const invoicesOf = (signal: AbortSignal, accountId?: string) =>
  allRows<Invoice>(
    `/admin/v1/invoices?per_page=100${accountId === undefined ? '' : `&account=${accountId}`}`,
    'invoices',
    signal,
    asOperator,
  )

/** The invoices of all accounts, read again after each change of a plan; undefined until then. */
export const useInvoices = (changes: number): readonly Invoice[] | undefined =>
  useLoaded(`invoices ${changes}`, signal => invoicesOf(signal)).data

const perMonth = ({ price, billing_period: period }: Subscription): number =>
  period === 'yearly' ? price / 12 : price

/** Figures about paying customers: number, revenue per month, and overdue invoices. */
export function CustomerFigures({
  accounts,
  usage,
  invoices = [],
}: {
  accounts: number
  invoices: readonly Invoice[] | undefined
  /** The usage of every account; undefined while not all are listed. */
  usage: readonly AccountUsage[] | undefined
}) {
  const answer = useLoaded('customer figures', signal =>
    allRows<Subscription>(
      '/admin/v1/subscriptions?per_page=100',
      'subscriptions',
      signal,
      asOperator,
    ),
  )
  const plans = usePlans()
  const subscriptions = answer.data ?? []
  const active = subscriptions.filter(({ status }) => status === 'active' || status === 'past_due')
  const paying = active.filter(({ price }) => price > 0)
  const open = invoices.filter(({ status }) => status === 'open')
  const currency = plans.data?.[0]?.currency
  const money = (cents: number) =>
    currency === undefined ? number(cents / 100, 2) : moneyOf(cents, currency)
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  return (
    <section class="card" aria-label="Customer figures">
      <div class="figures">
        <Figure label="Accounts">{number(accounts)}</Figure>
        <Figure label="Paying">{number(paying.length)}</Figure>
        <Figure label="Monthly revenue">{money(sum(paying.map(perMonth)))}</Figure>
        {usage && (
          <>
            <Figure label="Requests today">
              {number(sum(usage.map(({ days }) => days.at(-1) ?? 0)))}
            </Figure>
            <Figure label="Near their limit">{number(usage.filter(isNearLimit).length)}</Figure>
          </>
        )}
        <Figure label="Past due">
          {number(active.filter(({ past_due_at: since }) => since !== null).length)}
        </Figure>
        <Figure label="Open invoices">
          {number(open.length)}
          {open.length > 0 && `, ${money(sum(open.map(({ amount }) => amount)))}`}
        </Figure>
      </div>
    </section>
  )
}

interface Row {
  id: string
  name?: string | null
  url?: string
  number?: string
  [field: string]: unknown
}

const parts = [
  { value: 'alerts', text: 'Alerts' },
  { value: 'webhooks', text: 'Webhooks' },
  { value: 'deliveries', text: 'Deliveries' },
  { value: 'invoices', text: 'Invoices' },
] as const

type PartName = (typeof parts)[number]['value']

const views = [
  { value: 'usage', text: 'Usage' },
  { value: 'keys', text: 'Keys' },
  { value: 'credits', text: 'Credits' },
  ...parts,
] as const

const text = (name: string, field: string): Column<Row> =>
  column(name, row => (row[field] as string | number | null) ?? '')

const at = (name: string, field: string): Column<Row> =>
  column(name, row => row[field] as string | null, {
    isWide: true,
    write: agoOrDash,
  })

const state = (good: (row: Row) => boolean, said: (row: Row) => string): Column<Row> => ({
  name: 'State',
  value: said,
  show: row => <Tag mood={good(row) ? 'good' : 'warn'}>{words(said(row))}</Tag>,
})

const columns: Record<PartName, readonly Column<Row>[]> = {
  alerts: [
    text('Name', 'name'),
    text('Code', 'commodity_code'),
    { ...text('Fired', 'trigger_count'), isNumber: true },
    at('Last', 'last_triggered_at'),
    state(
      row => row.enabled === true,
      row => (row.enabled ? 'on' : 'off'),
    ),
  ],
  webhooks: [
    { ...text('Address', 'url'), className: 'break' },
    { ...text('Delivered', 'successful_deliveries'), isNumber: true },
    { ...text('Failed', 'failed_deliveries'), isNumber: true },
    at('Last', 'last_delivery_at'),
    state(
      row => row.active === true,
      row => String(row.status),
    ),
  ],
  deliveries: [
    text('Name', 'name'),
    { ...text('Schedule', 'cadence'), write: words },
    text('To', 'recipient_email'),
    at('Next', 'next_delivery_at'),
    state(
      row => row.enabled === true,
      row => (row.enabled ? 'on' : 'off'),
    ),
  ],
  invoices: [
    text('Number', 'number'),
    {
      ...text('Amount', 'amount'),
      isNumber: true,
      show: row => `${row.currency} ${number(Number(row.amount) / 100, 2)}`,
    },
    {
      ...text('Due', 'due_at'),
      isWide: true,
      show: row => day(row.due_at as string | null),
    },
    state(
      row => row.status === 'paid' && row.dispute === null,
      row =>
        invoiceStateText({
          status: String(row.status),
          currency: String(row.currency),
          refundedCents: Number(row.amount_refunded),
          dispute: row.dispute === null ? null : String(row.dispute),
        }),
    ),
  ],
}

export type AccountUsage = NonNullable<OperatorAccount['usage']>

const nearShare = 0.8

const isNearLimit = ({ requests_used: used, request_limit: limit }: AccountUsage): boolean =>
  limit !== null && used >= nearShare * limit

/** How much of its quota an account has used. */
export const UsageBar = ({ usage }: { usage: AccountUsage }) => (
  <div class="small">
    {usage.request_limit === null
      ? number(usage.requests_used)
      : `${number(usage.requests_used)} of ${number(usage.request_limit)}`}
    {usage.request_limit !== null && (
      <Share used={usage.requests_used} limit={usage.request_limit} />
    )}
  </div>
)

const invoiceRank = ['overdue', 'open', 'paid'] as const
type InvoiceState = (typeof invoiceRank)[number]
const invoiceMoods = { overdue: 'bad', open: 'warn', paid: 'good' } as const

const invoiceState = ({ status, due_at: due }: Invoice): InvoiceState | undefined =>
  status === 'paid'
    ? 'paid'
    : status !== 'open'
      ? undefined
      : due !== null && Date.parse(due) < now()
        ? 'overdue'
        : 'open'

/** The worst state of the invoices of each account. */
export function invoiceStatesOf(invoices: readonly Invoice[] = []): Map<string, InvoiceState> {
  const states = new Map<string, InvoiceState>()
  for (const invoice of invoices) {
    const [state, known] = [invoiceState(invoice), states.get(invoice.account_id)]
    if (state && (!known || invoiceRank.indexOf(state) < invoiceRank.indexOf(known)))
      states.set(invoice.account_id, state)
  }
  return states
}

export const InvoiceTag = ({ state }: { state: InvoiceState | undefined }) =>
  state ? <Tag mood={invoiceMoods[state]}>{words(state)}</Tag> : <span class="quiet">–</span>

interface CustomerProps {
  account: { id: string; email: string; usage?: AccountUsage }
  /** Its keys, with actions. */
  keys: ComponentChildren
}

/** The usage, settings and invoices of a customer, one part at a time. */
export function CustomerParts({ account, keys }: CustomerProps) {
  const shown = useSignal<(typeof views)[number]['value']>('usage')
  const view = shown.value
  return (
    <>
      <Choice label="Activity" options={views} of={shown} />
      {view === 'usage' ? (
        <CustomerUsage usage={account.usage} />
      ) : view === 'keys' ? (
        keys
      ) : view === 'credits' ? (
        <AccountCredits account={account} />
      ) : (
        <Activity key={view} account={account} part={view} />
      )}
    </>
  )
}

function CustomerUsage({ usage }: { usage: AccountUsage | undefined }) {
  if (!usage) return null
  const first = Math.floor(now() / dayMs) - usage.days.length + 1
  return (
    <section class="card" aria-label="Usage">
      <UsageBar usage={usage} />
      {usage.days.some(Boolean) && (
        <Chart
          title="Requests by day, 30 days"
          height={200}
          decimals={0}
          times={usage.days.map((_, i) => (first + i) * (dayMs / 1000))}
          lines={[{ label: 'Requests', values: usage.days, ink: '--ink-1', isColumns: true }]}
        />
      )}
      <p class="quiet small">Last request: {ago(usage.last_request_at)}.</p>
    </section>
  )
}

function Activity({ account, part }: { account: { id: string; email: string }; part: PartName }) {
  const answer = useLoaded(`${account.id} ${part}`, async (signal): Promise<readonly Row[]> => {
    if (part !== 'invoices')
      return (
        await asOperator<{ data: Row[] }>(`/admin/v1/accounts/${account.id}/${part}`, { signal })
      ).data
    return (await invoicesOf(signal, account.id)).map(invoice => ({ ...invoice }))
  })
  return (
    <Table
      caption={`${words(part)} of ${account.email}`}
      file="customer-activity"
      of={answer}
      rows={answer.data}
      isTall
      empty={`No ${part} yet.`}
      columns={columns[part]}
    />
  )
}

type Billing = 'none' | 'subscription'

/** The plan of an account; another one is set only after the page has said what will be billed. */
export function PlanChoice({
  account,
  plans,
  onChanged,
}: {
  account: { id: string; email: string; plan: string }
  plans: readonly string[]
  onChanged: () => Promise<void>
}) {
  const wanted = useSignal('')
  return (
    <>
      <select
        aria-label={`Plan of ${account.email}`}
        value={account.plan}
        onChange={event => {
          wanted.value = event.currentTarget.value
          event.currentTarget.value = account.plan
        }}
      >
        <Options of={plans} textOf={words} />
      </select>
      {wanted.value !== '' && (
        <Side label={`Change the plan of ${account.email}`} onClose={sets(wanted, '')}>
          <PlanChange
            account={account}
            plan={wanted.value}
            onChanged={async () => {
              wanted.value = ''
              await onChanged()
            }}
          />
        </Side>
      )}
    </>
  )
}

/** What a change of plan bills, by the running subscription and the price list, and the change. */
function PlanChange({
  account,
  plan: planId,
  onChanged,
}: {
  account: { id: string; email: string; plan: string }
  plan: string
  onChanged: () => Promise<void>
}) {
  const plans = usePlans()
  const running = useLoaded(`subscription ${account.id}`, async signal =>
    (
      await asOperator<{ data: { subscriptions: Subscription[] } }>(
        `/admin/v1/subscriptions?account=${account.id}`,
        { signal },
      )
    ).data.subscriptions.find(({ ended_at: ended }) => ended === null),
  )
  /** Chosen for each change: one choice sends an invoice, and the other gives a plan away. */
  const billing = useSignal<Billing | ''>('')
  const period = useSignal<Subscription['billing_period']>('monthly')
  const typed = useSignal<string | undefined>(undefined)
  const openInvoices = useSignal('')
  const { refusal, attempt } = useAttempt()
  const plan = plans.data?.find(({ id }) => id === planId)
  if (running.refusal) return <Refused error={running.refusal} />
  if (!plan || running.isLoading) return <Waiting what="the bill" />
  const subscription = running.data
  const listed = period.value === 'monthly' ? plan.price_monthly : plan.price_yearly
  const price = typed.value ?? (plan.custom_pricing ? '' : String(listed / 100))
  const cents = Math.round(Number(price) * 100)
  const every = (name: Subscription['billing_period']) => (name === 'monthly' ? 'month' : 'year')
  const isFree = plan.price_monthly === 0 && !plan.custom_pricing
  const now =
    subscription && `${words(subscription.plan)} at ${moneyOf(subscription.price, plan.currency)}`
  const change = () =>
    attempt(async () => {
      if (isFree && subscription)
        await asOperator(`/admin/v1/subscriptions/${subscription.id}/cancel`, {
          method: 'POST',
          body: {},
        })
      else if (billing.value === 'none')
        await asOperator(`/admin/v1/accounts/${account.id}`, {
          method: 'PATCH',
          body: { plan: planId },
        })
      else
        await asOperator('/admin/v1/subscriptions', {
          method: 'POST',
          body: {
            account: account.id,
            plan: planId,
            billing_period: period.value,
            price: cents,
            ...(openInvoices.value !== '' && { open_invoices: openInvoices.value }),
          },
        })
      await onChanged()
    })
  return (
    <form class="stack" onSubmit={submits(change)}>
      {refusal.value && <Refused error={refusal.value} />}
      {!isFree && (
        <Choice
          label="Billing"
          of={billing}
          options={[
            { value: 'none', text: 'Leave billing as it is' },
            { value: 'subscription', text: 'Bill the plan' },
          ]}
        />
      )}
      {billing.value === 'subscription' && !isFree && (
        <div class="row end">
          <Choice
            label="Billing period"
            of={period}
            options={[
              { value: 'monthly', text: 'Month' },
              { value: 'yearly', text: 'Year' },
            ]}
          />
          <Input
            label={`Price, ${plan.currency}`}
            type="number"
            min="0"
            step="0.01"
            required
            value={price}
            onInput={event => {
              typed.value = event.currentTarget.value
            }}
          />
          {subscription && (
            <Select
              label="Open invoices"
              none="None"
              of={[
                { value: 'keep', text: 'Keep' },
                { value: 'void', text: 'Cancel' },
              ]}
              {...bound(openInvoices)}
            />
          )}
        </div>
      )}
      {(isFree || billing.value !== '') && (
        <>
          <dl class="facts" aria-live="polite">
            <dt>Billed now</dt>
            <dd>
              {billing.value === 'none' || isFree ? 'Nothing' : moneyOf(cents, plan.currency)}
            </dd>
            <dt>Afterwards</dt>
            <dd>
              {isFree
                ? subscription
                  ? `${now} ends on ${day(subscription.current_period_end)}. The ${plan.name} plan then follows.`
                  : 'Nothing.'
                : billing.value === 'subscription'
                  ? `${moneyOf(cents, plan.currency)} every ${every(period.value)}, from today.`
                  : subscription
                    ? `${now} a ${every(subscription.billing_period)} continues; the next invoice is due on ${day(subscription.current_period_end)}.`
                    : 'Nothing, until a price is agreed.'}
            </dd>
            {billing.value === 'subscription' && !isFree && subscription && (
              <>
                <dt>Ends now</dt>
                <dd>{now}; its unused time is a credit on the new invoice</dd>
              </>
            )}
            <dt>Limits</dt>
            <dd>
              {words(requestsOf(plan))},{' '}
              {isFree && subscription
                ? `from ${day(subscription.current_period_end)}`
                : 'immediately'}
            </dd>
          </dl>
          <div class="row">
            <Submit>
              {isFree && subscription ? 'Cancel the subscription' : `Change to ${plan.name}`}
            </Submit>
          </div>
        </>
      )}
    </form>
  )
}
