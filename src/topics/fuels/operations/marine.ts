import { t } from 'elysia'
import { pageQuery } from '../../../http/input/page.ts'
import { typed } from '../../../http/input/typed.ts'
import { type Answering, envelope, success } from '../../../http/operations/answer.ts'
import { FailProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { RouteList } from '../../../http/route-list.ts'
import { validIntervals } from '../../prices/math/interval.ts'
import { windowQuery } from '../../prices/operations/window-query.ts'
import { createMarineHistory, createMarinePrices, type MarineDeps } from './marine-answers.ts'
import { portQuery, priceQuery } from './marine-query.ts'
import { MarineHistory, MarinePrices, PortPrices, Ports, portRow } from './marine-row.ts'

const refusals = { 400: NestedProblem, 404: NestedProblem }
const order =
  'Rows come by port, the one that sells most first, then by grade: VLSFO, HFO_380, HFO_180, MGO_05S.'

/** Ship fuel: ports, the newest price of each grade at each of them, and the past. */
export function marineRoutes(deps: MarineDeps) {
  const { pricesOf, portsOf, portPrices } = createMarinePrices(deps)
  const history = createMarineHistory(deps)
  const listRoute = (operationId: string, summary: string, description: string) => ({
    access: { meter: true, rate: 'marine' as const },
    query: t.Object(priceQuery),
    response: { 200: envelope(MarinePrices), ...refusals },
    detail: { operationId, tags: ['marine'], summary, description },
  })
  const latestRoute = (operationId: string, more = '') =>
    listRoute(
      operationId,
      'Latest marine fuel prices of the ports',
      `The newest price of each grade at each port, USD per metric ton delivered. ${order}${more}`,
    )
  return new RouteList()
    .use(deps.access)
    .get(
      '/v1/marine-ports',
      ({ query }) => {
        const { filter, ports } = portsOf(query)
        return success({
          ports: ports.map(portRow),
          count: ports.length,
          filters: {
            region: filter.region?.name ?? null,
            country: filter.country ?? null,
            major_ports_only: filter.majorOnly,
          },
        })
      },
      {
        access: { meter: true, rate: 'marine' },
        query: t.Object(portQuery),
        response: { 200: envelope(Ports), 400: NestedProblem },
        detail: {
          operationId: 'listMarinePorts',
          tags: ['marine'],
          summary: 'Bunkering ports',
          description: 'The ports whose fuel prices are served, the one that sells most first.',
        },
      },
    )
    .get(
      '/v1/prices/marine-fuels',
      ({ query, set }) => pricesOf(query, true, set as Answering),
      listRoute(
        'listMarineFuels',
        'All marine fuel prices',
        `The newest price of each grade at each port, and behind them the average of the ports for each grade, whose \`port\` is null; those lie in no port or region and are left out where one is asked for. ${order}`,
      ),
    )
    .get(
      '/v1/prices/marine-fuels/latest',
      ({ query, set }) => pricesOf(query, false, set as Answering),
      latestRoute('getLatestMarineFuels'),
    )
    .get(
      '/v1/marine-fuels/latest',
      ({ query, set }) => pricesOf(query, false, set as Answering),
      latestRoute('getLatestMarineFuelsShort', ' The same as `/v1/prices/marine-fuels/latest`.'),
    )
    .get('/v1/prices/marine-fuels/ports', ({ query, set }) => portPrices(query, set as Answering), {
      access: { meter: true, rate: 'marine' },
      query: t.Object(portQuery),
      response: { 200: envelope(PortPrices), 400: NestedProblem },
      detail: {
        operationId: 'listMarinePortPrices',
        tags: ['marine'],
        summary: 'Bunkering ports with their prices',
        description: 'The ports, each with the newest price of its grades.',
      },
    })
    .get(
      '/v1/prices/marine-fuels/historical',
      ({ query, request, set, caller }) =>
        history(query, request, set as Answering, caller.key.key.id),
      {
        access: { meter: true, rate: 'marine-historical' },
        query: t.Object({
          ...priceQuery,
          start_date: windowQuery.start_date,
          end_date: windowQuery.end_date,
          interval: typed({
            type: 'string',
            description:
              'raw, hour, day (default), week or month, in any of the accepted spellings.',
            examples: ['day'],
            enum: validIntervals,
            default: 'day',
          }),
          ...pageQuery(deps.perPageMax),
        }),
        response: {
          200: MarineHistory,
          400: t.Union([FailProblem, NestedProblem]),
          404: NestedProblem,
        },
        detail: {
          operationId: 'getMarineFuelHistory',
          tags: ['marine'],
          summary: 'Past marine fuel prices',
          description:
            'Prices between two dates, newest first, the last 30 days without any; of one instant in the order of the latest prices. Walking the pages neither repeats nor loses a row while data comes in.',
        },
      },
    )
}
