import { useSignal } from '@preact/signals'
import type { BatchShape as Batch } from '../../../topics/operator/operations/data/batches.ts'
import type { ComparisonShape } from '../../../topics/operator/operations/data/comparison-row.ts'
import { Figure, Refused, Result, Tag, Waiting } from '../../parts/bits.tsx'
import { Button, Confirmed } from '../../parts/buttons.tsx'
import { Check, Input, Select, Zones } from '../../parts/fields.tsx'
import {
  asOperator,
  useOperatorChange,
  useOperatorPages,
} from '../../parts/person/operator-token.tsx'
import { useLoaded } from '../../parts/requests/ask.ts'
import { pagedRows } from '../../parts/requests/pages.ts'
import { actions, aside, seriesLink } from '../../parts/tables/columns.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { bound } from '../../parts/text/form.ts'
import { instant, number, observed, orDash, signed, words } from '../../parts/text/format.ts'
import { comparedRows, importRowsOf, slicesOf } from './import-rows.ts'
import { Quarantine } from './quarantine.tsx'
import { Review } from './review.tsx'

const previewMax = 8
const biggestMax = 10

type Comparison = Omit<ComparisonShape, 'series'>
type Recorded = Pick<Comparison, (typeof counts)[number]>

const counts = ['inserted', 'revised', 'unchanged', 'held', 'kept_as_corrected'] as const

/** The notations of days and times in files besides the usual one. */
const dateFormats = ['DD.MM.YYYY', 'DD/MM/YYYY', 'MM/DD/YYYY'].flatMap(days => [
  days,
  `${days} HH:mm`,
  `${days} HH:mm:ss`,
])

/** The sums of what several requests have recorded or would record. */
const sumOf = (parts: readonly Recorded[]): Recorded =>
  Object.fromEntries(
    counts.map(name => [name, parts.reduce((total, part) => total + part[name], 0)]),
  ) as Record<keyof Recorded, number>

const comparisonOf = (parts: readonly Comparison[]): Comparison => ({
  ...sumOf(parts),
  biggest_changes: parts
    .flatMap(({ biggest_changes: changes }) => changes)
    .toSorted((a, b) => Math.abs(b.percent ?? 0) - Math.abs(a.percent ?? 0))
    .slice(0, biggestMax),
})

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
  const { attempt, change, ...outcome } = useOperatorChange(batches)
  const file = useSignal<File | undefined>(undefined)
  const hasComma = useSignal(false)
  const dateFormat = useSignal('')
  const timeZone = useSignal('')
  const source = useSignal('')
  const series = useSignal('')
  // The review queue is loaded again when this rises.
  const count = useSignal(0)
  /** How many rows of the file are recorded so far; undefined: none are being recorded. */
  const recorded = useSignal<number | undefined>(undefined)
  const chosen = file.value
  const notation = {
    decimalComma: hasComma.value,
    ...(dateFormat.value !== '' && { dateFormat: dateFormat.value }),
    ...(timeZone.value !== '' && { zone: timeZone.value }),
    ...(series.value !== '' && { series: series.value }),
  }
  const sourceName = source.value.trim()
  const named = sourceName === '' ? {} : { source: sourceName }
  const fileKey = chosen && [chosen.name, chosen.size, chosen.lastModified].join(' ')
  // A comparison that a later choice of a notation overtakes is dropped.
  const read = useLoaded(fileKey && `${fileKey} ${JSON.stringify(notation)}`, async signal => {
    return comparedRows(importRowsOf(await chosen!.text(), notation), async observations => {
      const path = '/admin/v1/observations/compare'
      const options = { method: 'POST', body: { observations, ...named }, signal } as const
      return (await asOperator<{ data: Comparison }>(path, options)).data
    })
  })
  const isRead = chosen && !read.isLoading && !read.refusal
  const { rows = [], faults = [], comparisons = [] } = (isRead && read.data) || {}
  const post = async <T,>(path: string, body: object) =>
    (await asOperator<{ data: T }>(path, { method: 'POST', body })).data
  /** One batch for all slices, which one undo takes back. */
  const sendRows = async (): Promise<Recorded> => {
    const { batch } = await post<{ batch: Batch }>('/admin/v1/batches', {
      file_name: chosen!.name,
      ...named,
    })
    const parts: Recorded[] = []
    try {
      for (const observations of slicesOf(rows)) {
        parts.push(
          await post<Recorded>('/admin/v1/observations', { observations, batch: batch.id }),
        )
        recorded.value = (recorded.value ?? 0) + observations.length
      }
    } finally {
      await post(`/admin/v1/batches/${batch.id}/end`, { rejected: faults.length })
    }
    return sumOf(parts)
  }
  const record = () =>
    attempt(async () => {
      recorded.value = 0
      const data = await sendRows().finally(async () => {
        recorded.value = undefined
        // Where a slice was refused, the batch with those before it can be undone.
        await batches.reload()
      })
      const words = `${number(data.inserted)} new, ${number(data.revised)} revised, ${number(data.unchanged)} unchanged, ${number(data.held)} held${data.kept_as_corrected > 0 ? `, ${number(data.kept_as_corrected)} kept as corrected` : ''}.`
      file.value = undefined
      if (data.held > 0) count.value += 1
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
            {...bound(dateFormat)}
          />
          {/* Without a value of ours: a page that is drawn again would take back what is being typed. */}
          <Input
            label="Time zone of times without one"
            list="file-zones"
            placeholder="Europe/Berlin"
            onChange={event => {
              timeZone.value = event.currentTarget.value.trim()
            }}
          />
          <Zones id="file-zones" />
          <Check of={hasComma}>Decimal comma (1.234,56)</Check>
          <Input
            label="Code of every row, without a column for it"
            placeholder="TTF_FUTURES"
            onChange={event => {
              series.value = event.currentTarget.value.trim().toUpperCase()
            }}
          />
          <Input
            label="Source of the values"
            placeholder="Desk"
            maxLength={80}
            {...bound(source)}
          />
        </div>
        {chosen && read.refusal && <Refused error={read.refusal} />}
        {chosen && read.isLoading && <Waiting what="the file" />}
        {faults.length > 0 && (
          <Table
            caption="Lines that cannot be imported"
            file="rejected"
            rows={faults}
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
        {comparisons.length > 0 && <Preview comparison={comparisonOf(comparisons)} />}
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
              <Button
                className="main"
                label={`Record ${number(rows.length)} ${rows.length === 1 ? 'row' : 'rows'}`}
                isOff={recorded.value !== undefined}
                onClick={record}
              />
              {recorded.value !== undefined && (
                <span role="status">
                  Recorded {number(recorded.value)} of {number(rows.length)} rows
                </span>
              )}
            </div>
          </>
        )}
      </section>
      <Review key={count.value} onDecided={batches.reload} />
      <Table
        caption="Batches"
        file="batches"
        {...pagedRows(batches)}
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
