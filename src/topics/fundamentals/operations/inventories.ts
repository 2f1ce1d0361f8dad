import { t } from '../../../http/answer/schema.ts'
import { parsed, wordParameter } from '../../../http/input/typed.ts'
import { markFixtures } from '../../../http/operations/answer.ts'
import { invalidParameter } from '../../../http/problem/problem.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { sourceOf } from '../../catalogue/math/catalogue.ts'
import { type EnergyCall, energy, pagedRows } from '../../energy/operations/frame.ts'
import { rangeOf, rangeQuery } from '../../energy/operations/list.ts'
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
import { noLevel } from './storage-history.ts'

const level = t.number('In `unit`.', 424.2)
const change = t.numberOrNull(
  'Against the level of a week before (7 to 13 days older); null without one.',
  -0.821,
)
const unit = t.String({ examples: ['million_barrels'] })
const date = t.date('Day of the level.', '2026-11-18')
const productField = t.string(inventoryProducts.join(', '), 'crude_oil')

const Record = t.object('OilInventory', {
  id: t.String({ examples: ['1'] }),
  product: productField,
  location: t.string(inventoryLocations.join(', '), 'US'),
  code: t.string('Code of the series, for the price and storage endpoints.', 'US_CRUDE_STORAGE'),
  level,
  volume: t.number('The same as `level`.', 424.2),
  unit,
  change,
  date,
  source: t.String({ examples: ['EIA'] }),
  timestamp: t.instant('When this service recorded the level.'),
})
const Latest = t.Composite([Record, t.Object({ products: t.Array(Record) })], {
  title: 'LatestOilInventories',
})
const Summary = t.object('OilInventorySummary', {
  total_crude: t.number('Commercial crude oil, without the strategic reserve.', 424.2),
  cushing: t.Number({ examples: [24.604] }),
  spr: t.Number({ examples: [409.8] }),
  total_products: t.number('All commercial petroleum minus crude oil.', 853.8),
  gasoline: t.Number({ examples: [207.4] }),
  distillate: t.Number({ examples: [111.5] }),
  unit,
  as_of_date: date,
})
const ProductLevel = t.object('ProductInventory', {
  product: productField,
  level,
  change,
  unit,
  date,
})
const PastLevel = t.object('PastInventory', { date, level, change, unit, product: productField })
const Cushing = t.object('CushingInventory', {
  latest: t.Object({ volume: t.Number({ examples: [24.604] }), unit, date, change }),
  level,
  change,
  capacity_percent: t.numberOrNull(
    '100 x level / working capacity of its day; null while no capacity is known.',
    31.38,
  ),
  unit,
  date,
  history: t.Array(t.Object({ date, volume: t.Number({ examples: [24.604] }), change })),
  weeks: t.integer({ examples: [12] }),
})

/** The precision of the storage endpoint. */
const percentDecimals = 10

const numberNote =
  'Record numbers are assigned in the order of arrival and never change; older days that arrive later get the next numbers.'
const levelNote =
  'The levels are the weekly storage series of `/v1/storage`, in million barrels, published on Wednesdays at 15:30 UTC (the strategic reserve on Fridays, both a day later after a holiday); the sites of the reserve are in `/v1/storage/spr`.'

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
  throw invalidParameter(parameter, text.slice(0, 100), allowed)
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
const productQuery = wordParameter(
  inventoryProducts,
  `One of ${inventoryProducts.join(', ')}.`,
  'gasoline',
)

function marked<T extends readonly InventoryRecord[]>({ at, reply }: EnergyCall, records: T): T {
  markFixtures(reply, at.marks, records)
  return records
}

function requireLatest(call: EnergyCall, place: InventoryPlace): InventoryRecord {
  const record = call.at.inventories.latest(place)
  if (!record) throw noLevel(place.code)
  return marked(call, [record])[0]!
}

/** The newest nationwide level of each product that has one. */
const newestOfProducts = (call: EnergyCall) =>
  marked(
    call,
    nationalPlaces.flatMap(place => call.at.inventories.latest(place) ?? []),
  )

function listOf<R>(
  call: EnergyCall & { query: { start_date?: string; end_date?: string } },
  places: readonly InventoryPlace[],
  shape: (record: InventoryRecord) => R,
) {
  const filter = { places, ...rangeOf(call.query) }
  return pagedRows(call.at.inventories, filter, records => marked(call, records).map(shape))
}

/** Weekly stocks of crude oil and products in the United States. */
export const inventoryOperations = [
  energy.pages({
    path: '/v1/ei/oil_inventories',
    operationId: 'listOilInventories',
    summary: 'List weekly oil inventories',
    description: `Returns stocks of crude oil and products by week and place, newest first. ${levelNote} ${numberNote}`,
    view: 'as_of',
    query: {
      product: productQuery,
      location: wordParameter(
        inventoryLocations,
        `One of ${inventoryLocations.join(', ')}.`,
        'PADD3',
      ),
      ...rangeQuery,
    },
    title: 'OilInventories',
    row: Record,
    list: call => listOf(call, placesOf(call.query), recordRow),
  }),
  energy.record({
    path: '/v1/ei/oil_inventories/latest',
    operationId: 'getLatestOilInventories',
    summary: 'Get the latest oil inventories',
    description: `Returns the newest level of US commercial crude oil and, in \`products\` the newest nationwide level of each product. ${levelNote}`,
    view: 'as_of',
    title: 'OilInventoriesLatest',
    data: Latest,
    handle: call => ({
      ...recordRow(requireLatest(call, nationalPlace('crude_oil'))),
      products: newestOfProducts(call).map(recordRow),
    }),
  }),
  energy.record({
    path: '/v1/ei/oil_inventories/summary',
    operationId: 'getOilInventorySummary',
    summary: 'Get a summary of oil inventories',
    description:
      'Returns the newest levels of commercial crude oil, Cushing, the strategic reserve and the products, in million barrels; `as_of_date` is the day of the crude oil. 404 names a series without a level.',
    view: 'as_of',
    title: 'OilInventoriesSummary',
    data: Summary,
    handle(call) {
      const national = (product: InventoryProduct) => requireLatest(call, nationalPlace(product))
      const crude = national('crude_oil')
      const cushing = requireLatest(call, cushingPlace)
      const reserve = requireLatest(call, reservePlace)
      const all = national('total_petroleum')
      return {
        total_crude: crude.level,
        cushing: cushing.level,
        spr: reserve.level,
        total_products: roundTo(all.level - crude.level, levelDecimals(all.series)),
        gasoline: national('gasoline').level,
        distillate: national('distillate').level,
        unit: crude.series.unit,
        as_of_date: crude.on,
      }
    },
  }),
  energy.wholeList({
    path: '/v1/ei/oil_inventories/by_product',
    operationId: 'getOilInventoriesByProduct',
    summary: 'Get the latest oil inventories by product',
    description:
      'Returns the newest nationwide level of each product; crude oil excludes the strategic reserve.',
    view: 'as_of',
    title: 'OilInventoriesByProduct',
    row: ProductLevel,
    handle: call => newestOfProducts(call).map(pastRow),
  }),
  energy.pages({
    path: '/v1/ei/oil_inventories/historical',
    operationId: 'getOilInventoryHistory',
    summary: 'List historical oil inventories of a product',
    description: `Returns nationwide levels of one product, newest first; without \`product\` commercial crude oil. ${levelNote}`,
    view: 'as_of',
    query: { product: productQuery, ...rangeQuery },
    title: 'OilInventoryHistory',
    row: PastLevel,
    list: call =>
      listOf(call, [nationalPlace(productIn(call.query.product) ?? 'crude_oil')], pastRow),
  }),
  energy.record({
    path: '/v1/ei/oil_inventories/cushing',
    operationId: 'getCushingInventories',
    summary: 'List weekly crude oil stocks at Cushing',
    description:
      'Returns the levels at Cushing, Oklahoma, where WTI is delivered: the newest and those of earlier weeks, as in `/v1/storage/cushing`.',
    view: 'as_of',
    query: {
      weeks: parsed.integer('Weeks of `history`, newest first', [1, 520], 12),
    },
    title: 'OilInventoriesCushing',
    data: Cushing,
    handle(call) {
      const { inventories, storage } = call.at
      const { weeks } = call.query
      const record = requireLatest(call, cushingPlace)
      const history = inventories.page({ places: [cushingPlace], ...rangeOf({}) }, weeks, 0)
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
    },
  }),
  energy.byId({
    path: '/v1/ei/oil_inventories/:id',
    operationId: 'getOilInventory',
    summary: 'Get a weekly oil inventory record',
    description: `Returns the level of one place on one day. ${numberNote}`,
    view: 'as_of',
    subject: 'inventory',
    title: 'OilInventoryRecord',
    data: Record,
    find: (id, { at }) => at.inventories.byId(id),
    shape: (record, call) => recordRow(marked(call, [record])[0]!),
  }),
]
