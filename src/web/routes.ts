import type { AnyElysia } from 'elysia'
import type { Context } from '../api/context.ts'
import { signInRoutes } from './account/sign-in.ts'
import { billingPortalRoutes } from './billing/portal.ts'
import { consoleRoutes, createPageAnswer } from './console/console.ts'
import { docsRoutes } from './docs/docs.ts'
import { recipientRoutes } from './messages/recipients.ts'

/** Pages for people. `document` answers the description of the interface. */
export function mountWeb(app: AnyElysia, context: Context, document: () => Promise<string>): void {
  app.use(signInRoutes(context))
  const answerPage = createPageAnswer({
    ...context,
    mode: context.config.mode,
    channels: context.config.brand.streamChannels,
  })
  app.use(consoleRoutes(context, answerPage))
  app.use(billingPortalRoutes(context))
  app.use(recipientRoutes(context))
  app.use(
    docsRoutes({
      gate: context.access,
      serviceName: context.serviceName,
      document,
      reference: answerPage,
    }),
  )
}
