import type { AnyElysia } from 'elysia'
import { accountRoutes } from './api/account/account.ts'
import { organizationRoutes } from './api/account/organizations.ts'
import { sessionRoutes } from './api/account/sessions.ts'
import { alertRoutes } from './api/alerts/alerts.ts'
import { analyticsRoutes } from './api/analytics/analytics.ts'
import { indicatorRoutes } from './api/analytics/indicators.ts'
import { marketBriefRoutes } from './api/analytics/market-brief.ts'
import { spreadRoutes } from './api/analytics/spreads.ts'
import { inboundBillingRoutes } from './api/billing/inbound.ts'
import { invoiceRoutes } from './api/billing/invoices.ts'
import { paymentRoutes } from './api/billing/payments.ts'
import { planRoutes } from './api/billing/plans.ts'
import { commodityRoutes } from './api/catalogue/commodities.ts'
import { createCommodityTexts } from './api/catalogue/commodity-texts.ts'
import { demoRoutes } from './api/catalogue/demo.ts'
import { metaRoutes } from './api/catalogue/meta.ts'
import { priceListRoutes } from './api/catalogue/price-lists.ts'
import { dataQualityRoutes } from './api/condition/data-quality.ts'
import { aloneVitals, healthRoutes, type Vitals } from './api/condition/health.ts'
import { deliveryRoutes } from './api/deliveries/deliveries.ts'
import { drillingBasinRoutes } from './api/drilling/basin.ts'
import { cycleTimeRoutes } from './api/drilling/cycle-times.ts'
import { energyIntelligenceRoutes, tierRequiredOf } from './api/drilling/energy-intelligence.ts'
import { drillingIntelligenceRoutes } from './api/drilling/intelligence.ts'
import { drillingListRoutes } from './api/drilling/intelligence-lists.ts'
import { latestDrillingRoutes } from './api/drilling/latest.ts'
import { rigCountRoutes } from './api/drilling/rig-counts.ts'
import { statePageRoutes } from './api/drilling/state-pages.ts'
import { wellProductionRoutes } from './api/drilling/well-production.ts'
import { bunkerRoutes } from './api/fuels/bunker.ts'
import { dieselRoutes } from './api/fuels/diesel.ts'
import { marineRoutes } from './api/fuels/marine.ts'
import { fuelSurchargeRoutes } from './api/fuels/surcharge.ts'
import { monthlyForecastRoutes } from './api/fundamentals/monthly-forecasts.ts'
import { storageRoutes } from './api/fundamentals/storage.ts'
import { futuresRoutes } from './api/futures/futures.ts'
import { keyRoutes } from './api/keys/keys.ts'
import { performanceRoutes } from './api/keys/performance.ts'
import { usageRoutes } from './api/keys/usage.ts'
import { notificationRoutes } from './api/messages/notifications.ts'
import { phoneRoutes } from './api/messages/phone.ts'
import { smsRoutes } from './api/messages/sms.ts'
import { accountAdminRoutes } from './api/operator/accounts.ts'
import { billingAdminRoutes } from './api/operator/billing.ts'
import { dataAdminRoutes } from './api/operator/data.ts'
import { datasetAdminRoutes } from './api/operator/datasets.ts'
import { type DevControls, devRoutes } from './api/operator/dev.ts'
import { mailAdminRoutes } from './api/operator/mail.ts'
import { outboxAdminRoutes } from './api/operator/outbox.ts'
import { signInAdminRoutes } from './api/operator/sign-in.ts'
import { sourceAdminRoutes } from './api/operator/sources.ts'
import { batchRoutes } from './api/prices/batch.ts'
import { convertRoutes } from './api/prices/convert.ts'
import { dataConnectorRoutes } from './api/prices/data-connector.ts'
import { latestRoutes } from './api/prices/latest.ts'
import { metricsRoutes } from './api/prices/metrics.ts'
import { widgetRoutes } from './api/prices/widgets.ts'
import { windowRoutes } from './api/prices/windows.ts'
import { sourceRoutes } from './api/sources/sources.ts'
import { excelRoutes } from './api/spreadsheet/excel.ts'
import { cableRoutes } from './api/streams/cable.ts'
import { streamRoutes } from './api/streams/stream.ts'
import { watchRoutes } from './api/watches/watches.ts'
import { accountSecretRoutes } from './api/webhooks/account-secret.ts'
import { webhookRoutes } from './api/webhooks/webhooks.ts'
import { shippedPorts } from './feed/catalogue/ports.ts'
import { datasets } from './feed/datasets.ts'
import { createBase } from './http/base.ts'
import { type Connections, noConnections } from './http/cable.ts'
import { faultMeeter } from './http/faults.ts'
import { createAccess } from './http/gate/access.ts'
import { clientAddress, type PeerLookup, trustedProxies } from './http/gate/address.ts'
import { createGate } from './http/gate/gate.ts'
import { createRateTables, type RateTables, rateSeed } from './http/gate/rates.ts'
import { createIdempotency } from './http/idempotency.ts'
import { createCodeReader } from './http/input/codes.ts'
import { apiIntroduction, apiTags, documentNames } from './http/openapi/introduction.ts'
import { documentOf } from './http/openapi/openapi.ts'
import { linker } from './http/problem/links.ts'
import { createClientProfiles, unswitched } from './http/profiles/profiles.ts'
import { addressGroup } from './plan/address.ts'
import { createFreshness } from './service/condition/freshness.ts'
import { newestProduction } from './service/drilling/well-production.ts'
import { createKeyChanges } from './service/keys/key-changes.ts'
import { createHeldMessages } from './service/outbox/held-back.ts'
import { createFx } from './service/prices/fx.ts'
import type { Services } from './services.ts'
import { createIdempotencyStore } from './store/keys/idempotency.ts'
import { signInRoutes } from './web/account/sign-in.ts'
import { billingPortalRoutes } from './web/billing/portal.ts'
import { docsRoutes } from './web/docs/docs.ts'

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
    rates = createRateTables(services.limits, rateSeed(services.ids)),
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
  const door = createGate({
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
  const access = createAccess(
    door,
    peer,
    controls && faultMeeter(controls.faults, plans, links, clock.now),
  )
  const now = clock.now
  const codes = createCodeReader(catalogue, now, limits.codesPerRequestMax, links)
  const marks = { fixtureHeader: `${config.brand.headerPrefix}Data` }
  const { brand, demo, server, vintage } = config
  const profiles =
    config.clientProfiles.length > 0 ? createClientProfiles(config.clientProfiles) : undefined
  const switched = profiles?.switched ?? unswitched
  const shared = {
    ...services,
    switched,
    access,
    codes,
    marks,
    now,
    exchange: createFx(catalogue, board),
    firstCodes: demo.codes,
  }
  const fresh = { ...shared, links, freshness: createFreshness(shared) }
  const listed = { ...fresh, texts: createCommodityTexts(fresh) }
  const changes = createKeyChanges(services)
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
  const repeats = createIdempotency({ store: createIdempotencyStore(services.db), reload, now })
  const drilled = {
    ...shared,
    tierRequired: tierRequiredOf(plans),
    permits: services.permits.counts,
    production: newestProduction(services.wellProduction),
  }
  const app: AnyElysia = createBase({
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
    .use(demoRoutes({ ...listed, limitPerHour: limits.demoPerHour }))
    .use(commodityRoutes(listed))
    .use(
      metaRoutes({
        ...listed,
        serviceName: brand.serviceName,
        sourceRanges: config.webhooks.sourceRanges,
      }),
    )
    .use(healthRoutes({ ...listed, ...vitals }))
    .use(priceListRoutes(listed))
    .use(latestRoutes(shared))
    .use(
      windowRoutes({
        ...shared,
        perPageMax: limits.windowedPerPageMax,
        coverageSinceAt: vintage.coverageSinceAt,
      }),
    )
    .use(batchRoutes(shared))
    .use(widgetRoutes({ ...shared, serviceName: brand.serviceName }))
    .use(metricsRoutes(shared))
    .use(convertRoutes(shared))
    .use(
      excelRoutes({
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
    .use(analyticsRoutes(shared))
    .use(
      futuresRoutes({
        ...shared,
        exchangeWords: brand.exchangeWords,
        maxAgeHours: limits.futuresMaxAgeHours,
        ohlcDaysMax: limits.futuresOhlcDaysMax,
      }),
    )
    .use(spreadRoutes({ ...shared, exchangeWords: brand.exchangeWords }))
    .use(storageRoutes(shared))
    .use(marineRoutes({ ...shared, ports: shippedPorts(), perPageMax: limits.windowedPerPageMax }))
    .use(bunkerRoutes({ ...shared, ports: shippedPorts(), perPageMax: limits.windowedPerPageMax }))
    .use(dieselRoutes(shared))
    .use(dataConnectorRoutes({ ...shared, ports: shippedPorts() }))
    .use(
      sourceRoutes({
        ...shared,
        links,
        checkTarget: services.egress.checkTarget,
        idempotency: repeats,
        headerPrefix: brand.headerPrefix,
      }),
    )
    .use(fuelSurchargeRoutes({ ...shared, perPageMax: limits.windowedPerPageMax }))
    .use(indicatorRoutes(shared))
    .use(energyIntelligenceRoutes(shared))
    .use(rigCountRoutes(drilled))
    .use(latestDrillingRoutes(drilled))
    .use(drillingIntelligenceRoutes(drilled))
    .use(drillingListRoutes(drilled))
    .use(drillingBasinRoutes(drilled))
    .use(statePageRoutes(drilled))
    .use(wellProductionRoutes(shared))
    .use(cycleTimeRoutes(shared))
    .use(monthlyForecastRoutes(shared))
    .use(dataQualityRoutes(shared))
    .use(marketBriefRoutes({ ...shared, links }))
    .use(watchRoutes({ ...shared, links, idempotency: repeats, headerPrefix: brand.headerPrefix }))
    .use(streamRoutes({ ...shared, gate: door, peer, connections }))
    .use(cableRoutes({ ...shared, gate: door, peer, connections, channels: brand.streamChannels }))
    .use(
      alertRoutes({
        ...shared,
        links,
        checkTarget: services.egress.checkTarget,
        idempotency: repeats,
        historyPerPageMax: limits.alertsHistoryPerPageMax,
      }),
    )
    .use(
      webhookRoutes({
        ...shared,
        links,
        checkTarget: services.egress.checkTarget,
        idempotency: repeats,
      }),
    )
    .use(
      deliveryRoutes({
        ...shared,
        links,
        idempotency: repeats,
        headerPrefix: brand.headerPrefix,
      }),
    )
    .use(accountSecretRoutes(shared))
    .use(accountRoutes({ ...shared, links, quotaScope: config.quota.scope }))
    .use(keyRoutes({ ...shared, changes, idempotency: repeats, nameMax: limits.keyNameMax }))
    .use(usageRoutes({ ...shared, rates }))
    .use(sessionRoutes(people))
    .use(organizationRoutes({ ...people, idempotency: repeats }))
    .use(signInRoutes({ ...people, serviceName: brand.serviceName }))
    .use(planRoutes({ ...shared, idempotency: repeats }))
    .use(paymentRoutes({ ...shared, links, idempotency: repeats }))
    .use(invoiceRoutes({ ...shared, links, issuer }))
    .use(inboundBillingRoutes(shared))
    .use(billingPortalRoutes({ ...shared, serviceName: brand.serviceName, issuer }))
    .use(performanceRoutes(shared))
    .use(accountAdminRoutes({ ...shared, changes, nameMax: limits.keyNameMax }))
    .use(billingAdminRoutes({ ...shared, links }))
    .use(signInAdminRoutes({ ...people, linkLifetimeMs: config.sessions.linkLifetimeMs }))
    .use(dataAdminRoutes(shared))
    .use(mailAdminRoutes(shared))
    .use(outboxAdminRoutes({ ...shared, held: createHeldMessages(services) }))
    .use(datasetAdminRoutes({ ...shared, datasets: datasetsOf(services) }))
    .use(sourceAdminRoutes({ ...shared, connections, timeoutMs: config.data_sources.timeoutMs }))
    .use(phoneRoutes({ ...shared, idempotency: repeats }))
    .use(smsRoutes({ ...shared, idempotency: repeats, serviceName: brand.serviceName }))
    .use(notificationRoutes(shared))
    .use(
      docsRoutes({
        gate: access,
        serviceName: brand.serviceName,
        document: (): Promise<string> => document(),
      }),
    )
  if (controls)
    app.use(
      devRoutes({
        ...controls,
        access,
        keys,
        inbox: services.inbox,
        ids,
        trialDays: limits.trialDays,
      }),
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
