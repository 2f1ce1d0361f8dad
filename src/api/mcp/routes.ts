import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import type { Dispatch } from '../spreadsheet/routes.ts'
import { mcpRoutes } from './mcp.ts'

/** The interface for assistants. */
export function mcpTopic(context: Context, answer: Dispatch): Elysia {
  const { access, config, onBehalf } = context
  const routes = new Elysia()
  routes.use(
    mcpRoutes({
      access,
      serviceName: config.brand.serviceName,
      headerPrefix: config.brand.headerPrefix,
      dispatch(request, original) {
        onBehalf.set(request, original)
        return answer(request)
      },
    }),
  )
  return routes
}
