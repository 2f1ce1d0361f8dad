import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { alertRoutes } from './alerts.ts'

/** Alerts on prices and on what daily closes come to. */
export function mountAlerts(app: AnyElysia, context: Context): void {
  app.use(alertRoutes({ ...context, historyPerPageMax: context.limits.alertsHistoryPerPageMax }))
}
