import { type Billing, type BillingDeps, createBilling } from './billing.ts'
import { type BillingPages, createBillingPages } from './pages.ts'

export interface BillingServices {
  billing: Billing
  billingPages: BillingPages
}

export const openBilling = (
  deps: BillingDeps & Parameters<typeof createBillingPages>[0],
): BillingServices => ({
  billing: createBilling(deps),
  billingPages: createBillingPages(deps),
})
