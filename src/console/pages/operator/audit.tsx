import { useSignal } from '@preact/signals'
import type { EntryShape as Entry } from '../../../topics/operator/operations/system/audit.ts'
import { Button, Parted, Tag } from '../../parts/bits.tsx'
import { useOperator } from '../../parts/person/operator-token.tsx'
import { aside } from '../../parts/tables/columns.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { instant, number } from '../../parts/text/format.ts'

const perPage = 50

/** The audit trail: actor, action, subject, place and time. */
export function Audit() {
  const actor = useSignal('')
  const thing = useSignal('')
  const since = useSignal('')
  const page = useSignal(1)
  const query = new URLSearchParams({ per_page: String(perPage), page: String(page.value) })
  if (actor.value) query.set('actor', actor.value)
  if (thing.value) query.set('thing', thing.value)
  if (/^\d{4}-\d\d-\d\d$/.test(since.value)) query.set('since', since.value)
  const path = `/admin/v1/audit?${query}`
  const answer = useOperator<{ data: { entries: Entry[]; meta: { total: number } } }>(path)
  const total = answer.data?.data.meta.total ?? 0
  const pages = Math.max(1, Math.ceil(total / perPage))
  const filters = [
    { text: 'Who', of: actor, hint: 'operator ci' },
    { text: 'What', of: thing, hint: 'WTI_USD' },
    { text: 'Since', of: since, hint: '2026-11-01' },
  ] as const
  return (
    <Table
      caption="Audit trail"
      file="audit"
      of={answer}
      rows={answer.data?.data.entries}
      keyOf={({ id }) => String(id)}
      empty="No matching entries. Every change is recorded here."
      actions={filters.map(({ text, of, hint }) => (
        <label key={text}>
          {text}
          <input
            type="search"
            placeholder={hint}
            value={of.value}
            onInput={event => {
              of.value = event.currentTarget.value
              page.value = 1
            }}
          />
        </label>
      ))}
      note={
        <div class="row">
          <Button
            className="tight"
            label="Newer"
            isOff={page.value <= 1}
            onClick={() => {
              page.value -= 1
            }}
          />
          <span>
            Page {number(page.value)} of {number(pages)}, {number(total)} entries
          </span>
          <Button
            className="tight"
            label="Older"
            isOff={page.value >= pages}
            onClick={() => {
              page.value += 1
            }}
          />
        </div>
      }
      columns={({ column }) => [
        column('Who', ({ email, actor: who }) => email ?? who, {
          show: entry =>
            twoLines(<Parted text={entry.email ?? entry.actor} />, entry.from ?? 'internal'),
        }),
        column('What', ({ action, thing: path }) => `${action} ${path}`, {
          className: 'break',
          show: entry => twoLines(entry.action, entry.thing),
        }),
        column('Outcome', 'outcome', ({ outcome }) => (
          <Tag mood={/^[45]\d\d$/.test(outcome) ? 'bad' : undefined}>{outcome}</Tag>
        )),
        column('When', 'at', { ...aside, write: instant }),
      ]}
    />
  )
}
