import { invoiceStateText } from '../../../plans/billing/invoice.ts'
import type { AccountAnswer } from '../../../topics/account/operations/account.ts'
import type { InvoiceShape as Invoice } from '../../../topics/billing/operations/row.ts'
import { Shown, Tag } from '../../parts/bits.tsx'
import { type Plan as OfferedPlan, usePlans } from '../../parts/person/plans.ts'
import { useAnswer } from '../../parts/requests/ask.ts'
import { pagedRows, usePages } from '../../parts/requests/pages.ts'
import { aside } from '../../parts/tables/columns.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { day, number, words } from '../../parts/text/format.ts'
import { Credits } from './credits.tsx'
import { PaymentMethods } from './payment-methods.tsx'
import { Plans } from './plans.tsx'

/** The quota with its period; the quota of a trial is for the whole of it. */
function quotaText(
  { request_limit: limit, trial_active: isTrial }: AccountAnswer['account'],
  plan: OfferedPlan | undefined,
): string {
  if (limit === null) return 'No limit'
  return plan && !isTrial ? `${number(limit)} a ${plan.request_quota.period}` : number(limit)
}

export function Plan() {
  const account = useAnswer<AccountAnswer>('/v1/account')
  const plans = usePlans()
  const planOf = (id: string) => plans.data?.find(plan => plan.id === id)
  const invoices = usePages<Invoice>('/billing/invoices', 'invoices')
  return (
    <>
      <div class="columns">
        <section class="card" aria-labelledby="plan">
          <h2 id="plan">Current plan</h2>
          <Shown of={account} what="the plan">
            {({ account: data }) => (
              <dl class="facts">
                <dt>Account</dt>
                <dd>{data.email}</dd>
                <dt>Plan</dt>
                <dd>{planOf(data.tier)?.name ?? words(data.tier)}</dd>
                <dt>Requests</dt>
                <dd>{quotaText(data, planOf(data.tier))}</dd>
                {data.trial_active && (
                  <>
                    <dt>Trial until</dt>
                    <dd>{day(data.trial_ends_at)}</dd>
                  </>
                )}
                <dt>Since</dt>
                <dd>{day(data.created_at)}</dd>
              </dl>
            )}
          </Shown>
        </section>
        <Table
          caption="Invoices"
          {...pagedRows(invoices)}
          empty="No invoices yet. Paid plans are invoiced monthly."
          columns={({ column, numeric }) => [
            column('Invoice', 'number', invoice => (
              <a href={`/billing/invoices/${invoice.id}/pdf`} rel="external">
                {invoice.number}
              </a>
            )),
            column('Date', 'created_at', { ...aside, write: day }),
            numeric('Amount', ({ amount }) => amount / 100, {
              show: ({ currency, amount }) => `${currency} ${number(amount / 100, 2)}`,
            }),
            column(
              'State',
              invoice => invoiceStateText({ ...invoice, refundedCents: invoice.amount_refunded }),
              {
                show: invoice => (
                  <Tag mood={invoice.status === 'paid' && !invoice.dispute ? 'good' : 'warn'}>
                    {words(
                      invoiceStateText({ ...invoice, refundedCents: invoice.amount_refunded }),
                    )}
                  </Tag>
                ),
              },
            ),
          ]}
        />
      </div>
      <Plans
        invoices={invoices.rows}
        onChanged={() => Promise.all([account.reload(), invoices.reload()])}
      />
      <PaymentMethods invoices={invoices.rows} onPaid={invoices.reload} />
      <Credits onBought={invoices.reload} />
    </>
  )
}
