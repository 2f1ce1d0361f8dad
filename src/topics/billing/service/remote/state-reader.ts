import { minuteMs } from '../../../../lib/time/instant.ts'
import { PaymentRefused } from '../../../../send/billing/processor.ts'
import { atOnceMax, type RemoteDeps } from './deps.ts'
import type { Mirror } from './mirror.ts'
import type { InTurn } from './turns.ts'

export type StateReader = ReturnType<typeof createStateReader>

/** Stores what the processor has of an account when something may have changed there. */
export function createStateReader(
  { processor, entries, invoices, purchases, subscriptions, payments, log }: RemoteDeps,
  mirror: Mirror,
  inTurn: InTurn,
) {
  /** The account of an object; undefined: unknown here. */
  const laneOf = async (
    kind: 'subscription' | 'invoice',
    ref: string,
  ): Promise<string | undefined> => {
    if (kind === 'subscription')
      return subscriptions.byRef(ref)?.accountId ?? (await processor.subscription(ref))?.accountId
    const customer = (await processor.invoice(ref))?.customerRef
    return customer === undefined
      ? undefined
      : payments.customerByRef(processor.name, customer)?.accountId
  }
  /**
   * Reads the processor's state of an object, and writes it in one transaction with `also`. The
   * order of messages does not matter, because each read returns the current state.
   */
  const refresh = async (
    kind: 'subscription' | 'invoice',
    ref: string,
    also: () => boolean,
  ): Promise<void> => {
    const lane = await laneOf(kind, ref)
    if (lane === undefined) return void entries.together(also)
    await inTurn(lane, async () => {
      const subscription = kind === 'subscription' ? await processor.subscription(ref) : undefined
      const invoice = kind === 'invoice' ? await processor.invoice(ref) : undefined
      // An invoice may come before the message of the subscription that it pays.
      const paysFor =
        invoice && invoice.subscriptionRef !== null
          ? await processor.subscription(invoice.subscriptionRef)
          : undefined
      entries.together(() => {
        if (!also()) return
        if (kind === 'subscription' && !subscription && subscriptions.byRef(ref))
          log.warn('subscription_unreadable', {
            message:
              'The payment processor has no such subscription, or one with a price that was not made here; what is stored stays.',
            account: lane,
            subscription: ref,
          })
        for (const remote of [subscription, paysFor])
          if (remote?.accountId === lane) mirror.subscription(remote)
        if (invoice) mirror.invoice(invoice)
      })
    })
  }
  /** The same of a payment that may have been refunded or disputed. */
  const refreshCharge = (ref: string, also: () => boolean): Promise<void> =>
    inTurn(ref, async () => {
      const charge = await processor.charge(ref)
      const { invoiceRef, purchaseId } = charge ?? {}
      const isUnknown = invoiceRef !== undefined && !invoices.byRef(invoiceRef)
      const invoice = isUnknown ? await processor.invoice(invoiceRef) : undefined
      entries.together(() => {
        if (!also() || !charge) return
        if (invoice) mirror.invoice(invoice)
        const purchase = purchaseId === undefined ? undefined : purchases.byId(purchaseId)
        const paid =
          invoiceRef === undefined
            ? invoices.byId(purchase?.invoiceId ?? '')
            : invoices.byRef(invoiceRef)
        if (paid) entries.returned(paid, charge)
      })
    })
  return {
    refresh,
    refreshCharge,
    /** Tries open invoices of the running subscription whose payment has failed again. */
    async retryAll(accountId: string) {
      const running = subscriptions.running(accountId)
      for (const invoice of running ? invoices.openOf(running.id) : []) {
        const { providerRef: ref, attempts } = invoice
        if (ref === null || attempts === 0) continue
        try {
          await inTurn(accountId, () => processor.payInvoice(ref))
        } catch (error) {
          if (!(error instanceof PaymentRefused)) throw error
        }
        await refresh('invoice', ref, () => true)
      }
    },
  }
}

const quietMs = 10 * minuteMs

/** Reads subscriptions whose period has ended without a message from the processor. */
export function createPolling(
  { processor, subscriptions, clock, log }: RemoteDeps,
  refresh: StateReader['refresh'],
) {
  const readAt = new Map<string, number>()
  return async () => {
    const now = clock.now()
    const over = subscriptions
      .over(processor.name, now - quietMs, atOnceMax + readAt.size)
      .flatMap(({ providerRef }) => providerRef ?? [])
    for (const ref of readAt.keys()) if (!over.includes(ref)) readAt.delete(ref)
    // Those that were read and are still over must not keep the others from being read.
    const before = (ref: string) => readAt.get(ref) ?? 0
    const due = over
      .filter(ref => now - before(ref) >= quietMs)
      .toSorted((a, b) => before(a) - before(b))
    for (const providerRef of due.slice(0, atOnceMax)) {
      readAt.set(providerRef, now)
      try {
        await refresh('subscription', providerRef, () => true)
        const invoice = await processor.latestInvoice(providerRef)
        if (invoice) await refresh('invoice', invoice.ref, () => true)
      } catch (error) {
        log.warn('payment_processor_unavailable', {
          message: 'the payment processor did not answer about a subscription',
          subscription: providerRef,
          error,
        })
      }
    }
  }
}
