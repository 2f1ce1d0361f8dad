import { Type } from '@sinclair/typebox'
import { isSheetPath, sheetPaths } from '../../../plans/clients/sheet-paths.ts'
import type { StorageHistory } from '../../fundamentals/operations/storage-history.ts'
import type { Curve, NoCurve } from '../../futures/operations/curve.ts'
import { type Ask, createTool, orReason, Refusal, type Tool, textIfAny, wholeOf } from './tool.ts'

/** The largest response of `read`: about 5,000 tokens. */
const readCharactersMax = 20_000
const foundMax = 15

interface ListedOperations {
  operations: {
    method: string
    path: string
    summary: string
    deprecated?: boolean
    parameters?: string[]
  }[]
}

/** A path that `read` opens. */
export interface DataPath {
  path: string
  summary: string
  parameters: string[]
}

/** The paths that `read` opens, as the API describes them. */
export async function dataPathsOf(ask: Ask): Promise<DataPath[]> {
  const { operations } = await ask<ListedOperations>('GET', '/docs/operations.json')
  return operations.flatMap(({ method, path, summary, deprecated, parameters = [] }) =>
    method === 'GET' && !deprecated && isSheetPath(path) ? [{ path, summary, parameters }] : [],
  )
}

/** How many of the words a path has in it or in its summary. */
const matchesOf = ({ path, summary }: DataPath, words: readonly string[]): number => {
  const text = `${path} ${summary}`.toLowerCase()
  return words.filter(word => text.includes(word)).length
}

/** Shortens the lists of a body to a number of rows, and adds a note where one was longer. */
function shortened(value: unknown, rowsMax: number): unknown {
  if (Array.isArray(value)) {
    const rows = value.slice(0, rowsMax).map(row => shortened(row, rowsMax))
    const left = value.length - rows.length
    return left > 0 ? [...rows, `... ${left} more rows`] : rows
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, shortened(inner, rowsMax)]),
  )
}

/** The body with as many rows of its lists as fit into the limit. */
function fitting(body: unknown, rows: number): unknown {
  for (let rowsMax = rows; rowsMax > 0; rowsMax = Math.floor(rowsMax / 2)) {
    const short = shortened(body, rowsMax)
    if (JSON.stringify(short).length <= readCharactersMax) return short
  }
  throw new Refusal(
    'The response is too large even with one row. Narrow the request with its parameters.',
  )
}

export const marketTools: readonly Tool[] = [
  createTool({
    name: 'futures_curve',
    title: 'Futures curve',
    description:
      'Returns the curve of a futures family: settlement of each listed month, contango or backwardation, slope. Families: exch-brent, exch-wti, exch-gasoil, natural-gas, eua-carbon, ttf-gas, lng-jkm, uk-carbon, or a ticker such as BZ, CL, NG, TTF.',
    input: Type.Object({
      family: Type.String({ minLength: 1, maxLength: 40, description: 'A slug or ticker.' }),
      date: textIfAny('The curve of an earlier day: 2026-11-02.'),
    }),
    async run({ family, date }, ask) {
      const path = `/v1/futures/${encodeURIComponent(family)}/curve`
      const curve = await ask<Curve | NoCurve>('GET', path, { query: { date } })
      if ('error' in curve) throw new Refusal(curve.error)
      return {
        commodity: curve.commodity,
        date: curve.analysis_date,
        shape: curve.curve_type,
        currency: curve.currency,
        unit: curve.unit,
        metrics: curve.curve_metrics,
        contracts: curve.contracts.map(contract => ({
          month: contract.contract_month,
          code: contract.contract_code,
          settlement: contract.settlement_price,
          expires: contract.expiry_date,
        })),
      }
    },
  }),
  createTool({
    name: 'storage',
    title: 'Storage against its season',
    description:
      'Compares a stock level with the same week of earlier years: level, seasonal average of five years and its standard deviation, z-score, use of capacity, and the last weeks. Places: CUSHING, SPR, US, PADD1 to PADD5, or a storage code such as US_NATGAS_STORAGE.',
    input: Type.Object({
      place: Type.String({
        minLength: 1,
        maxLength: 80,
        default: 'CUSHING',
        description: 'Where.',
      }),
      weeks: wholeOf(1, 52, 8, 'Weeks of history.'),
    }),
    async run({ place, weeks }, ask) {
      const path = `/v1/storage/history/${encodeURIComponent(place)}`
      const query = { period: '1y', interval: 'weekly' }
      const history = await ask<StorageHistory>('GET', path, { query })
      const { code, name } = history.meta
      const recent = history.data.slice(0, weeks)
      const season = ask<{ data: unknown }>('GET', '/v1/indicators/storage-analytics', {
        query: { code },
      }).then(({ data }) => data)
      return { code, name, against_season: await orReason(season), recent }
    },
  }),
  createTool({
    name: 'find_paths',
    title: 'Find data paths',
    description:
      'Finds the paths that `read` opens, with their parameters, by words of the question: rig count, crack spread, permits, gas hub, bunker, cheapest hours, inventory, forecast, production. Use it before `read`.',
    input: Type.Object({
      text: Type.String({ minLength: 2, maxLength: 100, description: 'Words: bunker port' }),
    }),
    async run({ text }, ask) {
      // A plural in the question finds the singular as well.
      const words = text
        .toLowerCase()
        .split(/[^a-z0-9]+/)
        .map(word => word.replace(/s$/, ''))
        .filter(word => word.length > 1)
      const found = (await dataPathsOf(ask))
        .map(dataPath => ({ dataPath, matches: matchesOf(dataPath, words) }))
        .filter(({ matches }) => matches > 0)
        .toSorted((a, b) => b.matches - a.matches)
      return {
        paths: found.slice(0, foundMax).map(({ dataPath }) => dataPath),
        found: found.length,
      }
    },
  }),
  createTool({
    name: 'read',
    title: 'Read any data of the API',
    description:
      'Sends a GET request to any data path of the API, for data that no other tool covers: spreads, marine fuels, gas hubs, cheapest hours of power, surcharges, rig counts, permits, production, forecasts. Lists are cut to `rows`. Find the path with find_paths.',
    input: Type.Object({
      path: Type.String({
        minLength: 4,
        maxLength: 300,
        description: 'Such as /v1/spreads/crack/all. Without parameters.',
      }),
      parameters: Type.Optional(
        Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
          description: 'Query parameters: {"state": "TX"}.',
        }),
      ),
      rows: wholeOf(1, 100, 20, 'Maximum rows of each list.'),
    }),
    async run({ path, parameters, rows }, ask) {
      const { pathname } = new URL(path, 'http://localhost')
      if (!isSheetPath(pathname) || pathname !== path) {
        throw new Refusal(`path must be a data path: one of ${sheetPaths.join(', ')} or below.`)
      }
      return fitting(await ask('GET', pathname, { query: parameters ?? {} }), rows)
    },
  }),
]
