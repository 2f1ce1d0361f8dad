import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { accountRoutes } from './account.ts'
import { organizationRoutes } from './organizations.ts'
import { secondFactorRoutes } from './second-factor.ts'
import { sessionListRoutes } from './session-list.ts'
import { sessionRoutes } from './sessions.ts'
import { signUpAdminRoutes, signUpRoutes } from './sign-up.ts'

/** The account, its sessions and its organization. */
export function mountAccount(app: AnyElysia, context: Context): void {
  app.use(accountRoutes({ ...context, quotaScope: context.config.quota.scope }))
  app.use(sessionRoutes(context))
  app.use(sessionListRoutes(context))
  app.use(signUpRoutes(context))
  app.use(signUpAdminRoutes(context))
  app.use(secondFactorRoutes(context))
  app.use(organizationRoutes(context))
}
