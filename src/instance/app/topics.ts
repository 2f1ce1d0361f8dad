import type { UnknownPages } from '../../http/base.ts'
import type { Context } from '../../http/operations/context.ts'
import type { Operation } from '../../http/operations/operation.ts'

/**
 * The modules of topics. Each is evaluated when its routes are added: all of them take a fifth of a
 * start. `require`, because whoever looks for a route can wait for nothing.
 */
const load = {
  account: (): typeof import('../../topics/account/operations/topic.ts') =>
    require('../../topics/account/operations/topic.ts'),
  alerts: (): typeof import('../../topics/alerts/operations/topic.ts') =>
    require('../../topics/alerts/operations/topic.ts'),
  analytics: (): typeof import('../../topics/analytics/operations/topic.ts') =>
    require('../../topics/analytics/operations/topic.ts'),
  billing: (): typeof import('../../topics/billing/operations/topic.ts') =>
    require('../../topics/billing/operations/topic.ts'),
  catalogue: (): typeof import('../../topics/catalogue/operations/topic.ts') =>
    require('../../topics/catalogue/operations/topic.ts'),
  condition: (): typeof import('../../topics/condition/operations/topic.ts') =>
    require('../../topics/condition/operations/topic.ts'),
  deliveries: (): typeof import('../../topics/deliveries/operations/topic.ts') =>
    require('../../topics/deliveries/operations/topic.ts'),
  drilling: (): typeof import('../../topics/drilling/operations/topic.ts') =>
    require('../../topics/drilling/operations/topic.ts'),
  fuels: (): typeof import('../../topics/fuels/operations/topic.ts') =>
    require('../../topics/fuels/operations/topic.ts'),
  fundamentals: (): typeof import('../../topics/fundamentals/operations/topic.ts') =>
    require('../../topics/fundamentals/operations/topic.ts'),
  futures: (): typeof import('../../topics/futures/operations/topic.ts') =>
    require('../../topics/futures/operations/topic.ts'),
  keys: (): typeof import('../../topics/keys/operations/topic.ts') =>
    require('../../topics/keys/operations/topic.ts'),
  mcp: (): typeof import('../../topics/assistants/operations/topic.ts') =>
    require('../../topics/assistants/operations/topic.ts'),
  messages: (): typeof import('../../topics/messages/operations/topic.ts') =>
    require('../../topics/messages/operations/topic.ts'),
  operator: (): typeof import('../../topics/operator/operations/topic.ts') =>
    require('../../topics/operator/operations/topic.ts'),
  prices: (): typeof import('../../topics/prices/operations/topic.ts') =>
    require('../../topics/prices/operations/topic.ts'),
  sources: (): typeof import('../../topics/sources/operations/topic.ts') =>
    require('../../topics/sources/operations/topic.ts'),
  spreadsheet: (): typeof import('../../topics/spreadsheet/operations/topic.ts') =>
    require('../../topics/spreadsheet/operations/topic.ts'),
  streams: (): typeof import('../../topics/streams/operations/topic.ts') =>
    require('../../topics/streams/operations/topic.ts'),
  watches: (): typeof import('../../topics/watches/operations/topic.ts') =>
    require('../../topics/watches/operations/topic.ts'),
  webhooks: (): typeof import('../../topics/webhooks/operations/topic.ts') =>
    require('../../topics/webhooks/operations/topic.ts'),
  web: (): typeof import('../../console/server/pages.ts') =>
    require('../../console/server/pages.ts'),
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
  operations(context: Context, own: OwnAnswers): readonly Operation[]
  /** How the paths of its routes begin. */
  below: readonly string[]
}

const topic = (operations: Topic['operations'], ...below: string[]): Topic => ({
  operations,
  below,
})

/** The interface, topic by topic. */
export const topics: readonly Topic[] = [
  topic(
    context => load.catalogue().operationsOf(context),
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
    context => load.condition().operationsOf(context),
    '/v1/data-quality',
    '/v1/health',
    '/v1/status',
    '/health',
    '/status',
    '/status.json',
  ),
  topic(
    context => load.prices().operationsOf(context),
    '/v1/export',
    '/v1/files',
    '/v1/prices',
    '/files',
  ),
  topic(
    context => load.analytics().operationsOf(context),
    '/v1/analytics',
    '/v1/indicators',
    '/v1/market-brief',
    '/v1/spreads',
  ),
  topic(context => load.futures().operationsOf(context), '/v1/futures'),
  topic(
    context => load.fundamentals().operationsOf(context),
    '/v1/dark_data',
    '/v1/ei',
    '/v1/forecasts',
    '/v1/storage',
  ),
  topic(
    context => load.fuels().operationsOf(context),
    '/v1/bunker-fuels',
    '/v1/diesel-prices',
    '/v1/fuel-surcharge',
    '/v1/marine-fuels',
    '/v1/marine-ports',
    '/v1/prices/marine-fuels',
  ),
  topic(
    context => load.drilling().operationsOf(context),
    '/v1/dark_data',
    '/v1/drilling',
    '/v1/drilling-intelligence',
    '/v1/ei',
    '/v1/pseo',
    '/v1/rig-counts',
    '/v1/well-production',
  ),
  topic(context => load.alerts().operationsOf(context), '/v1/alerts'),
  topic(context => load.watches().operationsOf(context), '/v1/subscriptions'),
  topic(context => load.streams().operationsOf(context), '/v1/stream', '/cable'),
  topic(context => load.webhooks().operationsOf(context), '/v1/account', '/v1/webhooks'),
  topic(context => load.deliveries().operationsOf(context), '/v1/scheduled-deliveries'),
  topic(context => load.sources().operationsOf(context), '/v1/data-sources'),
  topic(
    context => load.keys().operationsOf(context),
    '/v1/analytics',
    '/v1/api-keys',
    '/v1/usage',
    '/v1/users',
    '/users',
  ),
  topic(
    context => load.account().operationsOf(context),
    '/v1/account',
    '/v1/auth',
    '/admin/v1',
    '/organizations',
  ),
  topic(context => load.billing().operationsOf(context), '/billing'),
  topic(
    context => load.messages().operationsOf(context),
    '/v1/notification_preferences',
    '/v1/notifications',
    '/v1/phone',
    '/v1/sms',
  ),
  topic(context => load.operator().operationsOf(context), '/_dev', '/admin/v1', '/metrics'),
  topic(
    (context, { answer }) => load.spreadsheet().operationsOf(context, answer),
    '/v1/excel',
    '/v1/prices/excel-latest',
    '/v1/prices/excel-latest.xml',
  ),
  topic((context, { answer }) => load.mcp().operationsOf(context, answer), '/mcp'),
  topic(
    (context, own) => load.web().operationsOf(context, own),
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
