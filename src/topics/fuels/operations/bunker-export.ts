import { jsonType } from '../../../http/answer/complete.ts'
import { t } from '../../../http/answer/schema.ts'
import { serialised } from '../../../http/answer/serialised.ts'
import { preferredType } from '../../../http/input/accept.ts'
import { parsed } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { csvText } from '../../../lib/text/csv.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { bunkerAccess, byPort, createBunkerAnswers, quotedSeries } from './bunker-answers.ts'
import { ExportRow, exportRow, MetaShape } from './bunker-row.ts'
import { marineFilter, placesOf, priceQuery } from './marine-query.ts'

const columns = Object.keys(ExportRow.properties) as (keyof typeof ExportRow.properties)[]

const csvOf = (rows: readonly ReturnType<typeof exportRow>[]): string =>
  csvText([columns, ...rows.map(row => columns.map(name => row[name] ?? null))])

const ExportBody = t.Union(
  [
    t.object('BunkerExport', { data: t.Array(ExportRow), meta: MetaShape }),
    t.object('BunkerExportFile', {
      data: t.Object({
        format: t.Literal('csv'),
        filename: t.String({ examples: ['bunker-fuels-2026-11-20.csv'] }),
        content: t.string('The file.'),
      }),
      meta: MetaShape,
    }),
  ],
  { title: 'BunkerExportAnswer' },
)

const types = ['application/json', 'text/csv'] as const

/** The newest prices as a table to take away. */
export function bunkerExportOperations(deps: Context) {
  const { requireQuotesAt, meta } = createBunkerAnswers(deps)
  return [
    operation('GET /v1/bunker-fuels/export', {
      operationId: 'exportBunkerFuels',
      summary: 'Export bunker fuel prices',
      description:
        'Returns the newest price of every grade at every port. With `format=csv` the file is in `data.content`; with `Accept: text/csv` or `download=1` the response is `text/csv`.',
      access: bunkerAccess,
      query: {
        format: parsed.word(['json', 'csv'], '`json` (default) or `csv`.', 'json', {
          default: 'json',
        }),
        download: parsed.flag('`1` returns the CSV itself, as a file.', true, { default: false }),
        ...priceQuery,
      },
      answers: { 200: serialised(ExportBody), 404: NestedProblem },
      handle: ({ query, request, reply }) => {
        const { format, download: wantsFile } = query
        const filter = marineFilter(query, deps.ports)
        const quotes = requireQuotesAt(placesOf(deps.ports, filter), filter.grade)
        const rows = quotes.map(exportRow)
        const filename = `bunker-fuels-${isoDay(deps.now())}.csv`
        const about = meta(request, reply, quotedSeries(quotes), byPort(quotes).size)
        if (
          format === 'csv' &&
          (wantsFile || preferredType(request.headers.get('accept'), types) === 'text/csv')
        ) {
          reply.headers['content-type'] = 'text/csv; charset=utf-8'
          if (wantsFile) reply.headers['content-disposition'] = `attachment; filename="${filename}"`
          return csvOf(rows)
        }
        reply.headers['content-type'] = jsonType
        const data = format === 'csv' ? { format, filename, content: csvOf(rows) } : rows
        return JSON.stringify({ data, meta: about })
      },
    }),
  ]
}
