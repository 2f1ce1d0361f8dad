import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { watchRoutes } from './watches.ts'

/** Watches and their feed of events. */
export function watchesTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(watchRoutes(context))
  return routes
}
