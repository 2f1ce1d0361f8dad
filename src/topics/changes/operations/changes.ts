import { jsonType } from '../../../http/answer/complete.ts'
import { t } from '../../../http/answer/schema.ts'
import { serialised } from '../../../http/answer/serialised.ts'
import { preferredType } from '../../../http/input/accept.ts'
import { integerOf, wordOf } from '../../../http/input/query.ts'
import { integerParameter, wordParameter } from '../../../http/input/typed.ts'
import { envelope, type Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { invalidParameter } from '../../../http/problem/problem.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { cursorText, type Place } from '../math/cursor.ts'
import type { ChangePage } from '../service/feed.ts'
import { followChanges } from './live.ts'
import { ChangeRow, type ChangeRowWire, cursorField, DatasetChangeRow, textsOf } from './record.ts'
import { placeOf, readerOf, readerQuery, rowsOfPrice, sinceParameter } from './request.ts'

const formats = ['json', 'ndjson', 'parquet', 'sse'] as const
type Format = (typeof formats)[number]

const formatsByType = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/vnd.apache.parquet': 'parquet',
  'text/event-stream': 'sse',
} as const satisfies Record<string, Format>
const types = Object.keys(formatsByType) as (keyof typeof formatsByType)[]

const limitMax = 10_000
const limitDefault = 1_000

const Page = envelope(
  t.Object(
    {
      changes: t.Array(t.Union([ChangeRow, DatasetChangeRow]), {
        description: 'In the order of their recording.',
      }),
      count: t.integer('Records.', 1),
      cursor: cursorField,
      has_more: t.Boolean({
        description: 'True if more records follow: read again from `cursor`.',
      }),
    },
    { title: 'Changes' },
  ),
)

/** The format that a request wants, by its parameter or else by its `Accept` header. */
export function formatOf(text: string | undefined, request: Request): Format {
  if (text !== undefined && text !== '') return wordOf('format', text, 'json', formats)
  // The first of several: some clients accept a stream as well, and would wait for its end.
  const type = preferredType(request.headers.get('accept'), types)
  return type === undefined ? 'json' : formatsByType[type]
}

export function changeOperations(deps: Context, turn: () => Promise<void>) {
  const { changes, sourceNameOf } = deps

  const send = async (
    format: Format,
    rows: readonly string[],
    page: Pick<ChangePage, 'hasMore'> & { cursor: string },
    { headers }: Reply,
  ) => {
    headers['x-next-cursor'] = page.cursor
    headers['x-has-more'] = String(page.hasMore)
    if (format === 'ndjson') {
      headers['content-type'] = 'application/x-ndjson; charset=utf-8'
      return new Response(rows.map(row => `${row}\n`).join(''))
    }
    if (format === 'parquet') {
      headers['content-type'] = 'application/vnd.apache.parquet'
      const { changesFile } = await import('../files/parquet.ts')
      return new Response(changesFile(rows.map(row => JSON.parse(row) as ChangeRowWire)))
    }
    headers['content-type'] = jsonType
    return `{"status":"success","data":{"changes":[${rows.join(',')}],"count":${rows.length},"cursor":"${page.cursor}","has_more":${page.hasMore}}}`
  }

  return [
    operation('GET /v1/changes', {
      operationId: 'listChanges',
      summary: 'List changes of prices and datasets',
      description: `Returns every addition, correction and deletion of a value in the order in which it was recorded, after a cursor. Store \`cursor\` with the records and send it as \`since\` in the next request: no record is missed or returned twice. Cursors stay valid across restarts, backups and restores, and on replicas.\n\nTo derive the state at a moment, apply the records in order. A \`deleted\` record with \`retroactive\` removes all records of its key (or of its code, if \`observed_at\` is null). Of the remaining records of a key up to the moment, the one with the greatest \`recorded_at\`, then cursor, applies. The result equals \`GET /v1/export/prices\` with and without \`as_of\`. For this, computed values require \`derived=true\` or their code in \`codes\`: otherwise a series by formula has no records, and a code with daily means of delivery periods, such as \`POWER_DE_EUR\`, only those of its recorded values.\n\nQuarantined days, and codes that the account can no longer see, are \`deleted\` with \`retroactive\`. When they return, all of their values are \`added\` or \`revised\` again.

With \`dataset\`, rows of other datasets are returned in the same order and with the same cursors, each with its \`key\` and the \`row\` in the columns of its import. A dataset needs the plan feature and the key scope of its endpoints. For datasets without \`as_of\`, earlier versions of a row are kept since the upgrade to version 0.2; rows from before it are \`added\`. \`format=parquet\` is available for prices only.\n\nWith \`Accept: text/event-stream\` the response is a stream: \`id\` is the cursor and \`event\` is \`change\`; \`event: cursor\` is sent every 10 s without a record, and \`event: end\` has the reason for the end. Every started ${rowsOfPrice.toLocaleString('en')} records count as the plan's \`export_requests_per_10k_rows\` requests. Plans without the feature read the demo codes.`,
      access: {
        meter: true,
        queryWorker: true,
        feature: 'bulk_export',
        weighed: true,
        // A stream stays with the main thread.
        isLight: ({ format }, request) => formatOf(format, request) === 'sse',
      },
      headers: t.Object({
        'last-event-id': t.Optional(
          t.String({
            description:
              'For a stream: the `id` of the last received event; takes precedence over `since`.',
          }),
        ),
      }),
      query: {
        since: sinceParameter,
        ...readerQuery,
        limit: integerParameter(
          `Records of one response, at most ${limitMax.toLocaleString('en')}. Default: ${limitDefault}.`,
          limitDefault,
          { default: limitDefault, minimum: 1 },
        ),
        format: wordParameter(
          formats,
          'Also by `Accept`. `ndjson` has one record a line and nothing else.',
          'json',
          { default: 'json' },
        ),
      },
      answers: {
        200: serialised(Page),
        400: CodeProblem,
        410: NestedProblem,
      },
      handle: async ({ query, request, reply, caller, requestContext }) => {
        const { entitled } = caller
        const format = formatOf(query.format, request)
        const limit = Math.min(
          integerOf('limit', query.limit, limitDefault, 1, Number.MAX_SAFE_INTEGER),
          limitMax,
        )
        const reader = readerOf(deps, query, caller, request)
        if (format === 'parquet' && reader.tables.size > 0)
          throw invalidParameter('format', format, 'json or ndjson with datasets other than prices')
        const price = entitled.exportRequestsPer10kRows
        if (format === 'sse') {
          const lastId = request.headers.get('last-event-id')
          const since =
            lastId === null
              ? placeOf(changes, 'since', query.since)
              : placeOf(changes, 'Last-Event-ID', lastId)
          return followChanges(deps, {
            reader,
            since,
            turn,
            caller,
            request,
            requestContext,
            reply,
          })
        }
        const since = placeOf(changes, 'since', query.since)
        const isNow = query.since === 'now'
        const page = isNow
          ? { records: [], end: since, hasMore: false }
          : changes.page(reader, since, limit)
        const rows = textsOf(page.records, changes.cursors(), sourceNameOf)
        const requests = Math.ceil(rows.length / rowsOfPrice) * price
        reply.headers['x-quota-requests'] = String(Math.max(1, requests))
        const cursor = cursorText(changes.cursorOf(page.end as Place))
        return await send(format, rows, { hasMore: page.hasMore, cursor }, reply)
      },
    }),
  ]
}
