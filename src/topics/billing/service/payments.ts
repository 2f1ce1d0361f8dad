import type { Runtime } from '../../../config/runtime.ts'
import type {
  PaymentMethod,
  PaymentMethods,
  Processor,
  SetupIntent,
} from '../../../send/billing/processor.ts'
import type { ManualPayments } from '../../../send/billing/processor-manual.ts'
import type { AccountState } from '../../keys/service/keyring.ts'
import type { PaymentStore } from '../store/payments.ts'

/** The payment methods of accounts. */
export interface BillingPayments {
  methods(account: AccountState): Promise<PaymentMethods>
  /**
   * Undefined for a method that the account does not have. Open invoices whose payment has failed
   * are tried with it at once.
   */
  use(account: AccountState, methodId: string): Promise<PaymentMethod | undefined>
  setupIntent(account: AccountState): Promise<SetupIntent>
  /**
   * The processor's page for its customers; undefined: there is no processor, and the page is one
   * of this service.
   */
  portal(
    account: AccountState,
    returnUrl: string,
  ): Promise<{ url: string; expiresAt: number } | undefined>
}

export interface BillingPaymentsDeps extends Pick<Runtime, 'clock' | 'ids'> {
  manual: ManualPayments
  processor: Processor | undefined
  payments: PaymentStore
  methodOf(accountId: string): string
  customerOf(account: AccountState): Promise<string>
  retry(accountId: string): void | Promise<void>
}

export const createBillingPayments = (deps: BillingPaymentsDeps): BillingPayments =>
  deps.processor ? remotePayments(deps, deps.processor) : manualPayments(deps)

function remotePayments(
  { customerOf, payments, retry }: BillingPaymentsDeps,
  processor: Processor,
): BillingPayments {
  return {
    async methods({ account }) {
      const customer = payments.customer(account.id, processor.name)?.providerRef
      // An account that has never paid has no customer yet, and reading must not create one.
      return customer ? processor.methods(customer) : { methods: [], defaultId: null }
    },
    async use({ account }, methodId) {
      const customer = payments.customer(account.id, processor.name)?.providerRef
      if (!customer || !(await processor.useMethod(customer, methodId))) return undefined
      await retry(account.id)
      const { methods } = await processor.methods(customer)
      return methods.find(method => method.id === methodId)
    },
    setupIntent: async account => processor.setupIntent(await customerOf(account)),
    portal: async (account, returnUrl) => processor.portal(await customerOf(account), returnUrl),
  }
}

const secretCharacters = 24

function manualPayments({
  manual,
  payments,
  ids,
  methodOf,
  retry,
}: BillingPaymentsDeps): BillingPayments {
  return {
    methods: async ({ account }) => ({ methods: manual.methods, defaultId: methodOf(account.id) }),
    async use({ account }, methodId) {
      const method = manual.methods.find(method => method.id === methodId)
      if (!method) return undefined
      payments.putCustomer({
        accountId: account.id,
        provider: 'manual',
        providerRef: null,
        paymentMethodId: methodId,
        email: null,
      })
      await retry(account.id)
      return method
    },
    // Nothing has to be set up: every account has the methods that there are.
    async setupIntent() {
      const token = ids.token()
      const id = `seti_${token.slice(0, secretCharacters)}`
      return {
        id,
        clientSecret: `${id}_secret_${token.slice(-secretCharacters)}`,
        status: 'succeeded',
      }
    },
    portal: async () => undefined,
  }
}
