export type Schema = { [keyword: string]: unknown }

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// Everything else that JSON Schema or TypeBox may carry is unknown to 3.0.3 and is left out.
const copiedKeywords = [
  'title',
  'description',
  'format',
  'default',
  'example',
  'deprecated',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
]

const plainTypes = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array'])

// Elysia accepts the textual twin of a number, boolean, object or list; the document shows the
// value only.
const coercionFormats = new Set(['numeric', 'integer', 'boolean', 'ObjectString', 'ArrayString'])

/** Rewrites JSON Schema, as TypeBox and Elysia emit it, into a Schema Object of OpenAPI 3.0.3. */
export function schemaObject(raw: unknown): Schema {
  if (!isRecord(raw)) return {}
  // A body that is sent as text is documented by the content of the text.
  if (isRecord(raw['x-serialised'])) return schemaObject(raw['x-serialised'])
  const schema: Schema = {
    ...typed(raw),
    ...valued(raw),
    ...bounded(raw),
    ...structured(raw),
  }
  const joined = Array.isArray(raw.anyOf) ? union(raw.anyOf, raw) : {}
  return simplified({
    ...joined,
    ...schema,
    ...descriptionOf(schema.description, joined.description),
  })
}

function typed(raw: Schema): Schema {
  if (raw.type === 'null') return { nullable: true, enum: [null] }
  return plainTypes.has(String(raw.type)) ? { type: raw.type } : {}
}

function valued(raw: Schema): Schema {
  const schema: Schema = {}
  for (const keyword of copiedKeywords)
    if (raw[keyword] !== undefined) schema[keyword] = raw[keyword]
  for (const [keyword, value] of Object.entries(raw))
    if (keyword.startsWith('x-')) schema[keyword] = value
  if (typeof raw.format === 'string' && coercionFormats.has(raw.format)) delete schema.format
  if (Array.isArray(raw.examples) && raw.examples.length > 0) schema.example = raw.examples[0]
  if ('const' in raw) Object.assign(schema, enumeration([raw.const]))
  else if (Array.isArray(raw.enum) && raw.enum.length > 0)
    Object.assign(schema, enumeration(raw.enum))
  return schema
}

function enumeration(values: unknown[]): Schema {
  const types = new Set(values.filter(value => value !== null).map(value => typeof value))
  const [type] = types
  const named = types.size === 1 && (type === 'string' || type === 'boolean' || type === 'number')
  const integral =
    type === 'number' && values.every(value => value === null || Number.isInteger(value))
  return {
    ...(named ? { type: integral ? 'integer' : type } : {}),
    ...(values.includes(null) ? { nullable: true } : {}),
    enum: [...new Set(values)],
    ...constantNames([...new Set(values)]),
  }
}

/** Names of constants for values that differ only in case or punctuation, for generators. */
function constantNames(values: unknown[]): Schema {
  const names = values.map(value =>
    String(value)
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_'),
  )
  const letters = names.map(name => name.replaceAll('_', ''))
  if (new Set(letters).size === names.length) return {}
  return {
    'x-enum-varnames': names.map((name, index) =>
      letters.indexOf(letters[index]!) === index ? name : `${name}_${index + 1}`,
    ),
  }
}

// 3.0.3 has the exclusive bounds as flags alongside the bound; JSON Schema has them as numbers.
function bounded(raw: Schema): Schema {
  const schema: Schema = {}
  const { exclusiveMinimum: above, minimum } = raw
  if (typeof above === 'number' && (typeof minimum !== 'number' || above >= minimum)) {
    Object.assign(schema, { minimum: above, exclusiveMinimum: true })
  }
  return schema
}

function structured(raw: Schema): Schema {
  const schema: Schema = {}
  const convert = schemaObject
  if (isRecord(raw.properties) && Object.keys(raw.properties).length > 0) {
    schema.properties = Object.fromEntries(
      Object.entries(raw.properties).map(([key, part]) => [key, convert(part)]),
    )
  }
  if (Array.isArray(raw.required) && raw.required.length > 0)
    schema.required = [...new Set(raw.required)]
  if (isRecord(raw.patternProperties)) {
    const values = Object.values(raw.patternProperties)
    schema.additionalProperties = convert(values[0])
  } else if (raw.additionalProperties) {
    // Never false: unknown fields are ignored on both sides, and Elysia closes the schemas of
    // routes when they are first requested.
    schema.additionalProperties =
      raw.additionalProperties === true ||
      withNamed(convert(raw.additionalProperties), schema.properties)
  }
  if (raw.type === 'array' || raw.items !== undefined) schema.items = convert(raw.items)
  if (Array.isArray(raw.allOf)) schema.allOf = raw.allOf.map(convert)
  return schema
}

/**
 * The schema of additional keys. In languages whose index signatures also cover the named keys, the
 * two cannot differ, so the schema is a union of both.
 */
function withNamed(rest: Schema, properties: unknown): Schema {
  const all = [rest, ...(isRecord(properties) ? Object.values(properties).filter(isRecord) : [])]
  const distinct = [...new Map(all.map(member => [JSON.stringify(member), member])).values()]
  return distinct.length === 1 ? rest : { anyOf: distinct }
}

function union(members: unknown[], parent: Schema): Schema {
  const flat = members.flatMap(member =>
    isRecord(member) && Array.isArray(member.anyOf) && !member.description
      ? member.anyOf
      : [member],
  )
  const shapes = flat.filter(isRecord)
  const nullable = shapes.some(shape => shape.type === 'null')
  const present = shapes.filter(
    // A member without a type is its own union, a reference or anything at all.
    shape => shape.type !== 'null',
  )
  const values = present.filter(shape => !isCoercion(shape, parent))
  const converted = (values.length > 0 ? values : present).map(schemaObject)
  return withNull(merged(converted), nullable)
}

const isCoercion = (shape: Schema, parent: Schema) =>
  shape.type === 'string' &&
  (parent.elysiaMeta === 'ArrayQuery' ||
    (typeof shape.format === 'string' && coercionFormats.has(shape.format)))

const isEnumeration = (schema: Schema) =>
  Array.isArray(schema.enum) &&
  Object.keys(schema).every(key =>
    ['enum', 'type', 'nullable', 'description', 'title', 'example'].includes(key),
  )

function merged(members: Schema[]): Schema[] {
  const words = members.filter(isEnumeration)
  const distinct = [...new Map(members.map(member => [JSON.stringify(member), member])).values()]
  if (words.length < 2) return distinct
  const notes = words.flatMap(word =>
    word.description ? [`- \`${[word.enum].flat().join('`, `')}\`: ${word.description}`] : [],
  )
  const all = {
    ...enumeration(words.flatMap(word => word.enum)),
    ...(notes.length > 0 ? { description: notes.join('\n') } : {}),
  }
  return [all, ...distinct.filter(member => !isEnumeration(member))]
}

// `nullable` only has an effect in a schema with `type`, so among alternatives the first typed one
// carries it.
function withNull(members: Schema[], nullable: boolean): Schema {
  const [only] = members
  if (!only) return nullable ? { nullable, enum: [null] } : {}
  if (members.length === 1) {
    return nullable ? admitNull(only) : only
  }
  const [firstMember, ...others] = members as [Schema, ...Schema[]]
  return { anyOf: [nullable ? admitNull(firstMember) : firstMember, ...others] }
}

const admitNull = (schema: Schema): Schema => ({
  ...schema,
  nullable: true,
  ...(Array.isArray(schema.enum) ? { enum: [...new Set([...schema.enum, null])] } : {}),
})

function descriptionOf(...parts: unknown[]): Schema {
  const text = [...new Set(parts.filter(part => typeof part === 'string'))].join('\n\n')
  return text === '' ? {} : { description: text }
}

/** An `allOf` of one schema is that schema. */
function simplified(schema: Schema): Schema {
  const { allOf, ...beside } = schema
  return Array.isArray(allOf) && allOf.length === 1 && isRecord(allOf[0])
    ? { ...allOf[0], ...beside }
    : schema
}
