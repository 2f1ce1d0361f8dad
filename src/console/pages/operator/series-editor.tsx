import { useSignal } from '@preact/signals'
import type { SeriesRow as Series } from '../../../topics/operator/operations/data/series.ts'
import { Parted, Result, Tag } from '../../parts/bits.tsx'
import { Button, Confirmed } from '../../parts/buttons.tsx'
import { Input, Submit } from '../../parts/fields.tsx'
import { useOpened } from '../../parts/focus.ts'
import { useOperator, useOperatorChange } from '../../parts/person/operator-token.tsx'
import { actions, seriesLink } from '../../parts/tables/columns.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { fieldsOf, sets, submits } from '../../parts/text/form.ts'
import { unitOf, words } from '../../parts/text/format.ts'

const fields = [
  { name: 'name', text: 'Name' },
  { name: 'category', text: 'Category' },
  { name: 'unit', text: 'Unit' },
  { name: 'currency', text: 'Currency (empty if not a price)', isOptional: true },
  { name: 'cadence', text: 'Cadence', isOptional: true },
  { name: 'decimals', text: 'Decimals', isOptional: true, isNumber: true },
  { name: 'min', text: 'Minimum accepted', isOptional: true, isNumber: true },
  { name: 'max', text: 'Maximum accepted', isOptional: true, isNumber: true },
] as const

/**
 * The attributes that were changed in the form; an empty currency means that the number is not an
 * amount of money.
 */
function termsOf(form: HTMLFormElement, before: Series | undefined): Record<string, unknown> {
  const typed = fieldsOf(form)
  const terms: Record<string, unknown> = {}
  for (const field of fields) {
    const text = typed(field.name)
    if (before && text === String(before[field.name] ?? '')) continue
    if (text === '' && (before || field.name === 'currency')) terms[field.name] = null
    else if (text !== '') terms[field.name] = 'isNumber' in field ? Number(text) : text
  }
  return terms
}

/** Custom series come first, in sight also after they were retired, and retired ones last. */
const rankOf = ({ own, active }: Series): number => (own ? 0 : 2) + (active ? 0 : 1)
const states = ['custom, active', 'custom, retired', 'active', 'retired'] as const

/** The codes there are: own ones added, all of them changed, retired and brought back. */
export function SeriesEditor() {
  const answer = useOperator<{ data: Series[] }>('/admin/v1/series')
  const { change, ...outcome } = useOperatorChange(answer)
  const edited = useSignal<Series | 'new' | undefined>(undefined)
  const before = edited.value === 'new' ? undefined : edited.value
  const pathOf = ({ code }: Series) => `/admin/v1/series/${encodeURIComponent(code)}`
  const put = (form: HTMLFormElement) => {
    const terms = termsOf(form, before)
    const code = before?.code ?? fieldsOf(form)('code')
    const done = () => {
      edited.value = undefined
      return `${code} was ${before ? 'changed' : 'added'}.`
    }
    return before
      ? change(pathOf(before), 'PATCH', terms, done)
      : change('/admin/v1/series', 'POST', { code, ...terms }, done)
  }
  const retire = (series: Series) =>
    series.active
      ? change(pathOf(series), 'DELETE')
      : change(pathOf(series), 'PATCH', { active: true })
  return (
    <>
      <Result {...outcome} />
      {edited.value !== undefined && (
        <Terms
          key={before?.code ?? ''}
          before={before}
          onPut={put}
          onCancel={sets(edited, undefined)}
        />
      )}
      <Table
        caption="Catalogue"
        file="series"
        of={answer}
        rows={answer.data?.data.toSorted((a, b) => rankOf(a) - rankOf(b))}
        isTall
        empty="The catalogue has no series."
        actions={<Button label="New series" onClick={sets(edited, 'new')} />}
        columns={({ column }) => [
          column('Code', 'code', ({ code, name }) =>
            twoLines(seriesLink(code, <Parted text={code} />), name),
          ),
          column('Name', 'name', { isFileOnly: true }),
          column('Category', 'category', { isWide: true, show: ({ category }) => words(category) }),
          column('Unit', ({ currency, unit }) => [currency, unit].filter(Boolean).join('/'), {
            isWide: true,
            show: ({ currency, unit }) => unitOf(currency, unit),
          }),
          column('Cadence', 'cadence', { isWide: true }),
          column('State', series => states[rankOf(series)], {
            show: ({ active, own }) => (
              <>
                <Tag mood={active ? 'good' : undefined}>{active ? 'Active' : 'Retired'}</Tag>
                {own && <Tag>Custom</Tag>}
              </>
            ),
          }),
          {
            ...actions,
            show: series => (
              <div class="row">
                <Button className="tight" label="Edit" onClick={sets(edited, series)} />
                <Confirmed
                  label={series.active ? 'Retire' : 'Restore'}
                  className={series.active ? 'tight danger' : 'tight'}
                  question={
                    series.active
                      ? `Retire ${series.code}? It accepts no more values, and its history stays.`
                      : `Restore ${series.code}?`
                  }
                  onConfirm={() => retire(series)}
                />
              </div>
            ),
          },
        ]}
      />
    </>
  )
}

interface TermsProps {
  /** The series that is changed; without one, a new one. */
  before: Series | undefined
  onPut: (form: HTMLFormElement) => unknown
  onCancel: () => void
}

/** The form of the attributes of a series. */
const Terms = ({ before, onPut, onCancel }: TermsProps) => (
  <form class="card" ref={useOpened()} aria-labelledby="terms" onSubmit={submits(onPut)}>
    <h2 id="terms">{before ? before.code : 'New custom series'}</h2>
    <div class="row end">
      {!before && (
        <Input label="Code" name="code" required maxLength={50} placeholder="DESK_GASOIL_USD" />
      )}
      {fields.map(field => (
        <Input
          key={field.name}
          label={field.text}
          name={field.name}
          inputMode={'isNumber' in field ? 'decimal' : 'text'}
          required={!('isOptional' in field)}
          defaultValue={String(before?.[field.name] ?? '')}
        />
      ))}
    </div>
    <div class="row">
      <Submit>{before ? 'Save series' : 'Add series'}</Submit>
      <Button label="Cancel" onClick={onCancel} />
    </div>
  </form>
)
