/** The parts of the OpenAPI document that the reference shows and collections are made from. */

export interface Schema {
  $ref?: string
  type?: string
  format?: string
  description?: string
  example?: unknown
  default?: unknown
  enum?: unknown[]
  minimum?: number
  maximum?: number
  nullable?: boolean
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
  in: 'query' | 'path' | 'header'
  required?: boolean
  /** One of several parameters that the operation needs. */
  'x-sample'?: boolean
  description?: string
  example?: unknown
  schema?: Schema
}

export interface Operation {
  operationId: string
  summary: string
  description?: string
  deprecated?: boolean
  tags?: string[]
  parameters?: Parameter[]
  requestBody?: { content?: Record<string, { schema?: Schema; example?: unknown }> }
  responses: Record<
    string,
    { description?: string; content?: Record<string, { schema?: Schema; example?: unknown }> }
  >
  security?: unknown[]
}

export interface OpenApi {
  info: { title: string; version: string; description?: string }
  tags?: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  components?: { schemas?: Record<string, Schema> }
}

export interface Listed {
  id: string
  method: string
  path: string
  tag: string
  operation: Operation
}

/** The variable of collections that holds the credential of an operation; undefined: it needs none. */
export function credentialOf({ security }: Operation): 'apiKey' | 'adminToken' | undefined {
  if (security?.length === 0) return undefined
  return JSON.stringify(security ?? []).includes('operator') ? 'adminToken' : 'apiKey'
}

export const listedOf = (document: OpenApi): Listed[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      tag: operation.tags?.[0] ?? 'other',
      operation,
    })),
  )

/** As people write it: `Idempotency-Key`. */
export const headerName = (name: string): string =>
  name.replaceAll(/(^|-)[a-z]/g, initial => initial.toUpperCase())

/** Whether samples of a call send it. */
export const isSampled = (parameter: Parameter): boolean =>
  parameter.required === true || parameter.in === 'path' || parameter['x-sample'] === true

export const exampleOfParameter = ({ example, schema }: Parameter): string =>
  String(example ?? schema?.example ?? '')

const depthMax = 5

export const resolved = (schema: Schema, document: OpenApi): Schema => {
  const name = schema.$ref?.split('/').at(-1)
  const target = name === undefined ? undefined : document.components?.schemas?.[name]
  return target
    ? { ...target, description: schema.description ?? target.description ?? '' }
    : schema
}

/** A body that fits a schema, from its examples: what is required, or else everything. */
export function exampleOf(schema: Schema, document: OpenApi, depth = 0): unknown {
  const whole = resolved(schema, document)
  if (whole.example !== undefined) return whole.example
  if (whole.enum) return whole.enum[0]
  const parts = whole.anyOf ?? whole.oneOf ?? whole.allOf
  if (parts?.[0]) return exampleOf(parts[0], document, depth)
  if (whole.properties && depth < depthMax) {
    const names = whole.required ?? Object.keys(whole.properties)
    return Object.fromEntries(
      names.flatMap(name => {
        const field = whole.properties?.[name]
        return field ? [[name, exampleOf(field, document, depth + 1)]] : []
      }),
    )
  }
  if (whole.type === 'array')
    return whole.items ? [exampleOf(whole.items, document, depth + 1)] : []
  if (whole.type === 'number' || whole.type === 'integer') return 1
  if (whole.type === 'boolean') return true
  return whole.type === 'string' ? '' : undefined
}

/** The body of a request as text: the example of the document, or one made from its schema. */
export function bodyOf({ requestBody }: Operation, document: OpenApi): string | undefined {
  const { schema, example } = requestBody?.content?.['application/json'] ?? {}
  return schema && JSON.stringify(example ?? exampleOf(schema, document) ?? {}, null, 2)
}
