import { useSignal } from '@preact/signals'
import { fieldsText } from '../../../lib/text/json.ts'
import type { EntryShape as Entry } from '../../../topics/operator/operations/system/audit.ts'
import { Parted, Tag } from '../../parts/bits.tsx'
import { Input } from '../../parts/fields.tsx'
import { useOperatorPages } from '../../parts/person/operator-token.tsx'
import { pagedRows } from '../../parts/requests/pages.ts'
import { aside } from '../../parts/tables/columns.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { bound } from '../../parts/text/form.ts'
import { instant } from '../../parts/text/format.ts'

/** The audit trail: actor, action, subject, place and time. */
export function Audit() {
  const actor = useSignal('')
  const thing = useSignal('')
  const since = useSignal('')
  const query = new URLSearchParams({ per_page: '50' })
  if (actor.value) query.set('actor', actor.value)
  if (thing.value) query.set('thing', thing.value)
  if (/^\d{4}-\d\d-\d\d$/.test(since.value)) query.set('since', since.value)
  const answer = useOperatorPages<Entry>(`/admin/v1/audit?${query}`, 'entries')
  const filters = [
    { text: 'Who', of: actor, hint: 'operator ci' },
    { text: 'What', of: thing, hint: 'WTI_USD' },
    { text: 'Since', of: since, hint: '2026-11-01' },
  ] as const
  return (
    <Table
      caption="Audit trail"
      file="audit"
      {...pagedRows(answer)}
      empty="No matching entries. Every change is recorded here."
      actions={filters.map(({ text, of, hint }) => (
        <Input key={text} label={text} type="search" placeholder={hint} {...bound(of)} />
      ))}
      columns={({ column }) => [
        column('Who', ({ email, actor: who }) => email ?? who, {
          show: entry =>
            twoLines(<Parted text={entry.email ?? entry.actor} />, entry.from ?? 'internal'),
        }),
        column('What', ({ action, thing: path }) => `${action} ${path}`, {
          show: ({ action, thing: path, details }) => (
            <>
              {twoLines(<Parted text={action} />, !action.endsWith(path) && <Parted text={path} />)}
              <div class="quiet small">
                <Parted text={fieldsText(details ?? {})} />
              </div>
            </>
          ),
        }),
        column('Details', ({ details }) => fieldsText(details ?? {}), { isFileOnly: true }),
        column('Outcome', 'outcome', {
          isWide: true,
          show: ({ outcome }) => (
            <Tag mood={/^[45]\d\d$/.test(outcome) ? 'bad' : undefined}>{outcome}</Tag>
          ),
        }),
        column('When', 'at', { ...aside, write: instant }),
      ]}
    />
  )
}
