import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { cableRoutes } from './cable.ts'
import { streamRoutes } from './stream.ts'

/** What is sent as it happens: the event stream and the socket of prices. */
export function streamsTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(streamRoutes(context))
  routes.use(cableRoutes({ ...context, channels: context.config.brand.streamChannels }))
  return routes
}
