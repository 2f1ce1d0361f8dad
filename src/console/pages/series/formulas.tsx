import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso'
import type { FormulaPreview, FormulaRow } from '../../../topics/formulas/operations/own.ts'
import type { FormulaTemplate } from '../../../topics/formulas/operations/topic.ts'
import { Empty, May, Notice, Refused, Tag } from '../../parts/bits.tsx'
import { Confirmed } from '../../parts/buttons.tsx'
import { Chart } from '../../parts/charts/chart.tsx'
import { Input, Select, Submit } from '../../parts/fields.tsx'
import { Page } from '../../parts/page.tsx'
import {
  ask,
  dataOf,
  detailsOf,
  Refusal,
  useAttempt,
  useData,
  useLoaded,
} from '../../parts/requests/ask.ts'
import { dayAgo } from '../../parts/requests/boot.ts'
import { actions, seriesLink } from '../../parts/tables/columns.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { submits, useDraft, useSettled } from '../../parts/text/form.ts'
import { ago, number, unitOf, words } from '../../parts/text/format.ts'

const previewDelayMs = 500
const empty = { code: 'MY_', name: '', formula: '', unit: '', currency: '' }
type Draft = typeof empty

/** The body of a request; a preview takes an empty unit or currency from the formula. */
const bodyOf = ({ code, name, formula, unit, currency }: Draft) => ({
  ...(name !== '' && { name }),
  ...(code !== empty.code && { code }),
  formula,
  ...(unit !== '' && { unit }),
  ...(currency !== '' && { currency }),
})

const pathOf = (code: string): string => `/v1/formulas/${encodeURIComponent(code)}`
const moodOf = (status: string) => (status === 'ok' ? 'good' : 'warn')

/** The formulas of the account, and an editor that computes what is typed. */
export function Formulas() {
  const { query } = useLocation()
  const answer = useData<{ formulas: FormulaRow[]; count: number; limit: number | null }>(
    '/v1/formulas',
  )
  const edited = answer.data?.formulas.find(({ code }) => code === query.code)
  return (
    <Page
      title="Formulas"
      about="Series computed from other codes, for your account alone."
      actions={
        <a class="button" href="/docs/formulas">
          How to write a formula
        </a>
      }
    >
      <Editor key={edited?.code ?? ''} before={edited} onSaved={answer.reload} />
      <Table
        caption="Your formulas"
        file="formulas"
        of={answer}
        rows={answer.data?.formulas}
        empty="No formulas yet. Write one above, or start from a template."
        note={
          answer.data?.limit != null &&
          `${answer.data.count} of the ${answer.data.limit} formulas of your plan.`
        }
        columns={({ column, numeric }) => [
          column('Code', 'code', ({ code, name }) =>
            twoLines(seriesLink(code, name), code, 'code'),
          ),
          column('Formula', 'formula', { isWide: true }),
          numeric('Value', 'value', ({ value, decimals }) =>
            value === null ? '–' : number(value, decimals),
          ),
          column('State', 'status', ({ status }) => (
            <Tag mood={moodOf(status)}>{words(status)}</Tag>
          )),
          {
            ...actions,
            show: ({ code }) => <a href={`/series/formulas?code=${code}`}>Edit {code}</a>,
          },
        ]}
      />
    </Page>
  )
}

function Editor({
  before,
  onSaved,
}: {
  before: FormulaRow | undefined
  onSaved: () => Promise<void>
}) {
  const { route } = useLocation()
  const first = before ? { ...before, currency: before.currency ?? '' } : empty
  const { draft, set, field } = useDraft<Draft>(first)
  const settled = useSettled(draft, previewDelayMs)
  const saved = useSignal<Draft | undefined>(undefined)
  const ownCode = before?.code ?? draft.code
  const { refusal, attempt } = useAttempt()
  const templates = useData<{ templates: FormulaTemplate[] }>('/v1/formulas/templates')
  const body = { ...bodyOf(settled), start_date: dayAgo(366), end_date: dayAgo(0) }
  const preview = useLoaded(
    body.formula.trim() === '' ? undefined : JSON.stringify({ ...body, name: '' }),
    signal => dataOf<FormulaPreview>('/v1/formulas/preview', { method: 'POST', body, signal }),
  )
  const choose = (id: string) => {
    const template = templates.data?.templates.find(each => each.id === id)
    if (!template) return
    const { name, unit, currency, example } = template
    set({ name, unit, currency, formula: example.formula })
  }
  const save = () =>
    attempt(async () => {
      const { code, ...terms } = bodyOf(draft)
      if (terms.unit === undefined || terms.currency === undefined) {
        const { unit, currency } = await dataOf<FormulaPreview>('/v1/formulas/preview', {
          method: 'POST',
          body: terms,
        })
        Object.assign(terms, { currency }, unit !== '' && { unit })
      }
      if (before) await ask(pathOf(before.code), { method: 'PATCH', body: terms })
      else await ask('/v1/formulas', { method: 'POST', body: { code, ...terms } })
      await onSaved()
      saved.value = draft
    })
  const remove = (code: string) =>
    attempt(async () => {
      await ask(pathOf(code), { method: 'DELETE' })
      await onSaved()
      route('/series/formulas')
    })
  return (
    <div class="split">
      <section class="card" aria-label="Preview">
        {preview.refusal && <Fault error={preview.refusal} text={settled.formula} />}
        {!preview.refusal && preview.data && <Previewed preview={preview.data} />}
        {!preview.refusal && !preview.data && (
          <Empty>
            <p>Values of the past year appear here while you type.</p>
          </Empty>
        )}
      </section>
      <form class="card" aria-label="Formula" onSubmit={submits(save)}>
        {refusal.value && <Refused error={refusal.value} />}
        {saved.value === draft && (
          <Notice mood="good">
            Saved. <a href={`/series/${ownCode}`}>{ownCode}</a> can be used like any other code.
          </Notice>
        )}
        <Select
          label="Template"
          none="None"
          of={(templates.data?.templates ?? []).map(({ id, name }) => ({ value: id, text: name }))}
          onChange={event => choose(event.currentTarget.value)}
        />
        <label>
          Formula
          <textarea
            class="code"
            rows={4}
            required
            maxLength={2000}
            spellcheck={false}
            placeholder="BRENT_CRUDE_USD - WTI_USD"
            {...field('formula')}
          />
        </label>
        <Input
          label="Code"
          required
          maxLength={50}
          disabled={before !== undefined}
          {...field('code')}
        />
        <Input label="Name" required maxLength={120} placeholder="Our spread" {...field('name')} />
        <Input
          label="Currency"
          maxLength={3}
          placeholder={preview.data?.currency ?? ''}
          {...field('currency')}
        />
        <Input
          label="Unit"
          required={preview.data?.unit === ''}
          maxLength={50}
          placeholder={preview.data?.unit}
          {...field('unit')}
        />
        <May action="change_data">
          <div class="row">
            <Submit>{before ? 'Save formula' : 'Create formula'}</Submit>
            {before && (
              <>
                <a href="/series/formulas">New formula</a>
                <Confirmed
                  label="Delete"
                  question={`Delete ${before.code}? Alerts and watches that use it will have no price.`}
                  onConfirm={() => remove(before.code)}
                />
              </>
            )}
          </div>
        </May>
      </form>
    </div>
  )
}

/** The text with its wrong part marked, where the refusal names its column. */
function Fault({ error, text }: { error: Error; text: string }) {
  const { errors = [] } = (error instanceof Refusal ? detailsOf(error) : {}) as {
    errors?: { column?: number; length?: number }[]
  }
  const { column, length = 1 } = errors.find(each => each.column !== undefined) ?? {}
  const at = (column ?? 1) - 1
  return (
    <>
      <Refused error={error} />
      {column !== undefined && (
        <p class="code">
          {text.slice(0, at)}
          <mark>{text.slice(at, at + length) || '…'}</mark>
          {text.slice(at + length)}
        </p>
      )}
    </>
  )
}

const reasonTexts = {
  no_times: 'its legs have none. See the table below',
  division_by_zero: 'it divides by zero',
  no_value: 'a part of it has none at any time. See the table below',
} as const

function Previewed({ preview }: { preview: FormulaPreview }) {
  const { values, no_value_reason: reason, legs, unit, currency, status } = preview
  return (
    <>
      {values.length === 0 ? (
        <Empty>
          <p>No values in the past year, because {reasonTexts[reason ?? 'no_value']}.</p>
        </Empty>
      ) : (
        <Chart
          title="The formula over the past year"
          times={values.map(({ observed_at }) => Date.parse(observed_at) / 1000)}
          lines={[
            {
              label: unitOf(currency, unit),
              values: values.map(({ value }) => value),
              ink: '--ink-1',
            },
          ]}
          decimals={2}
        />
      )}
      {status !== 'ok' && <Notice mood="warn">State: {words(status)}.</Notice>}
      <Table
        caption="Legs"
        rows={legs}
        empty="The formula names no code."
        columns={({ column, numeric }) => [
          column('Code', 'code', ({ code }) => seriesLink(code)),
          numeric('Price', 'price', ({ price, ...leg }) =>
            price === null ? '–' : `${number(price)} ${unitOf(leg.currency, leg.unit)}`,
          ),
          column('Observed', 'observed_at', {
            isWide: true,
            show: ({ observed_at }) => (observed_at === null ? '–' : ago(observed_at)),
          }),
          column('State', 'status', leg => (
            <Tag mood={moodOf(leg.status)}>{words(leg.status)}</Tag>
          )),
        ]}
      />
    </>
  )
}
