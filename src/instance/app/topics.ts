import type { UnknownPages } from '../../http/base.ts'
import type { Context } from '../../http/operations/context.ts'
import { listed, type Operation, type Operations } from '../../http/operations/operation.ts'

/** The parts of the application itself that some topics need in addition to the context. */
export interface OwnAnswers {
  /** Answers a request within this application. */
  answer(request: Request): Promise<Response>
  /** The OpenAPI document. */
  document(): Promise<string>
  /** Takes the page for unknown addresses. */
  pages: UnknownPages
}

interface Topic {
  operations(context: Context, own: OwnAnswers): readonly Operation[]
  /** The prefixes of its routes' paths. */
  below: readonly string[]
}

/**
 * A module is evaluated when its routes are added: all of them take a fifth of a start. `load` is
 * synchronous, because a request for a route cannot wait. `tag` is where the document lists the
 * operations that name no other.
 */
const topic = (
  load: () => { operations: Operations<OwnAnswers> },
  tag: string,
  ...below: string[]
): Topic => ({
  operations: (context, own) =>
    listed(load().operations, context, own).map(operation =>
      operation.hidden ? operation : { tags: [tag], ...operation },
    ),
  below,
})

/** The operations of the API, by topic. */
export const topics: readonly Topic[] = [
  topic(
    () => require('../../topics/catalogue/operations/topic.ts'),
    'Service',
    '/v1/commodities',
    '/v1/demo',
    '/v1/meta',
    '/v1/natural-gas',
    '/v1/prices',
    '/v1/sources',
    '/v1/webhook-ips',
    '/.well-known',
    '/limits.json',
    '/product-facts.json',
  ),
  topic(
    () => require('../../topics/condition/operations/topic.ts'),
    'Service',
    '/v1/data-quality',
    '/v1/health',
    '/v1/status',
    '/health',
    '/status',
    '/status.json',
  ),
  topic(
    () => require('../../topics/prices/operations/topic.ts'),
    'Prices',
    '/v1/export',
    '/v1/files',
    '/v1/prices',
    '/files',
  ),
  topic(() => require('../../topics/changes/operations/topic.ts'), 'Prices', '/v1/changes'),
  topic(() => require('../../topics/formulas/operations/topic.ts'), 'Prices', '/v1/formulas'),
  topic(
    () => require('../../topics/analytics/operations/topic.ts'),
    'Spreads',
    '/v1/analytics',
    '/v1/indicators',
    '/v1/market-brief',
    '/v1/spreads',
  ),
  topic(
    () => require('../../topics/delivery/operations/topic.ts'),
    'Power and gas',
    '/v1/delivery',
  ),
  topic(() => require('../../topics/futures/operations/topic.ts'), 'Futures', '/v1/futures'),
  topic(
    () => require('../../topics/fundamentals/operations/topic.ts'),
    'Fundamentals',
    '/v1/dark_data',
    '/v1/ei',
    '/v1/forecasts',
    '/v1/storage',
  ),
  topic(
    () => require('../../topics/fuels/operations/topic.ts'),
    'Fuels',
    '/v1/bunker-fuels',
    '/v1/diesel-prices',
    '/v1/fuel-surcharge',
    '/v1/marine-fuels',
    '/v1/marine-ports',
    '/v1/prices/marine-fuels',
  ),
  topic(
    () => require('../../topics/drilling/operations/topic.ts'),
    'Drilling',
    '/v1/dark_data',
    '/v1/drilling',
    '/v1/drilling-intelligence',
    '/v1/ei',
    '/v1/pseo',
    '/v1/rig-counts',
    '/v1/well-production',
  ),
  topic(
    () => require('../../topics/charting/operations/topic.ts'),
    'Integrations',
    '/grafana',
    '/udf',
  ),
  topic(() => require('../../topics/alerts/operations/topic.ts'), 'Alerts', '/v1/alerts'),
  topic(
    () => require('../../topics/watches/operations/topic.ts'),
    'Watches and streams',
    '/v1/subscriptions',
  ),
  topic(
    () => require('../../topics/streams/operations/topic.ts'),
    'Watches and streams',
    '/v1/stream',
    '/cable',
  ),
  topic(
    () => require('../../topics/webhooks/operations/topic.ts'),
    'Webhooks',
    '/v1/account',
    '/v1/webhooks',
  ),
  topic(
    () => require('../../topics/deliveries/operations/topic.ts'),
    'Notifications',
    '/v1/scheduled-deliveries',
  ),
  topic(
    () => require('../../topics/sources/operations/topic.ts'),
    'Data sources',
    '/v1/data-sources',
  ),
  topic(
    () => require('../../topics/keys/operations/topic.ts'),
    'Account',
    '/v1/analytics',
    '/v1/api-keys',
    '/v1/dashboard',
    '/v1/usage',
    '/v1/users',
    '/users',
  ),
  topic(
    () => require('../../topics/account/operations/topic.ts'),
    'Account',
    '/v1/account',
    '/v1/auth',
    '/v1/display_preferences',
    '/admin/v1',
    '/organizations',
  ),
  topic(() => require('../../topics/billing/operations/topic.ts'), 'Billing', '/billing'),
  topic(
    () => require('../../topics/messages/operations/topic.ts'),
    'Notifications',
    '/v1/notification_preferences',
    '/v1/notifications',
    '/v1/phone',
    '/v1/sms',
  ),
  topic(
    () => require('../../topics/operator/operations/topic.ts'),
    'Operator',
    '/_dev',
    '/admin/v1',
    '/metrics',
  ),
  topic(
    () => require('../../topics/spreadsheet/operations/topic.ts'),
    'Integrations',
    '/openbb',
    '/v1/excel',
    '/v1/prices/excel-latest',
    '/v1/prices/excel-latest.xml',
  ),
  topic(
    () => require('../../topics/assistants/operations/topic.ts'),
    'Integrations',
    '/.well-known',
    '/mcp',
  ),
  topic(
    () => require('../../console/server/pages.ts'),
    'Service',
    '/',
    '/.well-known',
    '/account',
    '/alerts',
    '/billing',
    '/board',
    '/commodities',
    '/console',
    '/desk',
    '/docs',
    '/invitation',
    '/llms.txt',
    '/mail',
    '/market',
    '/markets',
    '/asyncapi.json',
    '/openapi-3.1.json',
    '/oauth',
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
