import { t } from '../../../http/answer/schema.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'

export const mcpPath = '/mcp'
export const resourceMetadataPath = '/.well-known/oauth-protected-resource'

const access = { open: 'It names who issues tokens.', rate: 'none' } as const

/**
 * The authorization servers for assistants (RFC 9728): this service, at which any assistant registers
 * and a person signs in as usual, and the company's identity provider for those that it knows.
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
        authorization_servers: [ownUrl(), config.oidc.issuer].filter(server => server !== ''),
        bearer_methods_supported: ['header'],
        resource_documentation: `${ownUrl()}/docs/assistants`,
      }),
    }),
  )
