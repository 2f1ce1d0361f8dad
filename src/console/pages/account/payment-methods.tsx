import type {
  InvoiceShape as Invoice,
  MethodShape as Method,
} from '../../../topics/billing/operations/row.ts'
import { Result, Tag } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import { ask, useAnswer, useAttempt } from '../../parts/requests/ask.ts'
import { mayDo } from '../../parts/requests/boot.ts'
import { actions } from '../../parts/tables/columns.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { words } from '../../parts/text/format.ts'

interface Methods {
  payment_methods: Method[]
  provider: string
}

const nameOf = ({ brand, last4, type }: Method) =>
  brand === null ? words(type) : `${words(brand)} ${last4}`

/**
 * The cards of an account. Their numbers go to the payment processor alone, so they are added on its
 * page; without a processor there are none.
 */
export function PaymentMethods({
  invoices,
  onPaid,
}: {
  invoices: readonly Invoice[] | undefined
  onPaid: () => Promise<unknown>
}) {
  const answer = useAnswer<Methods>('/billing/payment_methods')
  const { attempt, ...outcome } = useAttempt()
  if (!answer.refusal && (answer.data?.provider ?? 'manual') === 'manual') return null
  const isOwed = invoices?.some(({ status }) => status === 'open')
  const manage = () =>
    attempt(async () => {
      const path = '/billing/customer-portal/sessions'
      const body = { return_url: location.href }
      const { url } = await ask<{ url: string }>(path, { method: 'POST', body })
      location.assign(url)
    })
  const use = (method: Method) =>
    attempt(async () => {
      const path = '/billing/payment_methods/update'
      const body = { payment_method_id: method.id }
      await ask(path, { method: 'PATCH', body })
      await Promise.all([answer.reload(), onPaid()])
      return `Payments are now charged to ${nameOf(method)}.`
    })
  return (
    <>
      <Result {...outcome} />
      <Table
        caption="Payment methods"
        of={answer}
        rows={answer.data?.payment_methods}
        empty="No card yet. Add one before you choose a plan."
        actions={
          mayDo('change_billing') && (
            <Button className="tight" label="Add or change cards" onClick={manage} />
          )
        }
        note="Cards are added, changed and removed on the page of the payment processor."
        columns={({ column }) => [
          column('Card', nameOf, {
            show: method => (
              <>
                {nameOf(method)} {method.is_default && <Tag mood="good">Default</Tag>}
              </>
            ),
          }),
          column('Expires', ({ exp_month: month, exp_year: year }) =>
            month === null ? null : `${String(month).padStart(2, '0')}/${year}`,
          ),
          {
            ...actions,
            needs: 'change_billing',
            show: method =>
              (!method.is_default || isOwed) && (
                <Button
                  className="tight"
                  label={method.is_default ? 'Pay open invoices' : 'Use'}
                  onClick={() => use(method)}
                />
              ),
          },
        ]}
      />
    </>
  )
}
