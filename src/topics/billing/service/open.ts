import { type BillingDeps, createBilling } from './billing.ts'
import { createBillingPages } from './pages.ts'

export type BillingServices = ReturnType<typeof openBilling>

export const openBilling = (deps: BillingDeps & Parameters<typeof createBillingPages>[0]) => ({
  billing: createBilling(deps),
  billingPages: createBillingPages(deps),
})
