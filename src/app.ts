import type { AnyElysia } from 'elysia'
import { mountAccount } from './api/account/routes.ts'
import { mountAlerts } from './api/alerts/routes.ts'
import { mountAnalytics } from './api/analytics/routes.ts'
import { mountBilling } from './api/billing/routes.ts'
import { mountCatalogue } from './api/catalogue/routes.ts'
import { mountCondition } from './api/condition/routes.ts'
import { type Context, type ContextOptions, createContext } from './api/context.ts'
import { mountDeliveries } from './api/deliveries/routes.ts'
import { mountDrilling } from './api/drilling/routes.ts'
import { mountFuels } from './api/fuels/routes.ts'
import { mountFundamentals } from './api/fundamentals/routes.ts'
import { mountFutures } from './api/futures/routes.ts'
import { mountKeys } from './api/keys/routes.ts'
import { mountMcp } from './api/mcp/routes.ts'
import { mountMessages } from './api/messages/routes.ts'
import { numberTerms } from './api/number-terms.ts'
import { mountOperator } from './api/operator/routes.ts'
import { mountPrices } from './api/prices/routes.ts'
import { mountSources } from './api/sources/routes.ts'
import { mountSpreadsheet } from './api/spreadsheet/routes.ts'
import { mountStreams } from './api/streams/routes.ts'
import { mountWatches } from './api/watches/routes.ts'
import { mountWebhooks } from './api/webhooks/routes.ts'
import type { Config } from './config.ts'
import { createBase } from './http/base.ts'
import type { DevControls } from './http/dev-controls.ts'
import { documentOptions } from './http/openapi/introduction.ts'
import { documentOf } from './http/openapi/openapi.ts'
import { shippedDocument } from './http/openapi/shipped.ts'
import { findPlainPaths } from './http/plain-paths.ts'
import { createReaderDocument } from './http/readers/document.ts'
import type { Services } from './services.ts'
import { mountWeb } from './web/routes.ts'

/** The interface, topic by topic. */
const topics: readonly ((app: AnyElysia, context: Context) => void)[] = [
  mountCatalogue,
  mountCondition,
  mountPrices,
  mountAnalytics,
  mountFutures,
  mountFundamentals,
  mountFuels,
  mountDrilling,
  mountAlerts,
  mountWatches,
  mountStreams,
  mountWebhooks,
  mountDeliveries,
  mountSources,
  mountKeys,
  mountAccount,
  mountBilling,
  mountMessages,
  mountOperator,
]

/** The whole interface over one set of services. */
export function createApp(services: Services, options: ContextOptions = {}): AnyElysia {
  const context = createContext(services, options)
  const app: AnyElysia = createBase({ ...context, corsOrigins: context.config.cors.origins })
  for (const mount of topics) mount(app, context)
  mountSpreadsheet(app, context, request => app.handle(request))
  mountMcp(app, context, request => app.handle(request))
  mountWeb(app, context, () => document())
  context.names.learn(app.routes)
  const settings = documentSettings(services.config)
  const own = documentOf(app, settings)
  const makeDocument = options.readers
    ? createReaderDocument({
        pool: options.readers,
        own,
        now: services.clock.now,
        mark: services.ingest.mark,
      })
    : own
  const document = async () => (await shippedDocument(app, settings)) ?? (await makeDocument())
  findPlainPaths(app)
  answerForViewers(app, services)
  if (context.controls) noteRequests(app, context.controls)
  return app
}

/** What the document says besides what the routes say of themselves. */
export const documentSettings = (config: Config) => ({
  ...documentOptions(config),
  numbers: numberTerms,
})

export type App = ReturnType<typeof createApp>

/** Where some series are not for everybody, each request is answered as whoever sends it sees them. */
function answerForViewers(app: AnyElysia, { catalogue, viewers }: Services) {
  const { fetch } = app
  Object.defineProperty(app, 'fetch', {
    configurable: true,
    value: (request: Request) =>
      catalogue.isRestricted ? viewers.request(() => fetch(request)) : fetch(request),
  })
}

/** Only an evaluation copy keeps what it was asked. */
function noteRequests(app: AnyElysia, { requests }: Pick<DevControls, 'requests'>) {
  const { fetch } = app
  Object.defineProperty(app, 'fetch', { configurable: true, value: requests.noting(fetch) })
}
