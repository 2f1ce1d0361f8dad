import type { ComponentChildren } from 'preact'
import type { PlanShape as Plan } from '../../topics/billing/operations/row.ts'
import { caller, callerRefusal, has } from './account.ts'
import { ask, useLoaded } from './ask.ts'
import { Page, Refused, Waiting } from './bits.tsx'
import { number, words } from './format.ts'

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
      <Upsell title={title} features={features} />
    </Page>
  )
}

function Upsell({ title, features }: { title: string; features: readonly string[] }) {
  const answer = useLoaded('plans', signal => ask<{ plans: Plan[] }>('/billing/plans', { signal }))
  const plans = answer.data?.plans ?? []
  const own = plans.find(({ id }) => id === caller.value?.tier)
  const [cheapest] = plans
    .filter(plan => features.some(feature => plan.features.includes(feature)))
    .sort(
      (a, b) =>
        Number(a.custom_pricing) - Number(b.custom_pricing) || a.price_monthly - b.price_monthly,
    )
  if (answer.refusal) return <Refused error={answer.refusal} />
  if (!answer.data) return <Waiting what="plans" />
  const price =
    cheapest && !cheapest.custom_pricing
      ? ` for ${cheapest.currency} ${number(cheapest.price_monthly / 100, 2)} a month`
      : ''
  return (
    <section class="card" aria-labelledby="upsell">
      <h2 id="upsell">
        {title} are not included in the {own?.name ?? words(caller.value?.tier ?? '')} plan
      </h2>
      {cheapest ? (
        <>
          <p>
            The {cheapest.name} plan includes them{price}.
          </p>
          <p class="row">
            <a class="button main" href="/account/plan">
              Upgrade to {cheapest.name}
            </a>
            <a href={`/docs/${title.toLowerCase()}`}>How {title.toLowerCase()} work</a>
          </p>
        </>
      ) : (
        <p>No plan of this service includes them.</p>
      )}
    </section>
  )
}
