import type { Runtime } from '../config/runtime.ts'
import { releasePages, transact, withoutSyncing } from '../database/database.ts'
import type { OutboxServices } from '../outbox/open.ts'
import type { AccountServices } from '../topics/account/service/open.ts'
import type { AlertServices } from '../topics/alerts/service/open.ts'
import { createAnnotationFiller } from '../topics/analytics/demo/annotations.ts'
import { createPositionFiller } from '../topics/analytics/demo/positions.ts'
import type { AnalyticsServices } from '../topics/analytics/service/open.ts'
import type { BillingServices } from '../topics/billing/service/open.ts'
import { contractOf } from '../topics/catalogue/service/contract-calendar.ts'
import type { CatalogueServices } from '../topics/catalogue/service/open.ts'
import type { DeliveryServices } from '../topics/deliveries/service/open.ts'
import { createDrillingFillers, type DrillingFamily } from '../topics/drilling/demo/drilling.ts'
import { createFracFiller } from '../topics/drilling/demo/frac.ts'
import { createPermitFiller } from '../topics/drilling/demo/permits.ts'
import { createProductionFiller } from '../topics/drilling/demo/production.ts'
import type { DrillingServices } from '../topics/drilling/service/open.ts'
import { createStationFiller } from '../topics/fuels/demo/stations.ts'
import { createSurchargeFiller } from '../topics/fuels/demo/surcharges.ts'
import type { FuelServices } from '../topics/fuels/service/open.ts'
import { createOpecFiller } from '../topics/fundamentals/demo/opec.ts'
import { createOutlookFiller } from '../topics/fundamentals/demo/outlooks.ts'
import { createStorageCapacityFiller } from '../topics/fundamentals/demo/storage-capacities.ts'
import { inventoryPlaces } from '../topics/fundamentals/math/inventories.ts'
import { createMonthlyForecasts } from '../topics/fundamentals/service/monthly-forecasts.ts'
import type { FundamentalServices } from '../topics/fundamentals/service/open.ts'
import { createFuturesFiller, type FuturesFiller } from '../topics/futures/demo/futures.ts'
import {
  contractCode,
  type FamilyCode,
  families,
  familyOf,
} from '../topics/futures/math/families.ts'
import type { FuturesServices } from '../topics/futures/service/open.ts'
import type { KeyServices } from '../topics/keys/service/open.ts'
import type { MessageServices } from '../topics/messages/service/open.ts'
import type { OperatorServices } from '../topics/operator/service/open.ts'
import { createEventLog, withEvents } from '../topics/prices/demo/events.ts'
import { createPriceFeed, type PriceFeed } from '../topics/prices/demo/feed.ts'
import { shippedStates } from '../topics/prices/demo/path-states.ts'
import { begunAtOf } from '../topics/prices/demo/progress.ts'
import { drillingGroups, withRegions } from '../topics/prices/demo/regions.ts'
import { createWorld, type World } from '../topics/prices/demo/world.ts'
import { dailyCloses } from '../topics/prices/demo/world-closes.ts'
import type { PriceServices } from '../topics/prices/service/open.ts'
import type { SourceServices } from '../topics/sources/service/open.ts'
import type { WatchServices } from '../topics/watches/service/open.ts'
import type { WebhookServices } from '../topics/webhooks/service/open.ts'
import {
  type DataRequest,
  type Families,
  type Filler,
  type PriceReach,
  type WorldFeed,
  withFamilies,
} from './filler.ts'
import { sampleAlerts } from './samples/alerts.ts'
import { sampleBilling } from './samples/billing.ts'
import { sampleDataSources } from './samples/data-sources.ts'
import { sampleDeliveries } from './samples/deliveries.ts'
import { sampleId } from './samples/id.ts'
import { sampleMessages } from './samples/messages.ts'
import { sampleOrganization } from './samples/organization.ts'
import { sampleWatches } from './samples/watches.ts'
import { sampleWebhooks } from './samples/webhooks.ts'
import { createScenarios, type Scenario, type ScenarioDeps } from './scenarios.ts'
import { worldSizes } from './size.ts'

/**
 * The only way into the world from outside: a market that never was and the records of somebody
 * who uses it, both for an evaluation copy. A copy that serves real data never comes here.
 */

export { shippedSeed } from '../topics/prices/demo/path-states.ts'
export type { WorldFeed } from './filler.ts'
export { layImage } from './image.ts'

/** What the data of the world is written through. */
export interface WorldServices
  extends Pick<Runtime, 'db' | 'config' | 'clock' | 'ids'>,
    Pick<OperatorServices, 'settings'>,
    CatalogueServices,
    Pick<PriceServices, 'ingest' | 'closes' | 'observations' | 'supplyFrom' | 'forgetReads'>,
    Pick<KeyServices, 'keys' | 'meter' | 'plans'>,
    FuturesServices,
    Pick<FundamentalServices, 'storageCapacities' | 'opec' | 'outlooks' | 'monthlyForecasts'>,
    Pick<AnalyticsServices, 'annotations' | 'positions'>,
    Pick<FuelServices, 'surcharges' | 'stations'>,
    Pick<BillingServices, 'billing'>,
    Pick<WebhookServices, 'webhooks'>,
    Pick<OutboxServices, 'outbox'>,
    DrillingServices {}

/** How scenarios move the copy: `advance` runs its jobs on the way, `settle` sends what is due. */
export type Moves = Pick<ScenarioDeps, 'advance' | 'settle'>

export interface InventedWorld {
  /** Data of every family that the service answers, filled step by step and then kept current. */
  feed: WorldFeed
  /** Situations that can be brought about. */
  scenarios(moves: Moves): readonly Scenario[]
}

export function openWorld(services: WorldServices): InventedWorld {
  const { config, catalogue, ingest, settings, clock } = services
  const { seed } = config.dev
  const size = sizeOf(services)
  const listed = catalogue
    .list()
    .map(row => ({ ...row, available: row.unavailableReason === null && size.has(row) }))
  const unmarked = listed.filter(row => row.available && !row.fixture).map(row => row.id)
  if (unmarked.length > 0) {
    catalogue.markFixture(unmarked)
  }
  const events = createEventLog(settings)
  const calm = withRegions(
    createWorld({ seed, series: listed, known: shippedStates(), depth: size.depthOf }),
    listed,
    drillingGroups,
    size.depthOf,
  )
  const world = withEvents(calm, listed, events)
  const prices = createPriceFeed({
    world,
    series: listed,
    // A batch that reads on its way takes nothing with it that was written for it to read.
    ingest: {
      write: (points, recordedAt) => ingest.as(undefined, () => ingest.write(points, recordedAt)),
    },
    settings,
    clock,
    depth: size.depthOf,
    together: inventoryPlaces.map(place => place.code),
  })
  const feed = withFamilies(prices, familiesOf(services, world, prices))
  services.supplyFrom(feed.supply)
  return {
    feed,
    scenarios: moves =>
      createScenarios({
        ...services,
        world,
        series: listed,
        events,
        feed,
        evaluationAccountId,
        ...moves,
      }),
  }
}

const sizeOf = ({ config }: Pick<WorldServices, 'config'>) => worldSizes[config.dev.world]

type FamilyName =
  | 'futures'
  | 'capacities'
  | 'surcharges'
  | 'positions'
  | 'annotations'
  | DrillingFamily
  | 'opec'
  | 'stations'
  | 'outlooks'
  | 'permits'
  | 'frac'
  | 'production'

/** Routes that read contracts of futures, which must be known before they are asked for. */
const ofContracts = ['/v1/futures', '/v1/spreads', '/v1/indicators', '/v1/market-brief']

const counts: readonly FamilyName[] = ['rigs', 'ducs', 'productivities', 'crews']

/** What an image of a copy holds; permits come before what is of their wells. */
const registers: readonly FamilyName[] = [
  'capacities',
  'positions',
  'annotations',
  ...counts,
  'opec',
  'outlooks',
  'permits',
  'frac',
  'production',
]

/** Which families the routes below a path need: the first path that fits says it. */
const needs: readonly (readonly [path: string, families: readonly FamilyName[]])[] = [
  ['/v1/indicators', ['positions', 'annotations', 'capacities']],
  ['/v1/market-brief', ['positions', 'annotations', ...counts, 'outlooks']],
  ['/v1/storage', ['capacities']],
  ['/v1/fuel-surcharge', ['surcharges']],
  ['/v1/diesel-prices', ['stations']],
  ['/v1/rig-counts', ['rigs']],
  ['/v1/drilling/', [...counts, 'permits']],
  ['/v1/drilling-intelligence/frac-spreads', ['crews']],
  ['/v1/drilling-intelligence/duc-wells', ['ducs']],
  ['/v1/drilling-intelligence/wells-drilled', ['ducs']],
  ['/v1/drilling-intelligence/completions', ['ducs']],
  ['/v1/drilling-intelligence/well-permits', ['permits']],
  ['/v1/drilling-intelligence', [...counts, 'permits', 'production']],
  ['/v1/pseo', [...counts, 'permits', 'production', 'frac']],
  ['/v1/forecasts', ['outlooks', 'opec']],
  ['/v1/ei/forecasts', ['outlooks', 'opec']],
  ['/v1/ei/opec_productions', ['opec']],
  ['/v1/ei/oil_inventories', ['capacities']],
  ['/v1/ei/rig_counts', ['rigs']],
  ['/v1/ei/frac_spreads', ['crews']],
  ['/v1/ei/duc_wells', ['ducs']],
  ['/v1/ei/drilling_productivities', ['productivities', 'ducs']],
  ['/v1/ei/well-permits', ['permits']],
  ['/v1/ei/wells', ['permits', 'frac', 'production']],
  ['/v1/ei/frac-focus', ['permits', 'frac']],
  ['/v1/well-production', ['permits', 'production']],
]

/**
 * Routes that need the newest price of every code, which are written at once. Of others each read
 * asks for the code that it is of.
 */
const ofEveryCode = [
  '/admin/v1/condition',
  '/admin/v1/series',
  '/product-facts.json',
  '/status.json',
  '/v1/commodities',
  '/v1/commodities/categories',
  '/v1/data-quality/reports',
  '/v1/data-quality/summary',
  '/v1/demo/commodities',
  '/v1/prices/all',
  '/v1/prices/all/health',
  '/v1/status',
]
/** The same, unless the address names codes. */
const ofNamedCodes = ['/v1/prices/latest']
/** A route that looks at the newest stretch of the code that its path names. */
const ofPathCode = '/v1/data-quality/reports/:code'
/** Controls that move the clock or change what is published next, which stands on it. */
const standsOnStretch = ['/_dev/clock', '/_dev/feed', '/_dev/scenario']

function reachOf(
  { route, method, url }: DataRequest,
  catalogue: WorldServices['catalogue'],
): PriceReach {
  const isBelow = (path: string): boolean => route.startsWith(path)
  if (isBelow('/v1/ei/oil_inventories')) return inventoryPlaces.map(place => place.code)
  if (method === 'POST' && standsOnStretch.some(isBelow)) return 'stretch'
  if (route === ofPathCode) {
    const series = catalogue.named(new URL(url, 'http://localhost').pathname.split('/').at(-1)!)
    // A family is judged by a contract, and that is known with all of them.
    return series && series.contractOf === null && !isFamily(series.code)
      ? [series.code]
      : 'stretch'
  }
  if (ofEveryCode.includes(route)) return 'newest'
  return namesCodes(url) || !ofNamedCodes.includes(route) ? [] : 'newest'
}

const namesCodes = (url: string): boolean => {
  const { searchParams } = new URL(url, 'http://localhost')
  return searchParams.has('by_code') || searchParams.has('code')
}

/** Whether a code in the address stands for a contract, or may do so once contracts are known. */
function namesContract(url: string, catalogue: WorldServices['catalogue']): boolean {
  const { searchParams } = new URL(url, 'http://localhost')
  return [...searchParams.values()]
    .flatMap(value => value.split(','))
    .some(code => isFamily(code) || catalogue.named(code)?.contractOf != null)
}

const familyCodes: ReadonlySet<string> = new Set(families.map(family => family.code))
const isFamily = (code: string): code is FamilyCode => familyCodes.has(code)

function familiesOf(
  services: WorldServices,
  world: World,
  prices: PriceFeed,
): Families<FamilyName> {
  const { config, catalogue, clock } = services
  const { seed } = config.dev
  const futures = futuresFiller(services, world)
  const { permits, frac, production } = wellFillers(services, world)
  /** The code of a series that is a contract. */
  const contractOfId = (seriesId: number): string | undefined => {
    const series = catalogue.byId(seriesId)
    return series?.contractOf ? series.code : undefined
  }
  return {
    fillers: {
      futures,
      capacities: createStorageCapacityFiller(
        services.storageCapacities,
        code => catalogue.named(code)?.id,
        clock.now,
      ),
      surcharges: surchargeFiller(services, prices),
      positions: positionFiller(services, world),
      annotations: annotationFiller(services, world),
      ...createDrillingFillers({
        seed,
        world,
        drilling: services.drilling,
        clock,
        days: sizeOf(services).countedDays,
        startedAt: () => begunAtOf(services.settings) ?? clock.now(),
      }),
      opec: createOpecFiller({ seed, world, opec: services.opec, now: clock.now }),
      stations: createStationFiller({ seed, world, stations: services.stations, now: clock.now }),
      outlooks: outlookFiller(services, world),
      permits,
      frac,
      production,
    },
    registers,
    first: futures.begin,
    firstStep: futures.beginStep,
    image: futures.beginCurves,
    quoteAll: futures.quoteAll,
    quote(seriesId) {
      const { code, contractOf } = catalogue.byId(seriesId)
      if (isFamily(code)) futures.quote(code)
      else if (contractOf !== null) futures.quoteContract(code)
    },
    hasNewest(seriesId, before) {
      const contract = contractOfId(seriesId)
      return contract !== undefined && futures.hasNewest(contract, before)
    },
    isUnwritten(seriesId) {
      const contract = contractOfId(seriesId)
      return contract !== undefined && futures.isUnwritten(contract)
    },
    isMissing(seriesId) {
      const contract = contractOfId(seriesId)
      return contract !== undefined && futures.isMissing(contract)
    },
    now: clock.now,
    atOnce: work => transact(services.db, work),
    withoutSyncing: work => withoutSyncing(services.db, work),
    forget: services.forgetReads,
    whenWhole: () => releasePages(services.db),
    reachOf: asked => reachOf(asked, catalogue),
    lay({ route, url }, fill) {
      if (ofContracts.some(path => route.startsWith(path)) || namesContract(url, catalogue)) {
        futures.open()
        // Since when a dataset is known is said of all of it, and what is read of the past is not
        // written meanwhile.
        if (new URL(url, 'http://localhost').searchParams.has('as_of')) fill('futures')
      }
      const [, names] = needs.find(([path]) => route.startsWith(path)) ?? [undefined, []]
      for (const name of names) fill(name)
    },
    supply(seriesId) {
      const contract = contractOfId(seriesId)
      return contract !== undefined && futures.supply(contract)
    },
  }
}

function futuresFiller(services: WorldServices, world: World): FuturesFiller {
  const { config, catalogue, futures, settings, clock, ingest } = services
  const open = (contracts: readonly { family: FamilyCode; month: string }[]) => {
    // An image has most of them.
    const unknown = contracts.filter(
      ({ family, month }) => !catalogue.named(contractCode(family, month)),
    )
    if (unknown.length === 0) return
    catalogue.addContracts(unknown.map(({ family, month }) => contractOf(familyOf(family), month)))
    const codes = unknown.map(({ family, month }) => contractCode(family, month))
    catalogue.markFixture(codes.map(code => catalogue.named(code)!.id))
  }
  const { futures: reach } = sizeOf(services)
  const decimals = (code: FamilyCode) => catalogue.named(code)!.decimals
  return createFuturesFiller({
    world,
    futures,
    settings,
    clock,
    ...(reach && { reach }),
    seed: config.dev.seed,
    decimals,
    open,
    quote(points) {
      const written = points.map(({ contract, ...point }) => ({
        seriesId: catalogue.named(contract)!.id,
        ...point,
      }))
      ingest.as(undefined, () => ingest.write(written, clock.now()))
    },
  })
}

function outlookFiller(services: WorldServices, world: World): Filler {
  const { config, outlooks, monthlyForecasts, catalogue, clock } = services
  return createOutlookFiller({
    seed: config.dev.seed,
    world,
    outlooks,
    clock,
    publicationsKept: sizeOf(services).outlooks,
    monthly: createMonthlyForecasts(monthlyForecasts),
    seriesOf: code => catalogue.named(code),
  })
}

function wellFillers(services: WorldServices, world: World) {
  const { config, db, settings, clock, wells } = services
  const size = sizeOf(services)
  const shared = { seed: config.dev.seed, db, settings, clock }
  const permits = createPermitFiller({
    ...shared,
    world,
    wells,
    permits: services.permits,
    ...(size.permits && { reach: size.permits }),
  })
  const frac = createFracFiller({
    ...shared,
    wells,
    disclosures: services.fracDisclosures,
    chemicals: services.fracChemicals,
    isReady: permits.isFilled,
  })
  const production = createProductionFiller({
    ...shared,
    world,
    production: services.wellProduction,
    known: wells,
    isReady: permits.isFilled,
    months: size.productionMonths,
  })
  return { permits, frac, production }
}

/**
 * A series with the closes that the world has published of it: whoever only computes from them does
 * not wait for its history to be written.
 */
function publishedSeries({ catalogue, clock }: WorldServices, world: World, code: string) {
  const series = catalogue.named(code)
  return series && { ...series, closes: dailyCloses(world.history(code, clock.now())) }
}

/** A series with its daily closes, whose whole history is there. */
function filledSeries({ catalogue, closes }: WorldServices, prices: PriceFeed, code: string) {
  prices.fill(code)
  const series = prices.filled().has(code) ? catalogue.named(code) : undefined
  return series && { ...series, closes: closes.of(series.id) }
}

const surchargeFiller = (services: WorldServices, prices: PriceFeed): Filler =>
  createSurchargeFiller({
    seed: services.config.dev.seed,
    surcharges: services.surcharges,
    clock: services.clock,
    indexOf: code => filledSeries(services, prices, code),
  })

const positionFiller = (services: WorldServices, world: World): Filler =>
  createPositionFiller({
    seed: services.config.dev.seed,
    positions: services.positions,
    clock: services.clock,
    closesOf: code => publishedSeries(services, world, code)?.closes,
  })

const annotationFiller = (services: WorldServices, world: World): Filler =>
  createAnnotationFiller({
    annotations: services.annotations,
    clock: services.clock,
    seriesOf: code => publishedSeries(services, world, code),
  })

export const evaluationAccountId = sampleId(1)
const callingKeyId = sampleId(101)
const evaluationEmail = 'eval@example.com'

/** What the records of the evaluation account are written through. */
export interface SampleServices
  extends Pick<Runtime, 'db' | 'clock' | 'ids'>,
    CatalogueServices,
    Pick<KeyServices, 'keys' | 'organizationStore'>,
    Pick<MessageServices, 'notifications'>,
    AlertServices,
    BillingServices,
    DeliveryServices,
    WebhookServices,
    OutboxServices,
    SourceServices,
    WatchServices,
    AccountServices {}

/**
 * The account of an evaluation copy, with a few records of everything that an account can have. Its
 * keys: one to call with, one to delete and one to roll. Answers the token of the first; an account
 * that exists gets a new one.
 */
export function openEvaluationAccount(services: SampleServices): string {
  const { keys, clock, ids } = services
  const callingKey = keys.byId(callingKeyId)
  if (callingKey) return keys.rollKey(callingKey)
  const at = clock.now()
  const account = keys.putAccount({
    id: evaluationAccountId,
    email: evaluationEmail,
    plan: 'enterprise',
    addOns: [],
    trialStartedAt: null,
    trialEndsAt: null,
    emailConfirmedAt: at,
    suspendedAt: null,
    createdAt: at,
  })
  const token = ids.token()
  keys.addKey(account, { id: callingKeyId, name: 'evaluation', token })
  keys.addKey(account, { id: sampleId(102), name: 'old spreadsheet' })
  keys.addKey(account, { id: sampleId(103), name: 'nightly job' })
  sampleMessages(services, evaluationAccountId)
  sampleAlerts(services, evaluationAccountId)
  sampleBilling(services, evaluationAccountId)
  sampleDeliveries(services, evaluationAccountId)
  sampleOrganization(services, evaluationAccountId)
  sampleWebhooks(services, evaluationAccountId)
  sampleDataSources(services, evaluationAccountId)
  sampleWatches(services, evaluationAccountId)
  return token
}
