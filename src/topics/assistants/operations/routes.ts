import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import type { Dispatch } from '../../spreadsheet/operations/routes.ts'
import { mcpRoutes } from './mcp.ts'

/** The interface for assistants. */
export function mountMcp(app: AnyElysia, context: Context, answer: Dispatch): void {
  const { access, config, onBehalf } = context
  app.use(
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
}
