import { isRecord, type Schema } from './schema.ts'

/**
 * One place of a schema: `name` is the name that its component would have, `replace` puts another
 * schema there.
 */
export interface SchemaSite {
  schema: Schema
  name: string
  replace: (schema: Schema) => void
}

interface Candidate {
  schema: Schema
  names: Set<string>
  /** With what it is in, for where a name is another schema's. */
  longNames: Set<string>
  /** It is a whole body of a success. */
  isBody: boolean
  /** It is one of several shapes, which generators name badly or twice where it stands. */
  isAlternative: boolean
  descriptions: Set<unknown>
  count: number
}

const sharedCharactersMin = 160

export const pascal = (text: string) =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** Names of parts that are too generic. */
const generic = new Set(['Data', 'Meta', 'Metadata', 'Period', 'Values', 'Value'])

const singular = (name: string) =>
  name.replace(/(?<!ser)ies$/i, 'y').replace(/([^s])(?<!serie)s$/i, '$1')

/**
 * Moves every body, every titled alternative, and every large schema that is used at several sites,
 * into components, replaces it by references, and returns the components. Names come from `title`,
 * otherwise from the site, extended by that of the enclosing schema where another schema has the
 * name; an error schema that several statuses share is `Problem`. Schemas that differ only in their
 * description share one component, and each site keeps its own description.
 */
export function shareSchemas(sites: readonly SchemaSite[]): Record<string, Schema> {
  const candidates = new Map<string, Candidate>()
  for (const { schema, name } of sites)
    count(schema, { name, long: name, isBody: true }, candidates)
  const shared = sharedOf(candidates)
  const refer = (schema: Schema) => referred(schema, shared)
  for (const site of sites) site.replace(refer(site.schema))
  const moved = [...shared.values()].map(
    ({ name, schema }) => [name, withParts(schema, refer)] as const,
  )
  return Object.fromEntries(moved.sort(([a], [b]) => (a < b ? -1 : 1)))
}

const shapes = new WeakMap<Schema, string>()

function shapeOf(schema: Schema): string {
  const cached = shapes.get(schema)
  if (cached !== undefined) return cached
  const { description: _, ...shape } = schema
  const text = JSON.stringify(shape)
  shapes.set(schema, text)
  return text
}

interface Place {
  name: string
  /** With the names of the enclosing parts. */
  long: string
  isBody?: boolean
  isAlternative?: boolean
}

// Parts of a schema seen before are not counted again: they will be inside its component only once.
function count(
  schema: Schema,
  place: Place,
  candidates: Map<string, Candidate>,
  description?: unknown,
) {
  const shape = shapeOf(schema)
  const title = typeof schema.title === 'string' ? schema.title : undefined
  const earlier = candidates.get(shape)
  const candidate = earlier ?? {
    schema,
    names: new Set(),
    longNames: new Set(),
    isBody: false,
    isAlternative: false,
    descriptions: new Set(),
    count: 0,
  }
  candidate.count += 1
  candidate.names.add(title ?? place.name)
  candidate.longNames.add(place.long)
  if (place.isBody && !place.name.endsWith('Problem')) candidate.isBody = true
  if (place.isAlternative && title !== undefined) candidate.isAlternative = true
  if (description !== undefined) candidate.descriptions.add(description)
  if (earlier) return
  candidates.set(shape, candidate)
  countParts(schema, { name: place.name, long: title ?? place.long }, candidates)
}

function countParts(schema: Schema, place: Place, candidates: Map<string, Candidate>) {
  for (const [part, partPlace] of partsOf(schema, place))
    count(part, partPlace, candidates, part.description ?? null)
}

const ending = /(?:Response|Request)$/

function partsOf(schema: Schema, { name, long }: Place): [Schema, Place][] {
  const item = { name: singular(name), long: singular(long) }
  const parts: [unknown, Place][] = Object.entries(
    isRecord(schema.properties) ? schema.properties : {},
  ).map(([key, part]) => [part, { name: key, long: long.replace(ending, '') + pascal(key) }])
  parts.push([schema.items, item], [schema.additionalProperties, item])
  for (const keyword of ['allOf', 'anyOf']) {
    const members = schema[keyword]
    const place = { name, long, isAlternative: keyword !== 'allOf' }
    if (Array.isArray(members)) for (const member of members) parts.push([member, place])
  }
  return parts.filter((part): part is [Schema, Place] => isRecord(part[0]))
}

interface Shared {
  name: string
  schema: Schema
}

function sharedOf(candidates: ReadonlyMap<string, Candidate>): Map<string, Shared> {
  const taken = new Set<string>()
  const shared = new Map<string, Shared>()
  for (const [shape, candidate] of candidates) {
    const { schema, descriptions } = candidate
    if (!isShared(shape, candidate)) continue
    const name = nameOf(candidate, taken)
    taken.add(name)
    const { description: _, ...bare } = schema
    const [description] = descriptions
    const common = descriptions.size === 1 && typeof description === 'string'
    shared.set(shape, { name, schema: common ? { ...bare, description } : bare })
  }
  return shared
}

const isShared = (shape: string, { schema, isBody, isAlternative, count }: Candidate): boolean =>
  isBody || (isAlternative && schema.type === 'object')
    ? schema.type === 'object' || schema.type === 'array' || 'anyOf' in schema || 'allOf' in schema
    : count > 1 && shape.length >= sharedCharactersMin && ('type' in schema || 'allOf' in schema)

function nameOf({ names, longNames }: Candidate, taken: ReadonlySet<string>): string {
  const isProblem = names.size > 1 && [...names].every(name => name.endsWith('Problem'))
  const choices = [...(isProblem ? ['Problem'] : []), ...names, ...longNames].map(pascal)
  const free = choices.find(name => !taken.has(name) && !generic.has(name))
  if (free !== undefined) return free
  throw new Error(`no name is free for a schema: ${choices.join(', ')}`)
}

// In 3.0.3 what stands alongside a reference is ignored, so its own description needs the `allOf`
// around it.
function referred(schema: Schema, shared: ReadonlyMap<string, Shared>): Schema {
  const component = shared.get(shapeOf(schema))
  if (!component) return withParts(schema, part => referred(part, shared))
  const reference = { $ref: `#/components/schemas/${component.name}` }
  const { description } = schema
  return description === undefined || description === component.schema.description
    ? reference
    : { allOf: [reference], description }
}

function withParts(schema: Schema, change: (part: Schema) => Schema): Schema {
  const next = (part: unknown) => (isRecord(part) ? change(part) : part)
  const changed: Schema = { ...schema }
  if (isRecord(schema.properties)) {
    changed.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([key, part]) => [key, next(part)]),
    )
  }
  for (const keyword of ['items', 'additionalProperties'])
    if (keyword in schema) changed[keyword] = next(schema[keyword])
  for (const keyword of ['allOf', 'anyOf']) {
    const members = schema[keyword]
    if (Array.isArray(members)) changed[keyword] = members.map(next)
  }
  return changed
}
