import { transact } from '../../../../database/database.ts'
import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import {
  body,
  flag as booleanField,
  field,
  optional,
  text,
} from '../../../../http/input/body-schema.ts'
import { PageMetaShape } from '../../../../http/input/page.ts'
import { codeParameter, parsed, textParameter } from '../../../../http/input/typed.ts'
import { envelopeOf, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { type Call, type Operations, operation } from '../../../../http/operations/operation.ts'
import { invalidParameter, notFound, stateForbids } from '../../../../http/problem/problem.ts'
import { NestedProblem, ValidationProblem } from '../../../../http/problem/shape.ts'
import { isoInstant, isoOrNull } from '../../../../lib/time/instant.ts'
import { guardRules } from '../../../prices/math/guards.ts'
import {
  type FlaggedValue,
  type FlagStatus,
  flagStatuses,
} from '../../../prices/store/flagged-values.ts'
import { createRecordedNow } from './recorded-now.ts'

const operator = { operator: 'data' } as const
const idsMax = 1000
/** Rules of the guards, and that of what an operator decided. */
const reviewRules = [...guardRules, 'corrected'] as const

export const FlagShape = t.object('DoubtedValue', {
  id: t.integer({ examples: [5] }),
  code: t.stringOrNull('Null for a number of a dataset row.', 'WTI_USD'),
  dataset: t.stringOrNull('For a row: the dataset.', 'rig-counts'),
  line: t.orNull(
    t.Record(t.String(), t.String()),
    'For a row: its subject, such as a region or a contract.',
  ),
  column: t.stringOrNull('For a row: the column of the flagged number.', 'total'),
  row: t.orNull(
    t.Record(t.String(), t.Unknown()),
    'For a row: the complete row as sent. It is held as a whole.',
  ),
  observed_at: t.String({ format: 'date-time' }),
  price: t.number('The flagged number.', 912),
  before: t.numberOrNull('The value before it in time.', 91.2),
  recorded: t.numberOrNull(
    'The value that is recorded for the same time now, which a release replaces; null: none.',
    91.9,
  ),
  recorded_at: t.orNull(t.String({ format: 'date-time' }), 'When that value was recorded.'),
  superseded: t.orNull(
    t.String({ examples: ['91.9 was recorded at 2026-11-20T09:00:00Z'] }),
    'What happened to the value of this time, or to the batch, after the value was held. Null: nothing. Otherwise a release requires `replace`.',
  ),
  rule: t.oneOf(reviewRules),
  reason: t.String({ examples: ['+900.0% after 91.2, as with a misplaced decimal point'] }),
  source: t.orNull(t.String({ examples: ['EIA'] })),
  batch: t.integer('The batch that contained it.'),
  status: t.oneOf(
    flagStatuses,
    'waiting: held and not recorded. flagged: recorded and listed. kept: skipped because of an earlier decision of an operator.',
  ),
  doubted_at: t.String({ format: 'date-time' }),
  decided_at: t.orNull(t.String({ format: 'date-time' })),
  decided_by: t.orNull(t.String()),
  decision_reason: t.orNull(t.String()),
})
export type FlagShape = (typeof FlagShape)['static']
const Listed = envelopeOf({ values: t.Array(FlagShape), meta: PageMetaShape })
const Decided = envelopeOf({
  values: t.Array(FlagShape),
  batch: t.orNull(t.integer(), 'The batch that released values were recorded in.'),
  recorded_at: t.orNull(
    t.String({ format: 'date-time' }),
    'From this time `as_of` returns the released values.',
  ),
})
const decisionFields = {
  ids: field<number[]>(
    t.Array(t.integer(), { minItems: 1, maxItems: idsMax, description: 'Numbers of held values.' }),
    (form, name) => {
      const ids = form.value(name)
      if (!Array.isArray(ids) || ids.length === 0 || ids.length > idsMax)
        return form.fault(name, `must be a list of 1 to ${idsMax} numbers.`)
      if (!ids.every(id => Number.isSafeInteger(id) && id > 0))
        return form.fault(name, 'must be a list of whole numbers.')
      return [...new Set(ids as number[])]
    },
  ),
  reason: optional(text(300, { description: 'Why.' })),
}
const DecisionBody = body(decisionFields)
const ReleaseBody = body({
  ...decisionFields,
  replace: optional(
    booleanField({ description: 'True: also releases values whose `superseded` is not null.' }),
  ),
})
/** A refusal names so many values. */
const namedMax = 5

/** The last batch of a release, and since when its values are known. */
interface Released {
  batch: number
  recordedAt: number
}

type ReleaseStart = { kind: 'release'; actor: string; reason?: string }

const isOfSeries = (flag: FlaggedValue): flag is FlaggedValue & { seriesId: number } =>
  flag.seriesId !== null

const deciding = {
  access: operator,
  idempotent: true,
  body: DecisionBody.schema,
  answers: { 200: Decided, 404: NestedProblem, 409: ValidationProblem },
} as const

function decisionOf({
  body: input,
  requestContext,
}: Pick<Call<never, never, unknown>, 'body' | 'requestContext'>) {
  const { ids, reason = '' } = DecisionBody.read(input)
  return { ids, reason, actor: requestContext?.actor ?? 'operator' }
}

/** Values that guards flagged, and the decisions about them. */
export const reviewAdminOperations: Operations = [flagged, decisions]

/** Describes a flagged value. */
const rowsOf = (deps: Context) => {
  const { catalogue, valueSources } = deps
  const recordedNow = createRecordedNow(deps)
  return (flag: FlaggedValue): FlagShape => {
    const { value, recordedAt, since } = recordedNow(flag)
    return answerRow(FlagShape, flag, {
      code: flag.seriesId === null ? null : catalogue.byId(flag.seriesId).code,
      line: flag.line === null ? null : JSON.parse(flag.line),
      row: flag.fields === null ? null : JSON.parse(flag.fields),
      price: flag.value,
      rule: flag.rule as (typeof reviewRules)[number],
      source: valueSources.byId(flag.sourceId)?.name ?? null,
      batch: flag.batchId,
      doubted_at: isoInstant(flag.flaggedAt),
      recorded: value,
      recorded_at: isoOrNull(recordedAt),
      superseded: since ?? null,
    })
  }
}

function flagged(deps: Context) {
  const { catalogue, datasets, flaggedValues } = deps
  const rowOf = rowsOf(deps)
  return [
    operation('GET /admin/v1/review', {
      operationId: 'listHeldValues',
      summary: 'List values held for review',
      description:
        'Returns values and dataset rows that the anomaly checks flagged, newest first. Held values are not served and fire no alerts or webhooks.',
      access: operator,
      page: { max: 100 },
      query: {
        status: parsed.word(
          [...flagStatuses, 'all'],
          `One of ${flagStatuses.join(', ')}, or all (waiting).`,
          'waiting',
          { default: 'waiting' },
        ),
        code: codeParameter('Only values of this series.', 'WTI_USD'),
        dataset: textParameter('Only rows of this dataset.', 'rig-counts'),
      },
      answers: Listed,
      handle: ({ query, page }) => {
        const { status } = query
        const series = query.code === undefined ? undefined : catalogue.named(query.code)
        if (query.code !== undefined && !series)
          throw invalidParameter('code', query.code, 'a code of the catalogue')
        const dataset = query.dataset?.trim().toLowerCase()
        if (dataset !== undefined && !datasets.some(({ name }) => name === dataset))
          throw invalidParameter('dataset', query.dataset, 'the name of a dataset')
        const filter = {
          ...(status !== 'all' && { status }),
          ...(series && { seriesId: series.id }),
          ...(dataset !== undefined && { dataset }),
        }
        const rows = flaggedValues.list(filter, page.perPage, page.offset)
        return success({ values: rows.map(rowOf), meta: page.meta(flaggedValues.total(filter)) })
      },
    }),
  ]
}

function decisions(deps: Context) {
  const { batches, datasets, db, flaggedValues, ingest, now } = deps
  const rowOf = rowsOf(deps)
  /** Values that are not recorded, with one of these statuses. */
  const undecided = (ids: readonly number[], statuses: readonly FlagStatus[]): FlaggedValue[] =>
    ids.map(id => {
      const flag = flaggedValues.find(id)
      if (!flag) throw notFound('held value', id)
      if (!statuses.includes(flag.status))
        throw stateForbids('validation_failed', `Value ${id} is ${flag.status} already.`)
      return flag
    })
  /** The held rows of each dataset as records; a single invalid row refuses the whole request. */
  const rowsToRelease = (held: readonly FlaggedValue[]) =>
    [...Map.groupBy(held, flag => flag.dataset!)].map(([name, rows]) => {
      const dataset = datasets.find(dataset => dataset.name === name)!
      const records = rows.map(({ id, fields }) => {
        const checked = dataset.check(JSON.parse(fields!), now())
        if ('record' in checked) return checked.record
        throw stateForbids('validation_failed', `Value ${id} cannot be recorded: ${checked.reason}`)
      })
      return { dataset, records }
    })
  const releaseValues = (
    held: readonly (FlaggedValue & { seriesId: number })[],
    start: ReleaseStart,
  ) => {
    let last: Released | undefined
    for (const [sourceId, group] of Map.groupBy(held, flag => flag.sourceId)) {
      const points = group.map(({ seriesId, observedAt, value }) => ({
        seriesId,
        observedAt,
        value,
      }))
      const { batch, recordedAt } = batches.release(start, points, sourceId)
      last = { batch: batch.id, recordedAt: Math.max(recordedAt, last?.recordedAt ?? recordedAt) }
    }
    return last
  }
  /** Refuses to replace what an operator may not have seen when the value was held. */
  const refuseSuperseded = (flags: readonly FlaggedValue[]) => {
    const superseded = flags.map(rowOf).filter(row => row.superseded !== null)
    if (superseded.length === 0) return
    const named = superseded
      .slice(0, namedMax)
      .map(
        ({ id, code, dataset, observed_at: at, price, superseded: since }) =>
          `Value ${id} (${code ?? dataset} at ${at}) is ${price}, and after it was held, ${since}.`,
      )
    const others = superseded.length - named.length
    if (others > 0) named.push(`The same applies to ${others} more.`)
    throw stateForbids('newer_value', `${named.join(' ')} Reject it, or release it with replace.`)
  }
  const decided = (ids: readonly number[]) => ids.map(id => rowOf(flaggedValues.find(id)!))

  return [
    operation('POST /admin/v1/review/release', {
      operationId: 'releaseValues',
      summary: 'Release held values',
      description:
        'Records values that were held, rejected or kept as corrected, with the current time of recording. The same value is not flagged again. Refused with 409 `newer_value` if the value of the same time was recorded or removed after the hold, unless `replace` is true.',
      ...deciding,
      body: ReleaseBody.schema,
      handle: call => {
        const { ids, reason, actor } = decisionOf(call)
        const flags = undecided(ids, ['waiting', 'kept', 'rejected'])
        if (!ReleaseBody.read(call.body).replace) refuseSuperseded(flags)
        const start = { kind: 'release' as const, actor, ...(reason !== '' && { reason }) }
        const ofRows = rowsToRelease(flags.filter(flag => flag.dataset !== null))
        const released = transact(db, () => {
          // First: what is written takes values that were left out in its time off the list.
          for (const { id } of flags) flaggedValues.decide(id, 'released', actor, reason, now())
          let last = releaseValues(flags.filter(isOfSeries), start)
          for (const { dataset, records } of ofRows) {
            const running = batches.begin({ ...start, dataset: dataset.name })
            const recordedAt = ingest.next()
            running.count(running.during(() => dataset.write(records, recordedAt)))
            last = { batch: running.end().id, recordedAt }
          }
          return last
        })
        return success({
          values: decided(ids),
          batch: released?.batch ?? null,
          recorded_at: isoOrNull(released?.recordedAt),
        })
      },
    }),
    operation('POST /admin/v1/review/reject', {
      operationId: 'rejectValues',
      summary: 'Reject held values',
      description:
        'Discards held values permanently; the same value is also rejected when it is sent again.',
      ...deciding,
      handle: call => {
        const { ids, reason, actor } = decisionOf(call)
        for (const { id } of undecided(ids, ['waiting', 'kept']))
          flaggedValues.decide(id, 'rejected', actor, reason, now())
        return success({ values: decided(ids), batch: null, recorded_at: null })
      },
    }),
  ]
}
