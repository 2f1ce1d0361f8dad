import type { ComponentChildren } from 'preact'
import { Refused, Waiting } from '../bits.tsx'
import { Page } from '../page.tsx'
import { caller, callerRefusal, has } from './account.ts'
import { Offer } from './offer.tsx'

/**
 * A page of a feature that only some plans have. Other users see which plan has it and its price,
 * before a request is refused.
 */
export function Included({
  title,
  features,
  children,
}: {
  title: string
  /** One of them must be in the plan. */
  features: readonly string[]
  children: () => ComponentChildren
}) {
  if (callerRefusal.value)
    return (
      <Page title={title}>
        <Refused error={callerRefusal.value} />
      </Page>
    )
  if (caller.value === undefined)
    return (
      <Page title={title}>
        <Waiting what="your plan" />
      </Page>
    )
  if (features.some(has)) return <>{children()}</>
  return (
    <Page title={title}>
      <Offer features={features} page={title} />
    </Page>
  )
}
