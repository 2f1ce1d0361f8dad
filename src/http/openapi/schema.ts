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
  'readOnly',
  'writeOnly',
  'discriminator',
  'externalDocs',
  'multipleOf',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
]

const foreignTypes: Record<string, Schema> = {
  Date: { type: 'string', format: 'date-time' },
  bigint: { type: 'integer', format: 'int64' },
  Uint8Array: { type: 'string', format: 'binary' },
  RegExp: { type: 'string' },
}

const plainTypes = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array'])

// Elysia accepts the textual twin of a number, boolean, object or list; the document shows the
// value only.
const coercionFormats = new Set(['numeric', 'integer', 'boolean', 'ObjectString', 'ArrayString'])

const anyKeyPattern = '^(.*)$'

export const componentName = (text: string) => text.replace(/[^A-Za-z0-9._-]+/g, '_')

const reference = (name: string): Schema => ({
  $ref: `#/components/schemas/${componentName(name)}`,
})

/**
 * Rewrites JSON Schema, as TypeBox and Elysia emit it, into a Schema Object of OpenAPI 3.0.3.
 * Schemas with their own name (`$id`, `$defs`) are put into `named` and referred to.
 */
export function schemaObject(raw: unknown, named: Map<string, Schema>): Schema {
  if (!isRecord(raw)) return raw === false ? { not: {} } : {}
  // A body that is sent as text is documented by the content of the text.
  if (isRecord(raw['x-serialised'])) return schemaObject(raw['x-serialised'], named)
  if (isRecord(raw.$defs))
    for (const [name, schema] of Object.entries(raw.$defs)) define(name, schema, named)
  if (typeof raw.$ref === 'string') return reference(raw.$ref.slice(raw.$ref.lastIndexOf('/') + 1))
  if (typeof raw.$id === 'string') {
    define(raw.$id, raw, named)
    return reference(raw.$id)
  }
  const schema: Schema = {
    ...typed(raw),
    ...valued(raw),
    ...bounded(raw),
    ...structured(raw, named),
  }
  const members = raw.anyOf ?? raw.oneOf
  const joined = Array.isArray(members) ? union(members, raw, named) : {}
  return simplified({
    ...joined,
    ...schema,
    ...descriptionOf(schema.description, joined.description, keyNoteOf(raw)),
  })
}

function define(name: string, raw: unknown, named: Map<string, Schema>) {
  const key = componentName(name)
  if (named.has(key)) return
  named.set(key, {})
  const { $id: _, ...body } = isRecord(raw) ? raw : {}
  named.set(key, schemaObject(body, named))
}

function typed(raw: Schema): Schema {
  const types = [raw.type].flat().filter(type => typeof type === 'string')
  const nullable = types.includes('null') || raw.nullable === true
  const plain = types.filter(type => plainTypes.has(type))
  const foreign = types.map(type => foreignTypes[type]).find(schema => schema !== undefined)
  if (foreign) return { ...foreign, ...(raw.type === 'RegExp' ? { pattern: raw.source } : {}) }
  if (plain.length > 1)
    return { anyOf: plain.map(type => ({ type, ...(nullable ? { nullable } : {}) })) }
  if (plain.length === 1) return { type: plain[0], ...(nullable ? { nullable } : {}) }
  return raw.type === 'null' ? { nullable: true, enum: [null] } : {}
}

function valued(raw: Schema): Schema {
  const schema: Schema = {}
  for (const keyword of copiedKeywords)
    if (raw[keyword] !== undefined) schema[keyword] = raw[keyword]
  for (const [keyword, value] of Object.entries(raw))
    if (keyword.startsWith('x-')) schema[keyword] = value
  if (typeof raw.format === 'string' && coercionFormats.has(raw.format)) delete schema.format
  if (raw.format === 'binary') delete schema.default
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
    ...(type === 'boolean' && types.size === 1 && values.includes(true) && values.includes(false)
      ? {}
      : { enum: [...new Set(values)] }),
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
  const { exclusiveMinimum: above, exclusiveMaximum: below, minimum, maximum } = raw
  if (typeof above === 'number' && (typeof minimum !== 'number' || above >= minimum)) {
    Object.assign(schema, { minimum: above, exclusiveMinimum: true })
  }
  if (typeof below === 'number' && (typeof maximum !== 'number' || below <= maximum)) {
    Object.assign(schema, { maximum: below, exclusiveMaximum: true })
  }
  return schema
}

function structured(raw: Schema, named: Map<string, Schema>): Schema {
  const schema: Schema = {}
  const convert = (part: unknown) => schemaObject(part, named)
  if (isRecord(raw.properties) && Object.keys(raw.properties).length > 0) {
    schema.properties = Object.fromEntries(
      Object.entries(raw.properties).map(([key, part]) => [key, convert(part)]),
    )
  }
  if (Array.isArray(raw.required) && raw.required.length > 0)
    schema.required = [...new Set(raw.required)]
  if (isRecord(raw.patternProperties)) {
    const values = Object.values(raw.patternProperties)
    schema.additionalProperties = convert(values.length === 1 ? values[0] : { anyOf: values })
  } else if (raw.additionalProperties) {
    // Never false: unknown fields are ignored on both sides, and Elysia closes the schemas of
    // routes when they are first requested.
    schema.additionalProperties =
      raw.additionalProperties === true ||
      withNamed(convert(raw.additionalProperties), schema.properties)
  }
  if (Array.isArray(raw.items)) schema.items = convert({ anyOf: raw.items })
  else if (raw.type === 'array' || raw.items !== undefined) schema.items = convert(raw.items)
  if (Array.isArray(raw.allOf)) schema.allOf = raw.allOf.map(convert)
  if (raw.not !== undefined) schema.not = convert(raw.not)
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

function union(members: unknown[], parent: Schema, named: Map<string, Schema>): Schema {
  const flat = members.flatMap(member =>
    isRecord(member) && Array.isArray(member.anyOf) && !member.description
      ? member.anyOf
      : [member],
  )
  const shapes = flat.filter(isRecord)
  if (shapes.some(shape => shape.type === 'Date')) return { type: 'string', format: 'date-time' }
  const nullable =
    parent.nullable === true || shapes.some(shape => shape.type === 'null' || shape.const === null)
  const present = shapes.filter(
    // A member without a type is its own union, a reference or anything at all.
    shape =>
      !['null', 'undefined', 'void'].includes(String(shape.type ?? '')) && shape.const !== null,
  )
  const values = present.filter(shape => !isCoercion(shape, parent))
  const converted = (values.length > 0 ? values : present).map(shape => schemaObject(shape, named))
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
    if (!nullable) return '$ref' in only ? { allOf: [only] } : only
    return '$ref' in only ? { allOf: [only], nullable } : admitNull(only)
  }
  const first = nullable ? members.findIndex(member => 'type' in member) : -1
  return { anyOf: members.map((member, index) => (index === first ? admitNull(member) : member)) }
}

const admitNull = (schema: Schema): Schema => ({
  ...schema,
  nullable: true,
  ...(Array.isArray(schema.enum) ? { enum: [...new Set([...schema.enum, null])] } : {}),
})

function keyNoteOf(raw: Schema): string | undefined {
  const patterns = Object.keys(isRecord(raw.patternProperties) ? raw.patternProperties : {}).filter(
    pattern => pattern !== anyKeyPattern,
  )
  return patterns.length > 0 ? `Keys match \`${patterns.join('` or `')}\`.` : undefined
}

function descriptionOf(...parts: unknown[]): Schema {
  const text = [...new Set(parts.filter(part => typeof part === 'string'))].join('\n\n')
  return text === '' ? {} : { description: text }
}

/** An `allOf` of one schema is that schema, unless it is a reference with further keywords. */
function simplified(schema: Schema): Schema {
  const { allOf, ...beside } = schema
  if (!Array.isArray(allOf) || allOf.length !== 1 || !isRecord(allOf[0])) return schema
  if (!('$ref' in allOf[0])) return { ...allOf[0], ...beside }
  return Object.keys(beside).length === 0 ? allOf[0] : schema
}
