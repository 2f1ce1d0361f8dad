import { Elysia } from 'elysia'
import type { Context } from '../api/context.ts'
import { signInRoutes } from './account/sign-in.ts'
import { billingPortalRoutes } from './billing/portal.ts'
import { consoleRoutes, createPageAnswer } from './console/console.ts'
import { docsRoutes } from './docs/docs.ts'
import { recipientRoutes } from './messages/recipients.ts'

/** Pages for people. `document` answers the description of the interface. */
export function webTopic(context: Context, document: () => Promise<string>): Elysia {
  const routes = new Elysia()
  routes.use(signInRoutes(context))
  const answerPage = createPageAnswer({
    ...context,
    mode: context.config.mode,
    channels: context.config.brand.streamChannels,
  })
  routes.use(consoleRoutes(context, answerPage))
  routes.use(billingPortalRoutes(context))
  routes.use(recipientRoutes(context))
  routes.use(
    docsRoutes({
      gate: context.access,
      serviceName: context.serviceName,
      document,
      reference: answerPage,
    }),
  )
  return routes
}
