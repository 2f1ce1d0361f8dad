import { Elysia, t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import type { AccessPlugin } from '../../http/gate/access.ts'
import { integerOf } from '../../http/input/query.ts'
import { invalidParameter, notFound, Problem } from '../../http/problem/problem.ts'
import { isoInstant } from '../../lib/instant.ts'
import {
  type InventoryPlace,
  inventoryLocations,
  inventoryPlaces,
  inventoryProducts,
  locationOf,
  nationalPlace,
  productOf,
} from '../../market/fundamentals/inventories.ts'
import { levelDecimals } from '../../market/fundamentals/storage.ts'
import { roundTo } from '../../market/prices/format.ts'
import type { Inventories, InventoryRecord } from '../../service/fundamentals/inventories.ts'
import type { StorageLevels } from '../../service/fundamentals/storage.ts'
import { type Answering, type Marks, markFixtures } from '../answer.ts'
import {
  type EiPrefix,
  eiAccess,
  eiBody,
  eiDetail,
  eiPageQuery,
  eiRefusals,
} from '../drilling/frame.ts'
import { eiIdOf, eiList, eiOne, eiRangeOf, eiRangeQuery, eiWhole } from '../drilling/list.ts'

export interface EiInventoriesDeps {
  access: AccessPlugin
  inventories: Inventories
  storage: StorageLevels
  marks: Marks
  tierRequired(feature: 'energy_intelligence'): string
}

const level = t.Number({ examples: [424.2], description: 'In `unit`.' })
const change = t.Union([t.Number({ examples: [-0.821] }), t.Null()], {
  description: 'Against the level of a week before (7 to 13 days older); null without one.',
})
const unit = t.String({ examples: ['million_barrels'] })
const date = t.String({
  format: 'date',
  description: 'Day of the level.',
  examples: ['2026-11-18'],
})
const product = t.String({ description: inventoryProducts.join(', '), examples: ['crude_oil'] })

const Record = t.Object(
  {
    id: t.String({ examples: ['1'] }),
    product,
    location: t.String({ description: inventoryLocations.join(', '), examples: ['US'] }),
    code: t.String({
      description: 'Code of the series, for the price and storage endpoints.',
      examples: ['US_CRUDE_STORAGE'],
    }),
    level,
    volume: t.Number({ examples: [424.2], description: 'The same as `level`.' }),
    unit,
    change,
    date,
    source: t.String({ examples: ['EIA'] }),
    timestamp: t.String({
      format: 'date-time',
      description: 'When this service recorded the level.',
    }),
  },
  { title: 'OilInventory' },
)
const Latest = t.Composite([Record, t.Object({ products: t.Array(Record) })], {
  title: 'LatestOilInventories',
})
const Summary = t.Object(
  {
    total_crude: t.Number({
      description: 'Commercial crude oil, without the strategic reserve.',
      examples: [424.2],
    }),
    cushing: t.Number({ examples: [24.604] }),
    spr: t.Number({ examples: [409.8] }),
    total_products: t.Number({
      description: 'All commercial petroleum less crude oil.',
      examples: [853.8],
    }),
    gasoline: t.Number({ examples: [207.4] }),
    distillate: t.Number({ examples: [111.5] }),
    unit,
    as_of_date: date,
  },
  { title: 'OilInventorySummary' },
)
const ByProduct = t.Array(
  t.Object({ product, level, change, unit, date }, { title: 'ProductInventory' }),
)
const Past = t.Array(t.Object({ date, level, change, unit, product }, { title: 'PastInventory' }))
const Cushing = t.Object(
  {
    latest: t.Object({ volume: t.Number({ examples: [24.604] }), unit, date, change }),
    level,
    change,
    capacity_percent: t.Union([t.Number({ examples: [31.38] }), t.Null()], {
      description: '100 x level / working capacity of its day; null while no capacity is known.',
    }),
    unit,
    date,
    history: t.Array(t.Object({ date, volume: t.Number({ examples: [24.604] }), change })),
    weeks: integer({ examples: [12] }),
  },
  { title: 'CushingInventory' },
)

/** As the storage endpoint answers it. */
const percentDecimals = 10

const numberNote =
  'Numbers follow the days in the order of their first arrival and never change: a new week continues them, and so do older days that are filled in later.'
const levelNote =
  'The levels are the weekly storage series that `/v1/storage` answers too, in million barrels, published on Wednesdays at 15:30 UTC (the strategic reserve on Fridays, both a day later after a holiday); the sites of the reserve stand under `/v1/storage/spr`.'

const recordRow = (one: InventoryRecord) => ({
  id: String(one.id),
  product: one.place.product,
  location: one.place.location,
  code: one.series.code,
  level: one.level,
  volume: one.level,
  unit: one.series.unit,
  change: one.change ?? null,
  date: one.on,
  source: one.series.source,
  timestamp: isoInstant(one.recordedAt),
})

const pastRow = ({ on, level, change, series, place }: InventoryRecord) => ({
  date: on,
  level,
  change: change ?? null,
  unit: series.unit,
  product: place.product,
})

function productIn(text: string | undefined) {
  if (text === undefined || text.trim() === '') return undefined
  return productOf(text) ?? refuseWord('product', text, inventoryProducts)
}

function refuseWord(parameter: string, text: string, allowed: readonly string[]): never {
  throw invalidParameter(parameter, text.slice(0, 100), 'is not known.', allowed)
}

function placesOf(query: { product?: string; location?: string }): InventoryPlace[] {
  const wanted = productIn(query.product)
  const location = query.location?.trim()
    ? (locationOf(query.location) ?? refuseWord('location', query.location, inventoryLocations))
    : undefined
  return inventoryPlaces.filter(
    one => (!wanted || one.product === wanted) && (!location || one.location === location),
  )
}

const nationals = inventoryProducts.map(nationalPlace)
const cushingPlace = inventoryPlaces.find(one => one.location === 'Cushing')!
const reservePlace = inventoryPlaces.find(one => one.location === 'SPR')!
const productQuery = t.Optional(
  t.String({ description: `One of ${inventoryProducts.join(', ')}.`, examples: ['gasoline'] }),
)

/** Weekly stocks of crude oil and products in the United States. */
export function inventoryRoutes(deps: EiInventoriesDeps, prefix: EiPrefix) {
  const { inventories } = deps
  const tier = deps.tierRequired('energy_intelligence')
  const answerOf = ({ set, request }: { set: unknown; request: Request }) => ({
    set: set as Answering,
    request,
    tierRequired: tier,
  })
  const marked = <T extends readonly InventoryRecord[]>(set: unknown, found: T): T => {
    markFixtures(set as Answering, deps.marks, found)
    return found
  }
  const needed = (place: InventoryPlace): InventoryRecord => {
    const found = inventories.latest(place)
    if (!found)
      throw new Problem('DATA_NOT_AVAILABLE', `There is no level of ${place.code}.`, {
        leg: place.code,
      })
    return found
  }
  const listOf = (
    set: unknown,
    places: readonly InventoryPlace[],
    query: Parameters<typeof eiRangeOf>[0],
  ) => {
    const filter = { places, ...eiRangeOf(query) }
    return {
      total: inventories.count(filter),
      rows: (limit: number, offset: number) => marked(set, inventories.page(filter, limit, offset)),
    }
  }
  const newestOf = (set: unknown, places: readonly InventoryPlace[]) =>
    marked(
      set,
      places.flatMap(one => inventories.latest(one) ?? []),
    )

  const summary = (set: unknown) => {
    const [crude, cushing, spr, all, gasoline, distillate] = marked(
      set,
      [
        nationalPlace('crude_oil'),
        cushingPlace,
        reservePlace,
        ...(['total_petroleum', 'gasoline', 'distillate'] as const).map(nationalPlace),
      ].map(needed),
    ) as [
      InventoryRecord,
      InventoryRecord,
      InventoryRecord,
      InventoryRecord,
      InventoryRecord,
      InventoryRecord,
    ]
    return {
      total_crude: crude.level,
      cushing: cushing.level,
      spr: spr.level,
      total_products: roundTo(all.level - crude.level, levelDecimals(all.series)),
      gasoline: gasoline.level,
      distillate: distillate.level,
      unit: crude.series.unit,
      as_of_date: crude.on,
    }
  }
  const cushing = (set: unknown, weeks: number) => {
    const found = needed(cushingPlace)
    const history = inventories.page(
      { places: [cushingPlace], from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER },
      weeks,
      0,
    )
    marked(set, [found])
    const percent = deps.storage.of(found.series)?.utilizationPercent
    const own = { unit: found.series.unit, date: found.on, change: found.change ?? null }
    return {
      latest: { volume: found.level, ...own },
      level: found.level,
      capacity_percent: percent === undefined ? null : roundTo(percent, percentDecimals),
      ...own,
      history: history.map(one => ({
        date: one.on,
        volume: one.level,
        change: one.change ?? null,
      })),
      weeks,
    }
  }

  return new Elysia({ prefix })
    .use(deps.access)
    .get(
      '/oil_inventories',
      ({ query, set, request }) =>
        eiList(query, answerOf({ set, request }), listOf(set, placesOf(query), query), recordRow),
      {
        access: eiAccess,
        query: t.Object({
          product: productQuery,
          location: t.Optional(
            t.String({
              description: `One of ${inventoryLocations.join(', ')}.`,
              examples: ['PADD3'],
            }),
          ),
          ...eiRangeQuery,
          ...eiPageQuery,
        }),
        response: { 200: eiBody(t.Array(Record), 'OilInventories'), ...eiRefusals },
        detail: eiDetail(prefix, {
          operationId: 'listOilInventories',
          summary: 'Weekly oil inventories',
          description: `Stocks of crude oil and products by week and place, newest first. ${levelNote} ${numberNote}`,
        }),
      },
    )
    .get(
      '/oil_inventories/latest',
      ({ set }) => {
        const products = newestOf(set, nationals)
        marked(set, [needed(nationalPlace('crude_oil'))])
        return eiOne(
          { ...recordRow(needed(nationalPlace('crude_oil'))), products: products.map(recordRow) },
          tier,
        )
      },
      {
        access: eiAccess,
        response: { 200: eiBody(Latest, 'OilInventoriesLatest'), ...eiRefusals },
        detail: eiDetail(prefix, {
          operationId: 'getLatestOilInventories',
          summary: 'Newest oil inventories',
          description: `The newest level of US commercial crude oil, and in \`products\` the newest nationwide level of each product. ${levelNote}`,
        }),
      },
    )
    .get('/oil_inventories/summary', ({ set }) => eiOne(summary(set), tier), {
      access: eiAccess,
      response: { 200: eiBody(Summary, 'OilInventoriesSummary'), ...eiRefusals },
      detail: eiDetail(prefix, {
        operationId: 'getOilInventorySummary',
        summary: 'Oil inventories in one line',
        description:
          'The newest levels of commercial crude oil, Cushing, the strategic reserve and the products, in million barrels; `as_of_date` is the day of the crude oil. All are answered or none: 404 names the series that has no level.',
      }),
    })
    .get(
      '/oil_inventories/by_product',
      ({ set }) => eiWhole(newestOf(set, nationals).map(pastRow), tier),
      {
        access: eiAccess,
        response: { 200: eiBody(ByProduct, 'OilInventoriesByProduct'), ...eiRefusals },
        detail: eiDetail(prefix, {
          operationId: 'getOilInventoriesByProduct',
          summary: 'Newest oil inventories by product',
          description:
            'The newest nationwide level of each product that has one; crude oil without the strategic reserve.',
        }),
      },
    )
    .get(
      '/oil_inventories/historical',
      ({ query, set, request }) =>
        eiList(
          query,
          answerOf({ set, request }),
          listOf(set, [nationalPlace(productIn(query.product) ?? 'crude_oil')], query),
          pastRow,
        ),
      {
        access: eiAccess,
        query: t.Object({ product: productQuery, ...eiRangeQuery, ...eiPageQuery }),
        response: { 200: eiBody(Past, 'OilInventoryHistory'), ...eiRefusals },
        detail: eiDetail(prefix, {
          operationId: 'getOilInventoryHistory',
          summary: 'Past oil inventories of a product',
          description: `Nationwide levels of one product, newest first; without \`product\` commercial crude oil. ${levelNote}`,
        }),
      },
    )
    .get(
      '/oil_inventories/cushing',
      ({ query, set }) => eiOne(cushing(set, integerOf('weeks', query.weeks, 12, 1, 520)), tier),
      {
        access: eiAccess,
        query: t.Object({
          weeks: t.Optional(
            t.String({
              description: 'Weeks of `history`, 1 to 520 (12), newest first.',
              examples: ['12'],
            }),
          ),
        }),
        response: { 200: eiBody(Cushing, 'OilInventoriesCushing'), ...eiRefusals },
        detail: eiDetail(prefix, {
          operationId: 'getCushingInventories',
          summary: 'Crude oil at Cushing by week',
          description:
            'The newest level at Cushing, Oklahoma, where WTI is delivered, and those of the weeks up to it. The same levels as `/v1/storage/cushing`.',
        }),
      },
    )
    .get(
      '/oil_inventories/:id',
      ({ params, set }) => {
        const found = inventories.byId(eiIdOf(params.id, 'Inventory'))
        if (!found) throw notFound(`Inventory ${params.id}`)
        marked(set, [found])
        return eiOne(recordRow(found), tier)
      },
      {
        access: eiAccess,
        params: t.Object({
          id: t.String({ description: 'Number of the record.', examples: ['1'] }),
        }),
        response: { 200: eiBody(Record, 'OilInventoryRecord'), ...eiRefusals },
        detail: eiDetail(prefix, {
          operationId: 'getOilInventory',
          summary: 'One weekly level',
          description: `The level of one place on one day. ${numberNote}`,
        }),
      },
    )
}
