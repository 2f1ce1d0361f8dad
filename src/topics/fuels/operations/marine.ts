import { envelope, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { intervalParameter, windowQuery } from '../../prices/operations/window-query.ts'
import { createMarineHistory, createMarinePrices } from './marine-answers.ts'
import { portQuery, priceQuery } from './marine-query.ts'
import { MarineHistory, MarinePrices, PortPrices, Ports, portRow } from './marine-row.ts'

const refusals = { 400: NestedProblem, 404: NestedProblem }
const order =
  'Rows are ordered by port (largest sales first), then by grade: VLSFO, HFO_380, HFO_180, MGO_05S.'

/** Ship fuel: ports, the newest price of each grade at each of them, and the past. */
export function marineOperations(deps: Context) {
  const { pricesOf, portsOf, portPrices } = createMarinePrices(deps)
  const history = createMarineHistory(deps)
  const listRoute = (operationId: string, summary: string, description: string) => ({
    operationId,
    summary,
    description,
    access: { meter: true, rate: 'marine' as const },
    query: priceQuery,
    answers: { 200: envelope(MarinePrices), ...refusals },
  })
  const latestRoute = (operationId: string) =>
    listRoute(
      operationId,
      'Get the latest marine fuel prices',
      `Returns the newest price of each grade at each port, USD per metric ton delivered. ${order}`,
    )
  return [
    operation('GET /v1/marine-ports', {
      operationId: 'listMarinePorts',
      summary: 'List bunkering ports',
      description: 'Returns the ports with fuel prices, largest by sales first.',
      access: { meter: true, rate: 'marine' },
      query: portQuery,
      answers: envelope(Ports),
      handle: ({ query }) => {
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
    }),
    operation('GET /v1/prices/marine-fuels', {
      ...listRoute(
        'listMarineFuels',
        'List all marine fuel prices',
        `Returns the newest price of each grade at each port, followed by the average of the ports for each grade, whose \`port\` is null. Averages are omitted when a port or region is requested. ${order}`,
      ),
      handle: ({ query, reply }) => pricesOf(query, true, reply),
    }),
    operation('GET /v1/prices/marine-fuels/latest', {
      ...latestRoute('getLatestMarineFuels'),
      handle: ({ query, reply }) => pricesOf(query, false, reply),
    }),
    operation('GET /v1/marine-fuels/latest', {
      ...latestRoute('getLatestMarineFuelsShort'),
      deprecated: { use: '/v1/prices/marine-fuels/latest' },
      handle: ({ query, reply }) => pricesOf(query, false, reply),
    }),
    operation('GET /v1/prices/marine-fuels/ports', {
      operationId: 'listMarinePortPrices',
      summary: 'List bunkering ports with their prices',
      description: 'Returns the ports, each with the newest price of its grades.',
      access: { meter: true, rate: 'marine' },
      query: portQuery,
      answers: envelope(PortPrices),
      handle: ({ query, reply }) => portPrices(query, reply),
    }),
    operation('GET /v1/prices/marine-fuels/historical', {
      operationId: 'getMarineFuelHistory',
      summary: 'List historical marine fuel prices',
      description:
        'Returns prices between two dates, newest first. Default: the last 30 days. Paging is stable: prices that arrive while you page never duplicate or hide rows.',
      access: { meter: true, rate: 'marine-historical' },
      page: { max: deps.perPageMax },
      query: {
        ...priceQuery,
        start_date: windowQuery.start_date,
        end_date: windowQuery.end_date,
        interval: intervalParameter(
          'raw, hour, day (default), week or month, in any of the accepted spellings.',
        ),
      },
      answers: {
        200: MarineHistory,
        400: CodeProblem,
        404: NestedProblem,
      },
      handle: ({ query, page, reply, caller }) => history(query, page, reply, caller.key.key.id),
    }),
  ]
}
