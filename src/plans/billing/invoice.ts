import { thousands } from '../../lib/text/text.ts'
export const invoiceStatuses = ['draft', 'open', 'paid', 'void', 'uncollectible'] as const
export type InvoiceStatus = (typeof invoiceStatuses)[number]

export interface InvoiceLine {
  description: string
  /** Negative: a credit. */
  amountCents: number
}

/** `2026-000042`: the year of issue and the serial number. */
export const invoiceNumber = (createdAt: number, seq: number): string =>
  `${new Date(createdAt).getUTCFullYear()}-${String(seq).padStart(6, '0')}`

/** `USD 49.00`, `USD -12.05`. */
export function money(cents: number, currency: string): string {
  const whole = Math.floor(Math.abs(cents) / 100)
  return `${currency} ${cents < 0 ? '-' : ''}${thousands(String(whole))}.${String(Math.abs(cents) % 100).padStart(2, '0')}`
}

/** `paid`, or `paid, USD 10.00 refunded, dispute open`. */
export const invoiceStateText = (invoice: {
  status: string
  currency: string
  refundedCents: number
  dispute: string | null
}): string => {
  const { status, currency, refundedCents, dispute } = invoice
  const refunded = refundedCents > 0 ? `, ${money(refundedCents, currency)} refunded` : ''
  return `${status}${refunded}${dispute === null ? '' : `, dispute ${dispute}`}`
}
