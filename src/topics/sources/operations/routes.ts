import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { sourceRoutes } from './sources.ts'

/** What accounts bring for themselves. */
export function mountSources(app: AnyElysia, context: Context): void {
  app.use(sourceRoutes(context))
}
