import { Elysia, t } from 'elysia'
import { type ExportFormat, exportText } from '../../feed/prices/export.ts'
import {
  catalogueOf,
  checkRow,
  type RawRow,
  type Catalogue as RowCatalogue,
} from '../../feed/prices/rows.ts'
import { integer } from '../../http/answer/integer.ts'
import type { AccessPlugin } from '../../http/gate/access.ts'
import { listOf } from '../../http/input/query.ts'
import {
  type FieldFault,
  invalidParameter,
  notFound,
  Problem,
  validationFailed,
} from '../../http/problem/problem.ts'
import { NestedProblem, ValidationProblem } from '../../http/problem/shape.ts'
import { isoInstant, parseDay } from '../../lib/instant.ts'
import type { Log } from '../../lib/log.ts'
import type { Catalogue } from '../../service/catalogue/catalogue.ts'
import type { Ingest } from '../../service/prices/ingest.ts'
import type { QuarantineList } from '../../service/prices/quarantine.ts'
import type { Series } from '../../store/catalogue/series.ts'
import { observationPages } from '../../store/prices/export.ts'
import type { ObservationStore, Point } from '../../store/prices/observations.ts'
import type { Quarantine } from '../../store/prices/quarantine.ts'
import { envelope, success } from '../answer.ts'

export interface AdminDataDeps {
  log: Log
  access: AccessPlugin
  catalogue: Catalogue
  ingest: Ingest
  quarantine: QuarantineList
  observations: ObservationStore
  now: () => number
}

/** One request is one transaction, and a transaction must not hold up the requests behind it. */
const rowsMax = 10_000
const faultsMax = 100

const operator = { operator: true } as const

const Counts = t.Object({
  received: integer(),
  inserted: integer(),
  revised: integer(),
  unchanged: integer(),
  recorded_at: t.String({ format: 'date-time' }),
})
const SeriesRow = t.Object({
  id: integer(),
  code: t.String({ examples: ['WTI_USD'] }),
  name: t.String(),
  category: t.String(),
  currency: t.Union([t.String(), t.Null()]),
  unit: t.String(),
  level: t.Number(),
  aliases: t.Array(t.String()),
  has_data: t.Boolean(),
})
const QuarantineRow = t.Object(
  {
    id: integer(),
    code: t.String({ examples: ['WTI_USD'] }),
    from: t.String({ format: 'date', examples: ['2026-11-02'] }),
    to: t.String({ format: 'date', examples: ['2026-11-03'] }),
    reason: t.String({ examples: ['Source repeated a stale value'] }),
    created_at: t.String({ format: 'date-time' }),
  },
  { title: 'QuarantineRange' },
)

/** Data in and out for the operator: what the command line does, over the same code. */
export function dataAdminRoutes(deps: AdminDataDeps) {
  const { catalogue, ingest, quarantine, observations, log, now } = deps
  // The catalogue of the checks is made again only when the list of series is another.
  let rows: { of: unknown; catalogue: RowCatalogue } | undefined
  const rowCatalogue = () => {
    const list = catalogue.list()
    if (rows?.of !== list) rows = { of: list, catalogue: catalogueOf(list) }
    return rows.catalogue
  }
  const quarantineRow = (quarantine: Quarantine) => ({
    id: quarantine.id,
    code: catalogue.byId(quarantine.seriesId).code,
    from: quarantine.fromOn,
    to: quarantine.toOn,
    reason: quarantine.reason,
    created_at: isoInstant(quarantine.createdAt),
  })

  return new Elysia({ tags: ['operator'] })
    .use(deps.access)
    .post(
      '/admin/v1/observations',
      ({ body }) => {
        const rows = rowsOf(body)
        const at = now()
        const counts = ingest.write(pointsOf(rows, rowCatalogue(), at))
        return success({ received: rows.length, ...counts, recorded_at: isoInstant(at) })
      },
      {
        access: operator,
        body: t.Any({
          description:
            '`{"observations":[{"code","observed_at","price","currency"?}]}`, or one such object a line as `application/x-ndjson`.',
          examples: [
            {
              observations: [
                { code: 'WTI_USD', observed_at: '2026-11-20T15:00:00Z', price: 71.23 },
              ],
            },
          ],
        }),
        response: { 200: envelope(Counts), 422: ValidationProblem },
        detail: {
          operationId: 'recordObservations',
          summary: 'Record observations',
          description: `Records up to ${rowsMax} observations in one transaction: all of them, or none when one is wrong. A value that is current already changes nothing; another value for a known time is a correction and keeps the old one as a revision.`,
        },
      },
    )
    .get(
      '/admin/v1/series',
      () =>
        success(
          catalogue.list().map(({ id, code, name, category, currency, unit, level, aliases }) => ({
            id,
            code,
            name,
            category,
            currency,
            unit,
            level,
            aliases,
            has_data: catalogue.extent(catalogue.byId(id)) !== undefined,
          })),
        ),
      {
        access: operator,
        response: { 200: envelope(t.Array(SeriesRow)) },
        detail: {
          operationId: 'listSeries',
          summary: 'List series',
          description:
            'Every series of the catalogue, with the level that bounds what is accepted as a value.',
        },
      },
    )
    .get(
      '/admin/v1/export',
      ({ query, set }) => {
        const codes = listOf(query.codes)
        const series =
          codes.length > 0
            ? inOrder(codes.map(code => knownSeries(catalogue, code, now())))
            : [...catalogue.list()]
        if (query.format !== undefined && query.format !== 'csv' && query.format !== 'ndjson') {
          throw invalidParameter('format', query.format, 'is neither csv nor ndjson.', [
            'csv',
            'ndjson',
          ])
        }
        const format = query.format ?? 'csv'
        set.headers['content-type'] =
          format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson'
        const pages = observationPages(observations, series)
        const text = toldAtTheEnd(exportText(pages, format), format, log)
        // The runtime streams an async iterable of text; its types know only the platform's bodies.
        return new Response(text as unknown as ReadableStream)
      },
      {
        access: { ...operator, reader: true },
        query: t.Object({
          codes: t.Optional(
            t.String({
              description: 'Codes to export, comma-separated; absent: all.',
              examples: ['WTI_USD,BRENT_CRUDE_USD'],
            }),
          ),
          format: t.Optional(
            t.String({ description: '`csv` (default) or `ndjson`.', examples: ['csv'] }),
          ),
        }),
        response: {
          200: t.String({
            contentMediaType: 'text/csv',
            examples: ['code,observed_at,price,currency'],
          }),
          400: NestedProblem,
        },
        detail: {
          operationId: 'exportObservations',
          summary: 'Export observations',
          description:
            'Current values of one, several or all series by code and time, in the form that import takes; streamed.',
        },
      },
    )
    .get('/admin/v1/quarantine', () => success(quarantine.all().map(quarantineRow)), {
      access: operator,
      response: { 200: envelope(t.Array(QuarantineRow)) },
      detail: {
        operationId: 'listQuarantine',
        summary: 'List quarantined days',
        description: 'The ranges of days that reads leave out.',
      },
    })
    .post(
      '/admin/v1/quarantine',
      ({ body, set }) => {
        set.status = 201
        return success(
          quarantineRow(
            quarantine.add(quarantineOf(body as Record<string, unknown>, catalogue, now())),
          ),
        )
      },
      {
        access: operator,
        body: t.Any({
          description: '`{"code","from","to"?,"reason"}`; days, both inclusive.',
          examples: [
            {
              code: 'WTI_USD',
              from: '2026-11-02',
              to: '2026-11-03',
              reason: 'Source repeated a stale value',
            },
          ],
        }),
        response: { 201: envelope(QuarantineRow), 422: ValidationProblem },
        detail: {
          operationId: 'addQuarantine',
          summary: 'Quarantine days',
          description:
            'Leaves a range of days of a series out of every read; answers say which. Nothing is deleted.',
        },
      },
    )
    .delete(
      '/admin/v1/quarantine/:id',
      ({ params }) => {
        const removed = /^\d{1,15}$/.test(params.id)
          ? quarantine.remove(Number(params.id))
          : undefined
        if (!removed) throw notFound(`Quarantine ${params.id}`)
        return success(quarantineRow(removed))
      },
      {
        access: operator,
        params: t.Object({
          id: t.String({ description: 'Number of the range.', examples: ['1'] }),
        }),
        response: { 200: envelope(QuarantineRow), 404: NestedProblem },
        detail: {
          operationId: 'removeQuarantine',
          summary: 'Lift a quarantine',
          description: 'The days are read again.',
        },
      },
    )
}

/** The rows of a request: an object with a list, a list, or a line each. */
function rowsOf(body: unknown): unknown[] {
  const rows =
    typeof body === 'string'
      ? linesOf(body)
      : ((body as { observations?: unknown } | null)?.observations ?? body)
  if (!Array.isArray(rows)) {
    throw validationFailed([
      {
        field: 'observations',
        message: 'observations: must be a list of {code, observed_at, price}.',
        value: null,
      },
    ])
  }
  if (rows.length > rowsMax) {
    throw new Problem(
      'PAYLOAD_TOO_LARGE',
      `${rows.length} observations in one request: at most ${rowsMax} are accepted.`,
      {
        max: rowsMax,
        received: rows.length,
      },
    )
  }
  return rows
}

function linesOf(text: string): unknown[] {
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return []
    try {
      return [JSON.parse(line) as unknown]
    } catch {
      throw new Problem('MALFORMED_JSON', `Line ${i + 1} is not valid JSON.`, { line: i + 1 })
    }
  })
}

/** Every row as a point, or the refusal of all of them with what is wrong with each. */
function pointsOf(rows: readonly unknown[], catalogue: RowCatalogue, now: number): Point[] {
  const faults: FieldFault[] = []
  const points: Point[] = []
  for (const [i, row] of rows.entries()) {
    if (faults.length >= faultsMax) break
    const fields = (typeof row === 'object' && row !== null ? row : {}) as Record<string, unknown>
    const raw: RawRow = {
      code: fields.code,
      observedAt: fields.observed_at,
      price: fields.price,
      currency: fields.currency,
    }
    const checked = checkRow(raw, catalogue, now)
    if (checked.kind === 'point') points.push(checked.point)
    else {
      const field = checked.kind === 'blank' ? 'price' : checked.field
      const message = checked.kind === 'blank' ? 'price: is missing' : checked.reason
      faults.push({
        field: `observations.${i}.${field}`,
        message: `observations[${i}].${message}`,
        value: fields[field] ?? null,
      })
    }
  }
  if (faults.length > 0) throw validationFailed(faults)
  return points
}

function knownSeries(catalogue: Catalogue, code: string, now: number) {
  const resolved = catalogue.resolve(code, now)
  if (!resolved) throw invalidParameter('codes', code, 'is not a code of the catalogue.')
  return resolved.series
}

function quarantineOf(
  body: Record<string, unknown>,
  catalogue: Catalogue,
  now: number,
): Omit<Quarantine, 'id'> {
  const faults: FieldFault[] = []
  const fault = (field: string, message: string) =>
    faults.push({ field, message: `${field}: ${message}`, value: body?.[field] ?? null })
  const text = (field: string) =>
    typeof body?.[field] === 'string' ? (body[field] as string).trim() : ''
  const resolved = catalogue.resolve(text('code'), now)
  if (!resolved) fault('code', 'is not a code of the catalogue.')
  const from = text('from')
  const to = text('to') || from
  if (parseDay(from) === undefined) fault('from', 'is not a date (YYYY-MM-DD).')
  if (parseDay(to) === undefined) fault('to', 'is not a date (YYYY-MM-DD).')
  else if (parseDay(from) !== undefined && to < from) fault('to', `is before from (${from}).`)
  const reason = text('reason')
  if (reason === '' || reason.length > 500) fault('reason', 'must say why, in 1 to 500 characters.')
  if (faults.length > 0) throw validationFailed(faults)
  return { seriesId: resolved!.series.id, fromOn: from, toOn: to, reason, createdAt: now }
}

/** Each series once, by code: the order in which an export is written. */
const inOrder = (series: readonly Series[]): Series[] =>
  [...new Set(series)].sort((a, b) => (a.code < b.code ? -1 : 1))

/**
 * An export whose status has gone out can only say in its text that it failed: as a last line that
 * no import takes for a row.
 */
async function* toldAtTheEnd(
  text: AsyncIterable<string>,
  format: ExportFormat,
  log: Log,
): AsyncGenerator<string> {
  try {
    yield* text
  } catch (error) {
    log.error('export_failed', { error })
    const message = 'The export ended early; what stands above is not all of it.'
    yield format === 'csv' ? `# ${message}\n` : `${JSON.stringify({ error: message })}\n`
  }
}
