import { roundTo } from '../../market/prices/format.ts'
import type { SwitchName } from '../../plan/client-profiles.ts'

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
  change(body: Fields): Fields | undefined
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})
const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.filter(isFields) : []

const latest = ['/v1/prices/latest']
/** The flat price row of an answer about one code. */
const singleOf = ({ data }: Fields): Fields | undefined =>
  isFields(data) && !('prices' in data) ? data : undefined

const windowRoutes = ['past_day', 'past_week', 'past_month', 'past_year', 'historical', ':'].map(
  window => `/v1/prices/${window}`,
)

const futuresRoutes = [
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

/** The quantities of a level in thousands of barrels, those of them that it has. */
const inThousands = (level: Fields): Fields => ({
  ...level,
  unit: 'thousand_barrels',
  ...Object.fromEntries(
    ['value', 'level', 'capacity'].flatMap(name =>
      name in level ? [[name, thousandTimes(level[name])]] : [],
    ),
  ),
})

const settledAsText = (point: unknown): unknown =>
  isFields(point) && typeof point.settlement_price === 'number'
    ? { ...point, settlement_price: String(point.settlement_price) }
    : point

/** In the order in which they act: an envelope is laid around what the others have made. */
const shapes: readonly Shape[] = [
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
    routes: windowRoutes,
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
      if (level.unit !== 'million_barrels') return undefined
      const change = fieldsOf(level.change).week ?? null
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
    name: 'futures_enveloped',
    routes: futuresRoutes,
    change: body => ({ status: 'success', data: body }),
  },
]

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
    const reshaped = chosen.reduce((fields, shape) => shape.change(fields) ?? fields, body)
    return reshaped === body ? undefined : reshaped
  }
}
