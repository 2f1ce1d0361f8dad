import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import type { Dispatch } from '../../spreadsheet/operations/topic.ts'
import { mcpOperations } from './mcp.ts'
import { metadataOperations } from './metadata.ts'

/** The endpoint for assistants (MCP). */
export function operationsOf(context: Context, { answer }: { answer: Dispatch }): Operation[] {
  const { config, onBehalf, ownUrl } = context
  return [
    ...metadataOperations(context),
    ...mcpOperations({
      serviceName: config.brand.serviceName,
      headerPrefix: config.brand.headerPrefix,
      ownUrl,
      corsOrigins: config.cors.origins,
      dispatch(request, original) {
        onBehalf.set(request, original)
        return answer(request)
      },
    }),
  ]
}
