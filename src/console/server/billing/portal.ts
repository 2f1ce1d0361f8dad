import { t } from '../../../http/answer/schema.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { escaped } from '../../../lib/text/html.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { invoiceStateText, money } from '../../../plans/billing/invoice.ts'
import { tierOf } from '../../../plans/plans.ts'
import { invoicePdf } from '../../../send/billing/invoice-pdf.ts'
import type { BillingPage } from '../../../topics/billing/service/pages.ts'
import type { Invoice } from '../../../topics/billing/store/invoices.ts'
import type { AccountState } from '../../../topics/keys/service/keyring.ts'
import { pageAnswer } from '../page.ts'

const showing = { open: 'The address is signed.', rate: 'none' } as const
const query = t.Object({ session: t.Optional(t.String()) })
const invoicesShown = 100

/**
 * The account's purchases, open to everyone with the address of the page. The page changes nothing.
 */
export function billingPortalOperations({
  billing,
  billingPages,
  keys,
  plans,
  serviceName,
  issuer,
}: Context) {
  const over = () =>
    pageAnswer(
      { serviceName, title: 'This page has expired', body: '<p>Request a new link.</p>' },
      { status: 404 },
    )
  const opened = (
    session: string | undefined,
  ): { page: BillingPage; account: AccountState } | undefined => {
    const page = billingPages.read(session ?? '')
    const account = page && keys.account(page.accountId)
    return page && account && { page, account }
  }
  const planLine = (account: AccountState): string => {
    const subscription = billing.current(account)
    if (!subscription) return `The ${keys.entitlements(account).planName} plan.`
    const until = isoDay(subscription.endsAt)
    const next =
      subscription.pendingPlan === null
        ? ''
        : ` The ${tierOf(plans, subscription.pendingPlan).name} plan follows.`
    const end = subscription.cancelAtPeriodEnd
      ? `It ends on ${until}.`
      : subscription.priceCents === 0
        ? `It renews each period; the current one ends on ${until}.${next}`
        : `Paid for the period that ends on ${until}.${next}`
    const due = subscription.status === 'past_due' ? ' An invoice is overdue.' : ''
    return `The ${tierOf(plans, subscription.plan).name} plan. ${end}${due}`
  }
  const invoiceLine = (invoice: Invoice, session: string) => {
    const href = `/billing/portal/invoices/${invoice.id}?session=${encodeURIComponent(session)}`
    const cells = [
      `<a href="${escaped(href)}">${invoice.number}</a>`,
      isoDay(invoice.createdAt),
      money(invoice.amountCents, invoice.currency),
      invoiceStateText(invoice),
    ]
    return `<tr>${cells.map(cell => `<td>${cell}</td>`).join('')}</tr>`
  }

  return [
    operation('GET /billing/portal', {
      operationId: 'showBillingPortal',
      summary: 'Purchases of the account',
      hidden: true,
      access: showing,
      query: query.properties,
      handle: ({ query: { session = '' } }) => {
        const visit = opened(session)
        if (!visit) return over()
        const { account, page } = visit
        const rows = billing.invoices
          .page({ accountId: account.account.id }, invoicesShown, 0)
          .map(invoice => invoiceLine(invoice, session))
        const back =
          page.returnUrl === undefined ? '' : `<p><a href="${escaped(page.returnUrl)}">Back</a></p>`
        const invoices =
          rows.length === 0 ? '<p>No invoices yet.</p>' : `<table>${rows.join('')}</table>`
        const body = `<p>${escaped(account.account.email)}</p><p>${escaped(planLine(account))}</p><h2>Invoices</h2>${invoices}${back}`
        return pageAnswer({ serviceName, title: 'Billing', body })
      },
    }),
    operation('GET /billing/portal/invoices/:id', {
      operationId: 'showBillingInvoice',
      summary: 'An invoice as PDF',
      hidden: true,
      access: showing,
      query: query.properties,
      params: { id: t.String() },
      handle: async ({ params: { id }, query: { session } }) => {
        const visit = opened(session)
        const invoice = visit && billing.invoices.own(visit.account.account.id, id)
        if (!invoice) return over()
        const headers = {
          'content-type': 'application/pdf',
          'cache-control': 'no-store',
          'content-disposition': `inline; filename="invoice-${invoice.number}.pdf"`,
        }
        return new Response((await invoicePdf({ ...invoice, issuer })) as Uint8Array<ArrayBuffer>, {
          headers,
        })
      },
    }),
  ]
}
