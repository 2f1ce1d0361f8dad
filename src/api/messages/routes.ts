import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { notificationRoutes } from './notifications.ts'
import { phoneRoutes } from './phone.ts'
import { smsRoutes } from './sms.ts'

/** Phones, text messages and notifications. */
export function messagesTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(phoneRoutes(context))
  routes.use(smsRoutes(context))
  routes.use(notificationRoutes(context))
  return routes
}
