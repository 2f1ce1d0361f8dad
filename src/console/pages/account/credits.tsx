import type { PackShape as Pack } from '../../../topics/billing/operations/row.ts'
import { Confirmed } from '../../parts/buttons.tsx'
import { useAnswer, useChange } from '../../parts/requests/ask.ts'
import { actions } from '../../parts/tables/columns.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { number } from '../../parts/text/format.ts'

interface Answer {
  credit_packs: Pack[]
  balance: { requests_remaining: number }
}

interface Bought {
  credit_purchase: { status: string }
}

const priceOf = ({ price, currency }: Pack): string => `${currency} ${number(price / 100, 2)}`

/** Requests in addition to the plan: how many are left, and packs to buy. */
export function Credits({ onBought }: { onBought: () => Promise<void> }) {
  const answer = useAnswer<Answer>('/billing/credit_packs')
  const { change, ...outcome } = useChange(answer)
  const buy = ({ id, name }: Pack) =>
    change('/billing/credit_purchases', 'POST', { pack_id: id }, (bought: Bought) => {
      void onBought()
      return bought.credit_purchase.status === 'completed'
        ? `${name} were added.`
        : `${name} will be added when the invoice is paid.`
    })
  return (
    <Table
      caption="Credits"
      outcome={outcome}
      of={answer}
      rows={answer.data?.credit_packs}
      empty={
        answer.data &&
        `${number(answer.data.balance.requests_remaining)} requests left. No credit packs are for sale. Contact the operator.`
      }
      note={
        answer.data &&
        `${number(answer.data.balance.requests_remaining)} requests left. They are used after the quota is exhausted.`
      }
      columns={({ column, numeric }) => [
        column('Pack', 'name'),
        numeric('Price', ({ price }) => price / 100, { show: priceOf }),
        column('Valid for', 'expires_after_days', {
          isWide: true,
          className: 'quiet',
          show: ({ expires_after_days: days }) =>
            days === null ? 'until used' : `${number(days)} days`,
        }),
        {
          ...actions,
          needs: 'change_billing',
          show: pack => (
            <Confirmed
              className="tight"
              label="Buy"
              question={`Buy ${pack.name} for ${priceOf(pack)}? You will be invoiced.`}
              onConfirm={() => buy(pack)}
            />
          ),
        },
      ]}
    />
  )
}
