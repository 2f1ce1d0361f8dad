import type { TSchema } from '@sinclair/typebox'
import { t } from '../../../http/answer/schema.ts'
import { pastInQueryWorker } from '../../../http/gate/access-kind.ts'
import { wordParameter } from '../../../http/input/typed.ts'
import { envelope, markFixtures, success } from '../../../http/operations/answer.ts'
import { type Call, operation } from '../../../http/operations/operation.ts'
import { invalidParameter, nameNotFound } from '../../../http/problem/problem.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { roundTo } from '../../prices/math/format.ts'
import { levelDecimals } from '../math/storage.ts'
import type { StorageLevel } from '../service/storage.ts'
import { HistoryBody, historyAnswer, historyQuery, noLevel, questionOf } from './storage-history.ts'
import {
  AllRegions,
  briefRow,
  Level,
  levelRow,
  OneRegion,
  Overview,
  paddRow,
  Reserve,
  siteRow,
  sourcesRow,
} from './storage-row.ts'

const regions = ['PADD1', 'PADD2', 'PADD3', 'PADD4', 'PADD5'] as const
const siteCodes = ['BRYAN_MOUND', 'BIG_HILL', 'WEST_HACKBERRY', 'BAYOU_CHOCTAW'].map(
  site => `SPR_${site}_STORAGE`,
)
const totalCode = 'US_CRUDE_STORAGE'
/** Names of places alongside the aliases of the catalogue. */
const places = new Map([['US', totalCode]])

const crudeOf = (region: string) => `${region}_CRUDE_STORAGE`

type Padds = Partial<Record<Lowercase<(typeof regions)[number]>, ReturnType<typeof paddRow>>>

const keyed = (names: readonly string[], rows: readonly ReturnType<typeof paddRow>[]): Padds =>
  Object.fromEntries(names.map((name, i) => [name.toLowerCase(), rows[i]]))

const unknownPlace = (place: string) =>
  nameNotFound('storage series', place, ['CUSHING', 'SPR', ...places.keys(), ...regions])

/** Levels by code, and the common parts of responses about several of them. */
function storageAnswers({ at, reply }: Pick<Call<never, never, unknown>, 'at' | 'reply'>) {
  const { catalogue, storage: levels, now } = at
  const seriesOf = (code: string): Series | undefined => catalogue.resolve(code, now())?.series

  const levelOf = (code: string): StorageLevel | undefined => {
    const series = seriesOf(code)
    return series && levels.of(series)
  }
  const requireLevel = (code: string): StorageLevel => {
    const level = levelOf(code)
    if (!level) throw noLevel(code)
    return level
  }
  /** Marks the answer and names its sources. */
  const metadata = (levels: readonly StorageLevel[]) => {
    markFixtures(reply, at.marks, levels)
    return sourcesRow(levels.map(level => level.series))
  }
  const regional = (text: string) => {
    const region = regions.find(candidate => candidate === text.trim().toUpperCase())
    if (!region) throw invalidParameter('region', text, regions)
    const level = requireLevel(crudeOf(region))
    const row = paddRow(level)
    const { name, value, unit, updated_at, as_of, recorded_at } = row
    return success({
      ...keyed([region], [row]),
      code: region,
      name,
      value,
      level: value,
      unit,
      updated_at,
      timestamp: updated_at,
      as_of,
      recorded_at,
      metadata: metadata([level]),
    })
  }
  const everyRegion = () => {
    const regionLevels = regions.map(region => requireLevel(crudeOf(region)))
    const total = levelOf(totalCode)
    const all = total ? [...regionLevels, total] : regionLevels
    const sum = regionLevels.reduce((value, level) => value + level.value, 0)
    return success({
      ...(keyed(regions, regionLevels.map(paddRow)) as Required<ReturnType<typeof keyed>>),
      total_us: total ? total.value : roundTo(sum, levelDecimals(regionLevels[0]!.series)),
      updated_at: isoInstant(Math.max(...all.map(level => level.observedAt))),
      metadata: metadata(all),
    })
  }
  const history = (place: string, query: Parameters<typeof questionOf>[0]) => {
    const question = questionOf(query, now())
    const series = seriesOf(places.get(place.trim().toUpperCase()) ?? place)
    if (series?.category !== 'storage') throw unknownPlace(place)
    markFixtures(reply, at.marks, [{ series }])
    return historyAnswer(question, series, at.closes.of(series.id), at.quarantine)
  }
  return { levelOf, requireLevel, metadata, regional, everyRegion, history }
}

const historyRoute = (alias: boolean) => ({
  operationId: alias ? 'getStorageHistoryOfPlace' : 'getStorageHistory',
  summary: 'List historical stock levels',
  ...(alias && { deprecated: { use: '/v1/storage/history/:code' } }),
  description: `Returns levels of a place, newest first, on one page, as published or the last of each day, week (from Monday) or month (UTC). \`change\` is relative to the row before, even if that row is outside the range. Without dates the range is \`period\` up to now. Levels are in the unit of the series: \`million_barrels\` (to the thousand barrels), \`bcf\` of natural gas, \`percent\` full for European gas.`,
  access: { meter: true },
  params: {
    code: t.string(
      'Any code of category `storage`, or `CUSHING`, `SPR`, `US`, `PADD1` to `PADD5`, in any case.',
      'CUSHING_STORAGE',
    ),
  },
  view: 'as_of' as const,
  unpaged: true as const,
  query: historyQuery,
  answers: { 200: HistoryBody, 400: CodeProblem, 404: NestedProblem },
})

const reading = <Body extends TSchema>(body: Body) => ({
  access: { meter: true, ...pastInQueryWorker },
  view: 'as_of' as const,
  answers: { 200: body, 404: NestedProblem },
})

/** Stocks of crude oil and products: levels, changes and utilization of capacity. */
export const storageOperations = [
  operation('GET /v1/storage', {
    operationId: 'getStorage',
    summary: 'Get crude oil stocks',
    description:
      'Returns the newest levels of Cushing, the Strategic Petroleum Reserve and US commercial crude. Cushing and the regions are published on Wednesdays, the reserve on Fridays.',
    ...reading(envelope(Overview)),
    handle: call => {
      const { levelOf, requireLevel, metadata } = storageAnswers(call)
      const [cushing, spr, total] = [
        requireLevel('CUSHING_STORAGE'),
        requireLevel('SPR_STORAGE'),
        levelOf(totalCode),
      ]
      return success({
        cushing: briefRow(cushing),
        spr: briefRow(spr),
        ...(total && { total_us: briefRow(total) }),
        metadata: metadata([cushing, spr, ...(total ? [total] : [])]),
      })
    },
  }),
  operation('GET /v1/storage/cushing', {
    operationId: 'getCushingStorage',
    summary: 'Get crude oil stocks at Cushing',
    description:
      'Returns the newest level at Cushing, Oklahoma, where WTI is delivered, with its changes and working capacity.',
    ...reading(envelope(Level)),
    handle: call => {
      const { requireLevel, metadata } = storageAnswers(call)
      const level = requireLevel('CUSHING_STORAGE')
      return success({ ...levelRow(level), metadata: metadata([level]) })
    },
  }),
  operation('GET /v1/storage/spr', {
    operationId: 'getStrategicReserve',
    summary: 'Get the Strategic Petroleum Reserve',
    description:
      'Returns the newest level of the reserve with its changes, and the level of each of its four sites, if known.',
    ...reading(envelope(Reserve)),
    handle: call => {
      const { levelOf, requireLevel, metadata } = storageAnswers(call)
      const level = requireLevel('SPR_STORAGE')
      const sites = siteCodes.flatMap(code => levelOf(code) ?? [])
      return success({
        ...levelRow(level),
        sites: sites.map(siteRow),
        metadata: metadata([level, ...sites]),
      })
    },
  }),
  operation('GET /v1/storage/regional', {
    operationId: 'getRegionalStorage',
    summary: 'Get crude oil stocks by region',
    description:
      'Returns commercial crude stocks in the five Petroleum Administration for Defense Districts (PADD), or in one of them. 404 names a district without a level.',
    ...reading(t.Union([envelope(AllRegions), envelope(OneRegion)])),
    query: {
      region: wordParameter(
        regions,
        'One of PADD1 to PADD5, in any case; absent: all five.',
        'PADD3',
      ),
    },
    handle: call => {
      const { regional, everyRegion } = storageAnswers(call)
      return call.query.region ? regional(call.query.region) : everyRegion()
    },
  }),
  operation('GET /v1/storage/history/:code', {
    ...historyRoute(false),
    handle: call => storageAnswers(call).history(call.params.code, call.query),
  }),
  operation('GET /v1/storage/:code/history', {
    ...historyRoute(true),
    handle: call => storageAnswers(call).history(call.params.code, call.query),
  }),
]
