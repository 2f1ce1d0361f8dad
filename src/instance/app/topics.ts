import type { UnknownPages } from '../../http/base.ts'
import type { Application } from '../../http/late-routes.ts'
import type { Context } from '../../http/operations/context.ts'

/**
 * The modules of topics. Each is evaluated when its routes are added: all of them take a fifth of a
 * start. `require`, because whoever looks for a route can wait for nothing.
 */
const load = {
  account: (): typeof import('../../topics/account/operations/routes.ts') =>
    require('../../topics/account/operations/routes.ts'),
  alerts: (): typeof import('../../topics/alerts/operations/routes.ts') =>
    require('../../topics/alerts/operations/routes.ts'),
  analytics: (): typeof import('../../topics/analytics/operations/routes.ts') =>
    require('../../topics/analytics/operations/routes.ts'),
  billing: (): typeof import('../../topics/billing/operations/routes.ts') =>
    require('../../topics/billing/operations/routes.ts'),
  catalogue: (): typeof import('../../topics/catalogue/operations/routes.ts') =>
    require('../../topics/catalogue/operations/routes.ts'),
  condition: (): typeof import('../../topics/condition/operations/routes.ts') =>
    require('../../topics/condition/operations/routes.ts'),
  deliveries: (): typeof import('../../topics/deliveries/operations/routes.ts') =>
    require('../../topics/deliveries/operations/routes.ts'),
  drilling: (): typeof import('../../topics/drilling/operations/routes.ts') =>
    require('../../topics/drilling/operations/routes.ts'),
  fuels: (): typeof import('../../topics/fuels/operations/routes.ts') =>
    require('../../topics/fuels/operations/routes.ts'),
  fundamentals: (): typeof import('../../topics/fundamentals/operations/routes.ts') =>
    require('../../topics/fundamentals/operations/routes.ts'),
  futures: (): typeof import('../../topics/futures/operations/routes.ts') =>
    require('../../topics/futures/operations/routes.ts'),
  keys: (): typeof import('../../topics/keys/operations/routes.ts') =>
    require('../../topics/keys/operations/routes.ts'),
  mcp: (): typeof import('../../topics/assistants/operations/routes.ts') =>
    require('../../topics/assistants/operations/routes.ts'),
  messages: (): typeof import('../../topics/messages/operations/routes.ts') =>
    require('../../topics/messages/operations/routes.ts'),
  operator: (): typeof import('../../topics/operator/operations/routes.ts') =>
    require('../../topics/operator/operations/routes.ts'),
  prices: (): typeof import('../../topics/prices/operations/routes.ts') =>
    require('../../topics/prices/operations/routes.ts'),
  sources: (): typeof import('../../topics/sources/operations/routes.ts') =>
    require('../../topics/sources/operations/routes.ts'),
  spreadsheet: (): typeof import('../../topics/spreadsheet/operations/routes.ts') =>
    require('../../topics/spreadsheet/operations/routes.ts'),
  streams: (): typeof import('../../topics/streams/operations/routes.ts') =>
    require('../../topics/streams/operations/routes.ts'),
  watches: (): typeof import('../../topics/watches/operations/routes.ts') =>
    require('../../topics/watches/operations/routes.ts'),
  webhooks: (): typeof import('../../topics/webhooks/operations/routes.ts') =>
    require('../../topics/webhooks/operations/routes.ts'),
  web: (): typeof import('../../console/server/routes.ts') =>
    require('../../console/server/routes.ts'),
}

/** What topics that ask the interface itself need beside the context. */
export interface OwnAnswers {
  /** Answers a request as this application does. */
  answer(request: Request): Promise<Response>
  /** The description of the interface. */
  document(): Promise<string>
  /** Gets the page for addresses that nothing is behind. */
  pages: UnknownPages
}

interface Topic {
  mount(app: Application, context: Context, own: OwnAnswers): void
  /** How the paths of its routes begin. */
  below: readonly string[]
}

const topic = (mount: Topic['mount'], ...below: string[]): Topic => ({ mount, below })

/** The interface, topic by topic. */
export const topics: readonly Topic[] = [
  topic(
    (app, context) => load.catalogue().mountCatalogue(app, context),
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
    (app, context) => load.condition().mountCondition(app, context),
    '/v1/data-quality',
    '/v1/health',
    '/v1/status',
    '/health',
    '/status',
    '/status.json',
  ),
  topic(
    (app, context) => load.prices().mountPrices(app, context),
    '/v1/export',
    '/v1/files',
    '/v1/prices',
    '/files',
  ),
  topic(
    (app, context) => load.analytics().mountAnalytics(app, context),
    '/v1/analytics',
    '/v1/indicators',
    '/v1/market-brief',
    '/v1/spreads',
  ),
  topic((app, context) => load.futures().mountFutures(app, context), '/v1/futures'),
  topic(
    (app, context) => load.fundamentals().mountFundamentals(app, context),
    '/v1/dark_data',
    '/v1/ei',
    '/v1/forecasts',
    '/v1/storage',
  ),
  topic(
    (app, context) => load.fuels().mountFuels(app, context),
    '/v1/bunker-fuels',
    '/v1/diesel-prices',
    '/v1/fuel-surcharge',
    '/v1/marine-fuels',
    '/v1/marine-ports',
    '/v1/prices/marine-fuels',
  ),
  topic(
    (app, context) => load.drilling().mountDrilling(app, context),
    '/v1/dark_data',
    '/v1/drilling',
    '/v1/drilling-intelligence',
    '/v1/ei',
    '/v1/pseo',
    '/v1/rig-counts',
    '/v1/well-production',
  ),
  topic((app, context) => load.alerts().mountAlerts(app, context), '/v1/alerts'),
  topic((app, context) => load.watches().mountWatches(app, context), '/v1/subscriptions'),
  topic((app, context) => load.streams().mountStreams(app, context), '/v1/stream', '/cable'),
  topic(
    (app, context) => load.webhooks().mountWebhooks(app, context),
    '/v1/account',
    '/v1/webhooks',
  ),
  topic(
    (app, context) => load.deliveries().mountDeliveries(app, context),
    '/v1/scheduled-deliveries',
  ),
  topic((app, context) => load.sources().mountSources(app, context), '/v1/data-sources'),
  topic(
    (app, context) => load.keys().mountKeys(app, context),
    '/v1/analytics',
    '/v1/api-keys',
    '/v1/usage',
    '/v1/users',
    '/users',
  ),
  topic(
    (app, context) => load.account().mountAccount(app, context),
    '/v1/account',
    '/v1/auth',
    '/admin/v1',
    '/organizations',
  ),
  topic((app, context) => load.billing().mountBilling(app, context), '/billing'),
  topic(
    (app, context) => load.messages().mountMessages(app, context),
    '/v1/notification_preferences',
    '/v1/notifications',
    '/v1/phone',
    '/v1/sms',
  ),
  topic(
    (app, context) => load.operator().mountOperator(app, context),
    '/_dev',
    '/admin/v1',
    '/metrics',
  ),
  topic(
    (app, context, { answer }) => load.spreadsheet().mountSpreadsheet(app, context, answer),
    '/v1/excel',
    '/v1/prices/excel-latest',
    '/v1/prices/excel-latest.xml',
  ),
  topic((app, context, { answer }) => load.mcp().mountMcp(app, context, answer), '/mcp'),
  topic(
    (app, context, own) => load.web().mountWeb(app, context, own),
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
