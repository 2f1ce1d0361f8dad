import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { streamOf } from '../../../../http/answer/stream.ts'
import { idempotencyHeader } from '../../../../http/idempotency.ts'
import { formOf } from '../../../../http/input/form.ts'
import { listOf, momentOf } from '../../../../http/input/query.ts'
import { rowsOfLines } from '../../../../http/input/row-lines.ts'
import {
  codesParameter,
  momentParameter,
  parsed,
  textParameter,
} from '../../../../http/input/typed.ts'
import { envelope, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { type Operations, operation } from '../../../../http/operations/operation.ts'
import {
  type FieldFault,
  invalidParameter,
  Problem,
  refusedField,
  refusedParameter,
  validationFailed,
} from '../../../../http/problem/problem.ts'
import type { Log } from '../../../../lib/log/log.ts'
import { fieldsOf, isObject } from '../../../../lib/text/json.ts'
import type { Clock } from '../../../../lib/time/clock.ts'
import { isoInstant } from '../../../../lib/time/instant.ts'
import { type CodeLookup, codeLookupOf, everyCode } from '../../../catalogue/math/lookup.ts'
import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import type { Series } from '../../../catalogue/store/series.ts'
import { columnsOf } from '../../../prices/files/bulk/columns.ts'
import {
  bulkBytes,
  bulkFormats,
  bulkTypes,
  openBulkWriter,
} from '../../../prices/files/bulk/open.ts'
import { datedExportText, type ExportFormat, exportText } from '../../../prices/files/export.ts'
import { decodePoints } from '../../../prices/files/point-block.ts'
import { checkRow, type RawRow, type TimeRefusal } from '../../../prices/files/rows.ts'
import { type BulkQuestion, bulkSeriesOf } from '../../../prices/service/exports/bulk.ts'
import type { Batches } from '../../../prices/service/writes/batches.ts'
import {
  type Counts,
  type RunningBatch,
  sumOf,
} from '../../../prices/service/writes/running-batch.ts'
import { observationPages } from '../../../prices/store/export.ts'
import type { Point } from '../../../prices/store/observations.ts'
import { ChangeShape, ComparedSeries, ComparisonShape } from './comparison-row.ts'

interface Range {
  start_date?: string
  end_date?: string
}

/** A request is one transaction, except for parts of a file. */
const rowsMax = 10_000
/** Points of a file that are written between two other requests, in some 5 ms. */
const partPointsMax = 2_000
/** So few at least: each part is a commit. */
const partPointsMin = 100
/** A part that takes longer is followed by a smaller one. */
const partMs = 10
const faultsMax = 100

const operator = { operator: 'data' } as const

const Recording = t.Object({
  received: t.integer(),
  inserted: t.integer(),
  revised: t.integer(),
  unchanged: t.integer(),
  held: t.integer('Values held for review and not recorded.'),
  kept_as_corrected: t.integer(
    'Values skipped because an operator corrected, deleted, undid or rejected them before. `replace` records them.',
  ),
  batch: t.integer('The batch of this write.'),
  recorded_at: t.instant('From this time `as_of` returns all of it.'),
})

const names = (...fields: string[]) =>
  Object.fromEntries(fields.map(name => [name, t.Any()] as const))
const PushedRow = t.Object(
  names(
    'code',
    'observed_at',
    'date',
    'period',
    'price',
    'currency',
    'recorded_at',
    'source',
    'deleted',
  ),
)
const pushedFields = t.Union([
  t.Object({ observations: t.Array(PushedRow), ...names('source', 'batch', 'replace') }),
  t.Array(PushedRow),
])

function recording({ catalogue, batches, idempotency, lateCommits, clock }: Context) {
  // The catalogue of the checks is made again only when the list of series is another.
  let checks: { of: unknown; catalogue: CodeLookup } | undefined
  const rowCatalogue = () => {
    const list = catalogue.list()
    if (checks?.of !== list) checks = { of: list, catalogue: codeLookupOf(list) }
    return checks.catalogue
  }

  return [
    operation('POST /admin/v1/observations', {
      operationId: 'recordObservations',
      summary: 'Record observations',
      description: `Records up to ${rowsMax.toLocaleString('en')} observations in one transaction: all or none. An unchanged value changes nothing; a different value for a known time is a correction and keeps the old value as a revision.`,
      access: operator,
      headers: idempotencyHeader,
      body: t.Any({
        description:
          '`{"observations":[{"code","observed_at","price","currency"?,"recorded_at"?, "source"?, "deleted"?}], "source"?, "batch"?, "replace"?}`, or one such object a line as `application/x-ndjson`. `recorded_at`: when the value was published, if known; `as_of` returns it from then on. `observed_at` of a series of delivery periods is the start of the period, as an instant or a local time of its `zone`; `date` and `period` (from 1) can replace it. A time that is not the start of a period is refused with the `nearest` ones. `source`: the source of all values or of one. `deleted`: true if a point no longer has a value. `batch`: the open batch of a file, with its own `source` and `replace`; without it the request is its own batch. `replace`: true also records values that an operator corrected, deleted or undid before.',
        examples: [
          {
            observations: [{ code: 'WTI_USD', observed_at: '2026-11-20T15:00:00Z', price: 71.23 }],
          },
        ],
      }),
      fields: pushedFields,
      answers: envelope(Recording),
      handle: async ({ body, requestContext, request, reply }) => {
        const at = clock.now()
        const answerOf = ({ count }: Sent, batch: number, counts: Counts) =>
          success({
            received: count,
            inserted: counts.inserted,
            revised: counts.revised,
            unchanged: counts.unchanged,
            held: counts.held,
            kept_as_corrected: counts.kept,
            batch,
            recorded_at: isoInstant(counts.recordedAt || at),
          })
        const pointsFor = (sent: Sent, { asRecorded }: RunningBatch) => {
          // The file was recorded when its batch began.
          if (requestContext) requestContext.action = undefined
          return asRecorded
            ? pointsOf(sent, everyCode(catalogue), at, true)
            : pointsOf(sent, rowCatalogue(), at)
        }
        const block = body instanceof Uint8Array ? sentOf(body) : undefined
        if (block?.envelope.batch !== undefined) {
          const { batch: number } = block.envelope
          const points = pointsFor(block, runningBatch(batches, number))
          // Between two parts the batch may end, or be undone.
          const write = (part: readonly Point[]) => runningBatch(batches, number).write(part)
          const written = await lateCommits.runParts(partsOf(points, write, clock))
          return answerOf(block, number, sumOf(written))
        }
        return lateCommits.run(() =>
          idempotency.once({ requestContext, request, reply }, body, () => {
            const sent = block ?? sentOf(body)
            const { source, batch: number, replace } = sent.envelope
            if (number !== undefined) {
              const running = runningBatch(batches, number)
              return answerOf(sent, number, running.write(pointsFor(sent, running)))
            }
            const start = { kind: 'push', actor: requestContext?.actor ?? 'operator' } as const
            const points = pointsOf(sent, rowCatalogue(), at)
            const { batch, counts } = batches.record(
              { ...start, ...(source !== undefined && { source }), replace },
              points,
            )
            return answerOf(sent, batch.id, counts)
          }),
        )
      },
    }),
  ]
}

/** Prices in and out for the operator: what the command line does, over the same code. */
export const dataAdminOperations: Operations = [
  recording,
  /** Reports what a push would change, without writing. */
  operation('POST /admin/v1/observations/compare', {
    operationId: 'compareObservations',
    summary: 'Preview a push',
    description:
      'Returns what a push would do without writing anything: which values would be new, revised, unchanged and held, with the ten largest changes.',
    access: { operator: 'data', readsOnly: true },
    body: t.Any({
      description:
        '`{"observations":[{"code","observed_at","price"}], "source"?, "replace"?}`, as they would be pushed.',
      examples: [
        {
          observations: [{ code: 'WTI_USD', observed_at: '2026-11-20T15:00:00Z', price: 71.23 }],
        },
      ],
    }),
    fields: pushedFields,
    answers: envelope(ComparisonShape),
    handle: async ({ at: { catalogue, now, compare }, body }) => {
      const sent = sentOf(body)
      const points = pointsOf(sent, codeLookupOf(catalogue.list()), now()).filter(
        point => !point.deleted,
      )
      const { source, replace } = sent.envelope
      const compared = await compare(points, { ...(source !== undefined && { source }), replace })
      return success(
        answerRow(ComparisonShape, compared, {
          kept_as_corrected: compared.kept,
          biggest_changes: compared.biggest.map(change =>
            answerRow(ChangeShape, change, { is_new: change.isNew === true }),
          ),
          series: compared.series.map(series =>
            answerRow(ComparedSeries, series, {
              from: isoInstant(series.firstAt),
              to: isoInstant(series.lastAt),
            }),
          ),
        }),
      )
    },
  }),
  reading,
]

function reading(deps: Context) {
  const { bulk, catalogue, datedRows, ingest, observations, sourceFilter, withheld } = deps
  const { sourceNamesOf } = deps
  const { log, now } = deps

  /** As customers take it away, but of every code and of any year. */
  const binary = async (format: 'parquet' | 'arrow', chosen: readonly Series[], query: Range) => {
    const series = inOrder([...chosen]).map(each => bulkSeriesOf(each, sourceNamesOf(each.id)))
    const question: BulkQuestion = {
      series,
      interval: 'raw',
      ...rangeOf(query),
      asOf: undefined,
      snapshotAt: ingest.snapshotAt(),
    }
    const writer = await openBulkWriter(format, columnsOf([], false), series)
    return new Response(streamOf(bulkBytes(writer, bulk.blocks(question))), {
      headers: { 'content-type': bulkTypes[format], 'x-total': String(bulk.count(question)) },
    })
  }

  /** With every value that was replaced or deleted, and from when to when it was known. */
  const vintages = async (chosen: readonly Series[], query: Range) => {
    const { vintagePages, vintagesFile } = await import('../../../prices/files/vintages.ts')
    const range = rangeOf(query)
    const pages = () =>
      vintagePages(inOrder([...chosen]), range, datedRows().pages, deps.quarantine)
    let rows = 0
    for (const page of pages()) rows += page.length
    return new Response(streamOf(vintagesFile(pages())), {
      headers: { 'content-type': bulkTypes.parquet, 'x-total': String(rows) },
    })
  }

  return [
    operation('GET /admin/v1/export', {
      operationId: 'exportObservations',
      summary: 'Export observations',
      description:
        'Returns the current values of one, several or all series by code and time, in the import format, as a stream. Values that may not be redistributed (`license_class` `view`) are excluded.',
      access: { ...operator, queryWorker: true },
      query: {
        codes: codesParameter(
          undefined,
          'Codes to export, comma-separated; absent: all.',
          'WTI_USD,BRENT_CRUDE_USD',
        ),
        format: parsed.word(
          bulkFormats,
          '`csv` (default), `ndjson`, `parquet` or `arrow`.',
          'csv',
          { default: 'csv' },
        ),
        source: textParameter(
          'Only values of this source, by its name or that of a feed; csv and ndjson.',
          'EIA',
        ),
        history: parsed.flag(
          '`true`: with `source`, `recorded_at` and `deleted`, and every value that was replaced or deleted; csv and ndjson. A parquet file has `valid_from` and `valid_to` of each value instead.',
          true,
        ),
        start_date: momentParameter(
          'First day, for parquet and arrow. Default: the beginning.',
          '2026-11-01',
        ),
        end_date: momentParameter(
          'Last day, for parquet and arrow. Default: the end.',
          '2026-11-15',
        ),
      },
      answers: t.String({
        contentMediaType: 'text/csv',
        examples: ['code,observed_at,price,currency'],
      }),
      handle: async ({ query, reply }) => {
        const codes = listOf(query.codes)
        const series =
          codes.length > 0
            ? inOrder(codes.map(code => knownSeries(catalogue, code, now())))
            : [...catalogue.list()]
        const { format } = query
        const ofSource = query.source === undefined ? undefined : sourceFilter(query.source)
        if (query.source !== undefined && !ofSource)
          throw invalidParameter(
            'source',
            query.source.slice(0, 100),
            'the source of at least one value',
          )
        const { history } = query
        if (format === 'parquet' || format === 'arrow') {
          if (history && format === 'arrow')
            throw refusedParameter(
              'history',
              'true',
              'history requires format=csv, format=ndjson or format=parquet.',
            )
          if (ofSource)
            throw refusedParameter(
              'source',
              query.source,
              'source requires format=csv or format=ndjson.',
            )
          return history ? vintages(series, query) : binary(format, series, query)
        }
        reply.headers['content-type'] =
          format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson'
        const lines = history
          ? datedExportText(datedRows(query.source).pages(series, true), format)
          : exportText(observationPages(observations, series, withheld, ofSource), format)
        const text = withFailureAtTheEnd(lines, format, log)
        // The runtime streams an async iterable of text; its types know only the platform's bodies.
        return new Response(text as AsyncGenerator<never>)
      },
    }),
  ]
}

const rangeOf = (query: Range) => ({
  from: momentOf('start_date', query.start_date, 'start') ?? Number.MIN_SAFE_INTEGER + 1,
  to: momentOf('end_date', query.end_date, 'end') ?? Number.MAX_SAFE_INTEGER,
})

const sourceMax = 80

/** The fields of a request that apply to all its rows. */
function envelopeOf(body: unknown): { source?: string; batch?: number; replace: boolean } {
  if (!isObject(body)) return { replace: false }
  const form = formOf(body)
  const source = form.text('source', sourceMax)?.trim()
  const batch = form.integer('batch', 1, Number.MAX_SAFE_INTEGER)
  const replace = form.flag('replace') ?? false
  form.check()
  return { ...(source && { source }), ...(batch !== undefined && { batch }), replace }
}

/** A batch of a file that a request belongs to. */
export function runningBatch(batches: Batches, id: number) {
  const running = batches.running(id)
  if (running) return running
  const message = `batch: there is no batch ${id} under way: begin one with POST /admin/v1/batches.`
  throw refusedField('batch', message, id)
}

/** The content of a request: rows, or points as numbers. */
interface Sent {
  envelope: ReturnType<typeof envelopeOf>
  count: number
  /** Every valid point; `fault` is called for each invalid row. */
  points(
    catalogue: CodeLookup,
    now: number,
    asRecorded: boolean,
    fault: (
      row: number,
      field: string,
      reason: string,
      value: unknown,
      more?: Pick<FieldFault, 'reason' | 'nearest'>,
    ) => void,
  ): Point[]
}

function sentOf(body: unknown): Sent {
  if (!(body instanceof Uint8Array)) {
    const rows = rowsOf(body)
    return {
      envelope: envelopeOf(body),
      count: rows.length,
      points: (...checks) => pointsOfRows(rows, ...checks),
    }
  }
  const block = decodePoints(body)
  if (!block) throw refusedField('body', 'body: must be a block of points.')
  refuseMoreRows('observations', block.count, rowsMax)
  return {
    envelope: envelopeOf(block.envelope),
    count: block.count,
    points: (catalogue, now, asRecorded, fault) =>
      block.points(catalogue, now, asRecorded, (row, field, reason) =>
        fault(row, field, reason, null),
      ),
  }
}

/** The rows of a request: an object with a list, a list, or a line each. */
function rowsOf(body: unknown): unknown[] {
  const rows = typeof body === 'string' ? rowsOfLines(body) : (fieldsOf(body).observations ?? body)
  if (!Array.isArray(rows))
    throw refusedField(
      'observations',
      'observations: must be a list of {code, observed_at, price}.',
    )
  refuseMoreRows('observations', rows.length, rowsMax)
  return rows
}

/** Refuses a request with more rows than one transaction may have. */
export function refuseMoreRows(nouns: string, received: number, max: number): void {
  if (received <= max) return
  throw new Problem(
    'PAYLOAD_TOO_LARGE',
    `${received} ${nouns} in one request: at most ${max} are accepted.`,
    { max, received },
  )
}

/** Writes of points, each of about as many as others may wait for. */
function* partsOf(
  points: readonly Point[],
  write: RunningBatch['write'],
  { monotonic }: Pick<Clock, 'monotonic'>,
): Generator<() => Counts> {
  let size = partPointsMax
  for (let i = 0; i < points.length; ) {
    const part = points.slice(i, i + size)
    i += part.length
    yield () => {
      const startedAt = monotonic()
      const counts = write(part)
      const tookMs = monotonic() - startedAt
      if (tookMs > partMs) size = Math.max(partPointsMin, Math.floor(size / 2))
      else if (tookMs < partMs / 4) size = Math.min(partPointsMax, 2 * size)
      return counts
    }
  }
}

/** Every row as a point; refuses all rows, with the faults of each, if any is invalid. */
function pointsOf(sent: Sent, catalogue: CodeLookup, now: number, asRecorded = false): Point[] {
  const faults: FieldFault[] = []
  const points = sent.points(catalogue, now, asRecorded, (row, field, reason, value, more) => {
    if (faults.length < faultsMax)
      faults.push({
        field: `observations.${row}.${field}`,
        message: `observations[${row}].${reason}`,
        value,
        ...more,
      })
  })
  if (faults.length > 0) throw validationFailed(faults)
  return points
}

const pointsOfRows = (
  rows: readonly unknown[],
  ...[catalogue, now, asRecorded, fault]: Parameters<Sent['points']>
): Point[] =>
  rows.flatMap((row, i) => {
    const fields = fieldsOf(row)
    const raw: RawRow = {
      code: fields.code,
      ...(fields.observed_at === undefined && fields.period !== undefined
        ? { observedAt: fields.date, period: fields.period }
        : { observedAt: fields.observed_at }),
      price: fields.price,
      currency: fields.currency,
      recordedAt: fields.recorded_at,
      source: fields.source,
      deleted: fields.deleted,
    }
    const checked = checkRow(raw, catalogue, now, 1, asRecorded)
    if (checked.kind === 'point') return [checked.point]
    const field = checked.kind === 'blank' ? 'price' : checked.field
    const reason = checked.kind === 'blank' ? 'price: is missing' : checked.reason
    const value = fields[field] ?? (field === 'observed_at' ? sentPeriod(fields) : null)
    const { refusal } = checked.kind === 'rejected' ? checked : {}
    fault(i, field, reason, value, refusal && refusalRow(refusal))
    return []
  })

/** The market day and the number of a period, where they were sent instead of a time. */
const sentPeriod = ({ date, period }: Readonly<Record<string, unknown>>) =>
  date === undefined && period === undefined ? null : { date: date ?? null, period: period ?? null }

const refusalRow = ({ reason, nearest }: TimeRefusal) => ({
  reason,
  ...(nearest.length > 0 && { nearest: nearest.map(isoInstant) }),
})

function knownSeries(catalogue: Catalogue, code: string, now: number) {
  const resolved = catalogue.resolve(code, now)
  if (!resolved) throw invalidParameter('codes', code, 'codes of the catalogue')
  return resolved.series
}

/** Each series once, by code: the order in which an export is written. */
const inOrder = (series: readonly Series[]): Series[] =>
  [...new Set(series)].sort((a, b) => (a.code < b.code ? -1 : 1))

/**
 * An export whose status has been sent can report a failure only in its text: as a last line that
 * no import accepts as a row.
 */
async function* withFailureAtTheEnd(
  text: AsyncIterable<string>,
  format: ExportFormat,
  log: Log,
): AsyncGenerator<string> {
  try {
    yield* text
  } catch (error) {
    log.error('export_failed', { error })
    const message = 'The export ended early and is incomplete.'
    yield format === 'csv' ? `# ${message}\n` : `${JSON.stringify({ error: message })}\n`
  }
}
