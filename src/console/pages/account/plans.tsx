import { useSignal } from '@preact/signals'
import type {
  InvoiceShape as Invoice,
  SubscriptionShape as Subscription,
} from '../../../topics/billing/operations/row.ts'
import { Tag } from '../../parts/bits.tsx'
import { Confirmed } from '../../parts/buttons.tsx'
import { Choice } from '../../parts/fields.tsx'
import { featureText, moneyOf, type Plan, requestsOf, usePlans } from '../../parts/person/plans.ts'
import { useAnswer, useChange } from '../../parts/requests/ask.ts'
import { mayDo } from '../../parts/requests/boot.ts'
import { actions } from '../../parts/tables/columns.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { day, words } from '../../parts/text/format.ts'
import { statusText } from './plan-status.ts'

type Period = 'monthly' | 'yearly'

const centsOf = (plan: Plan, period: Period): number =>
  period === 'monthly' ? plan.price_monthly : plan.price_yearly

/** The current subscription, the available plans, and cancellation. */
export function Plans({
  invoices,
  onChanged,
}: {
  invoices: readonly Invoice[] | undefined
  onChanged: () => Promise<unknown>
}) {
  const plans = usePlans()
  const current = useAnswer<{ subscription: Subscription }>('/billing/subscriptions/current')
  const period = useSignal<Period>('monthly')
  const { change, ...outcome } = useChange(current)
  const subscription = current.data?.subscription
  const nameOf = (id: string) => plans.data?.find(plan => plan.id === id)?.name ?? words(id)
  const send = (path: string, body: object) =>
    change(`/billing/subscriptions${path}`, 'POST', body, ({ message }: { message: string }) => {
      void onChanged()
      return message
    })
  const firstPlan = plans.data?.[0]?.id
  /** The price of the customer for their plan, else that of the list; undefined: by agreement. */
  const centsFor = (plan: Plan): number | undefined => {
    const isOwn = plan.id === subscription?.plan && period.value === subscription.billing_period
    if (isOwn && subscription.price > 0) return subscription.price
    return plan.custom_pricing ? undefined : centsOf(plan, period.value)
  }
  const isPaid = subscription !== undefined && subscription.plan !== firstPlan
  return (
    <Table
      caption="Plans"
      outcome={outcome}
      of={plans}
      rows={plans.data}
      empty="This service has no plans."
      actions={
        <>
          <Choice
            label="Billing period"
            options={[
              { value: 'monthly', text: 'Month' },
              { value: 'yearly', text: 'Year' },
            ]}
            of={period}
          />
          {isPaid &&
            mayDo('change_billing') &&
            (subscription.cancel_at_period_end ? (
              <button type="button" class="tight" onClick={() => void send('/reactivate', {})}>
                Resume {nameOf(subscription.plan)}
              </button>
            ) : (
              <Confirmed
                label="Cancel plan"
                question={`Cancel ${nameOf(subscription.plan)}? It ends on ${day(subscription.current_period_end)}.`}
                onConfirm={() => send('/cancel', {})}
              />
            ))}
        </>
      }
      note={
        subscription &&
        isPaid &&
        statusText(subscription, nameOf, day(subscription.current_period_end), invoices ?? [])
      }
      columns={({ column, numeric }) => [
        column('Plan', 'name', plan => (
          <>
            {plan.name} {plan.id === subscription?.plan && <Tag mood="good">Current</Tag>}
            {plan.id === subscription?.pending_plan && <Tag>Next</Tag>}
            <div class="quiet small narrow-only">{requestsOf(plan)}</div>
          </>
        )),
        { name: 'Requests', isNumber: true, isWide: true, value: requestsOf },
        numeric(
          'Price',
          plan => {
            const cents = centsFor(plan)
            return cents === undefined ? 'custom' : cents / 100
          },
          {
            show: plan => {
              const cents = centsFor(plan)
              return cents === undefined ? 'Custom' : moneyOf(cents, plan.currency)
            },
          },
        ),
        column('Features', ({ features }) => features.map(featureText).join(', '), {
          isWide: true,
          className: 'quiet',
          show: plan => featuresOf(plan, plans.data ?? []),
        }),
        {
          ...actions,
          needs: 'change_billing',
          show: plan =>
            plan.id !== firstPlan &&
            !plan.custom_pricing &&
            (plan.id !== subscription?.plan || subscription.billing_period !== period.value) && (
              <Confirmed
                className="tight"
                label="Choose"
                question={`Change to ${plan.name} for ${moneyOf(centsOf(plan, period.value), plan.currency)} ${period.value === 'monthly' ? 'a month' : 'a year'}?`}
                onConfirm={() => send('', { plan_id: plan.id, billing_period: period.value })}
              />
            ),
        },
      ]}
    />
  )
}

/** The features of a plan; the name of the plan before it stands for those that both have. */
function featuresOf(plan: Plan, plans: readonly Plan[]): string {
  const before = plans[plans.findIndex(({ id }) => id === plan.id) - 1]
  const isMore = before?.features.every(feature => plan.features.includes(feature)) ?? false
  const listed = plan.features
    .filter(feature => !isMore || !before?.features.includes(feature))
    .map(featureText)
  return [isMore && `Everything in ${before?.name}`, ...listed].filter(Boolean).join(', ')
}
