import type { CreditShape as Credit } from '../../../topics/operator/operations/people/credits.ts'
import { Tag } from '../../parts/bits.tsx'
import { Input, Submit } from '../../parts/fields.tsx'
import { useOperator, useOperatorChange } from '../../parts/person/operator-token.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { fieldsOf, submits } from '../../parts/text/form.ts'
import { dataDay, day, figure, number } from '../../parts/text/format.ts'

interface Answer {
  data: { credits: Credit[]; balance: { requests_remaining: number } }
}

/** The requests that an account has in addition to its quota, and a form to grant more. */
export function AccountCredits({ account }: { account: { id: string; email: string } }) {
  const path = `/admin/v1/accounts/${account.id}/credits`
  const answer = useOperator<Answer>(path)
  const { change, ...outcome } = useOperatorChange(answer)
  const give = (form: HTMLFormElement) => {
    const field = fieldsOf(form)
    const requests = Number(field('requests'))
    const [until, reason] = [field('until'), field('reason')]
    const body = {
      requests,
      ...(until && { expires_at: `${until}T00:00:00Z` }),
      ...(reason && { reason }),
    }
    return change(path, 'POST', body, () => {
      form.reset()
      return `${number(requests)} requests were granted, and ${account.email} was notified.`
    })
  }
  return (
    <Table
      caption={`Credits of ${account.email}`}
      file="account-credits"
      outcome={outcome}
      of={answer}
      rows={answer.data?.data.credits}
      empty="No credits yet. Grant some above; they are used after the quota is exhausted."
      note={answer.data && `${number(answer.data.data.balance.requests_remaining)} requests left.`}
      actions={
        <form class="row end" onSubmit={submits(give)}>
          <Input label="Requests" name="requests" type="number" min="1" max="1000000000" required />
          <Input label="Expires (optional)" name="until" type="date" />
          <Input
            label="Note to the account"
            name="reason"
            maxLength={500}
            placeholder="For Monday’s outage"
          />
          <Submit>Grant credits</Submit>
        </form>
      }
      columns={({ column, numeric }) => [
        column('From', 'kind', credit => (
          <>
            <Tag>{credit.kind === 'gift' ? 'Gift' : 'Bought'}</Tag>{' '}
            <span class="quiet small">{day(credit.created_at)}</span>
          </>
        )),
        numeric('Left', 'remaining', { write: figure }),
        numeric('Granted', 'requests', { isWide: true, write: figure }),
        column('Until', 'expires_at', {
          className: 'quiet nowrap',
          show: row => (row.expires_at ? dataDay(row.expires_at) : 'until used'),
        }),
      ]}
    />
  )
}
