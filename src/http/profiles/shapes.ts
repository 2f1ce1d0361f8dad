import { fieldsOf, isObject } from '../../lib/text/json.ts'
import { covers, type Scope } from '../../plans/clients/client-profile.ts'
import type { SwitchName } from '../../plans/clients/switches.ts'
import { shippedPorts } from '../../topics/catalogue/files/ports.ts'
import { roundTo } from '../../topics/prices/math/format.ts'

export type Fields = Readonly<Record<string, unknown>>

/**
 * Returns the changed body without changing the given one; undefined if the switch has nothing to
 * change.
 */
type Change = (body: Fields, route: string) => Fields | undefined

/**
 * The change that a switch makes to the body of a success. `routes`: those it is for, their
 * parameters without names: `/v1/alerts/:`; undefined: all.
 */
const shape = (name: SwitchName, routes: readonly string[] | undefined, change: Change) => ({
  name,
  routes,
  change,
})

const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.filter(isObject) : []

const latest = ['/v1/prices/latest']
/** The flat price row of an answer about one code. */
const singleOf = ({ data }: Fields): Fields | undefined =>
  isObject(data) && !('prices' in data) ? data : undefined

const windowOperations = [
  'past_day',
  'past_week',
  'past_month',
  'past_year',
  'historical',
  ':',
].map(window => `/v1/prices/${window}`)

const futuresOperations = [
  '/v1/futures/:',
  ...['historical', 'ohlc', 'intraday', 'spreads', 'curve', 'spread-history', 'continuous'].map(
    part => `/v1/futures/:/${part}`,
  ),
  '/v1/futures/continuous/:/historical',
]

/** To the barrel. */
const barrelDecimals = 3
const thousandTimes = (value: unknown): unknown =>
  typeof value === 'number' ? roundTo(value * 1000, barrelDecimals) : value

const quantities = ['value', 'level', 'capacity', 'change_week']

/** The quantities of a level in thousands of barrels, those of them that it has. */
const inThousands = (level: Fields): Fields => ({
  ...level,
  unit: 'thousand_barrels',
  ...Object.fromEntries(
    quantities.flatMap(name => (name in level ? [[name, thousandTimes(level[name])]] : [])),
  ),
})

const inMillions = ({ unit }: Fields): boolean => unit === 'million_barrels'

/** Converts every level in the fields to thousands; other values are kept. */
const levelsInThousands = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      isObject(value) && inMillions(value) ? inThousands(value) : value,
    ]),
  )

const settledAsText = (point: unknown): unknown =>
  isObject(point) && typeof point.settlement_price === 'number'
    ? { ...point, settlement_price: String(point.settlement_price) }
    : point

const priceRoutes = [...latest, ...windowOperations, '/v1/prices/batch']

/** The body with each of its price rows changed: the flat one, and those of its list. */
function withRows(body: Fields, change: (row: Fields) => Fields): Fields {
  const { data } = body
  if (Array.isArray(data)) return { ...body, data: listOf(data).map(change) }
  const fields = fieldsOf(data)
  const flat = typeof fields.code === 'string' ? change(fields) : fields
  return Array.isArray(fields.prices)
    ? { ...body, data: { ...flat, prices: listOf(fields.prices).map(change) } }
    : { ...body, data: flat }
}

/** A change of a price from zero, which has no percentage. */
const isWithoutPercent = (name: string, value: unknown): boolean =>
  /^\d+[dh]$/.test(name) && isObject(value) && value.percent === undefined

/** Copies a value and changes every object in it, from the innermost to the outermost. */
function deeply(value: unknown, change: (fields: Fields) => Fields): unknown {
  if (Array.isArray(value)) return value.map(item => deeply(item, change))
  if (!isObject(value)) return value
  return change(
    Object.fromEntries(Object.entries(value).map(([name, item]) => [name, deeply(item, change)])),
  )
}

const everywhere =
  (change: (fields: Fields) => Fields): Change =>
  body =>
    deeply(body, change) as Fields

const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => value !== null && !isWithoutPercent(name, value),
    ),
  )

const withCurrencyText = (fields: Fields): Fields =>
  fields.currency === null ? { ...fields, currency: '' } : fields

const withWeekNumber = (fields: Fields): Fields => {
  const [, week] = /^\d{4}-W(\d{2})$/.exec(String(fields.week)) ?? []
  return week === undefined ? fields : { ...fields, week: Number(week) }
}

const shortCategories: Readonly<Record<string, string>> = {
  crude_oil: 'oil',
  physical_crude: 'oil',
  natural_gas: 'gas',
  lng: 'gas',
  refined_products: 'products',
  retail_fuels: 'products',
  marine_fuels: 'marine',
  coal: 'coal',
  power: 'power',
}

const withShortCategory = (row: unknown): unknown =>
  isObject(row) && typeof row.category === 'string'
    ? { ...row, category: shortCategories[row.category] ?? row.category }
    : row

/** Operations that return a list in `data`, with the name of the list. */
const listNames: Readonly<Record<string, string>> = {
  '/v1/webhooks': 'webhooks',
  '/v1/data-sources': 'data_sources',
  '/v1/data-sources/:/logs': 'logs',
  '/v1/api-keys': 'api_keys',
  '/v1/subscriptions': 'subscriptions',
  '/v1/forecasts/monthly': 'forecasts',
  '/v1/forecasts/archive': 'forecasts',
  '/v1/forecasts/monthly/archive': 'forecasts',
  '/v1/data-quality/reports': 'reports',
  '/v1/well-production/top-producers': 'producers',
  '/v1/ei/opec_productions/top_producers': 'producers',
  '/v1/ei/frac-focus/:/chemicals': 'chemicals',
}

/** Reads whose list is at the top, and those of its fields that have another name for it. */
const topListNames: Readonly<Record<string, string>> = {
  '/v1/futures/:/historical': 'prices',
  '/v1/futures/:/continuous': 'prices',
  '/v1/futures/continuous/:/historical': 'prices',
  '/v1/futures/:/intraday': 'prices',
  '/v1/futures/:/ohlc': 'ohlc',
  '/v1/futures/:/curve': 'contracts',
  '/v1/webhooks/:/events': 'webhook_events',
}

/** Operations that return a list, and the name under which an object contains it. */
const objectNames: Readonly<Record<string, string>> = {
  '/v1/alerts': 'alerts',
  '/v1/scheduled-deliveries': 'scheduled_deliveries',
  '/v1/drilling-intelligence/summary': 'summary',
  '/v1/ei/forecasts/compare': 'comparisons',
}

const spreadOperations = [
  'crack',
  'basis',
  'refining-margin',
  'margin',
  'physical-premium',
].flatMap(family => [`/v1/spreads/${family}`, `/v1/spreads/${family}/all`])

const componentText = (component: unknown): unknown => {
  const { weight, code, price, unit } = fieldsOf(component)
  return `${weight} x ${code} at ${price} per ${unit}`
}

const withComponentTexts = (spread: unknown): unknown =>
  isObject(spread) && Array.isArray(spread.components)
    ? { ...spread, components: spread.components.map(componentText) }
    : spread

const withOperatorText = (permit: unknown): unknown => {
  const operator = isObject(permit) ? permit.operator : undefined
  return isObject(operator) ? { ...fieldsOf(permit), operator: operator.name } : permit
}

const eachOf = (value: unknown, change: (row: unknown) => unknown): unknown =>
  Array.isArray(value) ? value.map(change) : change(value)

const portOf = (code: unknown): unknown => {
  const port = portsByCode.get(String(code).toUpperCase())
  return port
    ? { code, name: port.name, country: port.country, region: port.region }
    : { code, name: code, country: null, region: null }
}

/** A sentence about arbitrage between two ports, from their prices. */
function withArbitrageText(spreads: Fields, { from_port, to_port }: Fields): Fields {
  const { arbitrage_opportunity: isWide, value } = spreads
  if (typeof isWide !== 'boolean' || typeof value !== 'number') return spreads
  const [cheaper, dearer] = value < 0 ? [from_port, to_port] : [to_port, from_port]
  const text = isWide
    ? `buy at ${cheaper}: ${Math.abs(value)} USD/t below ${dearer}`
    : `none: ${cheaper} and ${dearer} are ${Math.abs(value)} USD/t apart`
  return { ...spreads, arbitrage_opportunity: text }
}

const portsByCode = new Map(
  shippedPorts().flatMap(port => [
    [port.code, port],
    [port.shortCode, port],
  ]),
)

/** A stock as one record, whatever its change is written as. */
function stockRecord(code: string, level: Fields): Fields {
  const change = isObject(level.change) ? level.change.week : (level.change ?? level.change_week)
  return {
    code,
    name: level.name ?? code,
    level: level.level ?? level.value,
    unit: level.unit,
    change: change ?? null,
    timestamp: level.updated_at,
  }
}

const confidentFrom = 0.9
const likelyFrom = 0.7

function withConfidenceWord(fields: Fields): Fields {
  const { confidence } = fields
  if (typeof confidence !== 'number') return fields
  const word = confidence >= confidentFrom ? 'high' : confidence >= likelyFrom ? 'medium' : 'low'
  return { ...fields, confidence: word }
}

/** The front month less the twelfth, or what the curve has of them. */
function withTermSpread(structure: unknown): unknown {
  const { m1_m3, m1_m6, m1_m12 } = fieldsOf(fieldsOf(structure).spreads)
  const value = m1_m12 ?? m1_m6 ?? m1_m3 ?? 0
  return isObject(structure) ? { ...structure, type: 'curve-structure', value } : structure
}

/** A change of what is in `data`; with undefined the body stays as it is. */
const inData =
  (change: (data: Fields, route: string) => unknown): Change =>
  (body, route) => {
    const data = change(fieldsOf(body.data), route)
    return data === undefined ? undefined : { ...body, data }
  }

/** A change of the row in `data`, or of each one. */
const inRows =
  (change: (row: unknown) => unknown): Change =>
  body => ({ ...body, data: eachOf(body.data, change) })

/** In the order of application: an envelope encloses what the others have made. */
const shapes = [
  shape('echo_code', priceRoutes, body =>
    withRows(body, row =>
      typeof row.requested_code === 'string' ? { ...row, code: row.requested_code } : row,
    ),
  ),
  shape('categories_short', ['/v1/commodities', '/v1/commodities/:'], inRows(withShortCategory)),
  shape('data_list', Object.keys(listNames), (body, route) => {
    const { [listNames[route]!]: list, ...rest } = fieldsOf(body.data)
    if (!Array.isArray(list)) return undefined
    return { ...body, data: list, meta: { ...fieldsOf(body.meta), ...rest } }
  }),
  shape('list_beside', Object.keys(listNames), (body, route) => {
    const name = listNames[route]!
    const list = fieldsOf(body.data)[name]
    return Array.isArray(list) ? { ...body, [name]: list } : undefined
  }),
  shape(
    'categories_lists',
    ['/v1/commodities/categories'],
    inData(data =>
      Object.fromEntries(
        Object.entries(data).map(([name, category]) => [name, fieldsOf(category).commodities]),
      ),
    ),
  ),
  shape('data_object', Object.keys(objectNames), (body, route) => {
    const { [listKey]: bare, ...rest } = body
    const name = objectNames[route]!
    const list = bare ?? body.data
    if (!Array.isArray(list)) return undefined
    const named = { [name]: list, count: list.length }
    return bare === undefined ? { ...rest, data: named } : named
  }),
  shape(
    'spread_ports',
    ['/v1/bunker-fuels/spreads/ports'],
    inData(data => ({
      ...data,
      from_port: portOf(data.from_port),
      to_port: portOf(data.to_port),
      spreads: withArbitrageText(fieldsOf(data.spreads), data),
    })),
  ),
  shape('components_text', spreadOperations, inRows(withComponentTexts)),
  shape(
    'permit_operator_text',
    ['/v1/ei/well-permits', '/v1/ei/well-permits/search', '/v1/ei/well-permits/:'],
    inRows(withOperatorText),
  ),
  shape('iso_week_number', undefined, everywhere(withWeekNumber)),
  shape('latest_list', latest, body => {
    const row = singleOf(body)
    return row && { ...body, data: { prices: [row] } }
  }),
  shape('commodities_keyed', ['/v1/commodities'], body => ({
    ...body,
    data: { commodities: body.data, metadata: { total: fieldsOf(body.meta).total } },
  })),
  shape(
    'prices_all_list',
    ['/v1/prices/all'],
    inData(({ prices }) => Object.values(fieldsOf(prices))),
  ),
  shape('windowed_list', windowOperations, body => {
    const { prices, metadata } = fieldsOf(body.data)
    return {
      ...body,
      data: listOf(prices).map(row => ({ ...row, date: row.created_at })),
      metadata,
    }
  }),
  shape(
    'storage_scalar_change',
    ['/v1/storage/cushing', '/v1/storage/spr'],
    inData(({ sites, ...level }) => {
      if (!inMillions(level)) return undefined
      const change = thousandTimes(fieldsOf(level.change).week ?? null)
      const inner = sites === undefined ? {} : { sites: listOf(sites).map(inThousands) }
      return { ...inThousands(level), change, ...inner }
    }),
  ),
  shape(
    'storage_scalar_change',
    ['/v1/storage', '/v1/storage/regional'],
    inData(levels => {
      const data = levelsInThousands(levels)
      const whole = inMillions(data) ? inThousands(data) : data
      return 'total_us' in whole && !isObject(whole.total_us)
        ? { ...whole, total_us: thousandTimes(whole.total_us) }
        : whole
    }),
  ),
  shape(
    'storage_scalar_change',
    ['/v1/storage/history/:', '/v1/storage/:/history'],
    inRows(row =>
      isObject(row) && inMillions(row)
        ? { ...inThousands(row), change: thousandTimes(row.change) }
        : row,
    ),
  ),
  shape(
    'storage_records',
    ['/v1/storage'],
    inData(data =>
      isObject(data.total_us)
        ? { ...data, ...stockRecord('US_CRUDE_STORAGE', data.total_us) }
        : undefined,
    ),
  ),
  shape(
    'storage_records',
    ['/v1/storage/regional'],
    inData(data => {
      const records = Object.entries(data)
        .filter(([name]) => /^padd\d$/.test(name))
        .map(([name, region]) => stockRecord(name.toUpperCase(), fieldsOf(region)))
      return typeof data.code === 'string' ? records[0] : records
    }),
  ),
  shape(
    'storage_records',
    ['/v1/storage/cushing', '/v1/storage/spr'],
    inData(data => ({ ...data, ...stockRecord(String(data.code), data) })),
  ),
  shape(
    'record_latest',
    ['/v1/ei/forecasts/latest', '/v1/ei/frac-focus/latest'],
    ({ data, ...body }) => (Array.isArray(data) ? { ...body, data: data[0] } : undefined),
  ),
  shape(
    'record_latest',
    ['/v1/ei/opec_productions/latest', '/v1/ei/drilling_productivities/latest'],
    inData(data => {
      const [first] = listOf(data.countries ?? data.basins)
      if (!first) return undefined
      const { date, timestamp } = first
      const production =
        'total_production_bpd' in data
          ? { production_bpd: data.total_production_bpd, unit: 'barrels_per_day' }
          : {}
      return { id: data.month, date, timestamp, ...production, ...data }
    }),
  ),
  shape('plain_figures', ['/v1/market-brief'], everywhere(withConfidenceWord)),
  shape(
    'plain_figures',
    ['/v1/indicators/fuel-switching'],
    inData(data => ({ ...data, economical: data.economical === 'natural_gas' })),
  ),
  shape(
    'plain_figures',
    ['/v1/alerts/:/test', '/v1/webhooks/:/test'],
    everywhere(fields => (fields.status_code === null ? { ...fields, status_code: 0 } : fields)),
  ),
  shape(
    'plain_figures',
    ['/v1/ei/forecasts/summary'],
    inData(data => ({
      ...data,
      latest_forecast: fieldsOf(data.latest_forecast).forecast_value ?? null,
    })),
  ),
  shape(
    'plain_figures',
    ['/v1/drilling-intelligence/basin/:'],
    inData(data => ({
      ...data,
      trend: listOf(data.trend).map(row => ({ ...row, metric: 'rigs', value: row.rigs })),
    })),
  ),
  shape(
    'plain_figures',
    ['/v1/spreads/curve-structure', '/v1/spreads/curve-structure/all'],
    inRows(withTermSpread),
  ),
  shape(
    'diesel_flat',
    ['/v1/diesel-prices/states/:'],
    inData(data => data.regional_average),
  ),
  shape('string_settlement', ['/v1/futures/:/curve'], body => {
    const { contracts, front_month, back_month } = body
    return {
      ...body,
      ...(front_month !== undefined && { front_month: settledAsText(front_month) }),
      ...(back_month !== undefined && { back_month: settledAsText(back_month) }),
      ...(Array.isArray(contracts) && { contracts: contracts.map(settledAsText) }),
    }
  }),
  shape('data_list', Object.keys(topListNames), (body, route) => {
    const { [topListNames[route]!]: list, ...meta } = body
    return Array.isArray(list) ? { status: 'success', data: list, meta } : undefined
  }),
  shape('futures_enveloped', futuresOperations, body =>
    body.status === 'success' ? undefined : { status: 'success', data: body },
  ),
  shape('currency_text', undefined, everywhere(withCurrencyText)),
  shape('omit_null', undefined, everywhere(withoutNulls)),
]

/** Under it a body that is a list itself is handed to a shape. */
export const listKey = 'list'

/**
 * Makes the body of a success again, as the switches of a profile have it for a route; undefined
 * when they change nothing of it.
 */
export type Reshape = (body: Fields) => Fields | undefined

/** The combined change of a route's responses; undefined when no switch applies to it. */
export function reshapeOf(
  switches: ReadonlyMap<SwitchName, Scope>,
  route: string,
): Reshape | undefined {
  const bare = route.replace(/:\w+/g, ':')
  const chosen = shapes.filter(({ name, routes }) => {
    const scope = switches.get(name)
    return scope && covers(scope, route) && (!routes || routes.includes(bare))
  })
  if (chosen.length === 0) return undefined
  return body => {
    const reshaped = chosen.reduce((fields, shape) => shape.change(fields, bare) ?? fields, body)
    return reshaped === body ? undefined : reshaped
  }
}
