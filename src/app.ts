import type { AnyElysia } from 'elysia'
import { accountTopic } from './api/account/routes.ts'
import { alertsTopic } from './api/alerts/routes.ts'
import { analyticsTopic } from './api/analytics/routes.ts'
import { billingTopic } from './api/billing/routes.ts'
import { catalogueTopic } from './api/catalogue/routes.ts'
import { conditionTopic } from './api/condition/routes.ts'
import { type Context, type ContextOptions, createContext } from './api/context.ts'
import { deliveriesTopic } from './api/deliveries/routes.ts'
import { drillingTopic } from './api/drilling/routes.ts'
import { fuelsTopic } from './api/fuels/routes.ts'
import { fundamentalsTopic } from './api/fundamentals/routes.ts'
import { futuresTopic } from './api/futures/routes.ts'
import { keysTopic } from './api/keys/routes.ts'
import { mcpTopic } from './api/mcp/routes.ts'
import { messagesTopic } from './api/messages/routes.ts'
import { numberTerms } from './api/number-terms.ts'
import { operatorTopic } from './api/operator/routes.ts'
import { pricesTopic } from './api/prices/routes.ts'
import { sourcesTopic } from './api/sources/routes.ts'
import { spreadsheetTopic } from './api/spreadsheet/routes.ts'
import { streamsTopic } from './api/streams/routes.ts'
import { watchesTopic } from './api/watches/routes.ts'
import { webhooksTopic } from './api/webhooks/routes.ts'
import { createBase } from './http/base.ts'
import { documentOptions } from './http/openapi/introduction.ts'
import { documentOf } from './http/openapi/openapi.ts'
import type { Services } from './services.ts'
import { webTopic } from './web/routes.ts'

/** The interface, topic by topic. */
const topics: readonly ((context: Context) => AnyElysia)[] = [
  catalogueTopic,
  conditionTopic,
  pricesTopic,
  analyticsTopic,
  futuresTopic,
  fundamentalsTopic,
  fuelsTopic,
  drillingTopic,
  alertsTopic,
  watchesTopic,
  streamsTopic,
  webhooksTopic,
  deliveriesTopic,
  sourcesTopic,
  keysTopic,
  accountTopic,
  billingTopic,
  messagesTopic,
  operatorTopic,
]

/** The whole interface over one set of services. */
export function createApp(services: Services, options: ContextOptions = {}): AnyElysia {
  const context = createContext(services, options)
  const app: AnyElysia = createBase({ ...context, corsOrigins: context.config.cors.origins })
  for (const topic of topics) app.use(topic(context))
  app.use(spreadsheetTopic(context, request => app.handle(request)))
  app.use(mcpTopic(context, request => app.handle(request)))
  app.use(webTopic(context, () => document()))
  context.names.learn(app.routes)
  const document = documentOf(app, { ...documentOptions(services.config), numbers: numberTerms })
  answerForViewers(app, services)
  return app
}

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
