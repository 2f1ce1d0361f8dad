import type {
  InvoiceShape as Invoice,
  SubscriptionShape as Subscription,
} from '../../../topics/billing/operations/row.ts'

/** When the plan ends or renews, and what is not paid yet: only a paid plan is called paid. */
export function statusText(
  subscription: Pick<
    Subscription,
    'plan' | 'price' | 'status' | 'cancel_at_period_end' | 'pending_plan'
  >,
  nameOf: (id: string) => string,
  /** The day on which the running period ends. */
  until: string,
  invoices: readonly Pick<Invoice, 'number' | 'status'>[],
): string {
  const { plan, status, cancel_at_period_end: ends, pending_plan: next } = subscription
  const open = invoices.find(invoice => invoice.status === 'open')
  const due =
    status === 'past_due'
      ? ' An invoice is overdue.'
      : open
        ? ` Invoice ${open.number} is not paid yet.`
        : ''
  if (ends) return `${nameOf(plan)} ends on ${until}.${due}`
  if (next) return `${nameOf(next)} replaces it on ${until}.${due}`
  if (due !== '' || subscription.price === 0) return `${nameOf(plan)} renews on ${until}.${due}`
  return `${nameOf(plan)} is paid until ${until} and renews automatically.`
}
