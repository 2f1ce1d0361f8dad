import type { AccountState } from '../../../keys/service/keyring.ts'
import { atOnceMax, type RemoteDeps } from './deps.ts'

/** An account is a customer of the processor from the first time on that it needs one. */
export function createCustomers({ processor, payments, subscriptions, keys, log }: RemoteDeps) {
  const provider = processor.name
  /** The changes of addresses after which the processor had all of them; undefined: it lacks some. */
  let comparedAt: number | undefined
  const put = (accountId: string, providerRef: string, email: string | null) =>
    payments.putCustomer({ accountId, provider, providerRef, paymentMethodId: null, email })
  const setEmail = async (accountId: string, providerRef: string, email: string) => {
    // A refused address is not sent again.
    if (!(await processor.setEmail(providerRef, email)))
      log.warn('customer_email_refused', {
        message: 'the payment processor did not accept the e-mail address of a customer',
        account: accountId,
        customer: providerRef,
      })
    put(accountId, providerRef, email)
  }
  const customerOf = async ({ account: { id, email } }: AccountState): Promise<string> => {
    const ref = payments.customer(id, provider)?.providerRef
    if (ref) return ref
    const created = await processor.customer(id)
    put(id, created, null)
    comparedAt = undefined
    await setEmail(id, created, email)
    return created
  }
  return {
    /** The processor's name of an account. */
    customerOf,
    /** The credit that ended subscriptions left pays for what the account buys at the processor. */
    async handOverCredit(accountId: string) {
      const ref = payments.customer(accountId, provider)?.providerRef
      if (!ref) return
      for (const { id, cents } of subscriptions.credits(accountId)) {
        await processor.addCredit(ref, cents, `credit:${id}`)
        subscriptions.takeCredit(id)
      }
    },
    /** Sends the addresses of accounts that the processor does not have. */
    async readdress() {
      const changes = keys.addressChanges()
      if (changes === comparedAt) return
      const found = payments.readdressed(provider, atOnceMax)
      if (found.length < atOnceMax) comparedAt = changes
      try {
        for (const { accountId, providerRef, newEmail } of found)
          await setEmail(accountId, providerRef, newEmail)
      } catch (error) {
        comparedAt = undefined
        throw error
      }
    },
  }
}

export type Customers = ReturnType<typeof createCustomers>

/** Hands over the credits of accounts that pay the processor. */
export function createCreditTransfer(
  { processor, subscriptions, log }: RemoteDeps,
  handOver: (accountId: string) => Promise<void>,
) {
  /** Accounts whose credit was refused, the oldest refusal first: they come after all others. */
  const refused = new Set<string>()
  return async () => {
    const found = subscriptions.creditors(processor.name, atOnceMax + refused.size)
    for (const accountId of refused) if (!found.includes(accountId)) refused.delete(accountId)
    const others = found.filter(accountId => !refused.has(accountId))
    for (const accountId of [...others, ...refused].slice(0, atOnceMax)) {
      refused.delete(accountId)
      try {
        await handOver(accountId)
      } catch (error) {
        refused.add(accountId)
        log.warn('payment_processor_unavailable', {
          message: 'the payment processor did not take the credit of an account',
          account: accountId,
          error,
        })
      }
    }
  }
}
