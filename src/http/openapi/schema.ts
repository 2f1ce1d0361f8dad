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

const plainTypes = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array'])

const anyKeyPattern = '^(.*)$'

/** Rewrites JSON Schema, as the routes declare it, into a Schema Object of OpenAPI 3.0.3. */
export function schemaObject(raw: unknown): Schema {
  if (!isRecord(raw)) return {}
  // A body that is sent as text is documented by the content of the text.
  if (isRecord(raw['x-serialised'])) return schemaObject(raw['x-serialised'])
  const schema: Schema = { ...typed(raw), ...valued(raw), ...bounded(raw), ...structured(raw) }
  const joined = Array.isArray(raw.anyOf) ? union(raw.anyOf, raw) : {}
  return simplified({
    ...joined,
    ...schema,
    ...descriptionOf(schema.description, joined.description, keyNoteOf(raw)),
  })
}

function typed({ type, nullable }: Schema): Schema {
  if (type === 'null') return { nullable: true, enum: [null] }
  return plainTypes.has(String(type)) ? { type, ...(nullable === true && { nullable }) } : {}
}

function valued(raw: Schema): Schema {
  const schema: Schema = {}
  for (const keyword of copiedKeywords)
    if (raw[keyword] !== undefined) schema[keyword] = raw[keyword]
  for (const [keyword, value] of Object.entries(raw))
    if (keyword.startsWith('x-')) schema[keyword] = value
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

function structured(raw: Schema): Schema {
  const schema: Schema = {}
  if (isRecord(raw.properties) && Object.keys(raw.properties).length > 0) {
    schema.properties = Object.fromEntries(
      Object.entries(raw.properties).map(([key, part]) => [key, schemaObject(part)]),
    )
  }
  if (Array.isArray(raw.required) && raw.required.length > 0)
    schema.required = [...new Set(raw.required)]
  if (isRecord(raw.patternProperties)) {
    const values = Object.values(raw.patternProperties)
    schema.additionalProperties = schemaObject(values.length === 1 ? values[0] : { anyOf: values })
  } else if (raw.additionalProperties) {
    // Never false: unknown fields are ignored on both sides, and Elysia closes the schemas of
    // routes when they are first requested.
    schema.additionalProperties =
      raw.additionalProperties === true ||
      withNamed(schemaObject(raw.additionalProperties), schema.properties)
  }
  if (raw.type === 'array') schema.items = schemaObject(raw.items)
  if (Array.isArray(raw.allOf)) schema.allOf = raw.allOf.map(schemaObject)
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
  const shapes = members
    .flatMap(member =>
      isRecord(member) && Array.isArray(member.anyOf) && !member.description
        ? member.anyOf
        : [member],
    )
    .filter(isRecord)
  const isNull = (shape: Schema) => shape.type === 'null' || shape.const === null
  const nullable = parent.nullable === true || shapes.some(isNull)
  const present = shapes.filter(shape => !isNull(shape))
  return withNull(merged(present.map(schemaObject)), nullable)
}

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
