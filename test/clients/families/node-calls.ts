import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Fields, isFields } from '../../support/fields.ts'
import type { Send } from './senders.ts'
import { differences, parseType, type Records, type Type } from './short-form.ts'

/** The result types and calls of the family, each a line: method, path, parameters, type. */
const lines = readFileSync(join(import.meta.dir, 'node.tsv'), 'utf8')
  .trimEnd()
  .split('\n')
  .map(line => line.split('\t') as [method: string, path: string, parameters: string, type: string])

const records: Records = Object.fromEntries(
  lines.filter(([kind]) => kind === 'record').map(([, name, , type]) => [name, parseType(type)]),
)

const calls = lines
  .filter(([kind]) => kind !== 'record')
  .map(([method, path, , type]) => ({
    method,
    path,
    type: type === 'any 2xx' ? parseType('any') : parseType(type),
  }))

const slugs = ['brent', 'gasoil', 'wti', 'natural-gas', 'ttf-gas', 'lng-jkm', 'eu-carbon']
const contracts = [...slugs, 'BZ', 'CL.1']
const spreads = ['crack', 'basis', 'margin', 'physical-premium', 'curve-structure']

/** In the order in which the family writes them. */
const queries: Readonly<Record<string, readonly string[]>> = {
  '/v1/prices/latest': [
    '',
    '?by_code=BRENT_CRUDE_USD',
    '?by_code=CUSHING_STORAGE',
    '?by_code=WTI_USD%2CBRENT_CRUDE_USD',
  ],
  '/v1/prices/past_year': [
    '?period=past_week&by_code=WTI_USD',
    '?by_code=WTI_USD&start_date=2026-01-01&end_date=2026-06-30&interval=daily&per_page=50&page=2',
    '?by_code=US_RIG_COUNT&interval=weekly',
  ],
  '/v1/market-brief': ['?codes=BRENT_CRUDE_USD%2CWTI_USD&narrative=true'],
  '/v1/diesel-prices': ['?state=CA'],
  '/v1/futures/:contract/ohlc': ['', '?date=2026-11-25'],
  '/v1/futures/spreads': ['?contract1=BZ.1&contract2=BZ.2'],
  '/v1/storage/regional': ['', '?region=padd3'],
  '/v1/storage/history/CUSHING_STORAGE': ['?period=1y'],
  '/v1/bunker-fuels/compare': ['?ports=SINGAPORE%2CROTTERDAM'],
  '/v1/bunker-fuels/spreads/ports': ['?from=SIN&to=RTM&grade=VLSFO', '?from=SIN&to=RTM'],
  '/v1/analytics/performance': ['?range=7d'],
  '/v1/analytics/statistics': ['?code=BRENT_CRUDE_USD&period=30'],
  '/v1/analytics/correlation': [
    '?code1=BRENT_CRUDE_USD&code2=WTI_USD',
    '?type=matrix&codes=BRENT_CRUDE_USD%2CWTI_USD',
    '?type=rolling&code1=BRENT_CRUDE_USD&code2=WTI_USD&window=7',
  ],
  '/v1/analytics/trend': [
    '?code=WTI_USD',
    '?code=WTI_USD&type=sma',
    '?code=WTI_USD&type=ema',
    '?code=WTI_USD&type=rsi',
    '?code=WTI_USD&type=levels',
  ],
  '/v1/analytics/spread': ['', '?spread=wti_brent', '?spread=321&type=historical&period=60'],
  '/v1/analytics/forecast': [
    '?code=WTI_USD',
    '?code=WTI_USD&method=sma',
    '?code=WTI_USD&method=combined&period=120',
  ],
  '/v1/forecasts/monthly': ['', '?commodity=WTI_USD'],
  '/v1/indicators/price-context': [''],
  '/v1/ei/well-permits/search': ['?states=TX'],
  '/v1/ei/frac-focus/search': ['?states=TX'],
  '/v1/well-production/cycle-time': ['?state=TX'],
  '/v1/well-production/cycle-time/cohorts': ['?state=TX&group_by=quarter'],
}

export const requestBodies: Readonly<Record<string, unknown>> = {
  'POST /v1/diesel-prices/stations': { lat: 37.7749, lng: -122.4194, radius: 8047 },
  'POST /v1/alerts': {
    price_alert: {
      name: 'Brent above',
      commodity_code: 'BRENT_CRUDE_USD',
      condition_operator: 'greater_than',
      condition_value: 500,
      enabled: true,
      cooldown_minutes: 60,
    },
  },
  'PATCH /v1/alerts/:id': { price_alert: { condition_value: 501 } },
  'POST /v1/webhooks': { url: 'http://127.0.0.1:9/hook', events: ['price.updated'] },
  'PATCH /v1/webhooks/:id': { description: 'changed' },
  'POST /v1/data-sources': {
    data_source: {
      name: 'desk',
      source_type: 'api',
      credentials: { token: 'x' },
      scraper_config: { url: 'http://127.0.0.1:9/feed' },
    },
  },
  'PATCH /v1/data-sources/:id': { data_source: { name: 'desk 2' } },
  'POST /v1/data-sources/:id/rotate_credentials': { credentials: { token: 'y' } },
  'POST /v1/subscriptions': { codes: ['WTI_USD'], interval_seconds: 3600, name: 'watch' },
}

/** As the family takes an answer apart, before its methods do. */
export function unwrapped(body: unknown): unknown {
  if (!isFields(body)) return body
  const { data } = body
  if (body.status === 'success' && isFields(data)) {
    if (Array.isArray(data.prices)) return data.prices
    if (data.price !== undefined) return [data]
  }
  return data ?? body
}

/** The data of paths without a key, which the family unwraps itself. */
const dataOf = (body: unknown): unknown => (isFields(body) ? (body.data ?? body) : body)

/** A list is taken as it is, or from the one key that has one. */
function listed(value: unknown, type: Type): unknown {
  if (type.kind !== 'list' || !isFields(value)) return value
  return Object.values(value).find(Array.isArray) ?? value
}

/** As alerts, webhooks and data sources are taken from the answer to a change, and diesel prices. */
function named(value: unknown, call: string): unknown {
  if (!isFields(value)) return value
  const isWrapped = /^(POST|PATCH)|diesel-prices\?/.test(call) && !call.includes('stations')
  const wraps = isWrapped
    ? ['alert', 'webhook', 'data_source', 'subscription', 'regional_average']
    : []
  return wraps.map(name => value[name]).find(isFields) ?? value
}

export interface Played {
  call: string
  differences: string[]
}

const openPaths = ['/v1/demo/prices', '/v1/demo/commodities']

/** Plays every call of the family, and reports how each response differs from the type. */
export async function playNode(send: Send): Promise<Played[]> {
  const played: Played[] = []
  const ids = new Map<string, string>()
  const collectionOf = (path: string) => path.replace(/\/:id.*/, '')
  const idOf = async (path: string): Promise<string> => {
    const collection = collectionOf(path)
    const known = ids.get(collection)
    if (known !== undefined) return known
    const rows = listed(unwrapped((await send('GET', collection)).json), parseType('map[]'))
    const [first] = rows as Fields[]
    const id = String(first?.id)
    ids.set(collection, id)
    return id
  }
  const play = async (method: string, path: string, type: Type, body: unknown) => {
    const isOpen = openPaths.includes(path)
    const answer = await send(method, path, { body, isOpen })
    const call = `${method} ${path}`
    if (answer.status >= 300) {
      played.push({ call, differences: [`status ${answer.status}: ${answer.text.slice(0, 120)}`] })
      return undefined
    }
    const value = isOpen ? dataOf(answer.json) : unwrapped(answer.json)
    const result = listed(named(value, call), type)
    played.push({ call, differences: [...new Set(differences(result, type, records))] })
    return result
  }
  for (const { method, path, type } of calls) {
    const [pattern, places] = patternOf(path)
    for (const place of places) {
      const at = pattern.replace(':contract', place).replace(':spread', place)
      const concrete = at.includes(':id') ? at.replace(':id', await idOf(at)) : at
      for (const query of queries[pattern] ?? queries[at] ?? ['']) {
        const body = requestBodies[`${method} ${pattern}`]
        const result = await play(method, `${concrete}${query}`, type, body)
        if (method === 'POST' && !at.includes(':id') && isFields(result) && 'id' in result)
          ids.set(at, String(result.id))
      }
    }
  }
  return played
}

/** A path of the list with values for its placeholders. */
function patternOf(path: string): [pattern: string, places: readonly string[]] {
  const pattern = path
    .replace('/futures/{slug}', '/futures/:contract')
    .replace('/spreads/{type}', '/spreads/:spread')
    .replace('/commodities/{code}', '/commodities/BRENT_CRUDE_USD')
    .replace('/reports/{code}', '/reports/BRENT_CRUDE_USD')
    .replace('{code}', 'CUSHING_STORAGE')
    .replace('{port}', 'SINGAPORE')
    .replace('{name}', 'permian')
    .replace('{api}', '42329400010000')
    .replace('{id}', ':id')
  if (pattern.includes(':contract')) return [pattern, contracts]
  if (pattern.includes(':spread')) return [pattern, spreads]
  return [pattern, ['']]
}
