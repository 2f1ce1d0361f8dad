import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { dayMs } from '../../../lib/time/instant.ts'
import type { PlanShape as Priced } from '../../../topics/billing/operations/row.ts'
import type { LedgerInvoice as Invoice } from '../../../topics/operator/operations/people/billing.ts'
import type { LedgerSubscription as Subscription } from '../../../topics/operator/operations/people/subscriptions.ts'
import { ask, useLoaded } from '../../parts/ask.ts'
import { Choice, Figure, Options, Share, Tag } from '../../parts/bits.tsx'
import { boot, now } from '../../parts/boot.ts'
import { Chart } from '../../parts/charts/chart.tsx'
import { boundChoice } from '../../parts/form.ts'
import { ago, day, number, words } from '../../parts/format.ts'
import { asOperator } from '../../parts/operator-token.tsx'
import { allRows } from '../../parts/pages.ts'
import { type Column, Table } from '../../parts/table.tsx'
import { AccountCredits } from './account-credits.tsx'

const invoicesOf = (signal: AbortSignal, accountId?: string) =>
  allRows<{ data: { invoices: Invoice[] } }, Invoice>(
    `/admin/v1/invoices?per_page=100${accountId === undefined ? '' : `&account=${accountId}`}`,
    ({ data }) => data.invoices,
    { signal },
    asOperator,
  )

/** The invoices of all accounts; undefined until they are here. */
export const useInvoices = (): readonly Invoice[] | undefined =>
  useLoaded('invoices', signal => invoicesOf(signal)).data

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
    allRows<{ data: { subscriptions: Subscription[] } }, Subscription>(
      '/admin/v1/subscriptions?per_page=100',
      ({ data }) => data.subscriptions,
      { signal },
      asOperator,
    ),
  )
  const subscriptions = answer.data ?? []
  const active = subscriptions.filter(({ status }) => status === 'active' || status === 'past_due')
  const paying = active.filter(({ price }) => price > 0)
  const open = invoices.filter(({ status }) => status === 'open')
  const money = (cents: number) => number(cents / 100, 2)
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  return (
    <section class="card" aria-label="Customers in figures">
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

const text = (name: string, field: string): Column<Row> => ({
  name,
  value: row => (row[field] as string | number | null) ?? '',
})

const at = (name: string, field: string): Column<Row> => ({
  name,
  isWide: true,
  value: row => row[field] as string | null,
  show: row => (row[field] ? ago(String(row[field])) : '–'),
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
    { ...text('Arrived', 'successful_deliveries'), isNumber: true },
    { ...text('Failed', 'failed_deliveries'), isNumber: true },
    at('Last', 'last_delivery_at'),
    state(
      row => row.active === true,
      row => String(row.status),
    ),
  ],
  deliveries: [
    text('Name', 'name'),
    text('Schedule', 'cadence'),
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
      show: row => day(row.due_at as string | null),
    },
    state(
      row => row.status === 'paid',
      row => String(row.status),
    ),
  ],
}

export interface AccountUsage {
  requests_used: number
  request_limit: number | null
  last_request_at: string | null
  days: number[]
}

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
      <Choice label="Activity" options={views} {...boundChoice(shown)} />
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
      <Chart
        title="Requests by day, 30 days"
        height={200}
        decimals={0}
        times={usage.days.map((_, i) => (first + i) * (dayMs / 1000))}
        lines={[{ label: 'Requests', values: usage.days, ink: '--ink-1', isColumns: true }]}
      />
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
      keyOf={({ id }) => id}
      isTall
      empty={`No ${part} yet.`}
      columns={columns[part]}
    />
  )
}

/** The plan of an account; a new plan is billed only after confirmation of its price. */
export function PlanChoice({
  account,
  plans,
  onChange,
}: {
  account: { email: string; plan: string }
  plans: readonly string[]
  onChange: (plan: string) => void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const wanted = useSignal('')
  // Prices are an answer for accounts: an operator with a token alone sees none.
  const priced = useLoaded(wanted.value !== '' && boot.isSignedIn ? 'plans' : undefined, signal =>
    ask<{ plans: Priced[] }>('/billing/plans', { signal }),
  )
  const plan = priced.data?.plans.find(({ id }) => id === wanted.value)
  const price =
    plan && !plan.custom_pricing && `${plan.currency} ${number(plan.price_monthly / 100, 2)}`
  return (
    <>
      <select
        aria-label={`Plan of ${account.email}`}
        value={account.plan}
        onChange={event => {
          wanted.value = event.currentTarget.value
          event.currentTarget.value = account.plan
          dialog.current?.showModal()
        }}
      >
        <Options of={plans} textOf={words} />
      </select>
      <dialog ref={dialog} aria-label="Change plan">
        <div class="stack">
          <p>
            Change {account.email} from {words(account.plan)} to {words(wanted.value)}?
            {price && ` Its list price is ${price} a month.`} The new limits hold at once; a running
            subscription keeps its agreed price.
          </p>
          <div class="row">
            <button type="button" onClick={() => dialog.current?.close()}>
              Cancel
            </button>
            <button
              type="button"
              class="main"
              onClick={() => {
                dialog.current?.close()
                onChange(wanted.value)
              }}
            >
              Change plan
            </button>
          </div>
        </div>
      </dialog>
    </>
  )
}
