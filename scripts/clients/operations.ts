/** The parts of the OpenAPI document from which the clients are generated. */
export interface Schema {
  $ref?: string
  type?: string
  nullable?: boolean
  enum?: unknown[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
  example?: unknown
}

type Content = Record<string, { schema?: Schema }>

interface DocumentOperation {
  operationId: string
  /** Another name of an operation. */
  'x-internal'?: boolean
  tags?: string[]
  summary?: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}

export interface Document {
  info: { title: string; version: string }
  paths: Record<string, Record<string, DocumentOperation>>
  components: { schemas: Record<string, Schema> }
}

export interface Operation {
  id: string
  method: string
  path: string
  summary: string
  description: string
  parameters: Parameter[]
  body: Schema | undefined
  /** The schema of a success in JSON. */
  answer: Schema | undefined
  /** Media types of a success, none where it has no body. */
  media: string[]
  takesIdempotencyKey: boolean
  /** Where the rows of a page are in its body; undefined where there are no pages. */
  rows: string[] | undefined
}

/** Pages for people, sockets, and what other programs send here: nothing that a client calls. */
const leftOut = new Set([
  'openCable',
  'streamWatchEvents',
  'getOpenApiDocument',
  'getDocumentationPage',
  'getSwaggerPage',
  'receiveProcessorEvent',
  'sendMcpMessage',
])

export const resolved = (document: Document, schema: Schema | undefined): Schema => {
  if (schema?.$ref === undefined) return schema ?? {}
  return resolved(document, document.components.schemas[schema.$ref.split('/').at(-1)!])
}

/** The shape of a page, which is one of several where an operation answers by its parameters. */
function pageShape(document: Document, answer: Schema): Schema {
  const body = resolved(document, answer)
  const shapes = (body.anyOf ?? []).map(shape => resolved(document, shape))
  return shapes.find(shape => shape.properties?.meta !== undefined) ?? body
}

/**
 * Where the list of a page is: under `data`, in a list inside of it, or in a list next to `meta`.
 */
function rowsPath(document: Document, answer: Schema): string[] | undefined {
  const listIn = (schema: Schema) =>
    Object.entries(schema.properties ?? {}).find(
      ([, property]) => resolved(document, property).type === 'array',
    )?.[0]
  const body = pageShape(document, answer)
  const data = body.properties?.data && resolved(document, body.properties.data)
  if (data?.type === 'array') return ['data']
  const inData = data && listIn(data)
  if (inData !== undefined) return ['data', inData]
  const beside = listIn(body)
  return beside === undefined ? undefined : [beside]
}

/** The schema of one row of a page. */
export function rowSchema(document: Document, answer: Schema, keys: readonly string[]): Schema {
  const list = keys.reduce<Schema>(
    (schema, key) => resolved(document, schema).properties![key]!,
    pageShape(document, answer),
  )
  const array = resolved(document, list.allOf?.[0] ?? list)
  return array.items ?? {}
}

export function operationsOf(document: Document): Operation[] {
  const operations: Operation[] = []
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (operation['x-internal'] || leftOut.has(operation.operationId)) continue
      const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))
      const content = success?.[1].content ?? {}
      const answer = content['application/json']?.schema
      const parameters = operation.parameters ?? []
      const isPaged = parameters.some(parameter => parameter.name === 'page')
      operations.push({
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        summary: operation.summary ?? '',
        description: operation.description ?? '',
        parameters,
        body: operation.requestBody?.content['application/json']?.schema,
        answer,
        media: Object.keys(content),
        takesIdempotencyKey: parameters.some(parameter => parameter.name === 'idempotency-key'),
        rows: isPaged && answer ? rowsPath(document, answer) : undefined,
      })
    }
  }
  return operations
}
