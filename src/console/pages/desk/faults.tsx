import type { Fault as FaultOfRoute } from '../../../http/faults.ts'
import { Refused } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import { Input, Select } from '../../parts/fields.tsx'
import { asOperator, useOperator } from '../../parts/person/operator-token.tsx'
import { useChange } from '../../parts/requests/ask.ts'
import { Table } from '../../parts/tables/table.tsx'
import { submits, useDraft } from '../../parts/text/form.ts'

interface Fault extends Omit<FaultOfRoute, 'delayMs'> {
  delay_ms: number
}

const slowOnly = ''
const codes = [
  'OVERLOADED',
  'RATE_LIMIT_EXCEEDED',
  'PAYMENT_REQUIRED',
  'MONTHLY_QUOTA_EXCEEDED',
  'UNAUTHORIZED',
  'INSUFFICIENT_PLAN',
  'STORAGE_UNAVAILABLE',
  'INTERNAL_ERROR',
] as const

const numberOf = (text: string): number | undefined => (text === '' ? undefined : Number(text))

/** Routes that are made to fail, or to be slow. */
export function Faults() {
  const answer = useOperator<{ faults: Fault[] }>('/_dev/faults')
  const { refusal, change } = useChange(answer, asOperator)
  const { draft, field } = useDraft({
    path: '/v1/prices/latest',
    code: 'OVERLOADED',
    count: '',
    delay: '',
  })
  const { path, code, count, delay } = draft
  const add = () =>
    change('/_dev/faults', 'POST', {
      path,
      ...(code !== slowOnly && { code }),
      count: numberOf(count),
      delay_ms: numberOf(delay),
    })
  const faults = answer.data?.faults
  return (
    <div class="stack">
      <section class="card" aria-labelledby="add-fault">
        <h2 id="add-fault">Inject faults</h2>
        {refusal.value && <Refused error={refusal.value} />}
        <form class="grid" onSubmit={submits(add)}>
          <Input label="Route, or * for all" labelClass="wide" required {...field('path')} />
          <Select
            label="Response"
            of={[...codes, slowOnly]}
            textOf={name => name || 'Normal, but delayed'}
            {...field('code')}
          />
          <Input
            label="Times"
            type="number"
            min="1"
            placeholder="until removed"
            {...field('count')}
          />
          <Input
            label="Delay in milliseconds"
            type="number"
            min="0"
            max="60000"
            placeholder="0"
            required={code === slowOnly}
            {...field('delay')}
          />
          <button type="submit">Add fault</button>
        </form>
      </section>
      <Table
        caption="Faults"
        rows={faults}
        of={answer}
        empty="No faults are active."
        actions={
          faults && faults.length > 0 ? (
            <Button
              className="tight"
              label="End all faults"
              onClick={() => change('/_dev/faults', 'DELETE')}
            />
          ) : undefined
        }
        columns={[
          { name: 'Route', show: ({ path }) => <code>{path}</code> },
          { name: 'Response', show: ({ code }) => code ?? 'Normal' },
          {
            name: 'Delay',
            show: ({ delay_ms }) => (delay_ms > 0 ? `${delay_ms} ms` : '–'),
            isNumber: true,
          },
          { name: 'Remaining', show: ({ count }) => count ?? 'no limit', isNumber: true },
        ]}
      />
    </div>
  )
}
