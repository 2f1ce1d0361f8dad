import type { Operations } from '../../../http/operations/operation.ts'
import type { Dispatch } from '../../spreadsheet/operations/topic.ts'
import { mcpOperations } from './mcp.ts'
import { metadataOperations } from './metadata.ts'

/** The endpoint for assistants (MCP). */
export const operations: Operations<{ answer: Dispatch }> = [
  metadataOperations,
  ({ config, onBehalf, ownUrl }, { answer }) =>
    mcpOperations({
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
