import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { sourceRoutes } from './sources.ts'

/** What accounts bring for themselves. */
export function sourcesTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(sourceRoutes(context))
  return routes
}
