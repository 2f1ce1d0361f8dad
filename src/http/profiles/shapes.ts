import { isObject } from '../../lib/text/json.ts'
import type { SwitchName } from '../../plans/switches.ts'
import { shippedPorts } from '../../topics/catalogue/files/ports.ts'
import { roundTo } from '../../topics/prices/math/format.ts'

export type Fields = Readonly<Record<string, unknown>>

/** What a switch makes of the body of a success. */
interface Shape {
  name: SwitchName
  /** The routes it is for, their parameters without names: `/v1/alerts/:`. */
  routes: readonly string[]
  /**
   * The other body, made without touching the given one; undefined where the switch has nothing to
   * change.
   */
  change(body: Fields, route: string): Fields | undefined
}

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})
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

/** Every level inside of the fields in thousands; what is none stays as it is. */
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

const isLeftOut = ([name, value]: [string, unknown]): boolean =>
  value === null && (name === 'currency' || name.startsWith('change'))

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

/** Reads whose list stands in `data` under the name of what it lists. */
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
}

/** Reads whose list stands at the top, and those of its fields that have another name for it. */
const topListNames: Readonly<Record<string, string>> = {
  '/v1/futures/:/historical': 'prices',
  '/v1/futures/:/continuous': 'prices',
  '/v1/futures/continuous/:/historical': 'prices',
  '/v1/futures/:/intraday': 'prices',
  '/v1/futures/:/ohlc': 'ohlc',
  '/v1/futures/:/curve': 'contracts',
}

/** Reads that answer a list, and the name under which it stands as an object. */
const objectNames: Readonly<Record<string, string>> = {
  '/v1/alerts': 'alerts',
  '/v1/scheduled-deliveries': 'scheduled_deliveries',
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
  return port ? { code, name: port.name, region: port.region } : { code, name: code, region: null }
}

/** What the prices of two ports say about going to the other one. */
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

/** In the order in which they act: an envelope is laid around what the others have made. */
const shapes: readonly Shape[] = [
  {
    name: 'omit_null',
    routes: priceRoutes,
    change: body =>
      withRows(body, row =>
        Object.fromEntries(Object.entries(row).filter(entry => !isLeftOut(entry))),
      ),
  },
  {
    name: 'echo_code',
    routes: priceRoutes,
    change: body =>
      withRows(body, row =>
        typeof row.requested_code === 'string' ? { ...row, code: row.requested_code } : row,
      ),
  },
  {
    name: 'categories_short',
    routes: ['/v1/commodities', '/v1/commodities/:'],
    change: body => ({ ...body, data: eachOf(body.data, withShortCategory) }),
  },
  {
    name: 'data_list',
    routes: Object.keys(listNames),
    change(body, route) {
      const { [listNames[route]!]: list, ...rest } = fieldsOf(body.data)
      if (!Array.isArray(list)) return undefined
      return { ...body, data: list, meta: { ...fieldsOf(body.meta), ...rest } }
    },
  },
  {
    name: 'data_object',
    routes: Object.keys(objectNames),
    change(body, route) {
      const { [listKey]: bare, ...rest } = body
      const name = objectNames[route]!
      const list = bare ?? body.data
      if (!Array.isArray(list)) return undefined
      const named = { [name]: list, count: list.length }
      return bare === undefined ? { ...rest, data: named } : named
    },
  },
  {
    name: 'spread_ports',
    routes: ['/v1/bunker-fuels/spreads/ports'],
    change(body) {
      const data = fieldsOf(body.data)
      return {
        ...body,
        data: {
          ...data,
          from_port: portOf(data.from_port),
          to_port: portOf(data.to_port),
          spreads: withArbitrageText(fieldsOf(data.spreads), data),
        },
      }
    },
  },
  {
    name: 'components_text',
    routes: spreadOperations,
    change: body => ({ ...body, data: eachOf(body.data, withComponentTexts) }),
  },
  {
    name: 'permit_operator_text',
    routes: ['/v1/ei/well-permits', '/v1/ei/well-permits/search', '/v1/ei/well-permits/:'],
    change: body => ({ ...body, data: eachOf(body.data, withOperatorText) }),
  },
  {
    name: 'iso_week_number',
    routes: ['/v1/indicators/storage-analytics'],
    change(body) {
      const data = fieldsOf(body.data)
      const [, week] = /-W(\d{2})$/.exec(String(data.week)) ?? []
      return week === undefined ? undefined : { ...body, data: { ...data, week: Number(week) } }
    },
  },
  {
    name: 'latest_list',
    routes: latest,
    change(body) {
      const row = singleOf(body)
      return row && { ...body, data: { prices: [row] } }
    },
  },
  {
    name: 'latest_flat_and_list',
    routes: latest,
    change(body) {
      const row = singleOf(body)
      return row && { ...body, data: { ...row, prices: [row] } }
    },
  },
  {
    name: 'commodities_keyed',
    routes: ['/v1/commodities'],
    change: body => ({
      ...body,
      data: { commodities: body.data, metadata: { total: fieldsOf(body.meta).total } },
    }),
  },
  {
    name: 'prices_all_list',
    routes: ['/v1/prices/all'],
    change: body => ({ ...body, data: Object.values(fieldsOf(fieldsOf(body.data).prices)) }),
  },
  {
    name: 'windowed_list',
    routes: windowOperations,
    change(body) {
      const { prices, metadata } = fieldsOf(body.data)
      return {
        ...body,
        data: listOf(prices).map(row => ({ ...row, date: row.created_at })),
        metadata,
      }
    },
  },
  {
    name: 'storage_scalar_change',
    routes: ['/v1/storage/cushing', '/v1/storage/spr'],
    change(body) {
      const { sites, ...level } = fieldsOf(body.data)
      if (!inMillions(level)) return undefined
      const change = thousandTimes(fieldsOf(level.change).week ?? null)
      return {
        ...body,
        data: {
          ...inThousands(level),
          change,
          ...(sites !== undefined && { sites: listOf(sites).map(inThousands) }),
        },
      }
    },
  },
  {
    name: 'storage_scalar_change',
    routes: ['/v1/storage', '/v1/storage/regional'],
    change(body) {
      const data = levelsInThousands(fieldsOf(body.data))
      const whole = inMillions(data) ? inThousands(data) : data
      return {
        ...body,
        data:
          'total_us' in whole && !isObject(whole.total_us)
            ? { ...whole, total_us: thousandTimes(whole.total_us) }
            : whole,
      }
    },
  },
  {
    name: 'storage_scalar_change',
    routes: ['/v1/storage/history/:', '/v1/storage/:/history'],
    change: body => ({
      ...body,
      data: listOf(body.data).map(row =>
        inMillions(row) ? { ...inThousands(row), change: thousandTimes(row.change) } : row,
      ),
    }),
  },
  {
    name: 'diesel_flat',
    routes: ['/v1/diesel-prices/states/:'],
    change: body => ({ ...body, data: fieldsOf(body.data).regional_average }),
  },
  {
    name: 'string_settlement',
    routes: ['/v1/futures/:/curve'],
    change(body) {
      const { contracts, front_month, back_month } = body
      return {
        ...body,
        ...(front_month !== undefined && { front_month: settledAsText(front_month) }),
        ...(back_month !== undefined && { back_month: settledAsText(back_month) }),
        ...(Array.isArray(contracts) && { contracts: contracts.map(settledAsText) }),
      }
    },
  },
  {
    name: 'data_list',
    routes: Object.keys(topListNames),
    change(body, route) {
      const { [topListNames[route]!]: list, ...meta } = body
      return Array.isArray(list) ? { status: 'success', data: list, meta } : undefined
    },
  },
  {
    name: 'futures_enveloped',
    routes: futuresOperations,
    change: body => (body.status === 'success' ? undefined : { status: 'success', data: body }),
  },
]

/** Under it a body that is a list itself is handed to a shape. */
export const listKey = 'list'

/**
 * Makes the body of a success anew, as the switches of a profile have it for a route; undefined
 * when they change nothing of it.
 */
export type Reshape = (body: Fields) => Fields | undefined

/** What the switches make of a route's answers; undefined when none is for it. */
export function reshapeOf(switches: ReadonlySet<SwitchName>, route: string): Reshape | undefined {
  const bare = route.replace(/:\w+/g, ':')
  const chosen = shapes.filter(shape => switches.has(shape.name) && shape.routes.includes(bare))
  if (chosen.length === 0) return undefined
  return body => {
    const reshaped = chosen.reduce((fields, shape) => shape.change(fields, bare) ?? fields, body)
    return reshaped === body ? undefined : reshaped
  }
}
