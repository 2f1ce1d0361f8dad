import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { keyRoutes } from './keys.ts'
import { performanceRoutes } from './performance.ts'
import { usageRoutes } from './usage.ts'

/** API keys, their usage and what they cost. */
export function keysTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(keyRoutes({ ...context, changes: context.keyChanges }))
  routes.use(usageRoutes(context))
  routes.use(performanceRoutes(context))
  return routes
}
