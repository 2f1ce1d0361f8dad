import type { AnyElysia } from 'elysia'
import { account } from './api/account/account.ts'
import { organizationRoutes } from './api/account/organizations.ts'
import { authSessions } from './api/account/sessions.ts'
import { priceAlerts } from './api/alerts/alerts.ts'
import { analytics } from './api/analytics/analytics.ts'
import { indicators } from './api/analytics/indicators.ts'
import { marketBrief } from './api/analytics/market-brief.ts'
import { spreads } from './api/analytics/spreads.ts'
import { billingInbound } from './api/billing/inbound.ts'
import { billingInvoiceRoutes } from './api/billing/invoices.ts'
import { billingPaymentRoutes } from './api/billing/payments.ts'
import { billingPlans } from './api/billing/plans.ts'
import { commodities } from './api/catalogue/commodities.ts'
import { commodityTexts } from './api/catalogue/commodity-texts.ts'
import { demoPrices } from './api/catalogue/demo.ts'
import { meta } from './api/catalogue/meta.ts'
import { priceLists } from './api/catalogue/price-lists.ts'
import { dataQuality } from './api/condition/data-quality.ts'
import { aloneVitals, health, type Vitals } from './api/condition/health.ts'
import { scheduledDeliveries } from './api/deliveries/deliveries.ts'
import { drillingBasin } from './api/drilling/basin.ts'
import { cycleTimes } from './api/drilling/cycle-times.ts'
import { ei, tierRequiredOf } from './api/drilling/energy-intelligence.ts'
import { drillingIntelligence } from './api/drilling/intelligence.ts'
import { drillingLists } from './api/drilling/intelligence-lists.ts'
import { drillingLatest } from './api/drilling/latest.ts'
import { rigCountRoutes } from './api/drilling/rig-counts.ts'
import { pseo } from './api/drilling/state-pages.ts'
import { wellProduction } from './api/drilling/well-production.ts'
import { bunker } from './api/fuels/bunker.ts'
import { diesel } from './api/fuels/diesel.ts'
import { marine } from './api/fuels/marine.ts'
import { fuelSurcharge } from './api/fuels/surcharge.ts'
import { monthlyForecasts } from './api/fundamentals/monthly-forecasts.ts'
import { storage } from './api/fundamentals/storage.ts'
import { futures } from './api/futures/futures.ts'
import { apiKeys } from './api/keys/keys.ts'
import { performance } from './api/keys/performance.ts'
import { usage } from './api/keys/usage.ts'
import { notifications } from './api/messages/notifications.ts'
import { phone } from './api/messages/phone.ts'
import { sms } from './api/messages/sms.ts'
import { admin } from './api/operator/accounts.ts'
import { adminBilling } from './api/operator/billing.ts'
import { adminData } from './api/operator/data.ts'
import { adminDatasets } from './api/operator/datasets.ts'
import { type DevControls, dev } from './api/operator/dev.ts'
import { adminMail } from './api/operator/mail.ts'
import { adminOutbox } from './api/operator/outbox.ts'
import { adminSignIn } from './api/operator/sign-in.ts'
import { adminSources } from './api/operator/sources.ts'
import { batch } from './api/prices/batch.ts'
import { convert } from './api/prices/convert.ts'
import { dataConnector } from './api/prices/data-connector.ts'
import { latest } from './api/prices/latest.ts'
import { metrics } from './api/prices/metrics.ts'
import { widgets } from './api/prices/widgets.ts'
import { windows } from './api/prices/windows.ts'
import { dataSources } from './api/sources/sources.ts'
import { excel } from './api/spreadsheet/excel.ts'
import { cableRoute } from './api/streams/cable.ts'
import { watchStream } from './api/streams/stream.ts'
import { subscriptions } from './api/watches/watches.ts'
import { webhookSecret } from './api/webhooks/account-secret.ts'
import { webhooks } from './api/webhooks/webhooks.ts'
import { shippedPorts } from './feed/catalogue/ports.ts'
import { datasets } from './feed/datasets.ts'
import { base } from './http/base.ts'
import { type Connections, noConnections } from './http/cable.ts'
import { faultMeeter } from './http/faults.ts'
import { accessPlugin } from './http/gate/access.ts'
import { clientAddress, type PeerLookup, trustedProxies } from './http/gate/address.ts'
import { gate } from './http/gate/gate.ts'
import { type RateTables, rateSeed, rateTables } from './http/gate/rates.ts'
import { idempotency } from './http/idempotency.ts'
import { codeReader } from './http/input/codes.ts'
import { apiIntroduction, apiTags, documentNames } from './http/openapi/introduction.ts'
import { documentOf } from './http/openapi/openapi.ts'
import { linker } from './http/problem/links.ts'
import { clientProfiles, unswitched } from './http/profiles/profiles.ts'
import { addressGroup } from './plan/address.ts'
import { freshness } from './service/condition/freshness.ts'
import { newestProduction } from './service/drilling/well-production.ts'
import { keyChanges } from './service/keys/key-changes.ts'
import { heldMessages } from './service/outbox/held-back.ts'
import { fx } from './service/prices/fx.ts'
import type { Services } from './services.ts'
import { idempotencyStore } from './store/keys/idempotency.ts'
import { signInPages } from './web/account/sign-in.ts'
import { billingPortal } from './web/billing/portal.ts'
import { docs } from './web/docs/docs.ts'

export interface AppOptions {
  /** The address of the other end of a connection. */
  peer?: PeerLookup
  /** The address that the server listens on, once it does. */
  url?: () => string | undefined
  /** Requests that came through the socket in the data directory. */
  local?: WeakSet<Request>
  /** The rolling windows, where they are kept from one start to the next. */
  rates?: RateTables
  /** The controls of an evaluation copy. */
  dev?: DevControls
  /** How the process around the interface is doing. */
  vitals?: Vitals
  /** What the server can do that holds the connections of requests. */
  connections?: Connections
}

/** The whole interface over one set of services. The list of resources is the table of contents. */
export function createApp(
  services: Services,
  {
    peer = null,
    url = () => undefined,
    local = new WeakSet(),
    rates = rateTables(services.limits, rateSeed(services.ids)),
    dev: controls,
    vitals = aloneVitals,
    connections = noConnections,
  }: AppOptions = {},
) {
  const {
    config,
    clock,
    ids,
    log,
    keys,
    meter,
    plans,
    limits,
    adminTokens,
    sessions,
    catalogue,
    board,
  } = services
  const links = linker(config)
  const trusted = trustedProxies(config.server.trustedProxies)
  const { isOverloaded } = vitals
  const door = gate({
    keys,
    meter,
    plans,
    rates,
    adminTokens,
    sessions,
    clock,
    isOverloaded,
    trusted,
    local,
    links,
  })
  const access = accessPlugin(
    door,
    peer,
    controls && faultMeeter(controls.faults, plans, links, clock.now),
  )
  const now = clock.now
  const codes = codeReader(catalogue, now, limits.codesPerRequestMax, links)
  const marks = { fixtureHeader: `${config.brand.headerPrefix}Data` }
  const { brand, demo, server, vintage } = config
  const profiles =
    config.clientProfiles.length > 0 ? clientProfiles(config.clientProfiles) : undefined
  const switched = profiles?.switched ?? unswitched
  const shared = {
    ...services,
    switched,
    access,
    codes,
    marks,
    now,
    exchange: fx(catalogue, board),
    firstCodes: demo.codes,
  }
  const fresh = { ...shared, links, freshness: freshness(shared) }
  const listed = { ...fresh, texts: commodityTexts(fresh) }
  const changes = keyChanges(services)
  const addressOf = (request: Request) => addressGroup(clientAddress(request, peer, trusted))
  // Letters go to other people than the one who asks, so what a request says of our address counts
  // for nothing in them.
  const ownUrl = () => server.baseUrl || url() || `http://${server.host}:${server.port}`
  const people = { ...shared, addressOf, ownUrl }
  const reload = () => {
    keys.reload()
    services.webhooks.reload()
    services.credits.reset()
  }
  const issuer =
    config.billing.issuer === ''
      ? [brand.serviceName]
      : config.billing.issuer.split(';').map(line => line.trim())
  const repeats = idempotency({ store: idempotencyStore(services.db), reload, now })
  const drilled = {
    ...shared,
    tierRequired: tierRequiredOf(plans),
    permits: services.permits.counts,
    production: newestProduction(services.wellProduction),
  }
  const app: AnyElysia = base({
    access,
    gate: door,
    ids,
    log,
    links,
    profiles,
    corsOrigins: config.cors.origins,
    headerPrefix: config.brand.headerPrefix,
  })
  resourcesOf(app)
    .use(demoPrices({ ...listed, limitPerHour: limits.demoPerHour }))
    .use(commodities(listed))
    .use(
      meta({
        ...listed,
        serviceName: brand.serviceName,
        sourceRanges: config.webhooks.sourceRanges,
      }),
    )
    .use(health({ ...listed, ...vitals }))
    .use(priceLists(listed))
    .use(latest(shared))
    .use(
      windows({
        ...shared,
        perPageMax: limits.windowedPerPageMax,
        coverageSinceAt: vintage.coverageSinceAt,
      }),
    )
    .use(batch(shared))
    .use(widgets({ ...shared, serviceName: brand.serviceName }))
    .use(metrics(shared))
    .use(convert(shared))
    .use(
      excel({
        ...shared,
        codesMax: limits.codesPerRequestMax,
        xmlRoot: brand.xmlRoot,
        dispatch: (request, caller, onBehalf): Promise<Response> => {
          door.vouch(request, caller)
          profiles?.refuseAs(request, onBehalf)
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
    .use(bunker({ ...shared, ports: shippedPorts(), perPageMax: limits.windowedPerPageMax }))
    .use(diesel(shared))
    .use(dataConnector({ ...shared, ports: shippedPorts() }))
    .use(
      dataSources({
        ...shared,
        links,
        checkTarget: services.egress.checkTarget,
        idempotency: repeats,
        headerPrefix: brand.headerPrefix,
      }),
    )
    .use(fuelSurcharge({ ...shared, perPageMax: limits.windowedPerPageMax }))
    .use(indicators(shared))
    .use(ei(shared))
    .use(rigCountRoutes(drilled))
    .use(drillingLatest(drilled))
    .use(drillingIntelligence(drilled))
    .use(drillingLists(drilled))
    .use(drillingBasin(drilled))
    .use(pseo(drilled))
    .use(wellProduction(shared))
    .use(cycleTimes(shared))
    .use(monthlyForecasts(shared))
    .use(dataQuality(shared))
    .use(marketBrief({ ...shared, links }))
    .use(
      subscriptions({ ...shared, links, idempotency: repeats, headerPrefix: brand.headerPrefix }),
    )
    .use(watchStream({ ...shared, gate: door, peer, connections }))
    .use(cableRoute({ ...shared, gate: door, peer, connections, channels: brand.streamChannels }))
    .use(
      priceAlerts({
        ...shared,
        links,
        checkTarget: services.egress.checkTarget,
        idempotency: repeats,
        historyPerPageMax: limits.alertsHistoryPerPageMax,
      }),
    )
    .use(
      webhooks({
        ...shared,
        links,
        checkTarget: services.egress.checkTarget,
        idempotency: repeats,
      }),
    )
    .use(
      scheduledDeliveries({
        ...shared,
        links,
        idempotency: repeats,
        headerPrefix: brand.headerPrefix,
      }),
    )
    .use(webhookSecret(shared))
    .use(account({ ...shared, links, quotaScope: config.quota.scope }))
    .use(apiKeys({ ...shared, changes, idempotency: repeats, nameMax: limits.keyNameMax }))
    .use(usage({ ...shared, rates }))
    .use(authSessions(people))
    .use(organizationRoutes({ ...people, idempotency: repeats }))
    .use(signInPages({ ...people, serviceName: brand.serviceName }))
    .use(billingPlans({ ...shared, idempotency: repeats }))
    .use(billingPaymentRoutes({ ...shared, links, idempotency: repeats }))
    .use(billingInvoiceRoutes({ ...shared, links, issuer }))
    .use(billingInbound(shared))
    .use(billingPortal({ ...shared, serviceName: brand.serviceName, issuer }))
    .use(performance(shared))
    .use(admin({ ...shared, changes, nameMax: limits.keyNameMax }))
    .use(adminBilling({ ...shared, links }))
    .use(adminSignIn({ ...people, linkLifetimeMs: config.sessions.linkLifetimeMs }))
    .use(adminData(shared))
    .use(adminMail(shared))
    .use(adminOutbox({ ...shared, held: heldMessages(services) }))
    .use(adminDatasets({ ...shared, datasets: datasetsOf(services) }))
    .use(adminSources({ ...shared, connections, timeoutMs: config.data_sources.timeoutMs }))
    .use(phone({ ...shared, idempotency: repeats }))
    .use(sms({ ...shared, idempotency: repeats, serviceName: brand.serviceName }))
    .use(notifications(shared))
    .use(
      docs({
        gate: access,
        serviceName: brand.serviceName,
        document: (): Promise<string> => document(),
      }),
    )
  if (controls)
    app.use(
      dev({ ...controls, access, keys, inbox: services.inbox, ids, trialDays: limits.trialDays }),
    )
  const document = documentOf(app, {
    serviceName: brand.serviceName,
    description: apiIntroduction(brand.serviceName),
    baseUrl: server.baseUrl || '/',
    tags: apiTags,
    names: documentNames(brand),
  })
  return app
}

interface Resources {
  use(resource: AnyElysia): Resources
}

/**
 * Adds one resource after the other. Elysia's own chain remembers the type of every route, which is
 * more than the compiler can follow.
 */
function resourcesOf(app: AnyElysia): Resources {
  const resources: Resources = {
    use(resource) {
      app.use(resource)
      return resources
    },
  }
  return resources
}

/** What can be imported beside prices. */
function datasetsOf(services: Services) {
  const { catalogue, config } = services
  const known = {
    find: (code: string) => catalogue.named(code),
    nearest: (code: string) => catalogue.suggest(code)[0]?.code,
  }
  return datasets({ ...services, catalogue: known, exchangeWords: config.brand.exchangeWords })
}

export type App = ReturnType<typeof createApp>
