import { scopeOf } from '../../plans/roles/scopes.ts'
import { ignoredParametersHeader } from '../input/ignored-parameters.ts'
import { typedKey, undescribedKey } from '../input/typed.ts'
import { pascal, type SchemaSite, shareSchemas } from './components.ts'
import { exampleOf } from './example.ts'
import { describeNumbers } from './numbers.ts'
import { type Parameter, shareParameters } from './parameters.ts'
import { isRecord, type Schema, schemaObject } from './schema.ts'
import {
  documentedMethods,
  optionalBodyKey,
  type Registered,
  rawDocument,
  refusalsKey,
} from './source.ts'

export type { Parameter }
export { refusalsKey }

export interface OpenApiOptions {
  serviceName: string
  /** Markdown, the introduction of the document. */
  description: string
  baseUrl: string
  /** Where people get help; empty or absent: in the guides. */
  contactUrl?: string
  /** Descriptions by tag, in the order in which the tags are listed. */
  tags?: Readonly<Record<string, string>>
  /** Descriptions by name, for numbers in bodies that bring none. */
  numbers?: Readonly<Record<string, string>>
  /**
   * Names that are settings: as the routes write them in texts and examples, and as they are in
   * force.
   */
  names?: Readonly<Record<string, string>>
}

export interface MediaType {
  schema: Schema
  example?: unknown
}

export interface Operation {
  operationId: string
  responses: Record<
    string,
    {
      description: string
      headers?: Record<string, { $ref: string }>
      content?: Record<string, MediaType>
    }
  >
  summary?: string
  description?: string
  tags?: string[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Record<string, MediaType>; description?: string }
  security?: Security
  [keyword: string]: unknown
}

export interface OpenApiDocument {
  openapi: '3.0.3'
  info: {
    title: string
    version: 'v1'
    description: string
    contact: { name: string; url?: string }
    license: { name: string; url: string }
  }
  servers: { url: string }[]
  security: Security
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    securitySchemes: Record<string, Schema>
    schemas: Record<string, Schema>
    parameters: Record<string, Parameter>
    headers: Record<string, Schema>
  }
}

export type Security = Record<string, string[]>[]

/**
 * Values for `detail.security`: an API key anywhere, an API key in the header only, the admin
 * token, and none.
 */
export const keySecurity: Security = [{ apiKeyHeader: [] }, { bearer: [] }, { apiKeyQuery: [] }]
export const headerKeySecurity: Security = [{ apiKeyHeader: [] }, { bearer: [] }]
export const operatorSecurity: Security = [{ operatorToken: [] }]
export const openSecurity: Security = []

const securitySchemes: Record<string, Schema> = {
  apiKeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The API key after the word `Token`: `Token <key>`.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The API key, or a session token, as a bearer token.',
  },
  apiKeyQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'api_key',
    description:
      'The API key in the URL. Accepted for GET and HEAD only, and only without an Authorization header.',
  },
  operatorToken: {
    type: 'http',
    scheme: 'bearer',
    description: "The operator's admin token. API keys are not accepted.",
  },
}

const headers: Record<string, Schema> = {
  IgnoredParameters: {
    description:
      'The query parameters and the fields of the body that this operation does not know, with the nearest known one. Absent where there are none.',
    schema: { type: 'string' },
    example: 'start;nearest=start_date',
  },
}
const ignoredParameters = {
  [ignoredParametersHeader('X-Service-')]: { $ref: '#/components/headers/IgnoredParameters' },
}

const commonPathParameters: Record<string, string> = {
  id: 'Identifier, as returned when the resource was listed or created.',
  code: 'Code of a commodity or one of its aliases, in any letter case.',
  date: 'Day in UTC, `YYYY-MM-DD`.',
}

const jsonMedia = 'application/json'

interface Converted {
  full: Schema
  /** Without the description and example, which the media type and the response carry. */
  schema: Schema
}

interface Build {
  /** Reason phrases by status. */
  phrases: Readonly<Record<string, string | undefined>>
  sites: SchemaSite[]
  /** By the JSON text of the raw schema, because every operation has the same few error bodies. */
  converted: Map<string, Converted>
}

/**
 * Turns what @elysiajs/swagger generates into a valid OpenAPI 3.0.3 document; the input is not
 * changed.
 */
export async function openapiDocument(
  raw: unknown,
  options: OpenApiOptions,
): Promise<OpenApiDocument> {
  // Loading it takes as long as a tenth of the start, which has no use for it.
  const { STATUS_CODES: phrases } = await import('node:http')
  const build: Build = {
    phrases,
    sites: [],
    converted: new Map(),
  }
  const source = isRecord(raw) ? raw : {}
  const paths: OpenApiDocument['paths'] = {}
  for (const [rawPath, item] of Object.entries(isRecord(source.paths) ? source.paths : {})) {
    const path = pathOf(rawPath)
    if (!isRecord(item) || path.includes('*') || hidden(path)) continue
    const operations = documentedMethods.flatMap(method =>
      isRecord(item[method]) ? [[method, operationOf(path, method, item[method], build)]] : [],
    )
    if (operations.length > 0) paths[path] = { ...paths[path], ...Object.fromEntries(operations) }
  }
  const schemas = shareSchemas(build.sites)
  describeNumbers([paths, schemas], options.numbers ?? {})
  const baseUrl = options.baseUrl.replace(/\/+$/, '')
  // OpenAPI 3.1 and AsyncAPI take no relative address here.
  const contactUrl = options.contactUrl || (baseUrl && `${baseUrl}/docs`)
  return {
    openapi: '3.0.3',
    info: {
      title: options.serviceName,
      version: 'v1',
      description: options.description,
      contact: { name: options.serviceName, ...(contactUrl && { url: contactUrl }) },
      license: {
        name: 'Apache-2.0',
        url: 'https://www.apache.org/licenses/LICENSE-2.0',
      },
    },
    // Without an address the server is where the document was read from.
    servers: [{ url: baseUrl || '/' }],
    security: keySecurity,
    tags: tagsOf(paths, options.tags ?? {}),
    paths,
    components: { securitySchemes, schemas, parameters: shareParameters(paths), headers },
  }
}

const pathOf = (path: string) =>
  path.replace(/:([A-Za-z_]\w*)\??/g, '{$1}').replace(/(.)\/+$/, '$1')

const hidden = (path: string) => path === '/_dev' || path.startsWith('/_dev/')

function operationOf(
  path: string,
  method: string,
  raw: Record<string, unknown>,
  build: Build,
): Operation {
  const operationId = String(raw.operationId)
  const operation: Partial<Operation> = { operationId }
  for (const keyword of [
    'tags',
    'summary',
    'description',
    'deprecated',
    'x-internal',
    'security',
  ]) {
    if (raw[keyword] !== undefined) operation[keyword] = raw[keyword]
  }
  const scope = takesKey(raw.security as Security) ? scopeOf(path) : undefined
  if (scope !== undefined) operation['x-scope'] = scope
  const parameters = parametersOf(raw.parameters)
  if (parameters.length > 0) operation.parameters = parameters
  const takesQuery = parameters.some(parameter => parameter.in === 'query')
  const body = firstSchema(raw.requestBody)
  if (body !== undefined) {
    const { description, content } = contentOf(body, `${pascal(operationId)}Request`, true, build)
    operation.requestBody = {
      ...(description ? { description } : {}),
      required: raw[optionalBodyKey] !== true,
      content,
    }
  }
  const statuses = Object.entries({
    ...refusalsOf(raw, method),
    ...(isRecord(raw.responses) ? raw.responses : {}),
  })
  const formats = formatsText(parameters)
  const responses = Object.fromEntries(
    statuses.map(([status, response]) => [
      status,
      {
        ...responseOf(status, response, operationId, build, status === '200' ? formats : ''),
        ...(status.startsWith('2') &&
          (takesQuery || body !== undefined) && { headers: ignoredParameters }),
      },
    ]),
  )
  return {
    ...operation,
    operationId,
    responses,
  }
}

/**
 * The formats of a response, for its description. Media types would turn the result types of
 * generated clients into unions.
 */
function formatsText(parameters: readonly Parameter[]): string {
  const values = parameters.find(({ name }) => name === 'format')?.schema.enum
  if (!Array.isArray(values)) return ''
  return `Formats: ${values.map(value => `\`${value}\``).join(', ')}.`
}

const takesKey = (security: Security): boolean => security.some(scheme => 'apiKeyHeader' in scheme)

const bodyRefusals = ['400', '413', '415']

/**
 * The errors of the gate and the body parsers on this route, where the route does not describe the
 * status itself.
 */
function refusalsOf(raw: Record<string, unknown>, method: string): Record<string, unknown> {
  const schemas = Object.entries(isRecord(raw[refusalsKey]) ? raw[refusalsKey] : {})
  const met =
    method === 'get' ? schemas.filter(([status]) => !bodyRefusals.includes(status)) : schemas
  return Object.fromEntries(
    met.map(([status, schema]) => [
      status,
      {
        ...(Object.hasOwn(refusalTexts, status) && { description: refusalTexts[status] }),
        content: { [jsonMedia]: { schema } },
      },
    ]),
  )
}

/** The description of a status on any route; a schema with details describes it itself. */
const refusalTexts: Readonly<Record<string, string>> = {
  '400': 'The request is malformed or a parameter is out of range: `parameter` names it.',
  '401': 'The API key is missing or not valid: `UNAUTHORIZED`.',
  '402': 'The plan quota is exhausted: `PAYMENT_REQUIRED`.',
  '403': 'The key or plan does not allow this: `upgrade_url` links to the plans.',
  '413': 'The body is too large: `PAYLOAD_TOO_LARGE`.',
  '415': 'The body is compressed: `UNSUPPORTED_CONTENT_ENCODING`.',
  '429': 'Too many requests: branch on `error_code`, and wait for the seconds in `Retry-After`.',
}

function parametersOf(raw: unknown): Parameter[] {
  const list = Array.isArray(raw) ? raw.filter(isRecord) : []
  return list.flatMap(entry => {
    const name = String(entry.name)
    const { schema: rawSchema, description: text, examples: texts, required } = entry
    if (isRecord(rawSchema) && undescribedKey in rawSchema) return []
    const { [typedKey]: typedSchema, ...plainSchema } = isRecord(rawSchema) ? rawSchema : {}
    const {
      required: isNeeded,
      sampled,
      ...typedParameter
    } = isRecord(typedSchema) ? typedSchema : {}
    const shown = isRecord(typedSchema) ? typedParameter : plainSchema
    const full = schemaObject({
      ...shown,
      description: text ?? shown.description,
      examples: isRecord(typedSchema) ? typedParameter.examples : texts,
    })
    const {
      description = entry.in === 'path' ? commonPathParameters[name] : undefined,
      example,
      deprecated,
      ...schema
    } = full
    const parameter: Parameter = {
      name,
      in: String(entry.in),
      required: entry.in === 'path' || required === true || isNeeded === true,
      schema,
    }
    if (typeof description === 'string') parameter.description = description
    if (deprecated === true) parameter.deprecated = true
    if (sampled === true) parameter['x-sample'] = true
    if (example !== undefined) parameter.example = example
    return [parameter]
  })
}

function responseOf(
  status: string,
  raw: unknown,
  operationId: string,
  build: Build,
  formats: string,
): Operation['responses'][string] {
  const phrase = build.phrases[status] ?? 'The answer'
  const schema = firstSchema(raw)
  const declared =
    isRecord(raw) && typeof raw.description === 'string' ? raw.description : undefined
  if (schema === undefined) return { description: declared ?? phrase }
  const name = status >= '400' ? `${pascal(phrase)}Problem` : `${pascal(operationId)}Response`
  const { description, content } = contentOf(schema, name, status < '300', build)
  const texts = [declared ?? description, formats].filter(text => text)
  return { description: texts.join(' ') || phrase, content }
}

// The plugin repeats one schema under each content type that Elysia could parse; the schema itself
// names the one that is sent.
function firstSchema(raw: unknown): Record<string, unknown> | undefined {
  if (!isRecord(raw) || !isRecord(raw.content)) return undefined
  const [media] = Object.values(raw.content).filter(isRecord)
  return media && isRecord(media.schema) ? unwrapped(media.schema) : undefined
}

function contentOf(raw: Record<string, unknown>, name: string, withExample: boolean, build: Build) {
  const members: unknown[] = Array.isArray(raw.anyOf) && raw.anyOf.some(isMedia) ? raw.anyOf : [raw]
  const byMedia = Map.groupBy(members.filter(isRecord), mediaOf)
  const content: Record<string, MediaType> = {}
  let description = typeof raw.description === 'string' ? raw.description : undefined
  for (const [media, shapes] of byMedia) {
    const { schema, full } = converted(shapes.length === 1 ? shapes[0] : { anyOf: shapes }, build)
    const text = full.description
    description ??= typeof text === 'string' ? text : undefined
    const entry: MediaType = { schema }
    const example = withExample ? exampleOf(full) : full.example
    if (example !== undefined) entry.example = example
    content[media] = entry
    build.sites.push({ schema, name, replace: shared => Object.assign(entry, { schema: shared }) })
  }
  return { description, content }
}

function converted(raw: unknown, build: Build): Converted {
  const key = textOf(raw)
  const cached = build.converted.get(key)
  if (cached) return cached
  const full = schemaObject(raw)
  const { description: _, example: __, ...schema } = full
  const result = { full, schema }
  build.converted.set(key, result)
  return result
}

const texts = new WeakMap<object, string>()

/** The JSON text of a schema; a schema that many operations share is serialized once. */
function textOf(raw: unknown): string {
  if (!isRecord(raw)) return JSON.stringify(raw)
  const text = texts.get(raw) ?? JSON.stringify(raw)
  texts.set(raw, text)
  return text
}

const isMedia = (schema: unknown) => isRecord(schema) && typeof schema.contentMediaType === 'string'

const mediaOf = (schema: Record<string, unknown>) =>
  typeof schema.contentMediaType === 'string'
    ? schema.contentMediaType
    : schema.type === 'string'
      ? 'text/plain'
      : jsonMedia

const unwrapped = (schema: Record<string, unknown>): Record<string, unknown> =>
  Object.keys(schema).length === 1 &&
  Array.isArray(schema.allOf) &&
  schema.allOf.length === 1 &&
  isRecord(schema.allOf[0])
    ? schema.allOf[0]
    : schema

function tagsOf(
  paths: OpenApiDocument['paths'],
  texts: Readonly<Record<string, string>>,
): OpenApiDocument['tags'] {
  const used = new Set(
    Object.values(paths).flatMap(item =>
      Object.values(item).flatMap(operation => operation.tags ?? []),
    ),
  )
  const listed = Object.keys(texts).filter(name => used.has(name))
  return listed.map(name => ({
    name,
    ...(texts[name] ? { description: texts[name] } : {}),
  }))
}

/** JSON text with the names in force, wherever a written one begins a word. */
function inForce(text: string, names: Readonly<Record<string, string>>): string {
  const changed = Object.entries(names).filter(([written, name]) => written !== name)
  if (changed.length === 0) return text
  const written = new RegExp(
    `(?<![\\w-])(?:${changed.map(([name]) => RegExp.escape(name)).join('|')})`,
    'g',
  )
  return text.replace(written, name => JSON.stringify(names[name]).slice(1, -1))
}

/**
 * The document as JSON text, made at the first call and kept; `app` must have all its routes by
 * then.
 */
export function documentOf(app: Registered, options: OpenApiOptions): () => Promise<string> {
  let text: Promise<string> | undefined
  const write = async () =>
    inForce(
      JSON.stringify(await openapiDocument(await rawDocument(app), options)),
      options.names ?? {},
    )
  return () => {
    text ??= write().catch(error => {
      text = undefined
      throw error
    })
    return text
  }
}
