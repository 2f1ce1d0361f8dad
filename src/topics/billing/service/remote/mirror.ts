import type { RemoteInvoice, RemoteSubscription } from '../../../../send/billing/processor.ts'
import type { Subscription } from '../../store/subscriptions.ts'
import type { RemoteDeps } from './deps.ts'

export type Mirror = ReturnType<typeof createMirror>

/** Stores the state at the processor. The same response again changes nothing. */
export function createMirror({
  processor,
  entries,
  subscriptions,
  invoices,
  payments,
  keys,
  clock,
  ids,
  log,
}: RemoteDeps) {
  const begin = (remote: RemoteSubscription): Subscription | undefined => {
    if (
      remote.status === 'incomplete' ||
      remote.status === 'cancelled' ||
      !keys.account(remote.accountId)
    )
      return undefined
    const running = subscriptions.running(remote.accountId)
    if (running) {
      log.warn('subscription_duplicated', {
        message: 'an account has two subscriptions at the processor; the first one counts',
        account: remote.accountId,
        kept: running.id,
        other: remote.ref,
      })
      return undefined
    }
    const now = clock.now()
    return entries.begin({
      id: ids.uuid(),
      accountId: remote.accountId,
      agreed: false,
      anchorAt: remote.startsAt,
      ...copied(remote),
      pastDueAt: remote.status === 'past_due' ? now : null,
      cancelledAt: null,
      endedAt: null,
      provider: processor.name,
      providerRef: remote.ref,
      createdAt: remote.createdAt,
      updatedAt: now,
      creditCents: 0,
    })
  }
  return {
    subscription(remote: RemoteSubscription): Subscription | undefined {
      const stored = subscriptions.byRef(remote.ref)
      if (!stored) return begin(remote)
      if (stored.endedAt !== null || remote.status === 'incomplete') return stored
      if (remote.status === 'cancelled')
        return entries.end(stored, { unpaid: !stored.cancelAtPeriodEnd })
      const now = clock.now()
      const change: Partial<Subscription> = {
        ...copied(remote),
        pastDueAt: remote.status === 'past_due' ? (stored.pastDueAt ?? now) : null,
        cancelledAt: remote.cancelAtPeriodEnd ? (stored.cancelledAt ?? now) : null,
      }
      const isSame = Object.entries(change).every(
        ([name, value]) => stored[name as keyof Subscription] === value,
      )
      return isSame ? stored : entries.revise(stored, change)
    },
    invoice(remote: RemoteInvoice): void {
      const accountId = payments.customerByRef(processor.name, remote.customerRef)?.accountId
      if (accountId === undefined || remote.status === 'draft') return
      const stored = invoices.byRef(remote.ref)
      const { attempts, nextAttemptAt, paidAt, status } = remote
      const failed = status === 'open' && attempts > (stored?.attempts ?? 0)
      if (!stored) {
        const { ref, subscriptionRef, customerRef: _customer, ...rest } = remote
        const subscriptionId =
          subscriptionRef === null ? null : (subscriptions.byRef(subscriptionRef)?.id ?? null)
        const copy = entries.copyInvoice({
          ...rest,
          accountId,
          subscriptionId,
          lastError: null,
          provider: processor.name,
          providerRef: ref,
          refundedCents: 0,
          dispute: null,
        })
        if (status === 'paid') entries.notifyPaid(copy)
        if (failed) entries.notifyFailed(copy, refusedThere)
        return
      }
      // A paid or void invoice is final.
      if (stored.status === 'paid' || stored.status === 'void') return
      if (
        stored.status === status &&
        stored.attempts === attempts &&
        stored.nextAttemptAt === nextAttemptAt
      )
        return
      const lastError = status === 'open' && attempts > 0 ? refusedThere : null
      const settled = entries.settle(stored, { status, attempts, nextAttemptAt, paidAt, lastError })
      if (failed) entries.notifyFailed(settled, refusedThere)
    },
  }
}

const refusedThere = 'The payment was refused.'

const copied = (remote: RemoteSubscription) => ({
  plan: remote.plan,
  billingPeriod: remote.billingPeriod,
  priceCents: remote.priceCents,
  pendingPlan: remote.pendingPlan,
  pendingBillingPeriod: null,
  startsAt: remote.startsAt,
  endsAt: remote.endsAt,
  cancelAtPeriodEnd: remote.cancelAtPeriodEnd,
  status: remote.status === 'past_due' ? ('past_due' as const) : ('active' as const),
})
