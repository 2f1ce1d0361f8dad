import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { keyRoutes } from './keys.ts'
import { performanceRoutes } from './performance.ts'
import { usageRoutes } from './usage.ts'

/** API keys, their usage and what they cost. */
export function mountKeys(app: AnyElysia, context: Context): void {
  app.use(keyRoutes({ ...context, changes: context.keyChanges }))
  app.use(usageRoutes(context))
  app.use(performanceRoutes(context))
}
