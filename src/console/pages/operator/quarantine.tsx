import type { QuarantineRow as Range } from '../../../topics/operator/operations/data/quarantine.ts'
import { Confirmed } from '../../parts/buttons.tsx'
import { Input } from '../../parts/fields.tsx'
import { useOperator, useOperatorChange } from '../../parts/person/operator-token.tsx'
import { actions, seriesLink } from '../../parts/tables/columns.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { fieldsOf, submits } from '../../parts/text/form.ts'

/** Days of series that no read answers: more of them, and reading them again. */
export function Quarantine() {
  const answer = useOperator<{ data: Range[] }>('/admin/v1/quarantine')
  const { change, ...outcome } = useOperatorChange(answer)
  const add = (form: HTMLFormElement) => {
    const field = fieldsOf(form)
    const body = {
      code: field('code').toUpperCase(),
      from: field('from'),
      ...(field('to') && { to: field('to') }),
      reason: field('reason'),
    }
    return change('/admin/v1/quarantine', 'POST', body, () => form.reset())
  }
  const lift = (id: number) => change(`/admin/v1/quarantine/${id}`, 'DELETE')
  return (
    <Table
      caption="Quarantine"
      outcome={outcome}
      of={answer}
      rows={answer.data?.data}
      empty="No days are quarantined. Quarantined days are hidden from reads; nothing is deleted."
      actions={
        <form class="row end" aria-label="Quarantine days" onSubmit={submits(add)}>
          <Input label="Code" name="code" required maxLength={100} placeholder="WTI_USD" />
          <Input label="From" name="from" type="date" required />
          <Input label="To (optional)" name="to" type="date" />
          <Input
            label="Reason"
            name="reason"
            required
            maxLength={500}
            placeholder="Repeated value"
          />
          <button type="submit">Quarantine</button>
        </form>
      }
      columns={({ column }) => [
        column('Series', 'code', ({ code, reason }) => twoLines(seriesLink(code), reason)),
        column('Days', ({ from, to }) => `${from} to ${to}`),
        {
          ...actions,
          show: range => (
            <Confirmed
              label="Lift"
              of={`${range.code} from ${range.from}`}
              question={`Lift the quarantine of ${range.code} from ${range.from} to ${range.to}?`}
              onConfirm={() => lift(range.id)}
            />
          ),
        },
      ]}
    />
  )
}
