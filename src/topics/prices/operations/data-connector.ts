import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { momentOf } from '../../../http/input/query.ts'
import { codeParameter, momentParameter, wordParameter } from '../../../http/input/typed.ts'
import { markFixtures, type Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { invalidParameter, nameNotFound } from '../../../http/problem/problem.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { dayMs, isoInstant } from '../../../lib/time/instant.ts'
import type { Series } from '../../catalogue/store/series.ts'
import {
  connectorFuels,
  connectorRegion,
  fuelOf,
  gradeFuel,
  portNameOf,
} from '../../fuels/math/connector.ts'
import {
  gradeOf,
  grades,
  marineCode,
  type Port,
  portNames,
  portOf,
  regionGroupNames,
} from '../../fuels/math/marine.ts'
import type { AccountRow } from '../../sources/service/sources.ts'
import { roundTo } from '../math/format.ts'

const rowsMax = 1000
const shippedDays = 30

const ConnectorPrice = t.object('ConnectorPrice', {
  price: t.Number({ examples: [531.5] }),
  currency: t.String({ examples: ['USD'] }),
  fuel_type: t.String({ examples: ['VLSFO'] }),
  port: t.String({ examples: ['SINGAPORE'] }),
  region: t.orNull(t.String({ examples: ['APAC'] })),
  unit: t.Literal('MT'),
  source: t.string('Name of the data source or publisher.', 'Terminal feed'),
  timestamp: t.String({ format: 'date-time' }),
})
const Rows = t.object('ConnectorPrices', {
  data: t.Object({
    prices: t.Array(ConnectorPrice, { maxItems: rowsMax }),
    count: t.integer({ examples: [32] }),
  }),
})

const query = {
  fuel_type: codeParameter(
    `${connectorFuels.join(', ')}, an alias, or a fuel of your own sources; absent: all.`,
    'VLSFO',
  ),
  port: codeParameter(
    'A port in any spelling, or one of your own sources; absent: all.',
    'SINGAPORE',
  ),
  region: wordParameter(regionGroupNames, `${regionGroupNames.join(', ')}; absent: all.`, 'APAC'),
  since: momentParameter(
    'Only prices from this time. Default: all prices of your own sources, otherwise 30 days.',
    '2026-11-01',
  ),
}

interface Filter {
  fuelType: string | undefined
  port: string | undefined
  region: string | undefined
  since: number | undefined
}

/**
 * Marine fuel prices as data connectors read them: the account's own where it has any, else the
 * shipped series.
 */
export const dataConnectorOperations = [
  operation('GET /v1/prices/data-connector', {
    operationId: 'getDataConnectorPrices',
    summary: 'List prices for data connectors',
    description: `Returns marine fuel prices per metric ton, newest first, at most ${rowsMax}: those of the account's data sources or, if they have none, the shipped series of the ports.`,
    tags: ['Data sources'],
    access: { feature: 'data_connector', meter: true, queryWorker: true },
    query: query,
    answers: { 200: Rows, 404: NestedProblem },
    handle: ({ at: deps, query: parameters, caller, reply }) => {
      const { dataSources, ports } = deps
      const accountId = caller.key.account.account.id
      const isOwn = dataSources.hasRows(accountId)
      const filter = readFilter(parameters, ports, isOwn)
      reply.headers['x-cache'] = 'MISS'
      const prices = isOwn
        ? dataSources
            .rows(accountId, { ...filter, since: filter.since ?? Number.MIN_SAFE_INTEGER }, rowsMax)
            .map(ownRow)
        : shippedRows(deps, filter, reply)
      return { data: { prices, count: prices.length } }
    },
  }),
]

/**
 * The account's own rows may have any fuel and port. For the shipped series an unknown one is
 * refused.
 */
function readFilter(
  parameters: { [name in keyof typeof query]?: string },
  ports: readonly Port[],
  isOwn: boolean,
): Filter {
  const fuel = parameters.fuel_type?.trim() || undefined
  if (fuel && !isOwn && !gradeOf(fuel)) throw invalidParameter('fuel_type', fuel, connectorFuels)
  const port = parameters.port?.trim() || undefined
  if (port && !isOwn && !portOf(ports, port)) throw nameNotFound('port', port, portNames(ports))
  const region = parameters.region?.trim() || undefined
  if (region && !connectorRegion(region)) throw invalidParameter('region', region, regionGroupNames)
  return {
    // A text that cannot be a name becomes the empty name, which no row has.
    fuelType: fuel && (fuelOf(fuel) ?? ''),
    port: port && (portNameOf(ports, port) ?? ''),
    region: region && connectorRegion(region),
    since: momentOf('since', parameters.since, 'start'),
  }
}

const ownRow = (row: AccountRow) =>
  answerRow(ConnectorPrice, row, { unit: 'MT', timestamp: isoInstant(row.observedAt) })

function shippedRows(
  { catalogue, history, ports, marks, sourcesOfRows, now }: Context,
  filter: Filter,
  reply: Reply,
) {
  const selected = new Map<
    number,
    { series: Series; port: Port; fuelType: string; region: string }
  >()
  for (const port of ports) {
    const region = connectorRegion(port.region)!
    if (
      (filter.port !== undefined && port.slug !== filter.port) ||
      (filter.region !== undefined && region !== filter.region)
    )
      continue
    for (const grade of grades) {
      const series = port.fuels.includes(grade)
        ? catalogue.resolve(marineCode(grade, port), now())?.series
        : undefined
      const fuelType = gradeFuel(grade)
      if (series && (filter.fuelType === undefined || fuelType === filter.fuelType))
        selected.set(series.id, { series, port, fuelType, region })
    }
  }
  if (selected.size === 0) return []
  const from = filter.since ?? now() - shippedDays * dayMs
  const range = {
    seriesIds: [...selected.keys()],
    interval: 'raw' as const,
    from,
    to: Math.max(from, now() + 1),
  }
  const { rows } = history.page({ ...range, limit: rowsMax, offset: 0 })
  const sources = sourcesOfRows(rows, range, false)
  markFixtures(reply, marks, [...selected.values()])
  return rows.map(row => {
    const { series, port, fuelType, region } = selected.get(row.seriesId)!
    return {
      price: roundTo(row.value, series.decimals),
      currency: series.currency ?? 'USD',
      fuel_type: fuelType,
      port: port.slug,
      region,
      unit: 'MT' as const,
      source: sources.nameOf(row),
      timestamp: isoInstant(row.observedAt),
    }
  })
}
