import type { AnyElysia } from 'elysia'
import type { UnknownPages } from '../../http/base.ts'
import type { Context } from '../../http/operations/context.ts'
import { consoleRoutes, createPageAnswer } from '../console.ts'
import { signInRoutes } from './account/sign-in.ts'
import { billingPortalRoutes } from './billing/portal.ts'
import { docsRoutes } from './docs/docs.ts'
import { recipientRoutes } from './messages/recipients.ts'

interface WebOptions {
  /** Answers the description of the interface. */
  document(): Promise<string>
  /** Gets the page for addresses that nothing is behind. */
  pages: UnknownPages
}

/** Pages for people. */
export function mountWeb(app: AnyElysia, context: Context, { document, pages }: WebOptions): void {
  app.use(signInRoutes(context))
  const answerPage = createPageAnswer({
    ...context,
    mode: context.config.mode,
    channels: context.config.brand.streamChannels,
  })
  pages.answer = answerPage
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
