import type { OpenApiDocument } from '../../../src/http/openapi/openapi.ts'

interface Schema {
  $ref?: string
  type?: string
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

/**
 * Paths of the fields of a body that no alternative of its schema names. A validator accepts them,
 * because a schema of the document is open by default.
 */
export function undocumentedFields(
  document: OpenApiDocument,
  schema: unknown,
  body: unknown,
): string[] {
  const found = new Set<string>()
  collect(document, [schema as Schema], body, '', found)
  // Any answer may name the parameters of its request that the operation does not have.
  return [...found].filter(path => !path.endsWith('.metadata.ignored_parameters'))
}

/** A schema as the objects, lists and values that it may be. */
function alternativesOf(document: OpenApiDocument, schema: Schema): Schema[] {
  if (schema.$ref) return alternativesOf(document, referenced(document, schema.$ref))
  const parts = schema.anyOf ?? schema.oneOf ?? schema.allOf
  return parts ? parts.flatMap(part => alternativesOf(document, part)) : [schema]
}

const referenced = (document: OpenApiDocument, ref: string): Schema =>
  ref
    .replace('#/', '')
    .split('/')
    .map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document) as Schema

function collect(
  document: OpenApiDocument,
  schemas: Schema[],
  value: unknown,
  path: string,
  found: Set<string>,
): void {
  if (typeof value !== 'object' || value === null) return
  const all = schemas.flatMap(schema => alternativesOf(document, schema))
  if (Array.isArray(value)) {
    const items = all.flatMap(({ items }) => items ?? [])
    if (items.length === 0) return
    for (const item of value) collect(document, items, item, `${path}[]`, found)
    return
  }
  const objects = all.filter(({ properties, additionalProperties: more }) => properties || more)
  if (objects.length === 0) return
  for (const [name, field] of Object.entries(value)) {
    const named = objects.flatMap(({ properties }) =>
      properties && Object.hasOwn(properties, name) ? properties[name]! : [],
    )
    const others = objects.flatMap(({ additionalProperties: more }) => more || [])
    const described = named.length > 0 ? named : others.filter(more => more !== true)
    if (described.length > 0)
      collect(document, described as Schema[], field, `${path}.${name}`, found)
    else if (others.length === 0) found.add(`${path}.${name}`)
  }
}
