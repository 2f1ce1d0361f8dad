import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { cableRoutes } from './cable.ts'
import { streamRoutes } from './stream.ts'

/** What is sent as it happens: the event stream and the socket of prices. */
export function mountStreams(app: AnyElysia, context: Context): void {
  app.use(streamRoutes(context))
  app.use(cableRoutes({ ...context, channels: context.config.brand.streamChannels }))
}
