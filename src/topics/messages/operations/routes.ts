import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { notificationRoutes } from './notifications.ts'
import { phoneRoutes } from './phone.ts'
import { smsRoutes } from './sms.ts'

/** Phones, text messages and notifications. */
export function mountMessages(app: AnyElysia, context: Context): void {
  app.use(phoneRoutes(context))
  app.use(smsRoutes(context))
  app.use(notificationRoutes(context))
}
