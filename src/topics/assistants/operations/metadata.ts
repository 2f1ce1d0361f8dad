import { t } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'

export const mcpPath = '/mcp'
export const resourceMetadataPath = '/.well-known/oauth-protected-resource'

const access = { open: 'It names who issues tokens.', rate: 'none' } as const

/**
 * The authorization server for assistants (RFC 9728): the company's identity provider, or this
 * service itself.
 */
export const metadataOperations = ({
  ownUrl,
  serviceName,
  config,
}: Pick<Context, 'ownUrl' | 'serviceName' | 'config'>) =>
  [resourceMetadataPath, `${resourceMetadataPath}${mcpPath}`].map(path =>
    operation(`GET ${path}`, {
      operationId: 'getProtectedResource',
      hidden: true,
      access,
      answers: { 200: t.Object({}, { additionalProperties: true }) },
      handle: () => ({
        resource: `${ownUrl()}${mcpPath}`,
        resource_name: serviceName,
        authorization_servers: [config.oidc.issuer || ownUrl()],
        bearer_methods_supported: ['header'],
        resource_documentation: `${ownUrl()}/docs/assistants`,
      }),
    }),
  )
