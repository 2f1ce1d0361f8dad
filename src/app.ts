import { account } from './api/account.ts'
import { admin } from './api/admin.ts'
import { adminData } from './api/admin-data.ts'
import { adminDatasets } from './api/admin-datasets.ts'
import { analytics } from './api/analytics.ts'
import { apiKeys } from './api/api-keys.ts'
import { batch } from './api/batch.ts'
import { commodities } from './api/commodities.ts'
import { commodityTexts } from './api/commodity-texts.ts'
import { convert } from './api/convert.ts'
import { demoPrices } from './api/demo.ts'
import { type DevControls, dev } from './api/dev.ts'
import { docs } from './api/docs.ts'
import { excel } from './api/excel.ts'
import { fuelSurcharge } from './api/fuel-surcharge.ts'
import { futures } from './api/futures.ts'
import { aloneVitals, health, type Vitals } from './api/health.ts'
import { indicators } from './api/indicators.ts'
import { latest } from './api/latest.ts'
import { marine } from './api/marine.ts'
import { marketBrief } from './api/market-brief.ts'
import { meta } from './api/meta.ts'
import { metrics } from './api/metrics.ts'
import { performance } from './api/performance.ts'
import { priceLists } from './api/price-lists.ts'
import { spreads } from './api/spreads.ts'
import { storage } from './api/storage.ts'
import { usage } from './api/usage.ts'
import { widgets } from './api/widgets.ts'
import { windows } from './api/windows.ts'
import { datasets } from './feed/datasets.ts'
import { shippedPorts } from './feed/shipped-ports.ts'
import { accessPlugin } from './http/access.ts'
import { type PeerLookup, trustedProxies } from './http/address.ts'
import { base } from './http/base.ts'
import { codeReader } from './http/codes.ts'
import { faultMeeter } from './http/faults.ts'
import { gate } from './http/gate.ts'
import { idempotency } from './http/idempotency.ts'
import { apiIntroduction, apiTags } from './http/introduction.ts'
import { linker } from './http/links.ts'
import { documentOf } from './http/openapi.ts'
import { type RateTables, rateSeed, rateTables } from './http/rates.ts'
import { freshness } from './service/freshness.ts'
import { fx } from './service/fx.ts'
import { keyChanges } from './service/key-changes.ts'
import type { Services } from './services.ts'
import { idempotencyStore } from './store/idempotency.ts'

export interface AppOptions {
  /** The address of the other end of a connection. */
  peer?: PeerLookup
  /** Requests that came through the socket in the data directory. */
  local?: WeakSet<Request>
  /** The rolling windows, where they are kept from one start to the next. */
  rates?: RateTables
  /** The controls of an evaluation copy. */
  dev?: DevControls
  /** How the process around the interface is doing. */
  vitals?: Vitals
}

/** The whole interface over one set of services. The list of resources is the table of contents. */
export function createApp(
  services: Services,
  {
    peer = null,
    local = new WeakSet(),
    rates = rateTables(services.limits, rateSeed(services.ids)),
    dev: controls,
    vitals = aloneVitals,
  }: AppOptions = {},
) {
  const { config, clock, ids, log, keys, meter, plans, limits, adminTokens, catalogue, board } = services
  const links = linker(config)
  const trusted = trustedProxies(config.server.trustedProxies)
  const door = gate({ keys, meter, plans, rates, adminTokens, clock, trusted, local, links })
  const access = accessPlugin(door, peer, controls && faultMeeter(controls.faults, plans, links, clock.now))
  const now = clock.now
  const codes = codeReader(catalogue, now, limits.codesPerRequestMax, links)
  const marks = { fixtureHeader: `${config.brand.headerPrefix}Data` }
  const { brand, demo, server, vintage } = config
  const shared = { ...services, access, codes, marks, now, exchange: fx(catalogue, board), firstCodes: demo.codes }
  const fresh = { ...shared, links, freshness: freshness(shared) }
  const listed = { ...fresh, texts: commodityTexts(fresh) }
  const changes = keyChanges(services)
  const repeats = idempotency({ store: idempotencyStore(services.db), reload: keys.reload, now })
  const app = base({ access, gate: door, ids, log, links, corsOrigins: config.cors.origins })
    .use(demoPrices({ ...listed, limitPerHour: limits.demoPerHour }))
    .use(commodities(listed))
    .use(meta({ ...listed, serviceName: brand.serviceName, sourceRanges: config.webhooks.sourceRanges }))
    .use(health({ ...listed, ...vitals }))
    .use(priceLists(listed))
    .use(latest(shared))
    .use(windows({ ...shared, perPageMax: limits.windowedPerPageMax, coverageSinceAt: vintage.coverageSinceAt }))
    .use(batch(shared))
    .use(widgets({ ...shared, serviceName: brand.serviceName }))
    .use(metrics(shared))
    .use(convert(shared))
    .use(
      excel({
        ...shared,
        codesMax: limits.codesPerRequestMax,
        xmlRoot: brand.xmlRoot,
        dispatch: (request, caller): Promise<Response> => {
          door.vouch(request, caller)
          return app.handle(request)
        },
      }),
    )
    .use(analytics(shared))
    .use(
      futures({
        ...shared,
        exchangeWords: brand.exchangeWords,
        maxAgeHours: limits.futuresMaxAgeHours,
        ohlcDaysMax: limits.futuresOhlcDaysMax,
      }),
    )
    .use(spreads({ ...shared, exchangeWords: brand.exchangeWords }))
    .use(storage(shared))
    .use(marine({ ...shared, ports: shippedPorts(), perPageMax: limits.windowedPerPageMax }))
    .use(fuelSurcharge({ ...shared, perPageMax: limits.windowedPerPageMax }))
    .use(indicators(shared))
    .use(marketBrief({ ...shared, links }))
    .use(account({ ...shared, links, quotaScope: config.quota.scope }))
    .use(apiKeys({ ...shared, changes, idempotency: repeats, nameMax: limits.keyNameMax }))
    .use(usage({ ...shared, rates }))
    .use(performance(shared))
    .use(admin({ ...shared, changes, nameMax: limits.keyNameMax }))
    .use(adminData(shared))
    .use(adminDatasets({ ...shared, datasets: datasetsOf(services) }))
    .use(docs({ gate: access, serviceName: brand.serviceName, document: (): Promise<string> => document() }))
  if (controls) app.use(dev({ ...controls, access, keys, ids, trialDays: limits.trialDays }))
  const document = documentOf(app, {
    serviceName: brand.serviceName,
    description: apiIntroduction(brand.serviceName),
    baseUrl: server.baseUrl || '/',
    tags: apiTags,
  })
  return app
}

/** What can be imported beside prices. */
function datasetsOf(services: Services) {
  const { catalogue, config } = services
  const known = { find: (code: string) => catalogue.named(code), nearest: (code: string) => catalogue.suggest(code)[0]?.code }
  return datasets({ ...services, catalogue: known, exchangeWords: config.brand.exchangeWords })
}

export type App = ReturnType<typeof createApp>
