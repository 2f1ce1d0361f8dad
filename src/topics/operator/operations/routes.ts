import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { batchAdminRoutes } from './data/batches.ts'
import { dataAdminRoutes } from './data/data.ts'
import { datasetAdminRoutes } from './data/datasets.ts'
import { feedAdminRoutes } from './data/feeds.ts'
import { quarantineAdminRoutes } from './data/quarantine.ts'
import { reviewAdminRoutes } from './data/review.ts'
import { seriesAdminRoutes } from './data/series.ts'
import { sourceAdminRoutes } from './data/sources.ts'
import { devRoutes } from './evaluation/dev.ts'
import { accountThingRoutes } from './people/account-things.ts'
import { accountAdminRoutes } from './people/accounts.ts'
import { billingAdminRoutes } from './people/billing.ts'
import { creditAdminRoutes } from './people/credits.ts'
import { lookAdminRoutes } from './people/looks.ts'
import { organizationAdminRoutes } from './people/organizations.ts'
import { signInAdminRoutes } from './people/sign-in.ts'
import { subscriptionAdminRoutes } from './people/subscriptions.ts'
import { auditAdminRoutes } from './system/audit.ts'
import { backupAdminRoutes } from './system/backups.ts'
import { clusterAdminRoutes } from './system/cluster.ts'
import { conditionAdminRoutes } from './system/condition.ts'
import { logAdminRoutes } from './system/logs.ts'
import { mailAdminRoutes } from './system/mail.ts'
import { metricsRoutes } from './system/metrics.ts'
import { outboxAdminRoutes } from './system/outbox.ts'
import { queueAdminRoutes } from './system/outbox-queue.ts'
import { settingsAdminRoutes } from './system/settings.ts'
import { tokenAdminRoutes } from './system/tokens.ts'
import { trialRoutes } from './system/trials.ts'

/** What the operator does, and the controls of an evaluation copy. */
export function mountOperator(app: AnyElysia, context: Context): void {
  const { config, controls } = context
  app.use(accountAdminRoutes({ ...context, changes: context.keyChanges }))
  app.use(accountThingRoutes(context))
  app.use(tokenAdminRoutes(context))
  app.use(settingsAdminRoutes(context))
  app.use(auditAdminRoutes(context))
  app.use(billingAdminRoutes(context))
  app.use(subscriptionAdminRoutes(context))
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
