import type { Charge, PaymentMethod } from './processor.ts'

/**
 * Payments without a processor: in production the operator's ledger, in a demo instance test cards
 * named by their behaviour.
 */
export interface ManualPayments {
  methods: readonly PaymentMethod[]
  /** Charges an invoice and returns the result at once. */
  charge(methodId: string): Charge
}

const card = (id: string, brand: string, last4: string): PaymentMethod => ({
  id,
  type: 'card',
  brand,
  last4,
  expMonth: 12,
  expYear: 2039,
})

const onInvoice: PaymentMethod = {
  id: 'pm_invoice',
  type: 'invoice',
  brand: null,
  last4: null,
  expMonth: null,
  expYear: null,
}

const refusing = 'pm_fail'

/** Every invoice stays open until the operator marks it as paid. */
export const ledgerPayments: ManualPayments = {
  methods: [onInvoice],
  charge: () => ({ outcome: 'open' }),
}

/** Every invoice is paid at once, but by the method that refuses. */
export const testPayments: ManualPayments = {
  methods: [
    card('pm_0001', 'visa', '4242'),
    card('pm_0002', 'mastercard', '4444'),
    card(refusing, 'visa', '0002'),
  ],
  charge: methodId =>
    methodId === refusing
      ? { outcome: 'failed', error: 'The card was declined.' }
      : { outcome: 'paid' },
}
