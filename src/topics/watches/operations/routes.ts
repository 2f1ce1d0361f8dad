import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { watchRoutes } from './watches.ts'

/** Watches and their feed of events. */
export function mountWatches(app: AnyElysia, context: Context): void {
  app.use(watchRoutes(context))
}
