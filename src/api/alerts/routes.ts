import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { alertRoutes } from './alerts.ts'

/** Alerts on prices and on what daily closes come to. */
export function alertsTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(alertRoutes({ ...context, historyPerPageMax: context.limits.alertsHistoryPerPageMax }))
  return routes
}
