import { transact } from '../../../../database/database.ts'
import type { WriteCounts } from '../../../../database/write-counts.ts'
import type { DatasetFault } from '../../../../datasets/fields.ts'
import { checked, type DatasetRow, neededInstant, textIn } from '../../../../datasets/fields.ts'
import type { Dataset } from '../../../../feeds/files/dataset.ts'
import { checkEarlierRow } from '../../../../feeds/files/earlier-rows.ts'
import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { idempotencyHeader } from '../../../../http/idempotency.ts'
import { body, choice, closedPart, optional } from '../../../../http/input/body-schema.ts'
import { fieldMessage } from '../../../../http/input/form.ts'
import { rowsOfLines } from '../../../../http/input/row-lines.ts'
import { textParameter } from '../../../../http/input/typed.ts'
import { envelope, envelopeOf, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { type Operations, operation } from '../../../../http/operations/operation.ts'
import {
  type FieldFault,
  nameNotFound,
  refusedField,
  stateForbids,
  validationFailed,
} from '../../../../http/problem/problem.ts'
import { fieldsOf, isObject } from '../../../../lib/text/json.ts'
import { isoInstant } from '../../../../lib/time/instant.ts'
import { contractOf } from '../../../catalogue/service/contract-calendar.ts'
import { familyOf, parseContractCode } from '../../../futures/math/families.ts'
import {
  type GuardAction,
  type GuardTerms,
  guardActions,
  valueRules,
} from '../../../prices/math/guards.ts'
import type { Batches } from '../../../prices/service/writes/batches.ts'
import type { RunningBatch } from '../../../prices/service/writes/running-batch.ts'
import { datasetFile, datasetYears } from '../../store/dataset-rows.ts'
import {
  createEarlierRowStore,
  type EarlierRow,
  type EarlierRowStore,
  seriesColumn,
} from '../../store/earlier-rows.ts'
import { refuseMoreRows, runningBatch } from './data.ts'

/** One request is one transaction, and a transaction must not hold up the requests behind it. */
const rowsMax = 5_000
/** The size of an import's requests: small, because a server answers others in between. */
const usualBatch = 1_000

const operator = { operator: 'data' } as const

export const DatasetShape = t.object('Dataset', {
  name: t.String({ examples: ['futures-settlements'] }),
  description: t.String(),
  columns: t.Array(
    t.Object({
      name: t.String({ examples: ['contract'] }),
      required: t.Boolean(),
      description: t.String(),
    }),
  ),
  example: t.string('A file of two rows.'),
  key: t.Array(t.String(), {
    description: 'Key columns; the last row of a file with the same key wins.',
  }),
  batch_max: t.integer('Rows that the command line sends at once.', 1000),
  wide: t.orNull(
    t.Object({ name: t.String(), value: t.String() }),
    'For files with one column per key: the column that the header names, and the column that the cells contain.',
  ),
  guarded: t.Array(t.String({ examples: ['settlement'] }), {
    description: 'Columns that the anomaly checks evaluate.',
  }),
  guards: t.Record(t.String(), t.String(), {
    description: 'Actions of the anomaly checks, if set.',
  }),
})
export type DatasetShape = (typeof DatasetShape)['static']

const nameParams = { name: t.string('Name of the dataset.', 'futures-settlements') }

const Counts = t.Object({
  received: t.integer(),
  inserted: t.integer(),
  revised: t.integer(),
  unchanged: t.integer(),
  held: t.integer('Held for review and not recorded.'),
  kept_as_corrected: t.integer(
    'Skipped because an undo removed the row before. `replace` records it.',
  ),
  dry_run: t.Boolean(),
  recorded_at: t.String({ format: 'date-time' }),
})

/**
 * Datasets other than prices, for the operator: the imports of the command line, with the same
 * code.
 */
export const datasetAdminOperations: Operations = [declarations, recording, files, rules]

/** The dataset with a name, in any letter case; 404 without one. */
function datasetNamed(datasets: Context['datasets'], name: string): Dataset<unknown> {
  const dataset = datasets.find(dataset => dataset.name === name.toLowerCase())
  if (!dataset)
    throw nameNotFound(
      'dataset',
      name,
      datasets.map(({ name }) => name),
    )
  return dataset
}

/** Describes a dataset as its declaration and the settings of the operator have it. */
const shapesOf =
  ({ rowGuards }: Context) =>
  (dataset: Dataset<unknown>): DatasetShape =>
    answerRow(DatasetShape, dataset, {
      wide: dataset.wide ?? null,
      batch_max: dataset.batchMax ?? usualBatch,
      columns: [...dataset.columns, recordedAtColumn],
      key: [...(dataset.key ?? [])],
      guarded: Object.keys(dataset.guarded?.columns ?? {}),
      guards: rowGuards.terms(dataset.name),
    })

function declarations(deps: Context) {
  return [
    operation('GET /admin/v1/datasets', {
      operationId: 'listDatasets',
      summary: 'List datasets',
      description:
        'Returns the importable datasets other than prices, with the columns of each and an example.',
      access: operator,
      answers: envelope(t.Array(DatasetShape)),
      handle: () => success(deps.datasets.map(shapesOf(deps))),
    }),
  ]
}

/** The validation rules that an operator may set. */
function rules(deps: Context) {
  const { datasets, rowGuards } = deps
  return [
    operation('PATCH /admin/v1/datasets/:name', {
      operationId: 'updateDataset',
      summary: 'Update the validation rules of a dataset',
      description:
        'Sets for each rule whether a row that fails it is held, flagged or accepted. Other rules keep their setting; `usual` restores the default.',
      access: operator,
      params: nameParams,
      body: ChangeBody.schema,
      answers: envelopeOf({ dataset: DatasetShape }),
      handle: ({ params, body: input }) => {
        const dataset = datasetNamed(datasets, params.name)
        const { guards = {} } = ChangeBody.read(input)
        if (!dataset.guarded)
          throw stateForbids(
            'validation_failed',
            `guards cannot be set for ${dataset.name}: its rows are not a time series and are checked by bounds only.`,
          )
        const terms: Record<string, GuardAction | undefined> = { ...rowGuards.terms(dataset.name) }
        for (const [rule, action] of Object.entries(guards))
          if (action === 'usual') delete terms[rule]
          else terms[rule] = action as GuardAction
        rowGuards.setTerms(dataset.name, terms as GuardTerms)
        return success({ dataset: shapesOf(deps)(dataset) })
      },
    }),
  ]
}

function recording(deps: Context) {
  const { batches, datasets, db, idempotency, ingest, lateCommits, rowGuards } = deps
  const earlierRows = createEarlierRowStore(db)
  const earlierRowsOf = earlierRowChecker(deps, earlierRows)
  return [
    operation('POST /admin/v1/datasets/:name', {
      operationId: 'recordDataset',
      summary: 'Record rows of a dataset',
      description: `Records up to ${rowsMax.toLocaleString('en')} rows in one transaction: all or none; every fault of every row is named. An unchanged row changes nothing; different values for a known row are a correction. With \`dry_run\` the rows are only validated. A row with a flagged number is held for review: it is not recorded and is listed in \`/admin/v1/review\`.`,
      access: operator,
      headers: idempotencyHeader,
      params: nameParams,
      body: t.Any({
        description:
          '`{"rows":[{column: value}], "dry_run"?: bool, "replace"?: bool}`, or one such row a line as `application/x-ndjson`. `batch`: the open batch of a file. `earlier`: in a batch with `as_recorded`, replaced rows from an export with history, with `recorded_at` and `superseded_at`. `replace`: true also records rows that an undo removed.',
        examples: [
          {
            rows: [
              {
                contract: 'WTI_FUTURES_2027_01',
                traded_on: '2026-11-19',
                close: 71.95,
                settlement: 71.87,
                open_interest: 284113,
              },
            ],
          },
        ],
      }),
      // The dataset refuses columns that it does not have.
      fields: t.Object(
        Object.fromEntries(
          ['rows', 'dry_run', 'batch', 'earlier', 'replace'].map(name => [name, t.Any()]),
        ),
      ),
      answers: envelope(Counts),
      handle: async ({ params, body, requestContext, request, reply }) =>
        lateCommits.run(() =>
          idempotency.once({ requestContext, request, reply }, body, () => {
            const dataset = datasetNamed(datasets, params.name)
            const { rows, dryRun, areEarlier, replace } = requestOf(body)
            const at = ingest.next()
            // A dry run changes nothing, and a file was recorded when its batch began.
            if (requestContext && (dryRun || (isObject(body) && body.batch !== undefined)))
              requestContext.action = undefined
            if (areEarlier && !isAsRecorded(batches, body))
              throw refusedField(
                'earlier',
                'earlier: is for a batch that was begun with as_recorded.',
                true,
              )
            const earlier = areEarlier ? earlierRowsOf(dataset, rows, at) : []
            const records = areEarlier ? [] : recordsOf(dataset, rows, at)
            const running = dryRun
              ? undefined
              : batchOf(batches, dataset, body, {
                  actor: requestContext?.actor ?? 'operator',
                  replace,
                })
            const { good, flagged } = isAsRecorded(batches, body)
              ? { good: records, flagged: [] }
              : rowGuards.judge(dataset, records)
            const heldCount = records.length - good.length
            const write = () => {
              if (flagged.length > 0) rowGuards.keep(dataset.name, flagged, running!.batch.id, at)
              return areEarlier
                ? earlierRows.record(dataset.name, earlier, ingest.next())
                : writeRuns(dataset, good, running!.batch)
            }
            const counts = running
              ? recorded(running, heldCount, () => transact(db, write))
              : { inserted: 0, revised: 0, unchanged: 0 }
            return success({
              received: rows.length,
              inserted: counts.inserted,
              revised: counts.revised,
              unchanged: counts.unchanged,
              held: heldCount,
              kept_as_corrected: counts.kept ?? 0,
              dry_run: dryRun,
              recorded_at: isoInstant(at),
            })
          }),
        ),
    }),
  ]
}

/** Reads rows that stood before, or refuses all of them with the fault of each. */
function earlierRowChecker({ catalogue }: Context, earlierRows: EarlierRowStore) {
  /** A contract may have nothing but a past. */
  const seriesFault = ({ [seriesColumn]: written }: EarlierRow): DatasetFault | undefined => {
    if (written === undefined) return undefined
    const code = String(written)
    const contract = catalogue.named(code) ? undefined : parseContractCode(code)
    if (contract)
      catalogue.addContracts([contractOf(familyOf(contract.family.code), contract.month)])
    return catalogue.named(code)?.code === code
      ? undefined
      : { field: seriesColumn, reason: `${seriesColumn} ${code.slice(0, 100)} must be a code` }
  }
  return ({ name }: Dataset<unknown>, rows: readonly unknown[], at: number) => {
    const columns = earlierRows.columns(name)
    if (!columns) throw stateForbids('validation_failed', `earlier: ${name} keeps no earlier rows.`)
    return checkedRows(rows, fields => {
      const checked = checkEarlierRow(fields, columns, at)
      return 'record' in checked ? (seriesFault(checked.record) ?? checked) : checked
    })
  }
}

/** The files of a dataset that the nightly files are made of. */
function files({ catalogue, datasets, db, withheldRows }: Context) {
  return [
    operation('GET /admin/v1/datasets/:name/years', {
      operationId: 'getDatasetYears',
      summary: 'Get the years of a dataset',
      hidden: true,
      access: { ...operator, queryWorker: true },
      params: nameParams,
      handle: ({ params }) =>
        success({ years: datasetYears(db, datasetNamed(datasets, params.name).name) }),
    }),
    operation('GET /admin/v1/datasets/:name/file', {
      operationId: 'getDatasetFile',
      summary: 'Get a dataset as a file',
      hidden: true,
      access: { ...operator, queryWorker: true },
      params: nameParams,
      query: {
        year: textParameter('Also the rows of a year that were replaced or removed.', '2026'),
      },
      handle: ({ params, query, reply }) => {
        const dataset = datasetNamed(datasets, params.name)
        // The nightly files are for all customers: no rows about restricted series, and none that may
        // not be redistributed.
        const isForAll = (code: unknown) => {
          const series = typeof code === 'string' ? catalogue.named(code) : undefined
          return typeof code !== 'string' || (series && catalogue.isVisible(series, '')) === true
        }
        const isWithheld = withheldRows(dataset)
        const includes = (row: DatasetRow, recordedAt: number) =>
          !isWithheld(row, recordedAt) &&
          (!catalogue.isRestricted || dataset.codeColumns.every(column => isForAll(row[column])))
        const { rows, bytes } = datasetFile(db, dataset.name, query.year, includes)
        reply.headers['x-total'] = String(rows)
        reply.headers['content-type'] = 'application/vnd.apache.parquet'
        return new Response(new Blob(bytes))
      },
    }),
  ]
}

const ChangeBody = body(
  {
    guards: closedPart(
      Object.fromEntries(
        valueRules.map(rule => [rule, optional(choice([...guardActions, 'usual'] as const))]),
      ),
      {
        description:
          'Action of each rule on a row that fails it: `hold`, `flag`, `off`, or `usual`.',
      },
    ),
  },
  { example: { guards: { jump: 'flag' } } },
)

interface BatchOfRequest {
  batch: RunningBatch
  /** It began and ends with the request. */
  isOwn: boolean
}

/** The batch that the request names, or a new one. */
function batchOf(
  batches: Batches,
  { name }: Dataset<unknown>,
  body: unknown,
  push: { actor: string; replace: boolean },
): BatchOfRequest {
  const number = isObject(body) ? body.batch : undefined
  return typeof number === 'number'
    ? { batch: runningBatch(batches, number), isOwn: false }
    : {
        batch: batches.begin({ kind: 'push', ...push, dataset: name }),
        isOwn: number === undefined,
      }
}

/** Whether the rows come from a file that another instance recorded: none is flagged. */
const isAsRecorded = (batches: Batches, body: unknown): boolean =>
  isObject(body) && typeof body.batch === 'number'
    ? batches.running(body.batch)?.asRecorded === true
    : false

function recorded(
  { batch, isOwn }: BatchOfRequest,
  held: number,
  write: () => WriteCounts,
): WriteCounts {
  const counts = batch.during(write)
  batch.count({ ...counts, held })
  if (isOwn) batch.end()
  return counts
}

/** Writes rows in their order, those that became known together at once. */
const writeRuns = (
  dataset: Dataset<unknown>,
  rows: readonly RecordedRow[],
  batch: RunningBatch,
): WriteCounts =>
  sumOf(
    runsOf(rows).map(run => {
      const { recordedAt } = run[0]!
      const records = run.map(row => row.record)
      return batch.writeRows(dataset.name, records, recordedAt, some =>
        dataset.write(some, recordedAt),
      )
    }),
  )

interface DatasetRequest {
  rows: unknown[]
  dryRun: boolean
  areEarlier: boolean
  replace: boolean
}

function requestOf(body: unknown): DatasetRequest {
  const rows = typeof body === 'string' ? rowsOfLines(body) : body
  const fields: { rows?: unknown; dry_run?: unknown; earlier?: unknown; replace?: unknown } =
    typeof rows === 'object' && rows !== null ? rows : {}
  const named: typeof fields = Array.isArray(rows) ? { rows } : fields
  const flagOf = (field: 'dry_run' | 'earlier' | 'replace'): boolean => {
    const value = named[field] ?? false
    if (typeof value === 'boolean') return value
    throw refusedField(field, fieldMessage(field, 'must be true or false.', value), value)
  }
  const dryRun = flagOf('dry_run')
  const areEarlier = flagOf('earlier')
  const replace = flagOf('replace')
  if (!Array.isArray(named.rows)) throw refusedField('rows', 'rows: must be a list of objects.')
  refuseMoreRows('rows', named.rows.length, rowsMax)
  return { rows: named.rows, dryRun, areEarlier, replace }
}

type Checked<R> = { record: R } | DatasetFault

/** What each row is read as; refuses all rows, with the fault of each, if any is invalid. */
function checkedRows<R>(rows: readonly unknown[], check: (fields: DatasetRow) => Checked<R>): R[] {
  const faults: FieldFault[] = []
  const records = rows.flatMap((row, i) => {
    const fields = fieldsOf(row)
    const checked = check(fields)
    if ('record' in checked) return [checked.record]
    const { field, reason: message } = checked
    faults.push({ field: `rows.${i}.${field}`, message, value: fields[field] ?? null })
    return []
  })
  if (faults.length > 0) throw validationFailed(faults)
  return records
}

/** Every row as a record, with since when it is known. */
const recordsOf = (dataset: Dataset<unknown>, rows: readonly unknown[], now: number) =>
  checkedRows<RecordedRow>(rows, fields => {
    const validSince = knownSince(fields, now)
    if (!('record' in validSince)) return validSince
    const checked = dataset.check(fields, now)
    return 'record' in checked
      ? { record: { fields, record: checked.record, recordedAt: validSince.record } }
      : checked
  })

/** A row that was judged, and since when it is known. */
interface RecordedRow {
  fields: Record<string, unknown>
  record: unknown
  recordedAt: number
}

/** A column of every dataset. */
const recordedAtColumn = {
  name: 'recorded_at',
  required: false,
  description: 'When the row became known, if earlier. Default: now',
} as const

const knownSince = (row: DatasetRow, now: number) =>
  checked(() =>
    textIn(row, recordedAtColumn.name) === undefined
      ? now
      : Math.min(now, neededInstant(row, recordedAtColumn.name, now)),
  )

/** Rows that follow each other and became known together: numbers are given in their order. */
function runsOf(rows: readonly RecordedRow[]): RecordedRow[][] {
  const runs: RecordedRow[][] = []
  for (const row of rows) {
    const run = runs.at(-1)
    if (run && run[0]!.recordedAt === row.recordedAt) run.push(row)
    else runs.push([row])
  }
  return runs
}

function sumOf(all: readonly WriteCounts[]): WriteCounts {
  const sum = { inserted: 0, revised: 0, unchanged: 0, kept: 0 }
  for (const counts of all) {
    sum.inserted += counts.inserted
    sum.revised += counts.revised
    sum.unchanged += counts.unchanged
    sum.kept += counts.kept ?? 0
  }
  return sum
}
