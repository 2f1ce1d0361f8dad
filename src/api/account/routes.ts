import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { accountRoutes } from './account.ts'
import { organizationRoutes } from './organizations.ts'
import { secondFactorRoutes } from './second-factor.ts'
import { sessionListRoutes } from './session-list.ts'
import { sessionRoutes } from './sessions.ts'
import { signUpAdminRoutes, signUpRoutes } from './sign-up.ts'

/** The account, its sessions and its organization. */
export function accountTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(accountRoutes({ ...context, quotaScope: context.config.quota.scope }))
  routes.use(sessionRoutes(context))
  routes.use(sessionListRoutes(context))
  routes.use(signUpRoutes(context))
  routes.use(signUpAdminRoutes(context))
  routes.use(secondFactorRoutes(context))
  routes.use(organizationRoutes(context))
  return routes
}
