import type { Command } from 'commander'
import { invoiceStateText } from '../../plans/billing/invoice.ts'
import type { LedgerInvoice as InvoiceLine } from '../../topics/operator/operations/people/billing.ts'
import type { LedgerSubscription as SubscriptionLine } from '../../topics/operator/operations/people/subscriptions.ts'
import { wordOption } from '../choice.ts'
import { anAccount, type CommandEnvironment, type CommandTools, Refusal } from '../command.ts'
import { tableOf } from '../table.ts'
import { accountOf } from './accounts.ts'

const invoicesPath = '/admin/v1/invoices'
const subscriptionsPath = '/admin/v1/subscriptions'
const invoiceStatuses = ['open', 'paid', 'void', 'uncollectible']
const subscriptionStatuses = ['active', 'past_due', 'cancelled']

const money = (cents: number, currency = 'USD') => `${currency} ${(cents / 100).toFixed(2)}`

const invoiceTable = (invoices: readonly InvoiceLine[]) =>
  tableOf(invoices, {
    NUMBER: 'number',
    'BILLED TO': 'billed_to',
    AMOUNT: invoice => money(invoice.amount, invoice.currency),
    STATUS: invoice => invoiceStateText({ ...invoice, refundedCents: invoice.amount_refunded }),
    ISSUED: invoice => invoice.created_at.slice(0, 10),
    DUE: invoice => invoice.due_at.slice(0, 10),
    PAID: invoice => invoice.paid_at?.slice(0, 10) ?? '-',
    ID: 'id',
  })

const invoiceDetail = (invoice: InvoiceLine) => [
  ...invoiceTable([invoice]),
  '',
  ...tableOf(invoice.lines, {
    LINE: 'description',
    AMOUNT: line => money(line.amount, invoice.currency),
  }),
  ...(invoice.last_error === null ? [] : ['', `The last payment failed: ${invoice.last_error}`]),
]

const endOf = (subscription: SubscriptionLine): string => {
  if (subscription.ended_at !== null) return `ended ${subscription.ended_at.slice(0, 10)}`
  const day = subscription.current_period_end.slice(0, 10)
  return subscription.cancel_at_period_end ? `ends ${day}` : `renews ${day}`
}

const subscriptionTable = (subscriptions: readonly SubscriptionLine[]) =>
  tableOf(subscriptions, {
    ACCOUNT: 'account_email',
    PLAN: 'plan',
    PRICE: subscription =>
      `${money(subscription.price)}${subscription.price_agreed ? ' (agreed)' : ''}`,
    PERIOD: 'billing_period',
    STATUS: 'status',
    NEXT: subscription => endOf(subscription),
    ID: 'id',
  })

interface Filter {
  status?: string
  account?: string
  plan?: string
}

/** Reads all pages of a filtered list. */
const allOf = async <T>(
  env: CommandEnvironment,
  path: string,
  name: string,
  { status, account, plan }: Filter,
): Promise<T[]> =>
  env.rows(path, name, {
    status,
    plan,
    account: account === undefined ? undefined : (await accountOf(env, account)).id,
  })

export const listInvoices = async (env: CommandEnvironment, filter: Filter = {}): Promise<void> => {
  const invoices = await allOf<InvoiceLine>(env, invoicesPath, 'invoices', filter)
  env.print(invoices, rows => (rows.length === 0 ? ['No invoices.'] : invoiceTable(rows)))
}

/** Finds the path of an invoice by its id or its number. */
async function invoicePath(env: CommandEnvironment, which: string): Promise<string> {
  if (!/^\d{4}-\d+$/.test(which)) return `${invoicesPath}/${encodeURIComponent(which)}`
  const invoices = await allOf<InvoiceLine>(env, invoicesPath, 'invoices', {})
  const invoice = invoices.find(({ number }) => number === which)
  if (!invoice) throw new Error(`no invoice has the number ${which}: see wellhead invoices list`)
  return `${invoicesPath}/${invoice.id}`
}

/** Shows an invoice, after changing its status if that is requested. */
export const oneInvoice = async (
  env: CommandEnvironment,
  which: string,
  verb: 'show' | 'pay' | 'void',
): Promise<void> => {
  const path = await invoicePath(env, which)
  if (verb === 'show') return env.showField('invoice', invoiceDetail, 'GET', path)
  const lines = (invoice: InvoiceLine) => invoiceTable([invoice])
  return env.showField('invoice', lines, 'POST', `${path}/${verb}`)
}

export const listSubscriptions = async (
  env: CommandEnvironment,
  filter: Filter = {},
): Promise<void> => {
  const sold = await allOf<SubscriptionLine>(env, subscriptionsPath, 'subscriptions', filter)
  env.print(sold, rows => (rows.length === 0 ? ['No subscriptions.'] : subscriptionTable(rows)))
}

export interface Agreement {
  plan: string
  /** In dollars, as a person writes it. */
  price: string
  yearly?: boolean
  openInvoices?: string
}

/** `99`, `99.50`; never rounded. */
function centsOf(price: string): number {
  const match = /^(\d{1,10})(?:\.(\d{1,2}))?$/.exec(price)
  if (!match) throw new Error(`--price must be an amount such as 99 or 99.50; got ${price}.`)
  return Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'))
}

/** A refusal that names a field names the option of the command that sends it. */
const inOptions = (error: unknown): never => {
  if (!(error instanceof Refusal)) throw error
  throw new Refusal(error.lines.map(line => line.replaceAll('open_invoices', '--open-invoices')))
}

/** Puts an account on a plan at an agreed price. */
export const agreeSubscription = async (
  env: CommandEnvironment,
  who: string,
  { plan, price, yearly = false, openInvoices }: Agreement,
): Promise<void> => {
  const account = await accountOf(env, who)
  const before = await allOf<SubscriptionLine>(env, subscriptionsPath, 'subscriptions', {
    account: account.id,
  })
  const { subscription } = await env
    .answer<{ subscription: { id: string } }>('POST', subscriptionsPath, {
      account: account.id,
      plan,
      price: centsOf(price),
      billing_period: yearly ? 'yearly' : 'monthly',
      open_invoices: openInvoices,
    })
    .catch(inOptions)
  const isSame = before.some(({ id }) => id === subscription.id)
  const agreed = await env.answer<{ subscription: SubscriptionLine }>(
    'GET',
    `${subscriptionsPath}/${subscription.id}`,
  )
  env.print(agreed.subscription, row => [
    ...subscriptionTable([row]),
    ...(isSame
      ? ['', 'The account already has this plan at this price: nothing was invoiced.']
      : []),
  ])
}

/** Ends a subscription, named by its id or its account. */
export const cancelSubscription = async (
  env: CommandEnvironment,
  which: string,
  { now = false, openInvoices }: { now?: boolean; openInvoices?: string } = {},
): Promise<void> => {
  const id = which.includes('@') ? await runningOf(env, which) : which
  const path = `${subscriptionsPath}/${encodeURIComponent(id)}/cancel`
  const body = { when: now ? 'now' : 'period_end', open_invoices: openInvoices }
  const lines = (row: SubscriptionLine) => subscriptionTable([row])
  await env.showField('subscription', lines, 'POST', path, body).catch(inOptions)
}

async function runningOf(env: CommandEnvironment, who: string): Promise<string> {
  const all = await allOf<SubscriptionLine>(env, subscriptionsPath, 'subscriptions', {
    account: who,
  })
  const running = all.find(({ ended_at }) => ended_at === null)
  if (!running) throw new Error(`${who} has no subscription`)
  return running.id
}

/** `invoices` and `subscriptions`: payments of accounts. */
export function billingCommands({ program, leaf, run }: CommandTools) {
  const openInvoices = () =>
    wordOption('--open-invoices <what>', 'handling of open invoices of the ending subscription', [
      'keep',
      'void',
    ])
  const filtered = (command: Command, statuses: readonly string[]) =>
    command
      .addOption(wordOption('--status <status>', 'only items with this status', statuses))
      .option('--account <account>', 'only items of this account: id or e-mail address')

  const invoices = program.command('invoices').description('manage invoices')
  filtered(leaf(invoices, 'list', 'list invoices, newest first'), invoiceStatuses).action(
    run(listInvoices),
  )
  for (const [verb, about] of [
    ['show', 'show an invoice with its lines'],
    ['pay', 'mark an invoice as paid'],
    ['void', 'void an invoice that was issued in error'],
  ] as const)
    leaf(invoices, verb, about, ['<invoice>', 'number or id']).action(
      run((env, which: string) => oneInvoice(env, which, verb)),
    )

  const subscriptions = program.command('subscriptions').description('manage subscriptions')
  filtered(leaf(subscriptions, 'list', 'list subscriptions, newest first'), subscriptionStatuses)
    .option('--plan <plan>', 'only subscriptions to this plan')
    .action(run(listSubscriptions))
  leaf(subscriptions, 'agree', 'assign a plan to an account at an agreed price', anAccount)
    .requiredOption('--plan <plan>', 'the plan')
    .requiredOption('--price <amount>', 'price per period in USD: 99 or 99.50')
    .option('--yearly', 'bill yearly instead of monthly')
    .addOption(openInvoices())
    .action(run(agreeSubscription))
  leaf(subscriptions, 'cancel', 'cancel a subscription at the end of its period', [
    '<subscription>',
    'id of the subscription, or e-mail address of the account',
  ])
    .option('--now', 'cancel it immediately, without a refund')
    .addOption(openInvoices())
    .action(run(cancelSubscription))
}
