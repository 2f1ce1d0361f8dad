import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { body, decimal, flag, optional, text, whole } from '../../../../http/input/body-schema.ts'
import { PageMetaShape } from '../../../../http/input/page.ts'
import { codeParameter, momentParameter, parsed } from '../../../../http/input/typed.ts'
import { envelope, envelopeOf, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { type Operations, operation } from '../../../../http/operations/operation.ts'
import {
  invalidParameter,
  notFound,
  refusedField,
  stateForbids,
} from '../../../../http/problem/problem.ts'
import { NestedProblem } from '../../../../http/problem/shape.ts'
import { camelFields } from '../../../../lib/text/name-case.ts'
import { isoInstant, isoOrNull, parseDay, parseInstant } from '../../../../lib/time/instant.ts'
import type { CodeLookup } from '../../../catalogue/math/lookup.ts'
import { checkRow } from '../../../prices/files/rows.ts'
import { batchStatuses } from '../../../prices/service/writes/batches.ts'
import { type Batch, batchKinds } from '../../../prices/store/batches.ts'

const operator = { operator: 'data' } as const
const countMax = Number.MAX_SAFE_INTEGER

const moment = t.String({ format: 'date-time' })
const BigChangeShape = t.Object({
  code: t.String({ examples: ['WTI_USD'] }),
  observed_at: moment,
  before: t.number('The previous value, or the value before it in time.'),
  after: t.Number(),
  percent: t.orNull(t.Number(), 'Null if the previous value is 0.'),
})
export const BatchShape = t.object('Batch', {
  id: t.integer({ examples: [17] }),
  kind: t.oneOf(batchKinds),
  actor: t.string('Who wrote it.', 'command ann'),
  dataset: t.orNull(t.String(), 'Null: prices.'),
  source: t.stringOrNull('Source of the values, if given.', 'EIA'),
  feed_run: t.orNull(t.String(), 'The run of a feed.'),
  file_name: t.orNull(t.String({ examples: ['wti.csv'] })),
  sha256: t.orNull(t.String(), 'SHA-256 of the file.'),
  reason: t.orNull(t.String()),
  undoes: t.orNull(t.integer(), 'The batch that it undid.'),
  started_at: moment,
  status: t.oneOf(
    batchStatuses,
    '`interrupted`: the import was stopped before its end. What it has written stays until the batch is undone.',
  ),
  finished_at: t.orNull(moment, 'Null while it is in progress, or if it was interrupted.'),
  undone_at: t.orNull(moment),
  inserted: t.integer(),
  revised: t.integer(),
  unchanged: t.integer(),
  removed: t.integer('Points withdrawn from all reads.'),
  superseded: t.integer('Overridden by a later row of the same file.'),
  rejected: t.integer(),
  held: t.integer('Values held for review.'),
  kept_as_corrected: t.integer('Values skipped because of an earlier decision of an operator.'),
  biggest_changes: t.Array(BigChangeShape),
})
export type BatchShape = (typeof BatchShape)['static']
const BatchSeriesShape = t.Object({
  code: t.String({ examples: ['WTI_USD'] }),
  points: t.integer('Number of changes.'),
  from: moment,
  to: moment,
})
const RowChangeShape = t.Object({
  row: t.string('Table, row key and column.', 'rig_counts US 2026-11-13 oil'),
  before: t.number('In the unit of the column.'),
  now: t.number('In the unit of the column.'),
  percent: t.orNull(t.number('Of what it was.'), 'Null: it was 0.'),
})
/** A batch with what it changed. */
const BatchDetail = t.Object({
  batch: t.Composite([
    BatchShape,
    t.Object({
      recorded_at: t.orNull(
        moment,
        'From this time `as_of` returns all of its values of series; null if there are none.',
      ),
    }),
  ]),
  series: t.Array(BatchSeriesShape),
  rows: t.Array(RowChangeShape, {
    description: 'The ten biggest changes of numbers in rows of datasets.',
  }),
})
export type BatchDetail = (typeof BatchDetail)['static']
const Undone = t.Object({
  batch: BatchShape,
  restored: t.integer('Values or rows that were restored.'),
  removed: t.integer('Values or rows that did not exist before and were removed.'),
  left: t.integer('Values or rows that were written later and left unchanged.'),
  recorded_at: t.instant('From this time `as_of` returns the restored values.'),
})
export type Undone = (typeof Undone)['static']
const ChangedValue = t.Object({
  code: t.String({ examples: ['WTI_USD'] }),
  observed_at: moment,
  before: t.number('The previous value.'),
  after: t.orNull(t.Number(), 'Null if it was deleted.'),
  batch: t.integer('Number of the batch, for undo.'),
  recorded_at: t.instant('From this time `as_of` returns the new value.'),
})
export type ChangedValue = (typeof ChangedValue)['static']
const One = envelopeOf({ batch: BatchShape })
const params = { id: t.string('Number of the batch.', '17') }

const NewBatchBody = body({
  file_name: text(300, { description: 'What is read.', examples: ['wti.csv'] }),
  sha256: optional(text(64, { description: 'SHA-256 of the file.' })),
  source: optional(text(80, { description: 'Source of the values.', examples: ['EIA'] })),
  dataset: optional(text(60, { description: 'Absent: prices.' })),
  replace: optional(
    flag({
      description: 'True: also records values that an operator corrected, deleted or undid before.',
    }),
  ),
  as_recorded: optional(
    flag({
      description:
        'True: these values were already recorded by another instance, so anomaly checks and current bounds do not apply.',
    }),
  ),
})
const EndBody = body({
  superseded: optional(whole(0, countMax)),
  rejected: optional(whole(0, countMax)),
})
const UndoBody = body({
  only_untouched: optional(
    flag({ description: 'True: leaves points alone that were written later.' }),
  ),
  reason: optional(text(300)),
})
const valueFields = {
  code: text(100, { examples: ['WTI_USD'] }),
  observed_at: text(40, {
    description: 'The time of the value: an instant with its zone, or a day.',
    examples: ['2026-11-20T15:00:00Z'],
  }),
}
const reason = text(300, { minLength: 1, description: 'Why.', examples: ['Typing error'] })
const CorrectionBody = body({
  code: valueFields.code,
  observed_at: valueFields.observed_at,
  price: decimal(-1e15, 1e15, { examples: [71.23] }),
  reason,
})
const RemovalBody = body({ code: valueFields.code, observed_at: valueFields.observed_at, reason })

/** Lists values that were written together, and undoes them. */
export const batchAdminOperations: Operations = [lists, writing, undoing, valueOperations]

/** Finds a batch by the number in a path, and describes it. */
function shared({ batches, batchStore, valueSources }: Context) {
  const batchRow = (batch: Batch) =>
    answerRow(BatchShape, batch, {
      source: batch.sourceId === null ? null : (valueSources.byId(batch.sourceId)?.name ?? null),
      feed_run: batch.feedRunId,
      undoes: batch.undoesId,
      status: batches.statusOf(batch),
      kept_as_corrected: batch.kept,
      biggest_changes: batch.biggest.map(change => answerRow(BigChangeShape, change, {})),
    })
  const batchOf = (id: string): Batch => {
    const batch = /^\d{1,15}$/.test(id) ? batchStore.find(Number(id)) : undefined
    if (!batch) throw notFound('batch', id)
    return batch
  }

  return { batchRow, batchOf }
}

function lists(deps: Context) {
  const { catalogue, batches, batchStore } = deps
  const { batchRow, batchOf } = shared(deps)
  return [
    operation('GET /admin/v1/batches', {
      operationId: 'listBatches',
      summary: 'List batches',
      description:
        'Returns batches of writes, newest first: files, pushes, feed runs with new data, corrections and undos.',
      access: operator,
      page: { max: 100 },
      query: {
        kind: parsed.word(batchKinds, `One of ${batchKinds.join(', ')}.`, 'file'),
        code: codeParameter('Only batches that changed this series.', 'WTI_USD'),
        since: momentParameter('Only batches opened since this time.', '2026-11-20'),
      },
      answers: envelopeOf({ batches: t.Array(BatchShape), meta: PageMetaShape }),
      handle: ({ query, page }) => {
        const { kind } = query
        const series = query.code === undefined ? undefined : catalogue.named(query.code)
        if (query.code !== undefined && !series)
          throw invalidParameter('code', query.code, 'a code of the catalogue')
        const since =
          query.since === undefined
            ? undefined
            : (parseInstant(query.since) ?? parseDay(query.since))
        if (query.since !== undefined && since === undefined)
          throw invalidParameter('since', query.since, 'a day or time, such as 2026-11-20')
        const filter = { kind, since, seriesId: series?.id }
        const rows = batchStore.list(filter, page.perPage, page.offset)
        return success({ batches: rows.map(batchRow), meta: page.meta(batchStore.total(filter)) })
      },
    }),
    operation('GET /admin/v1/batches/:id', {
      operationId: 'getBatch',
      summary: 'Get a batch',
      description:
        'Returns a batch with the series it changed, the time range of the changes, and the largest changes of dataset rows.',
      access: operator,
      params,
      answers: envelope(BatchDetail),
      handle: ({ params: { id } }) => {
        const batch = batchOf(id)
        return success({
          batch: { ...batchRow(batch), recorded_at: isoOrNull(batchStore.recordedAt(batch.id)) },
          series: batchStore.series(batch.id).map(({ seriesId, points, firstAt, lastAt }) => ({
            code: catalogue.byId(seriesId).code,
            points,
            from: isoInstant(firstAt),
            to: isoInstant(lastAt),
          })),
          rows: batches.rowChanges(batch.id).map(({ code: row, before, after, percent }) => ({
            row,
            before,
            now: after,
            percent,
          })),
        })
      },
    }),
  ]
}

/** Batches of files that are sent in several requests. */
function writing(deps: Context) {
  const { batches, batchStore } = deps
  const { batchRow, batchOf } = shared(deps)
  return [
    operation('POST /admin/v1/batches', {
      operationId: 'beginBatch',
      creates: '/admin/v1/batches/:id',
      summary: 'Open a batch',
      description:
        'Opens a batch for a file that is sent in several requests and returns it. Each request names the batch in `batch`; `/end` closes it.',
      access: operator,
      idempotent: true,
      body: NewBatchBody.schema,
      answers: { 201: One },
      handle: ({ body: input, requestContext }) => {
        const { id } = batches.begin({
          kind: 'file',
          actor: requestContext?.actor ?? 'operator',
          ...camelFields(NewBatchBody.read(input)),
        })
        return success({ batch: batchRow(batchStore.find(id)!) })
      },
    }),
    operation('POST /admin/v1/batches/:id/end', {
      operationId: 'endBatch',
      summary: 'Close a batch',
      description: 'Closes a batch and reports how many rows the sender skipped or rejected.',
      access: operator,
      idempotent: true,
      params,
      body: EndBody.schema,
      answers: One,
      handle: ({ body: input, params: { id } }) => {
        const running = batches.running(batchOf(id).id)
        if (!running) throw notFound('batch that is under way', id)
        const { superseded = 0, rejected = 0 } = EndBody.read(input)
        running.count({ superseded, rejected })
        return success({ batch: batchRow(running.end()) })
      },
    }),
  ]
}

function undoing(deps: Context) {
  const { batches } = deps
  const { batchRow, batchOf } = shared(deps)
  return [
    operation('POST /admin/v1/batches/:id/undo', {
      operationId: 'undoBatch',
      summary: 'Undo a batch',
      description:
        'Restores the values from before a batch, as a new batch. History is never rewritten: `as_of` continues to return the values served in between. For datasets, rows and all values derived from them are restored. Refused while it is in progress, if later batches wrote the same points or rows, unless `only_untouched` is set, and for datasets after `batches.undo_days`. An undo can be undone.',
      access: operator,
      idempotent: true,
      params,
      body: UndoBody.schema,
      answers: envelope(Undone),
      handle: ({ body: input, params: { id }, requestContext }) => {
        const batch = batchOf(id)
        const { only_untouched: onlyUntouched = false, reason: why } = UndoBody.read(input)
        refuseUndo(batch, batches.statusOf(batch))
        const done = batches.undo(
          batch,
          { actor: requestContext?.actor ?? 'operator', ...(why !== undefined && { reason: why }) },
          onlyUntouched,
        )
        if ('touched' in done) {
          const { touched, examples } = done
          const [singular, plural] = batch.dataset === null ? ['point', 'points'] : ['row', 'rows']
          const touchedRows =
            touched === 1
              ? `1 ${singular} of batch ${id} was`
              : `${touched} ${plural} of batch ${id} were`
          throw stateForbids(
            'validation_failed',
            `${touchedRows} written again later (${examples.join(', ')}): undo the later batch first, or skip values that were written later (only_untouched).`,
          )
        }
        return success({
          batch: batchRow(done.batch),
          restored: done.restored,
          removed: done.removed,
          left: done.left,
          recorded_at: isoInstant(done.recordedAt),
        })
      },
    }),
  ]
}

/** Refuses to undo a batch that was undone, is being written, or whose earlier rows are gone. */
function refuseUndo(batch: Batch, status: (typeof batchStatuses)[number]): void {
  if (batch.undoneAt !== null)
    throw stateForbids(
      'validation_failed',
      `Batch ${batch.id} was undone at ${isoInstant(batch.undoneAt)}.`,
    )
  if (status === 'in_progress')
    throw stateForbids(
      'validation_failed',
      `Batch ${batch.id} is still being written. Undo it when it has ended; a file whose import was stopped counts as interrupted after 2 minutes.`,
    )
  if (batch.isForgotten)
    throw stateForbids(
      'validation_failed',
      `Batch ${batch.id} can no longer be undone: the earlier rows are no longer stored (batches.undo_days). Import the correct rows again.`,
    )
}

/** Single values: corrected, or taken out. */
function valueOperations({ catalogue, batches, formulas, observations, now }: Context) {
  const lookup: CodeLookup = {
    find: code => catalogue.named(code),
    nearest: code => catalogue.suggest(code)[0]?.code,
  }
  /** The point that a body names; its value is only checked where the body has one. */
  const pointOf = (code: string, observedAt: string, price: unknown) => {
    const checked = checkRow({ code, observedAt, price }, lookup, now())
    if (checked.kind === 'point') return checked.point
    const [field, why] =
      checked.kind === 'blank' ? ['price', 'price: is missing'] : [checked.field, checked.reason]
    throw refusedField(field, why)
  }
  const storedPoint = (code: string, observedAt: string) => {
    const series = catalogue.named(code)
    const anyValue = series ? Math.max(series.level, 1e-9) : 1
    const bounded = series?.bounds ? (series.bounds.min + series.bounds.max) / 2 : anyValue
    const { seriesId, observedAt: at } = pointOf(code, observedAt, bounded)
    const [served] = observations.between(seriesId, at, at + 1, 1)
    if (served) return { seriesId, at, observation: served }
    // A code that can have means serves none of its values of quarantined days, recorded or not.
    const recorded = observations.vintages(seriesId, at).at(-1)
    if (!recorded || recorded.replacedAt !== undefined)
      throw notFound(`A value of ${catalogue.byId(seriesId).code} at ${isoInstant(at)}`)
    return { seriesId, at, observation: { ...recorded, observedAt: at } }
  }
  const changing = {
    access: operator,
    answers: { 200: envelope(ChangedValue), 404: NestedProblem },
  }
  const done = (
    { seriesId, at, observation }: ReturnType<typeof storedPoint>,
    after: number | null,
    { batch, recordedAt }: ReturnType<typeof batches.correct>,
  ) =>
    success({
      code: catalogue.byId(seriesId).code,
      observed_at: isoInstant(at),
      before: observation.value,
      after,
      batch: batch.id,
      recorded_at: isoInstant(recordedAt),
    })
  return [
    operation('PATCH /admin/v1/values', {
      operationId: 'correctValue',
      summary: 'Correct a value',
      description:
        'Replaces a recorded value and stores the reason. The previous value stays as a revision, and the source does not change.',
      ...changing,
      body: CorrectionBody.schema,
      handle: ({ body: input, requestContext }) => {
        const { code, observed_at: time, price, reason: why } = CorrectionBody.read(input)
        const stored = storedPoint(code, time)
        const point = pointOf(code, time, price)
        const written = batches.correct(
          { kind: 'correction', actor: requestContext?.actor ?? 'operator', reason: why },
          point,
        )
        return done(stored, point.value, written)
      },
    }),
    operation('DELETE /admin/v1/values', {
      operationId: 'deleteValue',
      summary: 'Delete a value',
      description:
        'Withdraws a recorded value from all reads and stores the reason. `as_of` still returns it for earlier times, and undoing the batch restores it.',
      ...changing,
      body: RemovalBody.schema,
      handle: ({ body: input, requestContext }) => {
        const { code, observed_at: time, reason: why } = RemovalBody.read(input)
        const stored = storedPoint(code, time)
        const averaged = formulas.averagedFor({ id: stored.seriesId }, stored.observation)
        if (averaged)
          throw refusedField(
            'observed_at',
            `The value of ${catalogue.byId(stored.seriesId).code} at ${isoInstant(stored.at)} is the mean of ${averaged.code}. Delete values of that code, or correct this one.`,
          )
        const written = batches.remove(
          { kind: 'correction', actor: requestContext?.actor ?? 'operator', reason: why },
          stored.seriesId,
          [stored.at],
        )
        return done(stored, null, written)
      },
    }),
  ]
}
