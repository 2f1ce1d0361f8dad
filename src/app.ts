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
import { addLate } from './http/late-routes.ts'
import { documentOptions } from './http/openapi/introduction.ts'
import { documentOf } from './http/openapi/openapi.ts'
import { shippedDocument } from './http/openapi/shipped.ts'
import { createReaderDocument } from './http/readers/document.ts'
import type { Services } from './services.ts'
import { mountWeb } from './web/routes.ts'

/** What topics that ask the interface itself need beside the context. */
interface Own {
  /** Answers a request as this application does. */
  answer(request: Request): Promise<Response>
  /** The description of the interface. */
  document(): Promise<string>
}

interface Topic {
  mount(app: AnyElysia, context: Context, own: Own): void
  /** How the paths of its routes begin. */
  below: readonly string[]
}

const topic = (mount: Topic['mount'], ...below: string[]): Topic => ({ mount, below })

/** The interface, topic by topic. */
export const topics: readonly Topic[] = [
  topic(
    mountCatalogue,
    '/v1/commodities',
    '/v1/demo',
    '/v1/meta',
    '/v1/prices',
    '/v1/sources',
    '/v1/webhook-ips',
    '/limits.json',
    '/product-facts.json',
  ),
  topic(
    mountCondition,
    '/v1/data-quality',
    '/v1/health',
    '/v1/status',
    '/health',
    '/status',
    '/status.json',
  ),
  topic(mountPrices, '/v1/export', '/v1/files', '/v1/prices', '/files'),
  topic(mountAnalytics, '/v1/analytics', '/v1/indicators', '/v1/market-brief', '/v1/spreads'),
  topic(mountFutures, '/v1/futures'),
  topic(mountFundamentals, '/v1/dark_data', '/v1/ei', '/v1/forecasts', '/v1/storage'),
  topic(
    mountFuels,
    '/v1/bunker-fuels',
    '/v1/diesel-prices',
    '/v1/fuel-surcharge',
    '/v1/marine-fuels',
    '/v1/marine-ports',
    '/v1/prices',
  ),
  topic(
    mountDrilling,
    '/v1/dark_data',
    '/v1/drilling',
    '/v1/drilling-intelligence',
    '/v1/ei',
    '/v1/pseo',
    '/v1/rig-counts',
    '/v1/well-production',
  ),
  topic(mountAlerts, '/v1/alerts'),
  topic(mountWatches, '/v1/subscriptions'),
  topic(mountStreams, '/v1/stream', '/cable'),
  topic(mountWebhooks, '/v1/account', '/v1/webhooks'),
  topic(mountDeliveries, '/v1/scheduled-deliveries'),
  topic(mountSources, '/v1/data-sources'),
  topic(mountKeys, '/v1/analytics', '/v1/api-keys', '/v1/usage', '/v1/users', '/users'),
  topic(mountAccount, '/v1/account', '/v1/auth', '/admin/v1', '/organizations'),
  topic(mountBilling, '/billing'),
  topic(mountMessages, '/v1/notification_preferences', '/v1/notifications', '/v1/phone', '/v1/sms'),
  topic(mountOperator, '/_dev', '/admin/v1', '/metrics'),
  topic(
    (app, context, { answer }) => mountSpreadsheet(app, context, answer),
    '/v1/excel',
    '/v1/prices',
  ),
  topic((app, context, { answer }) => mountMcp(app, context, answer), '/mcp'),
  topic(
    (app, context, { document }) => mountWeb(app, context, document),
    '/',
    '/account',
    '/alerts',
    '/billing',
    '/board',
    '/console',
    '/desk',
    '/docs',
    '/invitation',
    '/mail',
    '/markets',
    '/openapi.json',
    '/operator',
    '/series',
    '/sign-in',
    '/sign-out',
    '/signup',
    '/status',
    '/swagger',
    '/webhooks',
  ),
]

/** The whole interface over one set of services. */
export function createApp(services: Services, options: ContextOptions = {}): AnyElysia {
  const context = createContext(services, options)
  const app: AnyElysia = createBase({ ...context, corsOrigins: context.config.cors.origins })
  const own: Own = {
    answer: request => app.handle(request),
    document: documentFor(app, context, options),
  }
  const addAll = addLate(
    app,
    topics.map(({ mount, below }) => ({ below, add: () => mount(app, context, own) })),
    routes => context.names.learn(routes, () => addAll()),
  )
  answerForViewers(app, services)
  if (context.controls) noteRequests(app, context.controls)
  return app
}

/** The description of the interface: as it is shipped where that fits, else made. */
function documentFor(
  app: AnyElysia,
  { config, clock, ingest }: Context,
  { readers }: ContextOptions,
): () => Promise<string> {
  const settings = documentSettings(config)
  const own = documentOf(app, settings)
  const made = readers
    ? createReaderDocument({ pool: readers, own, now: clock.now, mark: ingest.mark })
    : own
  return async () => (await shippedDocument(app, settings)) ?? (await made())
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
