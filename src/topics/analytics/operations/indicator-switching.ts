import { t } from '../../../http/answer/schema.ts'
import { parsed } from '../../../http/input/typed.ts'
import { markFixtures, type Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import { sourcesRow } from '../../fundamentals/operations/storage-row.ts'
import type { Quote } from '../../prices/service/reads/latest-prices.ts'
import {
  emissionOf,
  fuelSwitch,
  type PlantFuel,
  type SwitchMarket,
  switchMarkets,
} from '../math/switching.ts'
import { calculated, indicator, instantField } from './indicator-shape.ts'
import { refusals } from './shape.ts'
import { tidy } from './spread-row.ts'

const gasFuel = 'natural_gas'
const coalFuel = 'coal'
const fuelField = t.Union([t.Literal(gasFuel), t.Literal(coalFuel)])
const regions = switchMarkets.map(market => market.id)

const Plant = t.Object({
  code: t.String({ examples: ['DUTCH_TTF_EUR'] }),
  heat_mwh: t.number('MWh of heat in one unit of the price.', 0.9),
  efficiency: t.number('MWh of electricity from one of heat.', 0.53),
  emission: t.number('Tonnes of carbon dioxide from one MWh of heat.', 0.20196),
})

const FuelSwitching = t.object('FuelSwitching', {
  value: t.number('Saving per MWh of electricity from `to_fuel` compared with `from_fuel`.', -4.41),
  economical: t.Union([t.Literal(gasFuel), t.Literal(coalFuel)], {
    description: '`to_fuel` while `value` is above 0, otherwise `from_fuel`.',
  }),
  from_fuel: fuelField,
  to_fuel: fuelField,
  unit: t.string('Of `value` and of the costs.', 'EUR/MWh'),
  breakeven_price: t.number('Gas price at which both cost the same, in `breakeven_unit`.', 28.05),
  breakeven_unit: t.String({ examples: ['EUR/MWh'] }),
  timestamp: t.instant('Of the oldest price used.'),
  metadata: t.Object({
    region: t.oneOf(['europe', 'us']),
    region_name: t.String({ examples: ['Northwest Europe'] }),
    gas_cost: t.number('Fuel and carbon of a MWh of electricity from gas.', 95.4),
    coal_cost: t.number('Fuel and carbon of a MWh of electricity from coal.', 91),
    carbon_included: t.Boolean(),
    breakeven_carbon_price: t.numberOrNull(
      'Carbon price per tonne at which both cost the same, at current fuel prices; null without a carbon price.',
      91.05,
    ),
    prices: t.objects(
      'Prices of gas, coal, carbon and the exchange rate for coal, as far as used.',
      {
        code: t.String({ examples: ['DUTCH_TTF_EUR'] }),
        price: t.Number({ examples: [31.15] }),
        currency: t.orNull(t.String({ examples: ['EUR'] })),
        unit: t.String({ examples: ['mwh'] }),
        timestamp: instantField,
        data_status: t.oneOf(['current', 'delayed', 'stale']),
      },
    ),
    plants: t.Object({ gas: Plant, coal: Plant }),
  }),
})

interface Priced {
  match: Resolved
  quote: Quote
}

const priceOf = ({ quote }: Priced): number => quote.observation.value

function pricedOf({ catalogue, latestPrices, now }: Context, code: string): Priced | undefined {
  const match = catalogue.resolve(code, now())
  const quote = match && latestPrices.quote(match.series)
  return quote && { match, quote }
}

const missingPrice = (code: string, { name }: SwitchMarket) =>
  new Problem(
    'DATA_NOT_AVAILABLE',
    `Fuel switching in ${name} is not available: ${code} has no price.`,
    { leg: code, reason: 'no_price' },
  )

function requirePrice(deps: Context, code: string, market: SwitchMarket): Priced {
  const priced = pricedOf(deps, code)
  if (!priced) throw missingPrice(code, market)
  return priced
}

const plantRow = (fuel: PlantFuel) => ({
  code: fuel.code,
  heat_mwh: tidy(fuel.heatMwh),
  efficiency: tidy(fuel.efficiency),
  emission: tidy(fuel.emission),
})

const priceRow = ({ match, quote }: Priced) => ({
  code: match.code,
  price: quote.observation.value,
  currency: match.series.currency,
  unit: match.series.unit,
  timestamp: isoInstant(quote.observation.observedAt),
  data_status: quote.status,
})

function answer(deps: Context, region: SwitchMarket['id'], reply: Reply) {
  const market = switchMarkets.find(candidate => candidate.id === region)!
  const [gas, coal] = [
    requirePrice(deps, market.gas.code, market),
    requirePrice(deps, market.coal.code, market),
  ]
  const rate =
    market.coalRate === undefined ? undefined : requirePrice(deps, market.coalRate, market)
  if (rate && priceOf(rate) <= 0) throw missingPrice(rate.match.code, market)
  const carbon = market.carbon === undefined ? undefined : pricedOf(deps, market.carbon)
  const result = fuelSwitch(market, {
    gas: priceOf(gas),
    coal: priceOf(coal) / (rate ? priceOf(rate) : 1),
    carbon: carbon && priceOf(carbon),
  })
  const usedPrices = [gas, coal, rate, carbon].filter(price => price !== undefined)
  const timestamp = isoInstant(
    Math.min(...usedPrices.map(price => price.quote.observation.observedAt)),
  )
  const matches = usedPrices.map(price => price.match)
  markFixtures(reply, deps.marks, matches)
  return {
    data: {
      value: tidy(result.saving),
      economical: result.saving > 0 ? (gasFuel as typeof gasFuel) : (coalFuel as typeof coalFuel),
      from_fuel: coalFuel as typeof coalFuel,
      to_fuel: gasFuel as typeof gasFuel,
      unit: `${market.currency}/MWh`,
      breakeven_price: tidy(result.breakevenGas),
      breakeven_unit: market.gasUnit,
      timestamp,
      metadata: {
        region: market.id,
        region_name: market.name,
        gas_cost: tidy(result.gasCost),
        coal_cost: tidy(result.coalCost),
        carbon_included: carbon !== undefined,
        breakeven_carbon_price: market.carbon === undefined ? null : tidy(result.breakevenCarbon),
        prices: usedPrices.map(priceRow),
        plants: { gas: plantRow(market.gas), coal: plantRow(market.coal) },
      },
    },
    meta: { as_of: timestamp, ...sourcesRow(matches.map(match => match.series)) },
  }
}

const digits = (value: number) => String(Number(value.toPrecision(4)))

/** A row of the table for each fuel of each market. */
const assumptions = switchMarkets
  .flatMap(({ name, gas, coal, coalRate, carbon, currency }) => {
    const carbonPrice = carbon ? `carbon \`${carbon}\`` : 'no carbon price'
    const row = (what: string, fuel: PlantFuel, rate = '') =>
      `| ${name} (${currency}, ${carbonPrice}) | ${what} \`${fuel.code}\`${rate} | ${digits(fuel.heatMwh)} | ${digits(fuel.efficiency)} | ${digits(emissionOf(fuel))} |`
    return [row('gas', gas), row('coal', coal, coalRate ? ` / \`${coalRate}\`` : '')]
  })
  .join('\n')

/** Whether power is cheaper from gas or from coal. */
export const fuelSwitchingOperations = [
  operation('GET /v1/indicators/fuel-switching', {
    operationId: 'getFuelSwitching',
    summary: 'Get the coal-to-gas switching price',
    description: `Returns the cost of a MWh of electricity from the newest prices, fuel and carbon only.

| Field | Value |
|---|---|
| \`gas_cost\`, \`coal_cost\` | (price / heat + carbon price x emission) / efficiency |
| \`value\` | cost from coal - cost from gas; above 0 gas is economical |
| \`breakeven_price\` | heat of gas x (cost from coal x efficiency of gas - carbon price x emission of gas) |
| \`breakeven_carbon_price\` | (fuel cost from gas - fuel cost from coal) / (emission from coal - emission from gas), each per MWh of electricity |

Without a carbon price the costs are those of fuel alone and \`carbon_included\` is false. Without one of the fuels the response is 404, which names it in \`leg\`. Prices are those of the hub, port or mine, without transport to the plant.

| Market | Fuel | MWh of heat a unit | Efficiency | t of carbon dioxide a MWh of electricity |
|---|---|---|---|---|
${assumptions}

European plants: Commission Delegated Regulation (EU) 2015/2402, annex I, on net heat, and emissions of the IPCC Guidelines 2006, with gas traded by gross heat (net 0.9 of it) and coal of 6,000 kcal/kg. United States: average heat rates of 2022 (EIA Electric Power Annual, table 8.1), emissions of 40 CFR part 98, table C-1, coal of 12,500 Btu/lb.`,
    tags: ['Analytics'],
    access: calculated,
    view: 'as_of',
    query: {
      region: parsed.word(
        regions,
        `\`${regions.join('` or `')}\` (${switchMarkets[0].id}).`,
        'europe',
        { default: switchMarkets[0].id },
      ),
    },
    answers: { 200: indicator(FuelSwitching, 'FuelSwitchingIndicator'), ...refusals },
    handle: ({ at: known, query, reply }) => answer(known, query.region, reply),
  }),
]
