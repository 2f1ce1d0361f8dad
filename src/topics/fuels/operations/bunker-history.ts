import { t } from '../../../http/answer/schema.ts'
import type { Page } from '../../../http/input/page.ts'
import { momentOf } from '../../../http/input/query.ts'
import { codeParameter, momentParameter } from '../../../http/input/typed.ts'
import type { Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { intervalParameter } from '../../prices/operations/window-query.ts'
import { createBunkerAnswers } from './bunker-answers.ts'
import {
  HistoryShape,
  historyRow,
  MetaShape,
  metaFields,
  PortShape,
  portRow,
} from './bunker-row.ts'
import { gradeIn, portIn, priceQuery } from './marine-query.ts'
import { createMarinePast, marineSeries, requestedPast } from './marine-reads.ts'
import { periodFields } from './marine-row.ts'

const access = { meter: true, rate: 'marine-historical', queryWorker: true } as const
const refusals = { 400: CodeProblem, 404: NestedProblem }
const perPageMax = 1000

const portNote = ['UN/LOCODE, short code, slug or name of a port, in any case.', 'SIN'] as const
const rangeQuery = {
  from: momentParameter('First day or time, inclusive; absent: 30 days ago.', '2026-11-01'),
  start_date: momentParameter('Another name of `from`.', '2026-11-01'),
  to: momentParameter('Last day or time, inclusive; absent: now.', '2026-11-15'),
  end_date: momentParameter('Another name of `to`.', '2026-11-15'),
  interval: intervalParameter(
    'raw, hour, day (default), week or month, in any of the accepted spellings.',
  ),
  fuel_type: priceQuery.fuel_type,
  grade: priceQuery.grade,
}
const paged = `Newest first, at most ${perPageMax} rows on a page; the pagination headers have the number of rows.`

/** A page of past prices of the port that is named, or of all ports. */
function bunkerPast(deps: Context) {
  const { meta } = createBunkerAnswers(deps)
  const pastOf = createMarinePast(deps)

  return (
    query: { [name in keyof typeof rangeQuery]?: string },
    portName: string | undefined,
    { page, request, set, keyId }: { page: Page; request: Request; set: Reply; keyId: string },
  ) => {
    // Each by the name under which it came, where it is not a time.
    momentOf('from', query.from, 'start')
    momentOf('to', query.to, 'end')
    const requested = requestedPast(
      {
        interval: query.interval,
        start_date: query.from || query.start_date,
        end_date: query.to || query.end_date,
      },
      deps.now(),
    )
    const grade = gradeIn(query)
    const places = portName === undefined ? deps.ports : [portIn(deps.ports, portName)]
    const portSeries = marineSeries(deps, places, grade)
    if (portSeries.length === 0)
      throw new Problem('DATA_NOT_AVAILABLE', 'The port does not sell this grade.')
    const { rows, period, usedSeries } = pastOf(requested, portSeries, page, keyId)
    return {
      rows: rows.map(({ row, of }) => ({
        ...historyRow(of, row, period.interval),
        port: of.port.shortCode,
      })),
      place: places[0]!,
      period,
      metadata: meta(request, set, usedSeries, places.length),
    }
  }
}

/** Past prices of bunker fuel, of one port with all its data or as a bare list. */
export function bunkerHistoryOperations(deps: Context) {
  const pastOf = bunkerPast(deps)
  return [
    operation('GET /v1/bunker-fuels/historical', {
      operationId: 'listBunkerHistory',
      summary: 'List historical bunker fuel prices',
      description: `Returns past prices of one port, or of all, as an array in USD per metric ton. ${paged}`,
      access,
      page: { max: perPageMax },
      query: { port: codeParameter(...portNote), ...rangeQuery },
      answers: {
        200: t.object('BunkerHistoryList', {
          data: t.Array(
            t.object('BunkerHistoryListRow', {
              port: PortShape.properties.code,
              ...HistoryShape.properties,
              currency: metaFields.currency,
              unit: t.Literal('MT'),
            }),
          ),
          meta: t.Object({ ...metaFields, ...periodFields }),
        }),
        ...refusals,
      },
      handle: ({ query, page, request, reply, caller }) => {
        const { rows, period, metadata } = pastOf(query, query.port || undefined, {
          page,
          request,
          set: reply,
          keyId: caller.key.key.id,
        })
        return {
          data: rows.map(row => ({ ...row, currency: 'USD' as const, unit: 'MT' as const })),
          meta: { ...metadata, ...period },
        }
      },
    }),
    operation('GET /v1/bunker-fuels/historical/:port', {
      operationId: 'getBunkerPortHistory',
      summary: 'List historical bunker fuel prices of a port',
      description: `Returns past prices of one port, USD per metric ton. ${paged}`,
      access,
      params: { port: t.string(...portNote) },
      page: { max: perPageMax },
      query: rangeQuery,
      answers: {
        200: t.object('BunkerPortHistory', {
          data: t.Object({
            port: PortShape,
            historical_data: t.Array(HistoryShape),
            period: t.Object(periodFields),
            metadata: MetaShape,
          }),
        }),
        ...refusals,
      },
      handle: ({ params, query, page, request, reply, caller }) => {
        const { rows, place, period, metadata } = pastOf(query, params.port, {
          page,
          request,
          set: reply,
          keyId: caller.key.key.id,
        })
        const historical_data = rows.map(({ port: _, ...row }) => row)
        return { data: { port: portRow(place), historical_data, period, metadata } }
      },
    }),
  ]
}
