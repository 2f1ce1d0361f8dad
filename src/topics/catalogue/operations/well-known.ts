import { t } from '../../../http/answer/schema.ts'
import { operation } from '../../../http/operations/operation.ts'
import { dayMs, isoInstant } from '../../../lib/time/instant.ts'

const access = { open: 'The service describes itself.', rate: 'none' } as const

const expiresAfterMs = 365 * dayMs

const Link = t.Object({
  href: t.string('Address.', 'https://prices.example.com/openapi.json'),
  type: t.Optional(t.string('Media type.', 'application/json')),
})

const linksetType = 'application/linkset+json'
const Linkset = t.Object(
  {
    linkset: t.Array(
      t.Object({
        anchor: t.string('Address of the API.', 'https://prices.example.com/v1'),
        'service-desc': t.Array(Link),
        'service-doc': t.Array(Link),
        'service-meta': t.Array(Link),
        status: t.Array(Link),
      }),
    ),
  },
  { contentMediaType: linksetType },
)

/** Standard addresses below `/.well-known`. */
export const wellKnownOperations = [
  operation('GET /.well-known/api-catalog', {
    operationId: 'getApiCatalog',
    summary: 'Get the API catalog',
    description: 'Returns links to the description, the documentation and the status (RFC 9727).',
    access,
    answers: { 200: Linkset },
    handle: ({ at: { links }, request, reply }) => {
      const { baseUrl, docsUrl } = links(request)
      reply.headers['content-type'] = linksetType
      return {
        linkset: [
          {
            anchor: `${baseUrl}/v1`,
            'service-desc': [
              { href: `${baseUrl}/openapi.json`, type: 'application/json' },
              { href: `${baseUrl}/openapi-3.1.json`, type: 'application/json' },
              { href: `${baseUrl}/asyncapi.json`, type: 'application/json' },
            ],
            'service-doc': [{ href: docsUrl, type: 'text/html' }],
            'service-meta': [{ href: `${baseUrl}/product-facts.json`, type: 'application/json' }],
            status: [{ href: `${baseUrl}/v1/health`, type: 'application/json' }],
          },
        ],
      }
    },
  }),
  operation('GET /.well-known/security.txt', {
    operationId: 'getSecurityContact',
    summary: 'Get the security contact',
    description: 'Returns where to report vulnerabilities (RFC 9116).',
    access,
    answers: {
      200: t.string('The contact.', 'Contact: https://prices.example.com/support', {
        contentMediaType: 'text/plain',
      }),
    },
    handle: ({ at: { links, config, now }, request, reply }) => {
      const { baseUrl, docsUrl } = links(request)
      reply.headers['content-type'] = 'text/plain; charset=utf-8'
      const contact = config.brand.supportUrl || docsUrl
      return `Contact: ${contact}\nExpires: ${isoInstant(now() + expiresAfterMs)}\nCanonical: ${baseUrl}/.well-known/security.txt\n`
    },
  }),
]
