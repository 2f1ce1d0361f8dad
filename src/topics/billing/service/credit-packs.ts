import type { Runtime } from '../../../config/runtime.ts'
import { thousands } from '../../../lib/text/text.ts'
import { isoDay, minuteMs } from '../../../lib/time/instant.ts'
import type { CreditPack } from '../../../plans/billing/credit-packs.ts'
import type { Charge, Processor } from '../../../send/billing/processor.ts'
import type { Credits } from '../../keys/service/credits.ts'
import type { AccountState, Keyring } from '../../keys/service/keyring.ts'
import type { CreditPurchase, CreditStore } from '../../keys/store/credits.ts'
import type { Notices } from '../../messages/service/notices.ts'
import type { InvoiceStore } from '../store/invoices.ts'
import { type BillingEntries, currency } from './entries.ts'
import type { BillingRefusal } from './terms.ts'

/** Requests sold alongside a plan. */
export interface CreditSales {
  packs: readonly CreditPack[]
  /** Runs inside the caller's transaction. Work of a processor is pending until `settle`. */
  order(account: AccountState, pack: CreditPack, quantity: number): CreditPurchase | BillingRefusal
  /** Asks the processor to be paid for a pending purchase; however often, it is paid once. */
  settle(purchaseId: string): Promise<CreditPurchase>
  /** Inside the caller's transaction: what became of the payment. */
  learned(purchaseId: string, charge: Charge): void
  /**
   * Requests that the operator grants an account; they are available at once, and the account is
   * notified.
   */
  grant(account: AccountState, gift: CreditGift): CreditPurchase
  /** Requests that an account has left, bought or given. */
  balance(accountId: string): number
  /**
   * Every purchase and gift: those with requests left in the order of use, then the others, newest
   * first.
   */
  all(accountId: string): CreditLot[]
  /** Ends what no one used in time. */
  lapse(): void
  /** Takes up sales that were left half-way. */
  pass(): Promise<void>
  nextStop(after: number): number
}

export interface CreditGift {
  requests: number
  /** Null: they do not expire. */
  expiresAt: number | null
  /** The reason that the account is given with the number. */
  reason?: string | undefined
}

export interface CreditLot {
  purchase: CreditPurchase
  remaining: number
  /** Requests that no one used in time. */
  expired: number
}

/** The pack of credits that the operator gave and the account did not buy. */
export const giftPack = 'gift'

export interface CreditSalesDeps extends Pick<Runtime, 'ids' | 'log' | 'clock'> {
  packs: readonly CreditPack[]
  entries: BillingEntries
  credits: Credits
  purchases: CreditStore
  invoices: InvoiceStore
  keys: Pick<Keyring, 'account'>
  notices: Notices
  /** Absent: `charge` has the result at once. */
  processor: Processor | undefined
  charge(accountId: string): Charge
  customerOf(account: AccountState): Promise<string>
}

/** A sale that is this old was left half-way: its request has ended. */
const leftMs = minuteMs
const atOnceMax = 50

export function createCreditSales(deps: CreditSalesDeps): CreditSales {
  const { packs, credits, purchases, clock, processor } = deps
  const learned = createOutcomeRecorder(deps)
  const settle = createSettlement(deps, learned)
  return {
    packs,
    order: createOrdering(deps, learned),
    settle,
    learned,
    grant: createGranting(deps),
    balance: credits.remaining,
    all(accountId) {
      const lots = purchases
        .completed(accountId, clock.now())
        .map(({ expired, ...purchase }) => ({ purchase, remaining: 0, expired }))
      const left = credits.left(accountId).flatMap(({ purchaseId, remaining }) => {
        const lot = lots.find(({ purchase }) => purchase.id === purchaseId)
        return lot ? { ...lot, remaining } : []
      })
      const isLeft = new Set(left.map(({ purchase }) => purchase.id))
      return [...left, ...lots.filter(({ purchase }) => !isLeft.has(purchase.id))]
    },
    lapse: () => lapse(deps),
    async pass() {
      if (!processor) return
      for (const { id } of purchases.pending(processor.name, clock.now() - leftMs, atOnceMax))
        await settle(id)
    },
    nextStop: after => purchases.nextExpiry(after) ?? Number.POSITIVE_INFINITY,
  }
}

type Learn = CreditSales['learned']

/** Writes down what came of charging a purchase. */
const createOutcomeRecorder =
  ({ purchases, invoices, entries }: CreditSalesDeps): Learn =>
  (purchaseId, charged) => {
    const purchase = purchases.byId(purchaseId)
    const invoice = purchase?.invoiceId ? invoices.byId(purchase.invoiceId) : undefined
    if (invoice?.status !== 'open' || charged.outcome === 'open') return
    if (charged.outcome === 'paid') entries.attempted(invoice, charged)
    else
      entries.settle(invoice, {
        status: 'void',
        attempts: invoice.attempts + 1,
        lastError: charged.error,
      })
  }

/** A purchase with its invoice, which without a processor is charged at once. */
const createOrdering =
  (
    { entries, purchases, clock, ids, processor, charge }: CreditSalesDeps,
    learned: Learn,
  ): CreditSales['order'] =>
  ({ account }, pack, quantity) => {
    const now = clock.now()
    const amountCents = pack.priceCents * quantity
    const charged: Charge =
      amountCents === 0 ? { outcome: 'paid' } : processor ? { outcome: 'open' } : charge(account.id)
    if (charged.outcome === 'failed') return { refused: 'payment_failed', why: charged.error }
    return entries.together(() => {
      const id = ids.uuid()
      const invoice = entries.issue({
        accountId: account.id,
        subscriptionId: null,
        startsAt: now,
        endsAt: now,
        ...(processor && { provider: processor.name }),
        lines: [
          { description: quantity === 1 ? pack.name : `${quantity} × ${pack.name}`, amountCents },
        ],
      })
      entries.purchase({
        id,
        accountId: account.id,
        packId: pack.id,
        quantity,
        requests: pack.requests * quantity,
        amountCents,
        currency,
        status: 'pending',
        invoiceId: invoice.id,
        createdAt: now,
        expiresAfterDays: pack.expiresAfterDays,
        completedAt: null,
        expiresAt: null,
      })
      learned(id, charged)
      if (charged.outcome === 'open' && !processor) entries.notifyOpen(invoice)
      return purchases.byId(id)!
    })
  }

/** A purchase that costs nothing and has no invoice: the operator's gift. */
const createGranting =
  ({ entries, credits, purchases, notices, clock, ids }: CreditSalesDeps): CreditSales['grant'] =>
  ({ account }, { requests, expiresAt, reason }) =>
    entries.together(() => {
      const now = clock.now()
      const id = ids.uuid()
      const gift: CreditPurchase = {
        id,
        accountId: account.id,
        packId: giftPack,
        quantity: 1,
        requests,
        amountCents: 0,
        currency,
        status: 'completed',
        invoiceId: null,
        createdAt: now,
        expiresAfterDays: null,
        completedAt: now,
        expiresAt,
      }
      // Usage of other lots must be stored before they are read again.
      credits.flush()
      entries.purchase(gift)
      purchases.settle(gift)
      credits.reload(account.id)
      const until = expiresAt === null ? '' : ` They are good until ${isoDay(expiresAt)}.`
      notices.post(
        {
          accountId: account.id,
          type: 'credits',
          title: `${thousands(String(requests))} requests were given to you`,
          message: `They are used once the quota is used up.${until}${reason ? ` ${reason}` : ''}`,
          data: { purchase_id: id },
        },
        now,
      )
      return gift
    })

/** Asks the processor to take the money of a purchase that is still pending. */
const createSettlement =
  (
    { entries, purchases, keys, log, processor, customerOf }: CreditSalesDeps,
    learned: Learn,
  ): CreditSales['settle'] =>
  async purchaseId => {
    const purchase = purchases.byId(purchaseId)!
    const account = keys.account(purchase.accountId)
    if (purchase.status !== 'pending' || !processor || !account) return purchase
    const { amountCents } = purchase
    try {
      const customer = await customerOf(account)
      const description = `${thousands(String(purchase.requests))} requests`
      const sale = {
        key: `purchase:${purchase.id}`,
        purchaseId,
        amountCents,
        currency: purchase.currency,
        description,
      }
      const charged = await processor.sell(customer, sale)
      entries.together(() => learned(purchaseId, charged))
    } catch (error) {
      log.warn('payment_processor_unavailable', {
        message: 'a purchase waits until the payment processor answers',
        purchase: purchaseId,
        error,
      })
    }
    return purchases.byId(purchaseId)!
  }

function lapse({ entries, credits, purchases, notices, clock }: CreditSalesDeps): void {
  const now = clock.now()
  if (purchases.expired(now, 1).length === 0) return
  entries.together(() => {
    // Pending usage counts against the lots that expire.
    credits.flush()
    for (const { accountId, purchaseId, remaining } of purchases.expired(now, atOnceMax)) {
      purchases.lapse(purchaseId)
      credits.reload(accountId)
      const message = `${thousands(String(remaining))} bought requests were not used in time.`
      notices.post(
        {
          accountId,
          type: 'credits',
          title: 'Bought requests have expired',
          message,
          data: { purchase_id: purchaseId },
        },
        now,
      )
    }
  })
}
