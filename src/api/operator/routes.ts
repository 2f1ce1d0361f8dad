import type { AnyElysia } from 'elysia'
import type { Context } from '../context.ts'
import { accountThingRoutes } from './account-things.ts'
import { accountAdminRoutes } from './accounts.ts'
import { auditAdminRoutes } from './audit.ts'
import { backupAdminRoutes } from './backups.ts'
import { batchAdminRoutes } from './batches.ts'
import { billingAdminRoutes } from './billing.ts'
import { clusterAdminRoutes } from './cluster.ts'
import { conditionAdminRoutes } from './condition.ts'
import { creditAdminRoutes } from './credits.ts'
import { dataAdminRoutes } from './data.ts'
import { datasetAdminRoutes } from './datasets.ts'
import { devRoutes } from './dev.ts'
import { feedAdminRoutes } from './feeds.ts'
import { logAdminRoutes } from './logs.ts'
import { lookAdminRoutes } from './looks.ts'
import { mailAdminRoutes } from './mail.ts'
import { metricsRoutes } from './metrics.ts'
import { organizationAdminRoutes } from './organizations.ts'
import { outboxAdminRoutes } from './outbox.ts'
import { queueAdminRoutes } from './outbox-queue.ts'
import { quarantineAdminRoutes } from './quarantine.ts'
import { reviewAdminRoutes } from './review.ts'
import { seriesAdminRoutes } from './series.ts'
import { settingsAdminRoutes } from './settings.ts'
import { signInAdminRoutes } from './sign-in.ts'
import { sourceAdminRoutes } from './sources.ts'
import { tokenAdminRoutes } from './tokens.ts'
import { trialRoutes } from './trials.ts'

/** What the operator does, and the controls of an evaluation copy. */
export function mountOperator(app: AnyElysia, context: Context): void {
  const { config, controls } = context
  app.use(accountAdminRoutes({ ...context, changes: context.keyChanges }))
  app.use(accountThingRoutes(context))
  app.use(tokenAdminRoutes(context))
  app.use(settingsAdminRoutes(context))
  app.use(auditAdminRoutes(context))
  app.use(billingAdminRoutes(context))
  app.use(creditAdminRoutes(context))
  app.use(signInAdminRoutes({ ...context, linkLifetimeMs: config.sessions.linkLifetimeMs }))
  app.use(dataAdminRoutes(context))
  app.use(seriesAdminRoutes(context))
  app.use(batchAdminRoutes(context))
  app.use(reviewAdminRoutes(context))
  app.use(quarantineAdminRoutes(context))
  app.use(mailAdminRoutes(context))
  app.use(metricsRoutes(context))
  app.use(outboxAdminRoutes({ ...context, heldMessages: context.heldMessages }))
  app.use(queueAdminRoutes(context))
  app.use(trialRoutes(context))
  app.use(backupAdminRoutes(context))
  app.use(conditionAdminRoutes(context))
  app.use(clusterAdminRoutes(context))
  app.use(logAdminRoutes(context))
  app.use(lookAdminRoutes(context))
  app.use(organizationAdminRoutes(context))
  app.use(datasetAdminRoutes(context))
  app.use(sourceAdminRoutes({ ...context, timeoutMs: config.data_sources.timeoutMs }))
  app.use(feedAdminRoutes(context))
  if (controls) app.use(devRoutes({ ...context, ...controls, trialDays: context.limits.trialDays }))
}
