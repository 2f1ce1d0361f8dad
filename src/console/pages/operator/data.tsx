import { useSignal } from '@preact/signals'
import type { BatchShape as Batch } from '../../../topics/operator/operations/data/batches.ts'
import { Figure, Refused, Result, Tag, Waiting } from '../../parts/bits.tsx'
import { Confirmed } from '../../parts/buttons.tsx'
import { Check, Input, Select } from '../../parts/fields.tsx'
import { asOperator, useOperatorPages } from '../../parts/person/operator-token.tsx'
import { useChange, useLoaded } from '../../parts/requests/ask.ts'
import { pagedRows } from '../../parts/requests/pages.ts'
import { actions, aside, seriesLink } from '../../parts/tables/columns.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { boundSelect } from '../../parts/text/form.ts'
import { instant, number, observed, orDash, signed, words } from '../../parts/text/format.ts'
import { comparedRows, importRowsOf } from './import-rows.ts'
import { Quarantine } from './quarantine.tsx'
import { Review } from './review.tsx'

const previewMax = 8
/** The most rows that the API records in one transaction. */
const rowsMax = 10_000

interface Recorded {
  inserted: number
  revised: number
  unchanged: number
  held: number
  kept_as_corrected: number
}

interface Comparison extends Recorded {
  biggest_changes: {
    code: string
    observed_at: string
    before: number
    after: number
    percent: number | null
    is_new: boolean
  }[]
}

/** The notations of days in files besides the usual one. */
const dateFormats = ['DD.MM.YYYY', 'DD/MM/YYYY', 'MM/DD/YYYY']

/** The effects of an import, before anything is written. */
const Preview = ({ comparison }: { comparison: Comparison }) => (
  <>
    <section class="figures" aria-label="Preview">
      <Figure label="New">{number(comparison.inserted)}</Figure>
      <Figure label="Revised">{number(comparison.revised)}</Figure>
      <Figure label="Unchanged">{number(comparison.unchanged)}</Figure>
      <Figure label="Held for review">{number(comparison.held)}</Figure>
      {comparison.kept_as_corrected > 0 && (
        <Figure label="Corrections kept">{number(comparison.kept_as_corrected)}</Figure>
      )}
    </section>
    {comparison.biggest_changes.length > 0 && (
      <Table
        caption="Biggest changes"
        rows={comparison.biggest_changes}
        keyOf={(_, i) => String(i)}
        empty="No changes."
        columns={({ column, numeric }) => [
          column('Series', 'code', change =>
            twoLines(seriesLink(change.code), observed(change.observed_at)),
          ),
          column('Kind', change => (change.is_new ? 'New' : 'Revised')),
          numeric('Before', 'before'),
          numeric('After', 'after'),
          numeric('Change', 'percent', { write: orDash(percent => `${signed(percent, 2)}%`) }),
        ]}
      />
    )}
  </>
)

export function Data() {
  const batches = useOperatorPages<Batch>('/admin/v1/batches?per_page=25', 'batches')
  const { attempt, change, ...outcome } = useChange(batches, asOperator)
  const file = useSignal<File | undefined>(undefined)
  const hasComma = useSignal(false)
  const dateFormat = useSignal('')
  // The review queue is loaded again when this rises.
  const count = useSignal(0)
  const chosen = file.value
  const notation = {
    decimalComma: hasComma.value,
    ...(dateFormat.value !== '' && { dateFormat: dateFormat.value }),
  }
  const fileKey = chosen && [chosen.name, chosen.size, chosen.lastModified].join(' ')
  // A comparison that a later choice of a notation overtakes is dropped.
  const read = useLoaded(fileKey && `${fileKey} ${JSON.stringify(notation)}`, async signal => {
    const found = importRowsOf(await chosen!.text(), notation)
    if (found.rows.length > rowsMax)
      throw new Error(
        `The file has ${number(found.rows.length)} rows; the console imports up to ${number(rowsMax)} at once. Import it with \`wellhead import\`.`,
      )
    return comparedRows(found, async observations => {
      const path = '/admin/v1/observations/compare'
      const options = { method: 'POST', body: { observations }, signal } as const
      return (await asOperator<{ data: Comparison }>(path, options)).data
    })
  })
  const isRead = chosen && !read.isLoading && !read.refusal
  const { rows = [], faults = [], comparison } = (isRead && read.data) || {}
  const record = () =>
    attempt(async () => {
      const { data } = await asOperator<{ data: Recorded }>('/admin/v1/observations', {
        method: 'POST',
        body: { observations: rows },
      })
      const words = `${number(data.inserted)} new, ${number(data.revised)} revised, ${number(data.unchanged)} unchanged, ${number(data.held)} held${data.kept_as_corrected > 0 ? `, ${number(data.kept_as_corrected)} kept as corrected` : ''}.`
      file.value = undefined
      if (data.held > 0) count.value += 1
      await batches.reload()
      return words
    })
  const undo = (id: number) =>
    change(`/admin/v1/batches/${id}/undo`, 'POST', { reason: 'undone in the console' })
  return (
    <>
      <Result {...outcome} />
      <section
        class="card"
        aria-labelledby="import"
        onDragOver={event => event.preventDefault()}
        onDrop={event => {
          event.preventDefault()
          file.value = event.dataTransfer?.files[0]
        }}
      >
        <h2 id="import">Import prices</h2>
        <Input
          label="Choose a CSV file with the columns code, price and observed_at, or drop it here"
          type="file"
          accept=".csv,text/csv"
          onChange={event => {
            file.value = event.currentTarget.files?.[0]
          }}
        />
        <div class="row end">
          <Select
            label="Days are written as"
            none="YYYY-MM-DD"
            of={dateFormats}
            {...boundSelect(dateFormat)}
          />
          <Check of={hasComma}>Decimal comma (1.234,56)</Check>
        </div>
        {chosen && read.refusal && <Refused error={read.refusal} />}
        {chosen && read.isLoading && <Waiting what="the file" />}
        {faults.length > 0 && (
          <Table
            caption="Lines that cannot be imported"
            file="rejected"
            rows={faults}
            keyOf={({ line }) => String(line)}
            empty="None."
            isTall
            note={
              rows.length > 0
                ? 'The other lines of the file can be recorded below.'
                : 'Nothing is recorded. Check how the file writes days and numbers.'
            }
            columns={({ column }) => [column('Line', 'line'), column('Reason', 'reason')]}
          />
        )}
        {comparison && <Preview comparison={comparison} />}
        {rows.length > 0 && (
          <>
            <Table
              caption={rows.length > previewMax ? `The first ${previewMax} rows` : 'Rows'}
              file="preview"
              rows={rows.slice(0, previewMax)}
              fileRows={() => rows}
              keyOf={(_, i) => String(i)}
              empty="The file has no rows."
              columns={({ column, numeric }) => [
                column('Code', 'code', { fileName: 'code', className: 'code' }),
                numeric('Price', 'price', { fileName: 'price' }),
                numeric('Observed', 'observed_at', { fileName: 'observed_at', className: 'quiet' }),
              ]}
            />
            <div class="row">
              <button type="button" class="main" onClick={() => void record()}>
                Record {number(rows.length)} {rows.length === 1 ? 'row' : 'rows'}
              </button>
            </div>
          </>
        )}
      </section>
      <Review key={count.value} onDecided={batches.reload} />
      <Table
        caption="Batches"
        file="batches"
        {...pagedRows(batches)}
        keyOf={({ id }) => String(id)}
        empty="No batches yet. Drop a file above."
        columns={({ column, numeric }) => [
          column('Batch', ({ kind, id }) => `${kind} ${id}`, {
            show: ({ kind, id, status, file_name: file, source, reason, actor }) =>
              twoLines(
                <>
                  {words(kind)} {id} {status !== 'completed' && <Tag>{words(status)}</Tag>}
                </>,
                file ?? source ?? reason ?? actor,
              ),
          }),
          numeric('New', 'inserted'),
          numeric('Revised', 'revised'),
          numeric('Rejected', 'rejected', { isWide: true }),
          column('When', 'started_at', { ...aside, write: instant }),
          {
            ...actions,
            show: batch =>
              batch.undone_at ? (
                <Tag>Undone</Tag>
              ) : batch.status === 'in_progress' ? null : (
                <Confirmed
                  label="Undo"
                  question={`Undo batch ${batch.id}? The previous values are restored in a new batch.`}
                  onConfirm={() => undo(batch.id)}
                />
              ),
          },
        ]}
      />
      <Quarantine />
    </>
  )
}
