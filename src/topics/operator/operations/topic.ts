import type { Operations } from '../../../http/operations/operation.ts'
import { batchAdminOperations } from './data/batches.ts'
import { dataAdminOperations } from './data/data.ts'
import { datasetAdminOperations } from './data/datasets.ts'
import { feedAdminOperations } from './data/feeds.ts'
import { quarantineAdminOperations } from './data/quarantine.ts'
import { reviewAdminOperations } from './data/review.ts'
import { seriesAdminOperations } from './data/series.ts'
import { sourceAdminOperations } from './data/sources.ts'
import { devOperations } from './evaluation/dev.ts'
import { accountItemOperations } from './people/account-items.ts'
import { accountAdminOperations } from './people/accounts.ts'
import { billingAdminOperations } from './people/billing.ts'
import { creditAdminOperations } from './people/credits.ts'
import { impersonationOperations } from './people/impersonations.ts'
import { organizationAdminOperations } from './people/organizations.ts'
import { signInAdminOperations } from './people/sign-in.ts'
import { subscriptionAdminOperations } from './people/subscriptions.ts'
import { auditAdminOperations } from './system/audit.ts'
import { backupAdminOperations } from './system/backups.ts'
import { clusterAdminOperations } from './system/cluster.ts'
import { conditionAdminOperations } from './system/condition.ts'
import { logAdminOperations } from './system/logs.ts'
import { mailAdminOperations } from './system/mail.ts'
import { metricsOperations } from './system/metrics.ts'
import { metricsHistoryOperations } from './system/metrics-history.ts'
import { outboxAdminOperations } from './system/outbox.ts'
import { queueAdminOperations } from './system/outbox-queue.ts'
import { settingsAdminOperations } from './system/settings.ts'
import { tokenAdminOperations } from './system/tokens.ts'
import { trialOperations } from './system/trials.ts'

/** The operations of the operator, and the controls of a demo instance. */
export const operations: Operations = [
  accountAdminOperations,
  accountItemOperations,
  tokenAdminOperations,
  settingsAdminOperations,
  auditAdminOperations,
  billingAdminOperations,
  subscriptionAdminOperations,
  creditAdminOperations,
  signInAdminOperations,
  dataAdminOperations,
  seriesAdminOperations,
  batchAdminOperations,
  reviewAdminOperations,
  quarantineAdminOperations,
  mailAdminOperations,
  metricsOperations,
  outboxAdminOperations,
  queueAdminOperations,
  trialOperations,
  backupAdminOperations,
  conditionAdminOperations,
  metricsHistoryOperations,
  clusterAdminOperations,
  logAdminOperations,
  impersonationOperations,
  organizationAdminOperations,
  datasetAdminOperations,
  sourceAdminOperations,
  feedAdminOperations,
  context =>
    context.controls
      ? devOperations({ ...context, ...context.controls, trialDays: context.limits.trialDays })
      : [],
]
