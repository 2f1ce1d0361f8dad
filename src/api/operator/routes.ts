import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { accountThingRoutes } from './account-things.ts'
import { accountAdminRoutes } from './accounts.ts'
import { auditAdminRoutes } from './audit.ts'
import { batchAdminRoutes } from './batches.ts'
import { billingAdminRoutes } from './billing.ts'
import { dataAdminRoutes } from './data.ts'
import { datasetAdminRoutes } from './datasets.ts'
import { devRoutes } from './dev.ts'
import { feedAdminRoutes } from './feeds.ts'
import { mailAdminRoutes } from './mail.ts'
import { metricsRoutes } from './metrics.ts'
import { outboxAdminRoutes } from './outbox.ts'
import { quarantineAdminRoutes } from './quarantine.ts'
import { reviewAdminRoutes } from './review.ts'
import { seriesAdminRoutes } from './series.ts'
import { settingsAdminRoutes } from './settings.ts'
import { signInAdminRoutes } from './sign-in.ts'
import { sourceAdminRoutes } from './sources.ts'
import { tokenAdminRoutes } from './tokens.ts'

/** What the operator does, and the controls of an evaluation copy. */
export function operatorTopic(context: Context): Elysia {
  const { config, controls } = context
  const routes = new Elysia()
  routes.use(accountAdminRoutes({ ...context, changes: context.keyChanges }))
  routes.use(accountThingRoutes(context))
  routes.use(tokenAdminRoutes(context))
  routes.use(settingsAdminRoutes(context))
  routes.use(auditAdminRoutes(context))
  routes.use(billingAdminRoutes(context))
  routes.use(signInAdminRoutes({ ...context, linkLifetimeMs: config.sessions.linkLifetimeMs }))
  routes.use(dataAdminRoutes(context))
  routes.use(seriesAdminRoutes(context))
  routes.use(batchAdminRoutes(context))
  routes.use(reviewAdminRoutes(context))
  routes.use(quarantineAdminRoutes(context))
  routes.use(mailAdminRoutes(context))
  routes.use(metricsRoutes(context))
  routes.use(outboxAdminRoutes({ ...context, heldMessages: context.heldMessages }))
  routes.use(datasetAdminRoutes(context))
  routes.use(sourceAdminRoutes({ ...context, timeoutMs: config.data_sources.timeoutMs }))
  routes.use(feedAdminRoutes(context))
  if (controls)
    routes.use(devRoutes({ ...context, ...controls, trialDays: context.limits.trialDays }))
  return routes
}
