import { createHash } from 'node:crypto'
import { type ByteRange, rangeHolds, rangeOf } from '../../../http/answer/range.ts'
import { isUnmodified } from '../../../http/answer/reply.ts'
import { t } from '../../../http/answer/schema.ts'
import { streamOf, wholeBody } from '../../../http/answer/stream.ts'
import { instantOf, listOf, momentOf, wordOf } from '../../../http/input/query.ts'
import {
  codesParameter,
  momentParameter,
  textParameter,
  wordParameter,
} from '../../../http/input/typed.ts'
import { markFixtures, type Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { asOfQuery, vintageHeaders } from '../../../http/operations/point-in-time.ts'
import {
  invalidParameter,
  missingParameter,
  Problem,
  reversedRange,
} from '../../../http/problem/problem.ts'
import { featureMissing } from '../../../http/problem/refusals.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { dayMs, isoInstant, mailInstant } from '../../../lib/time/instant.ts'
import { type Entitlements, tierOf } from '../../../plans/plans.ts'
import { isComputed, type Series } from '../../catalogue/store/series.ts'
import { columnsOf, namesFor } from '../files/bulk/columns.ts'
import { type ParquetCompression, parquetCompressions } from '../files/bulk/compression.ts'
import {
  type BulkFormat,
  bulkBytes,
  bulkFormats,
  bulkTypes,
  openBulkWriter,
} from '../files/bulk/open.ts'
import { storedInterval, validIntervals } from '../math/interval.ts'
import { type BulkQuestion, bulkSeriesOf } from '../service/exports/bulk.ts'
import { createFinishedExports, type FinishedExport } from '../service/exports/finished-exports.ts'
import { intervalOf, openEndOf } from './window-query.ts'
import { barDaysOf, cutRangeOf, zoneQuery } from './zone-query.ts'

const codesMax = 200
const rowsOfPrice = 10_000
const defaultDays = 365
/** The free part of exports: the demo codes of a month. */
const sliceDays = 31
/** A part of a finished file is sent in pieces of this size. */
const pieceBytes = 2 ** 20
/** Longer exports are made as they are sent. */
const wholeRowsMax = 10_000

type ExportQuery = Readonly<Record<string, string | undefined>>

interface ExportRequest {
  question: BulkQuestion
  series: readonly Series[]
  names: readonly string[]
  format: BulkFormat
  compression: ParquetCompression
  /** The range does not move with the clock, and is in the past. */
  isFixed: boolean
  /** The first moment, where the request named none. */
  defaultStart: number | undefined
}

const exportQuery = {
  codes: codesParameter(
    codesMax,
    `1 to ${codesMax} codes or aliases, comma-separated; \`*\`: every code that has data.`,
    'WTI_USD,BRENT_CRUDE_USD',
    { required: true },
  ),
  start_date: momentParameter(
    `First day (from 00:00 UTC) or time. Default: ${defaultDays} days before the end.`,
    '2026-11-01',
  ),
  end_date: momentParameter('Last day (to 24:00 UTC) or time. Default: now.', '2026-11-15'),
  interval: wordParameter(
    validIntervals,
    'raw or bars of an hour, day, week or month, in any of the accepted spellings. Bars are of whole days of UTC or `zone`.',
    'day',
    { default: 'raw' },
  ),
  ...zoneQuery,
  as_of: asOfQuery,
  columns: textParameter(
    `Columns in order, comma-separated, from ${namesFor(false, false).join(', ')}; for bars also ${namesFor(true, false).slice(namesFor(false, false).length).join(', ')}; where all codes are of delivery periods, delivery_end. Absent: code, observed_at, price, currency, unit; for bars also open, high, low.`,
    'code,observed_at,price',
    { pattern: '^[a-z_]+(,[a-z_]+)*$' },
  ),
  format: wordParameter(
    bulkFormats,
    '`csv` or `ndjson` (packed as `Accept-Encoding` says), `parquet` (row groups by code and time) or an `arrow` stream.',
    'csv',
    { default: 'csv' },
  ),
  compression: wordParameter(
    parquetCompressions,
    'How `parquet` is packed: `snappy` for readers without Zstandard.',
    'snappy',
    { default: 'zstd' },
  ),
}

/** Prices of many codes over many years in one answer. */
export function exportOperations(deps: Context) {
  const requestOf = createExportRequests(deps)
  const answer = createExportAnswer(deps)
  return [
    operation('GET /v1/export/prices', {
      operationId: 'exportPrices',
      summary: 'Export prices of many codes',
      description: `Returns recorded prices of many codes as one streamed file, sorted by code and time. Quarantined days and values that may not be redistributed (\`license_class\` \`view\`) are excluded.\n\nEvery 10,000 rows, rounded up, count as the plan's \`export_requests_per_10k_rows\` requests; an export that starts within the quota is sent completely. With \`start_date\` and an \`end_date\` in the past, \`If-Modified-Since\` returns 304 while nothing has changed; \`If-None-Match\` works for every range. Resume an interrupted export with \`Range\` and the \`ETag\` in \`If-Range\`; only the remainder is charged. Plans without the feature get ${sliceDays} days of the demo codes.`,
      access: { meter: true, queryWorker: true, feature: 'bulk_export', weighed: true },
      query: exportQuery,
      answers: {
        200: t.string(
          'The file, without rounding. `X-Total` is the number of rows, `X-Quota-Requests` the requests charged, and `X-Service-Default-Start` the start of a request without `start_date`.',
          'code,observed_at,price,currency,unit',
          { contentMediaType: 'text/csv' },
        ),
        400: CodeProblem,
        416: NestedProblem,
      },
      handle: async ({ query, request, reply, caller }) => {
        const { entitled } = caller
        const exportRequest = requestOf(query, request, entitled)
        deps.meter.noteRequested(
          caller.key,
          exportRequest.series.map(({ id }) => id),
        )
        const price = entitled.exportRequestsPer10kRows
        const body = await answer(exportRequest, request, reply, price)
        const status = typeof reply.status === 'number' ? reply.status : 200
        return new Response(body ?? null, { status })
      },
    }),
  ]
}

/** Reads what a query wants, and refuses what the plan of the caller does not include. */
function createExportRequests(deps: Context) {
  const { catalogue, codes, ingest, links, now, observations, plans, sourceNamesOf } = deps

  /** Values that have all been removed since are still served as of an earlier moment. */
  const hadData = (series: Series): boolean =>
    catalogue.hasData(series) ||
    (series.unavailableReason === null && observations.firstRecordedAt(series.id) !== undefined)

  const seriesOf = (query: ExportQuery, request: Request): Series[] => {
    const names = listOf(query.codes)
    if (names.length === 0)
      throw missingParameter('codes', `1 to ${codesMax} codes or aliases, or * for all of them.`)
    const series =
      names.length === 1 && names[0] === '*'
        ? catalogue.list().filter(query.as_of ? hadData : catalogue.hasData)
        : codes.read(names, request, codesMax).map(resolved => resolved.series)
    return [...series].sort((a, b) => (a.code < b.code ? -1 : 1))
  }

  const readRequest = (query: ExportQuery, isSlice: boolean, request: Request): ExportRequest => {
    const series = seriesOf(query, request)
    const interval = storedInterval(intervalOf(query.interval) ?? 'raw')
    const asOf = instantOf('as_of', query.as_of)
    const at = Math.min(now(), asOf ?? now())
    const namedEnd = momentOf('end_date', query.end_date, 'end')
    const { to: end, endOf } = namedEnd === undefined ? openEndOf(series, at) : { to: namedEnd }
    const requestedStart = momentOf('start_date', query.start_date, 'start')
    const start = requestedStart ?? end - (isSlice ? sliceDays : defaultDays) * dayMs
    const days = barDaysOf(query)
    const cut =
      days && cutRangeOf(days, series, query, { from: start, to: end, ...(endOf && { endOf }) })
    if (start >= end) throw reversedRange(query)
    const names = listOf(query.columns)
    const columnNames = namesFor(
      interval !== 'raw',
      series.every(each => each.delivery),
    )
    const unknown = names.find(name => !columnNames.includes(name))
    if (unknown !== undefined) throw invalidParameter('columns', unknown, columnNames)
    const format = wordOf('format', query.format, 'csv', bulkFormats)
    const compression = wordOf('compression', query.compression, 'zstd', parquetCompressions)
    const rows = series.map(each => bulkSeriesOf(each, sourceNamesOf(each.id)))
    const question = {
      series: rows,
      interval,
      from: cut?.from ?? start,
      to: cut?.to ?? end,
      endOf,
      asOf,
      snapshotAt: ingest.snapshotAt(),
      ...(days && cut && { days: days.name, cutOf: cut.cutOf }),
    }
    const isFixed = Boolean(query.start_date && query.end_date) && end <= now()
    const defaultStart = requestedStart === undefined ? question.from : undefined
    return {
      question,
      series,
      names: [...new Set(names)],
      format,
      compression,
      isFixed,
      defaultStart,
    }
  }

  /** Refuses what a plan without the feature gets no slice of. */
  const checkSlice = (
    entitled: Entitlements,
    { question, series }: ExportRequest,
    request: Request,
  ) => {
    const beyond = series.find(({ code }) => !deps.firstCodes.includes(code))
    const isLong = question.to - question.from > sliceDays * dayMs
    if (!beyond && !isLong) return
    const refusal = featureMissing(plans, links(request), entitled, 'bulk_export')
    const slice = `The ${entitled.planName} plan exports ${sliceDays} days of ${deps.firstCodes.join(', ')}`
    const why = beyond ? `${beyond.code} is not one of them` : 'the range is longer'
    throw new Problem(
      'INSUFFICIENT_PLAN',
      `${slice}; ${why}. For more, upgrade: ${links(request).upgradeUrl}`,
      refusal.extra,
    )
  }

  return (query: ExportQuery, request: Request, entitled: Entitlements): ExportRequest => {
    const isSlice = tierOf(plans, entitled.tier).access.bulk_export === 'allowance'
    const exportRequest = readRequest(query, isSlice, request)
    if (isSlice) checkSlice(entitled, exportRequest, request)
    return exportRequest
  }
}

/** Sends the rows of a request, or the part of them that a client has not got yet. */
function createExportAnswer(deps: Context) {
  const { bulk, coverage, headerPrefix, marks } = deps
  const finished = createFinishedExports()

  const bytesOf = async ({ question, names, format, compression }: ExportRequest) => {
    const columns = columnsOf(names, question.interval !== 'raw')
    const writer = await openBulkWriter(format, columns, question.series, compression)
    return bulkBytes(writer, bulk.blocks(question))
  }

  /** Equal for requests that are answered by the same bytes. */
  const etagOf = (
    { question, series: exported, names, format, compression }: ExportRequest,
    rows: number,
  ): string => {
    const { series, interval, asOf } = question
    const request = [series, interval, asOf, names, format, question.days, compression]
    // Values of a formula may differ where neither their number nor their recording does.
    const newest = exported.some(isComputed) ? deps.changeLog.newest() : undefined
    const text = JSON.stringify([request, bulk.state(question), rows, newest])
    return `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`
  }

  return async (requested: ExportRequest, request: Request, reply: Reply, price: number) => {
    const { question, series, format } = requested
    const rows = bulk.count(question)
    const etag = etagOf(requested, rows)
    const requests = Math.max(1, Math.ceil(rows / rowsOfPrice) * price)
    const { headers } = reply
    markFixtures(
      reply,
      marks,
      series.map(entry => ({ series: entry })),
    )
    Object.assign(headers, {
      'content-type': bulkTypes[format],
      'content-disposition': `attachment; filename="prices.${format}"`,
      'cache-control': 'private, no-cache',
      'accept-ranges': 'bytes',
      etag,
      'x-total': String(rows),
      'x-quota-requests': String(requests),
    })
    if (requested.defaultStart !== undefined)
      headers[`${headerPrefix}Default-Start`] = isoInstant(requested.defaultStart)
    const modifiedAt = bulk.modifiedAt(question)
    if (modifiedAt !== undefined) headers['last-modified'] = mailInstant(modifiedAt)
    const { asOf } = question
    if (asOf !== undefined) {
      const since = Math.max(...series.map(({ id }) => coverage.since(id, asOf)))
      // Nothing is covered where no series has ever had a value.
      Object.assign(headers, vintageHeaders(asOf, Number.isFinite(since) ? since : asOf))
    }
    // Days that were quarantined or released change an export as well, and are in the log of changes.
    const changedAt = requested.isFixed ? deps.changeLog.newest() : undefined
    if (isUnmodified(request, etag, changedAt)) {
      reply.status = 304
      return undefined
    }
    if (!rangeHolds(request, etag)) {
      const pieces = await bytesOf(requested)
      return rows <= wholeRowsMax
        ? wholeBody(new Uint8Array(Buffer.concat([...pieces])))
        : streamOf(pieces)
    }
    const file = await finished.of(etag, () => bytesOf(requested))
    const range = rangeOf(request.headers.get('range'), file.size)
    if (range === undefined) return streamOf(partsOf(file, { first: 0, last: file.size - 1 }))
    if (range === 'none') {
      headers['content-range'] = `bytes */${file.size}`
      throw new Problem('RANGE_NOT_SATISFIABLE', `The file has ${file.size} bytes.`)
    }
    const { first, last } = range
    headers['content-range'] = `bytes ${first}-${last}/${file.size}`
    // A client that fetches a part of a file is charged for that part.
    const share = Math.ceil((requests * (last - first + 1)) / file.size)
    headers['x-quota-requests'] = String(share)
    reply.status = 206
    return streamOf(partsOf(file, range))
  }
}

function* partsOf(file: FinishedExport, { first, last }: ByteRange): Generator<Uint8Array> {
  for (let from = first; from <= last; from += pieceBytes)
    yield file.read(from, Math.min(last + 1, from + pieceBytes))
}
