import { version as bundleVersion } from 'swagger-ui-dist/package.json'
import styleFile from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import bundleFile from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import licenceFile from 'swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt' with { type: 'file' }
import { jsonType } from '../../../http/answer/complete.ts'
import { hasEtag } from '../../../http/answer/reply.ts'
import { t } from '../../../http/answer/schema.ts'
import { serialised } from '../../../http/answer/serialised.ts'
import { parametersPassedOnKey } from '../../../http/input/known-names.ts'
import type { OpenApiDocument } from '../../../http/openapi/openapi.ts'
import { asyncApi, openApi31 } from '../../../http/openapi/other-forms.ts'
import { withParametersInPlace } from '../../../http/openapi/parameters.ts'
import type { Reply } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { once } from '../../../lib/once.ts'
import { strongEtag } from '../../../lib/text/etag.ts'
import swaggerStyle from './swagger.css' with { type: 'text' }
import { swaggerPage } from './swagger-page.ts'
import swaggerScript from './swagger-start.js' with { type: 'text' }

interface DocsDeps {
  serviceName: string
  headerPrefix: string
  /** The OpenAPI document as JSON text. */
  document: () => Promise<string>
  /** Answers `/docs` with the console's reference; without it `/docs` serves Swagger UI too. */
  reference?: (request: Request) => Promise<Response>
}

const keyless = {
  access: { open: 'The API description is public.', rate: 'none' },
} as const

const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const assets: Record<string, { type: string; body: () => string | Blob }> = {
  'docs.css': { type: 'text/css; charset=utf-8', body: () => swaggerStyle },
  'docs.js': { type: 'text/javascript; charset=utf-8', body: () => swaggerScript },
  'swagger-ui.css': { type: 'text/css; charset=utf-8', body: () => Bun.file(styleFile) },
  'swagger-ui-bundle.js': {
    type: 'text/javascript; charset=utf-8',
    body: () => Bun.file(bundleFile),
  },
  'swagger-ui-bundle.js.LICENSE.txt': {
    type: 'text/plain; charset=utf-8',
    body: () => Bun.file(licenceFile),
  },
}

// A new release has new asset addresses, so browsers may cache the old ones permanently.
const assetVersion = `${bundleVersion}-${Bun.hash(swaggerStyle + swaggerScript).toString(36)}`

const answer = (body: string | Blob, type: string, headers: Record<string, string> = {}) =>
  new Response(body, {
    headers: { 'content-type': type, 'x-content-type-options': 'nosniff', ...headers },
  })

const tagged = (text: string) => ({ text, etag: strongEtag(text) })

type TaggedText = ReturnType<typeof tagged>

/** What the reference and assistants list: every operation, with the names of its parameters. */
const listOf = (document: OpenApiDocument) => ({
  operations: Object.entries(withParametersInPlace(document).paths).flatMap(([path, item]) =>
    Object.entries(item).map(
      ([method, { operationId: id, summary, tags, deprecated, parameters }]) => ({
        id,
        method: method.toUpperCase(),
        path,
        tag: tags?.[0],
        summary,
        deprecated,
        parameters: parameters?.map(({ name }) => name),
      }),
    ),
  ),
})

/** The operations and components of the document, each as JSON, by operation id and by reference. */
interface DocumentPieces {
  info: string
  operations: ReadonlyMap<string, { path: string; method: string; json: string }>
  components: ReadonlyMap<string, string>
}

const piecesOf = ({ info, paths, components }: OpenApiDocument): DocumentPieces => ({
  info: JSON.stringify(info),
  operations: new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => [
        operation.operationId,
        { path, method, json: JSON.stringify(operation) },
      ]),
    ),
  ),
  components: new Map(
    Object.entries(components).flatMap(([kind, named]) =>
      Object.entries(named).map(([name, value]) => [`${kind}/${name}`, JSON.stringify(value)]),
    ),
  ),
})

/** The document with one operation and the components that it refers to; without one, its head. */
function partOf({ info, operations, components }: DocumentPieces, id = ''): string {
  const taken = new Map<string, string[]>()
  const seen = new Set<string>()
  const take = (json: string) => {
    for (const [, kind, name] of json.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      const known = components.get(`${kind}/${name}`)
      if (known === undefined || seen.has(`${kind}/${name}`)) continue
      seen.add(`${kind}/${name}`)
      taken.set(kind!, [...(taken.get(kind!) ?? []), `${JSON.stringify(name)}:${known}`])
      take(known)
    }
  }
  const found = operations.get(id)
  if (found) take(found.json)
  const paths = found
    ? `{${JSON.stringify(found.path)}:{${JSON.stringify(found.method)}:${found.json}}}`
    : '{}'
  const shared = [...taken].map(([kind, named]) => `${JSON.stringify(kind)}:{${named.join()}}`)
  return `{"info":${info},"paths":${paths},"components":{${shared.join()}}}`
}

export function docsOperations({ serviceName, headerPrefix, document, reference }: DocsDeps) {
  const page = tagged(swaggerPage(serviceName, assetVersion))
  const documentWithTag = once(async () => tagged(await document()))
  const parsed = async () => JSON.parse((await documentWithTag()).text) as OpenApiDocument
  /** The document in another form, made of it when it is first requested. */
  const derived = (form: (source: OpenApiDocument) => unknown) =>
    once(async () => tagged(JSON.stringify(form(await parsed()))))
  const answerText = async (
    { request, reply }: { request: Request; reply: Reply },
    textOf: () => Promise<TaggedText>,
  ) => {
    const { text, etag } = await textOf()
    Object.assign(reply.headers, { 'cache-control': 'no-cache', etag })
    if (hasEtag(request.headers.get('if-none-match'), etag)) {
      reply.status = 304
      return undefined
    }
    // As a text, not as a Response: of that the framework would make a stream for each answer.
    reply.headers['content-type'] = jsonType
    return text
  }
  /** A part is put together of texts: the document is too long to be parsed for each request. */
  const pieces = once(async () => piecesOf(await parsed()))
  const operationPart = async (id: string | undefined) => tagged(partOf(await pieces(), id))
  const laterDocument = derived(source => openApi31(source, headerPrefix))
  const eventsDocument = derived(asyncApi)
  const list = derived(listOf)
  const answerPage = (request: Request) => {
    const headers = {
      'cache-control': 'no-cache',
      'content-security-policy': contentPolicy,
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      etag: page.etag,
    }
    return hasEtag(request.headers.get('if-none-match'), page.etag)
      ? new Response(null, { status: 304, headers })
      : answer(page.text, 'text/html; charset=utf-8', headers)
  }
  const pageSchema = t.string('The documentation page.', '<!doctype html>\n<html lang="en">…', {
    contentMediaType: 'text/html',
  })
  const routes = [
    operation('GET /openapi.json', {
      operationId: 'getOpenApiDocument',
      summary: 'Get the OpenAPI document',
      description:
        'Returns this document: every path, parameter, body and error, as OpenAPI 3.0.3. Generate a client from it, or load it into your tools.',
      tags: ['Service'],
      ...keyless,
      answers: {
        200: serialised(
          t.Object(
            { openapi: t.Literal('3.0.3') },
            { additionalProperties: true, description: 'The OpenAPI document.' },
          ),
        ),
        304: t.Void(),
      },
      handle: async call => await answerText(call, documentWithTag),
    }),
    operation('GET /openapi-3.1.json', {
      operationId: 'getOpenApi31Document',
      summary: 'Get the OpenAPI 3.1 document',
      description: 'Returns the same document as OpenAPI 3.1, with the webhooks that are sent.',
      tags: ['Service'],
      ...keyless,
      answers: {
        200: serialised(t.Object({ openapi: t.Literal('3.1.0') }, { additionalProperties: true })),
        304: t.Void(),
      },
      handle: async call => await answerText(call, laterDocument),
    }),
    operation('GET /asyncapi.json', {
      operationId: 'getAsyncApiDocument',
      summary: 'Get the AsyncAPI document',
      description: 'Returns what is sent without being requested: webhooks, streams, the cable.',
      tags: ['Service'],
      ...keyless,
      answers: {
        200: serialised(t.Object({ asyncapi: t.Literal('3.0.0') }, { additionalProperties: true })),
        304: t.Void(),
      },
      handle: async call => await answerText(call, eventsDocument),
    }),
    operation('GET /docs', {
      operationId: 'getDocumentationPage',
      summary: 'Get the documentation page',
      description:
        'Returns the API reference as a page. It reads the same document, runs calls against this server and works offline.',
      tags: ['Service'],
      detail: { [parametersPassedOnKey]: true },
      ...keyless,
      answers: { 200: pageSchema, 304: t.Void() },
      handle: async ({ request }) => await (reference ?? answerPage)(request),
    }),
    operation('GET /swagger', {
      operationId: 'getSwaggerPage',
      summary: 'Get the Swagger page',
      description: 'Returns the same document in Swagger UI.',
      tags: ['Service'],
      ...keyless,
      answers: { 200: pageSchema, 304: t.Void() },
      handle: ({ request }) => answerPage(request),
    }),
  ]
  // The whole document is six times as long as what a page of the reference shows of it.
  const parts = [
    operation('GET /docs/operations.json', {
      hidden: true,
      ...keyless,
      answers: { 200: serialised(t.Object({})), 304: t.Void() },
      handle: async call => await answerText(call, list),
    }),
    operation('GET /docs/operation.json', {
      hidden: true,
      ...keyless,
      query: { id: t.Optional(t.String()) },
      answers: { 200: serialised(t.Object({})), 304: t.Void() },
      handle: async call => await answerText(call, () => operationPart(call.query.id)),
    }),
  ]
  const files = Object.entries(assets).map(([name, asset]) =>
    operation(`GET /docs/assets/${name}`, {
      hidden: true,
      ...keyless,
      query: { v: t.Optional(t.String()) },
      answers: { 200: t.String() },
      handle: ({ query }) =>
        answer(asset.body(), asset.type, {
          'cache-control':
            query.v === assetVersion ? 'public, max-age=31536000, immutable' : 'no-cache',
        }),
    }),
  )
  return [...routes, ...parts, ...files]
}
