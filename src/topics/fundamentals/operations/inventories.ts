import { t } from 'elysia'
import { integer } from '../../../http/answer/integer.ts'
import { integerOf } from '../../../http/input/query.ts'
import { typed, wordParameter } from '../../../http/input/typed.ts'
import { type Answering, markFixtures } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { atMoment, knownQuery } from '../../../http/operations/point-in-time.ts'
import { invalidParameter, notFound, Problem } from '../../../http/problem/problem.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { sourceOf } from '../../catalogue/math/catalogue.ts'
import {
  energyAccess,
  energyBody,
  energyPageQuery,
  energyRefusals,
} from '../../energy/operations/frame.ts'
import {
  energyPage,
  energyRecord,
  energyWholeList,
  rangeOf,
  rangeQuery,
  recordIdOf,
} from '../../energy/operations/list.ts'
import { roundTo } from '../../prices/math/format.ts'
import {
  type InventoryPlace,
  type InventoryProduct,
  inventoryLocations,
  inventoryPlaces,
  inventoryProducts,
  locationOf,
  nationalPlace,
  productOf,
} from '../math/inventories.ts'
import { levelDecimals } from '../math/storage.ts'
import type { InventoryRecord } from '../service/inventories.ts'

export type InventoriesDeps = Pick<
  Context,
  'access' | 'inventories' | 'storage' | 'marks' | 'pricesAt' | 'tierRequired'
>

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
const productField = t.String({
  description: inventoryProducts.join(', '),
  examples: ['crude_oil'],
})

const Record = t.Object(
  {
    id: t.String({ examples: ['1'] }),
    product: productField,
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
  t.Object({ product: productField, level, change, unit, date }, { title: 'ProductInventory' }),
)
const Past = t.Array(
  t.Object({ date, level, change, unit, product: productField }, { title: 'PastInventory' }),
)
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

const recordRow = (record: InventoryRecord) => ({
  id: String(record.id),
  product: record.place.product,
  location: record.place.location,
  code: record.series.code,
  level: record.level,
  volume: record.level,
  unit: record.series.unit,
  change: record.change ?? null,
  date: record.on,
  source: sourceOf(record.series).name,
  timestamp: isoInstant(record.recordedAt),
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
  const product = productIn(query.product)
  const location = query.location?.trim()
    ? (locationOf(query.location) ?? refuseWord('location', query.location, inventoryLocations))
    : undefined
  return inventoryPlaces.filter(
    place => (!product || place.product === product) && (!location || place.location === location),
  )
}

const nationalPlaces = inventoryProducts.map(nationalPlace)
const cushingPlace = inventoryPlaces.find(place => place.location === 'Cushing')!
const reservePlace = inventoryPlaces.find(place => place.location === 'SPR')!
const productQuery = wordParameter(inventoryProducts, {
  description: `One of ${inventoryProducts.join(', ')}.`,
  examples: ['gasoline'],
})

/** Records of the inventories, each read marked in the headers of its answer. */
function createInventoryReads({ inventories, marks }: InventoriesDeps) {
  const marked = <T extends readonly InventoryRecord[]>(set: Answering, records: T): T => {
    markFixtures(set, marks, records)
    return records
  }
  const requireLatest = (place: InventoryPlace): InventoryRecord => {
    const record = inventories.latest(place)
    if (!record)
      throw new Problem('DATA_NOT_AVAILABLE', `There is no level of ${place.code}.`, {
        leg: place.code,
      })
    return record
  }
  const listOf = (
    set: Answering,
    places: readonly InventoryPlace[],
    query: Parameters<typeof rangeOf>[0],
  ) => {
    const filter = { places, ...rangeOf(query) }
    return {
      total: inventories.count(filter),
      rows: (limit: number, offset: number) => marked(set, inventories.page(filter, limit, offset)),
    }
  }
  const newestOf = (set: Answering, places: readonly InventoryPlace[]) =>
    marked(
      set,
      places.flatMap(place => inventories.latest(place) ?? []),
    )
  return { marked, requireLatest, listOf, newestOf }
}
type InventoryReads = ReturnType<typeof createInventoryReads>

function summaryAnswer({ marked, requireLatest }: InventoryReads, set: Answering) {
  const national = (product: InventoryProduct) => requireLatest(nationalPlace(product))
  const crude = national('crude_oil')
  const cushing = requireLatest(cushingPlace)
  const reserve = requireLatest(reservePlace)
  const all = national('total_petroleum')
  const gasoline = national('gasoline')
  const distillate = national('distillate')
  marked(set, [crude, cushing, reserve, all, gasoline, distillate])
  return {
    total_crude: crude.level,
    cushing: cushing.level,
    spr: reserve.level,
    total_products: roundTo(all.level - crude.level, levelDecimals(all.series)),
    gasoline: gasoline.level,
    distillate: distillate.level,
    unit: crude.series.unit,
    as_of_date: crude.on,
  }
}

function cushingAnswer(
  { inventories, storage }: InventoriesDeps,
  { marked, requireLatest }: InventoryReads,
  set: Answering,
  weeks: number,
) {
  const record = requireLatest(cushingPlace)
  const history = inventories.page(
    { places: [cushingPlace], from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER },
    weeks,
    0,
  )
  marked(set, [record])
  const percent = storage.of(record.series)?.utilizationPercent
  const newestFields = {
    unit: record.series.unit,
    date: record.on,
    change: record.change ?? null,
  }
  return {
    latest: { volume: record.level, ...newestFields },
    level: record.level,
    capacity_percent: percent === undefined ? null : roundTo(percent, percentDecimals),
    ...newestFields,
    history: history.map(({ on, level, change }) => ({
      date: on,
      volume: level,
      change: change ?? null,
    })),
    weeks,
  }
}

/** Weekly stocks of crude oil and products in the United States. */
export function inventoryOperations(deps: InventoriesDeps) {
  const tier = deps.tierRequired('energy_intelligence')
  const answerOf = ({ set, request }: { set: Answering; request: Request }) => ({
    set,
    request,
    tierRequired: tier,
  })
  /** What `work` makes of the inventories, as they were known where the request asks for a moment. */
  const whereKnown = <T>(
    query: { as_of?: string },
    set: Answering,
    work: (reads: InventoryReads, deps: InventoriesDeps) => T,
  ): T => atMoment(deps, query, set, deps => work(createInventoryReads(deps), deps))

  return [
    operation({
      method: 'GET',
      path: '/v1/ei/oil_inventories',
      aliases: ['/v1/dark_data/oil_inventories'],
      operationId: 'listOilInventories',
      summary: 'Weekly oil inventories',
      description: `Stocks of crude oil and products by week and place, newest first. ${levelNote} ${numberNote}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      query: {
        product: productQuery,
        location: wordParameter(inventoryLocations, {
          description: `One of ${inventoryLocations.join(', ')}.`,
          examples: ['PADD3'],
        }),
        ...rangeQuery,
        ...energyPageQuery,
        ...knownQuery,
      },
      answers: { 200: energyBody(t.Array(Record), 'OilInventories'), ...energyRefusals },
      handle: ({ query, reply, request }) =>
        whereKnown(query, reply, ({ listOf }) =>
          energyPage(
            query,
            answerOf({ set: reply, request }),
            listOf(reply, placesOf(query), query),
            recordRow,
          ),
        ),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/oil_inventories/latest',
      aliases: ['/v1/dark_data/oil_inventories/latest'],
      operationId: 'getLatestOilInventories',
      summary: 'Newest oil inventories',
      description: `The newest level of US commercial crude oil, and in \`products\` the newest nationwide level of each product. ${levelNote}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      query: knownQuery,
      answers: { 200: energyBody(Latest, 'OilInventoriesLatest'), ...energyRefusals },
      handle: ({ query, reply }) =>
        whereKnown(query, reply, ({ marked, newestOf, requireLatest }) => {
          const products = newestOf(reply, nationalPlaces)
          const crude = requireLatest(nationalPlace('crude_oil'))
          marked(reply, [crude])
          return energyRecord({ ...recordRow(crude), products: products.map(recordRow) }, tier)
        }),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/oil_inventories/summary',
      aliases: ['/v1/dark_data/oil_inventories/summary'],
      operationId: 'getOilInventorySummary',
      summary: 'Oil inventories in one line',
      description:
        'The newest levels of commercial crude oil, Cushing, the strategic reserve and the products, in million barrels; `as_of_date` is the day of the crude oil. All are answered or none: 404 names the series that has no level.',
      tags: ['Energy intelligence'],
      access: energyAccess,
      query: knownQuery,
      answers: { 200: energyBody(Summary, 'OilInventoriesSummary'), ...energyRefusals },
      handle: ({ query, reply }) =>
        whereKnown(query, reply, reads => energyRecord(summaryAnswer(reads, reply), tier)),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/oil_inventories/by_product',
      aliases: ['/v1/dark_data/oil_inventories/by_product'],
      operationId: 'getOilInventoriesByProduct',
      summary: 'Newest oil inventories by product',
      description:
        'The newest nationwide level of each product that has one; crude oil without the strategic reserve.',
      tags: ['Energy intelligence'],
      access: energyAccess,
      query: knownQuery,
      answers: { 200: energyBody(ByProduct, 'OilInventoriesByProduct'), ...energyRefusals },
      handle: ({ query, reply }) =>
        whereKnown(query, reply, ({ newestOf }) =>
          energyWholeList(newestOf(reply, nationalPlaces).map(pastRow), tier),
        ),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/oil_inventories/historical',
      aliases: ['/v1/dark_data/oil_inventories/historical'],
      operationId: 'getOilInventoryHistory',
      summary: 'Past oil inventories of a product',
      description: `Nationwide levels of one product, newest first; without \`product\` commercial crude oil. ${levelNote}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      query: {
        product: productQuery,
        ...rangeQuery,
        ...energyPageQuery,
        ...knownQuery,
      },
      answers: { 200: energyBody(Past, 'OilInventoryHistory'), ...energyRefusals },
      handle: ({ query, reply, request }) =>
        whereKnown(query, reply, ({ listOf }) =>
          energyPage(
            query,
            answerOf({ set: reply, request }),
            listOf(reply, [nationalPlace(productIn(query.product) ?? 'crude_oil')], query),
            pastRow,
          ),
        ),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/oil_inventories/cushing',
      aliases: ['/v1/dark_data/oil_inventories/cushing'],
      operationId: 'getCushingInventories',
      summary: 'Crude oil at Cushing by week',
      description:
        'The newest level at Cushing, Oklahoma, where WTI is delivered, and those of the weeks up to it. The same levels as `/v1/storage/cushing`.',
      tags: ['Energy intelligence'],
      access: energyAccess,
      query: {
        weeks: typed({
          type: 'integer',
          description: 'Weeks of `history`, 1 to 520 (12), newest first.',
          examples: [12],
          default: 12,
          minimum: 1,
          maximum: 520,
        }),
        ...knownQuery,
      },
      answers: { 200: energyBody(Cushing, 'OilInventoriesCushing'), ...energyRefusals },
      handle: ({ query, reply }) =>
        whereKnown(query, reply, (reads, deps) =>
          energyRecord(
            cushingAnswer(deps, reads, reply, integerOf('weeks', query.weeks, 12, 1, 520)),
            tier,
          ),
        ),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/oil_inventories/:id',
      aliases: ['/v1/dark_data/oil_inventories/:id'],
      operationId: 'getOilInventory',
      summary: 'One weekly level',
      description: `The level of one place on one day. ${numberNote}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      query: knownQuery,
      params: {
        id: t.String({ description: 'Number of the record.', examples: ['1'] }),
      },
      answers: { 200: energyBody(Record, 'OilInventoryRecord'), ...energyRefusals },
      handle: ({ params, query, reply }) =>
        whereKnown(query, reply, ({ marked }, { inventories }) => {
          const record = inventories.byId(recordIdOf(params.id, 'Inventory'))
          if (!record) throw notFound(`Inventory ${params.id}`)
          marked(reply, [record])
          return energyRecord(recordRow(record), tier)
        }),
    }),
  ]
}
