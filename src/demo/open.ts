import type { Runtime } from '../config/runtime.ts'
import { noteMissedRows } from '../database/dataset-log.ts'
import type { Scenario } from '../http/dev-controls.ts'
import type { OutboxServices } from '../outbox/open.ts'
import { createAnnotationData } from '../topics/analytics/demo/annotations.ts'
import { createPositionData } from '../topics/analytics/demo/positions.ts'
import type { AnalyticsServices } from '../topics/analytics/service/open.ts'
import type { BillingServices } from '../topics/billing/service/open.ts'
import { contractOf } from '../topics/catalogue/service/contract-calendar.ts'
import type { CatalogueServices } from '../topics/catalogue/service/open.ts'
import { createDrillingData } from '../topics/drilling/demo/drilling.ts'
import { createFracData } from '../topics/drilling/demo/frac.ts'
import { createPermitData } from '../topics/drilling/demo/permits.ts'
import { createProductionData } from '../topics/drilling/demo/production.ts'
import type { DrillingServices } from '../topics/drilling/service/open.ts'
import { createStationData } from '../topics/fuels/demo/stations.ts'
import { createSurchargeData } from '../topics/fuels/demo/surcharges.ts'
import type { FuelServices } from '../topics/fuels/service/open.ts'
import { createOpecData } from '../topics/fundamentals/demo/opec.ts'
import { createOutlookData } from '../topics/fundamentals/demo/outlooks.ts'
import { createStorageCapacityData } from '../topics/fundamentals/demo/storage-capacities.ts'
import { inventoryPlaces } from '../topics/fundamentals/math/inventories.ts'
import { createMonthlyForecasts } from '../topics/fundamentals/service/monthly-forecasts.ts'
import type { FundamentalServices } from '../topics/fundamentals/service/open.ts'
import { createFuturesData } from '../topics/futures/demo/futures.ts'
import { contractCode, type FamilyCode, familyOf } from '../topics/futures/math/families.ts'
import type { FuturesServices } from '../topics/futures/service/open.ts'
import { confirmedAccount } from '../topics/keys/service/keyring.ts'
import type { KeyServices } from '../topics/keys/service/open.ts'
import type { OperatorServices } from '../topics/operator/service/open.ts'
import { createEventLog, withEvents } from '../topics/prices/demo/events.ts'
import { withPower } from '../topics/prices/demo/power.ts'
import { createPriceData, type StoredSeries } from '../topics/prices/demo/prices.ts'
import { drillingGroups, withRegions } from '../topics/prices/demo/regions.ts'
import { createWorld, type World } from '../topics/prices/demo/world.ts'
import { dailyCloses } from '../topics/prices/demo/world-closes.ts'
import type { PriceServices } from '../topics/prices/service/open.ts'
import type { WebhookServices } from '../topics/webhooks/service/open.ts'
import type { DemoData } from './demo-data.ts'
import { createDemoFeed } from './feed.ts'
import { sampleAlerts } from './samples/alerts.ts'
import { sampleBilling } from './samples/billing.ts'
import { sampleDataSources } from './samples/data-sources.ts'
import { sampleDeliveries } from './samples/deliveries.ts'
import { sampleId } from './samples/id.ts'
import { sampleMessages } from './samples/messages.ts'
import { sampleOrganization } from './samples/organization.ts'
import type { SampleServices } from './samples/services.ts'
import { sampleWatches } from './samples/watches.ts'
import { sampleWebhooks } from './samples/webhooks.ts'
import { createScenarios, type ScenarioDeps } from './scenarios.ts'
import { type WorldSize, worldSizes } from './size.ts'

/**
 * Opens the demo data of an instance: a generated market and the records of a sample user. An
 * instance with real data never calls this.
 */

export type { DemoFeed } from './feed.ts'

/** The services that demo data is written through. */
export interface DemoServices
  extends Pick<Runtime, 'db' | 'config' | 'clock' | 'ids'>,
    Pick<OperatorServices, 'settings'>,
    CatalogueServices,
    Pick<PriceServices, 'ingest' | 'closes' | 'observations'>,
    Pick<KeyServices, 'keys' | 'meter' | 'plans'>,
    FuturesServices,
    Pick<FundamentalServices, 'storageCapacities' | 'opec' | 'outlooks' | 'monthlyForecasts'>,
    Pick<AnalyticsServices, 'annotations' | 'positions'>,
    Pick<FuelServices, 'surcharges' | 'stations'>,
    Pick<BillingServices, 'billing'>,
    Pick<WebhookServices, 'webhooks'>,
    Pick<OutboxServices, 'outbox'>,
    DrillingServices {}

/**
 * The ways in which scenarios move the instance: `advance` runs its jobs on the way, `settle` sends
 * everything that is due.
 */
export type Moves = Pick<ScenarioDeps, 'advance' | 'settle'>

export type DemoWorld = ReturnType<typeof openDemoWorld>

export function openDemoWorld(services: DemoServices) {
  const { config, catalogue, settings } = services
  const size = worldSizes[config.dev.world]
  const listed = catalogue
    .list()
    .map(row => ({ ...row, available: row.unavailableReason === null && size.has(row) }))
  const unmarked = listed.filter(row => row.available && !row.fixture).map(row => row.id)
  if (unmarked.length > 0) catalogue.markFixture(unmarked)
  const events = createEventLog(settings)
  const calm = withRegions(
    withPower(
      createWorld({ seed: config.dev.seed, series: listed, depth: size.depthOf }),
      config.dev.seed,
      listed,
      size.powerDays,
    ),
    listed,
    drillingGroups,
    size.depthOf,
  )
  const world = withEvents(calm, listed, events)
  const feed = createDemoFeed({
    data: demoData(services, world, listed, size),
    codes: listed.filter(series => series.available).length,
    settings,
    noteRows: part =>
      noteMissedRows(services.db, part === 'newest' ? services.ingest.next() : null),
  })
  return {
    feed,
    /** Situations that can be brought about. */
    scenarios: (moves: Moves): readonly Scenario[] =>
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

/** All demo data, in the order in which it is needed: prices first, wells after their permits. */
function demoData(
  services: DemoServices,
  world: World,
  series: readonly StoredSeries[],
  size: WorldSize,
): DemoData[] {
  const { config, db, catalogue, ingest, wells, closes } = services
  const { seed } = config.dev
  /** A series with the daily closes that the generated market has published for it by `now`. */
  const publishedSeries = (code: string, now: number) => {
    const named = catalogue.named(code)
    return named && { ...named, closes: dailyCloses(world.history(code, now)) }
  }
  return [
    createPriceData({
      world,
      series,
      write: ingest.write,
      together: inventoryPlaces.map(place => place.code),
    }),
    futuresData(services, world, size),
    createStorageCapacityData(services.storageCapacities, code => catalogue.named(code)?.id),
    createSurchargeData({
      seed,
      surcharges: services.surcharges,
      indexOf(code) {
        const named = catalogue.named(code)
        return named && { ...named, closes: closes.of(named.id) }
      },
    }),
    createPositionData({
      seed,
      positions: services.positions,
      closesOf: (code, now) => publishedSeries(code, now)?.closes,
    }),
    createAnnotationData({ annotations: services.annotations, seriesOf: publishedSeries }),
    ...Object.values(
      createDrillingData({ seed, world, drilling: services.drilling, days: size.countedDays }),
    ),
    createOpecData({ seed, world, opec: services.opec }),
    createStationData({ seed, world, stations: services.stations }),
    createOutlookData({
      seed,
      world,
      outlooks: services.outlooks,
      publicationsKept: size.outlooks,
      monthly: createMonthlyForecasts(services.monthlyForecasts),
      seriesOf: code => catalogue.named(code),
    }),
    createPermitData({
      seed,
      world,
      db,
      wells,
      permits: services.permits,
      ...(size.permits && { reach: size.permits }),
    }),
    createFracData({
      seed,
      db,
      wells,
      disclosures: services.fracDisclosures,
      chemicals: services.fracChemicals,
    }),
    createProductionData({
      seed,
      world,
      db,
      production: services.wellProduction,
      known: wells,
      months: size.productionMonths,
    }),
  ]
}

function futuresData(services: DemoServices, world: World, { futures: reach }: WorldSize) {
  const { config, catalogue, futures } = services
  return createFuturesData({
    world,
    futures,
    ...(reach && { reach }),
    seed: config.dev.seed,
    decimals: (code: FamilyCode) => catalogue.named(code)!.decimals,
    open(contracts) {
      const unknown = contracts.filter(
        ({ family, month }) => !catalogue.named(contractCode(family, month)),
      )
      if (unknown.length === 0) return
      catalogue.addContracts(
        unknown.map(({ family, month }) => contractOf(familyOf(family), month)),
      )
      catalogue.markFixture(
        unknown.map(({ family, month }) => catalogue.named(contractCode(family, month))!.id),
      )
    },
  })
}

export const evaluationAccountId = sampleId(1)
const callingKeyId = sampleId(101)
const evaluationEmail = 'eval@example.com'

/**
 * Creates the demo account with a few records of every kind. Its keys: one to call with, one to
 * delete and one to roll. Returns the token of the first; an existing account gets a new one.
 */
export function openEvaluationAccount(services: SampleServices): string {
  const { keys, clock, ids } = services
  const callingKey = keys.byId(callingKeyId)
  if (callingKey) return keys.rollKey(callingKey)
  const at = clock.now()
  const account = keys.putAccount(
    confirmedAccount({ id: evaluationAccountId, email: evaluationEmail, plan: 'enterprise' }, at),
  )
  const token = ids.token()
  keys.addKey(account, { id: callingKeyId, name: 'evaluation', token })
  keys.addKey(account, { id: sampleId(102), name: 'old spreadsheet' })
  keys.addKey(account, { id: sampleId(103), name: 'nightly job' })
  sampleMessages(services, account)
  sampleAlerts(services, account)
  sampleBilling(services, account)
  sampleDeliveries(services, account)
  sampleOrganization(services, account)
  sampleWebhooks(services, account)
  sampleDataSources(services, account)
  sampleWatches(services, account)
  return token
}
