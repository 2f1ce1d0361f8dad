import { t } from '../../../http/answer/schema.ts'
import { textParameter } from '../../../http/input/typed.ts'
import { envelopeOf, markFixtures, type Reply, success } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { nameNotFound, Problem } from '../../../http/problem/problem.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { isoDay, isoInstant } from '../../../lib/time/instant.ts'
import { sourceOf } from '../../catalogue/math/catalogue.ts'
import { roundTo } from '../../prices/math/format.ts'
import { formatted } from '../../prices/operations/row.ts'
import type { Quote } from '../../prices/service/reads/latest-prices.ts'
import { dieselCode, dieselStates, nationalDieselCode, stateCode } from '../math/diesel.ts'
import { type DieselDeps, dieselStationsOperations } from './diesel-stations.ts'

/** The state code of the national average. */
const national = 'US'
const states = 'Two letters, in any case.'

const AverageShape = t.object('DieselAverage', {
  state: t.string(`Two letters; ${national} for the country.`, 'CA'),
  price: t.Number({ examples: [4.871] }),
  currency: t.Literal('USD'),
  unit: t.Literal('gallon'),
  granularity: t.oneOf(['state', 'national']),
  source: t.String({ examples: ['EIA'] }),
  updated_at: t.instant('When this service recorded it.'),
  as_of: t.date('The week it is of.'),
  formatted: t.String({ examples: ['$4.871'] }),
  cached: t.boolean('Always false: averages are stored, not fetched.'),
})
const Metadata = t.Object({ source_description: t.String({ examples: ['Published by EIA'] }) })
const regional = { regional_average: AverageShape }
const DieselPrice = t.object('DieselPrice', {
  status: t.Literal('success'),
  ...regional,
  data: t.Object({ ...regional, metadata: Metadata }),
})

const refusals = { 400: NestedProblem, 404: NestedProblem }
const weekly = 'The averages are published once a week.'

/** Pump prices of diesel in the United States: averages, and stations around a place. */
export function dieselOperations(deps: DieselDeps) {
  const { latestPrices, catalogue, marks, now } = deps
  const averageOf = (text: string | undefined, set: Reply) => {
    const state =
      text?.trim() && text.trim().toUpperCase() !== national ? stateCode(text) : national
    if (state === undefined) throw nameNotFound('state', text!, dieselStates)
    const series = catalogue.resolve(
      state === national ? nationalDieselCode : dieselCode(state),
      now(),
    )?.series
    const quote = series && latestPrices.quote(series)
    if (!quote)
      throw new Problem('DATA_NOT_AVAILABLE', `There is no average diesel price of ${state}.`)
    set.headers['x-cache'] = 'MISS'
    markFixtures(set, marks, [quote])
    return {
      regional_average: averageRow(state, quote),
      metadata: {
        source_description: sourceOf(quote.series).description,
      },
    }
  }
  return [
    operation('GET /v1/diesel-prices', {
      operationId: 'getDieselPrice',
      summary: 'Get an average diesel price',
      description: `Returns the average pump price of diesel in a state or the country, in USD per gallon with taxes. ${weekly}`,
      access: { meter: true },
      query: {
        state: textParameter(`${states} Absent: the country.`, 'CA', { pattern: '^[A-Za-z]{2}$' }),
      },
      answers: { 200: DieselPrice, ...refusals },
      handle: ({ query, reply }) => {
        const data = averageOf(query.state, reply)
        return { ...success(data), regional_average: data.regional_average }
      },
    }),
    operation('GET /v1/diesel-prices/states/:state', {
      operationId: 'getStateDieselPrice',
      summary: 'Get the average diesel price of a state',
      description: `Returns the average pump price of diesel in the state of the path. ${weekly}`,
      access: { meter: true },
      params: { state: t.string(states, 'CA') },
      answers: envelopeOf({ ...regional, metadata: Metadata }),
      handle: ({ params, reply }) => success(averageOf(params.state, reply)),
    }),
    ...dieselStationsOperations(deps),
  ]
}

const averageRow = (state: string, { series, observation }: Quote) => {
  const price = roundTo(observation.value, series.decimals)
  return {
    state,
    price,
    currency: 'USD' as const,
    unit: 'gallon' as const,
    granularity: state === national ? ('national' as const) : ('state' as const),
    source: sourceOf(series).name,
    updated_at: isoInstant(observation.recordedAt),
    as_of: isoDay(observation.observedAt),
    formatted: formatted(series, price),
    cached: false,
  }
}
