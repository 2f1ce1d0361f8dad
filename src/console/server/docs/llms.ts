import { t } from '../../../http/answer/schema.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { guideLinks } from '../../console.ts'

/** What language models read of the service. */
export const modelOperations = ({ links, serviceName }: Context) => [
  operation('GET /llms.txt', {
    operationId: 'getLlmsText',
    summary: 'Get a summary for language models',
    description:
      'Returns a short description of the API as Markdown, with links to every guide as Markdown.',
    access: { open: 'The service describes itself.', rate: 'none' },
    answers: {
      200: t.string('The summary.', '# Energy prices', { contentMediaType: 'text/markdown' }),
    },
    handle: async ({ request, reply }) => {
      const { baseUrl } = links(request)
      reply.headers['content-type'] = 'text/markdown; charset=utf-8'
      return [
        `# ${serviceName}`,
        '',
        '> Energy prices over HTTP: newest prices, history, futures, spreads, storage, drilling, alerts and webhooks.',
        '',
        'Send an API key as `Authorization: Token <API_KEY>`. `/v1/demo/prices` needs none.',
        '',
        '## API',
        '',
        `- [OpenAPI document](${baseUrl}/openapi.json): every operation with its parameters and responses`,
        `- [Commodity codes](${baseUrl}/v1/commodities): what can be requested`,
        `- [Limits](${baseUrl}/v1/meta/limits): quotas and rate limits of each plan`,
        '',
        (await guideLinks(baseUrl)).replaceAll(/wellhead/gi, serviceName),
      ].join('\n')
    },
  }),
]
