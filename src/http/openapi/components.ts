import { isRecord, type Schema } from './schema.ts'

/**
 * One place where a schema stands: `name` is what its component would be called, `replace` puts
 * another schema there.
 */
export interface SchemaSite {
  schema: Schema
  name: string
  replace: (schema: Schema) => void
}

interface Candidate {
  schema: Schema
  names: Set<string>
  descriptions: Set<unknown>
  count: number
}

const sharedCharactersMin = 160

export const pascal = (text: string) =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

const singular = (name: string) => name.replace(/ies$/, 'y').replace(/([^s])s$/, '$1')

/**
 * Moves every large schema that stands at several sites into components, refers to it there, and
 * returns the components. Names come from `title`, else from the site; an error schema that several
 * statuses share is `Problem`. Schemas that differ only in their description share one component,
 * and each site keeps its own description.
 */
export function shareSchemas(
  sites: readonly SchemaSite[],
  named: ReadonlyMap<string, Schema>,
): Record<string, Schema> {
  const candidates = new Map<string, Candidate>()
  for (const site of sites) count(site.schema, site.name, candidates)
  for (const [name, schema] of named) countParts(schema, name, candidates)
  const shared = sharedOf(candidates, new Set(named.keys()))
  const refer = (schema: Schema) => referred(schema, shared)
  for (const site of sites) site.replace(refer(site.schema))
  const own = [...named].map(([name, schema]) => [name, withParts(schema, refer)] as const)
  const moved = [...shared.values()].map(
    ({ name, schema }) => [name, withParts(schema, refer)] as const,
  )
  return Object.fromEntries([...own, ...moved].sort(([a], [b]) => (a < b ? -1 : 1)))
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

// Parts of a schema seen before are not counted again: they will be inside its component only once.
function count(
  schema: Schema,
  name: string,
  candidates: Map<string, Candidate>,
  description?: unknown,
) {
  const shape = shapeOf(schema)
  const title = typeof schema.title === 'string' ? schema.title : name
  const counted = candidates.get(shape)
  const candidate = counted ?? { schema, names: new Set(), descriptions: new Set(), count: 0 }
  candidate.count += 1
  candidate.names.add(title)
  if (description !== undefined) candidate.descriptions.add(description)
  if (counted) return
  candidates.set(shape, candidate)
  countParts(schema, name, candidates)
}

function countParts(schema: Schema, name: string, candidates: Map<string, Candidate>) {
  for (const [part, partName] of partsOf(schema, name))
    count(part, partName, candidates, part.description ?? null)
}

function partsOf(schema: Schema, name: string): [Schema, string][] {
  const parts: [unknown, string][] = Object.entries(
    isRecord(schema.properties) ? schema.properties : {},
  ).map(([key, part]) => [part, key])
  parts.push(
    [schema.items, singular(name)],
    [schema.additionalProperties, singular(name)],
    [schema.not, name],
  )
  for (const members of [schema.allOf, schema.anyOf, schema.oneOf]) {
    if (Array.isArray(members)) for (const member of members) parts.push([member, name])
  }
  return parts.filter((part): part is [Schema, string] => isRecord(part[0]))
}

interface Shared {
  name: string
  schema: Schema
}

function sharedOf(
  candidates: ReadonlyMap<string, Candidate>,
  taken: Set<string>,
): Map<string, Shared> {
  const shared = new Map<string, Shared>()
  for (const [shape, { schema, names, descriptions, count }] of candidates) {
    if (count < 2 || shape.length < sharedCharactersMin || !('type' in schema || 'allOf' in schema))
      continue
    const [first = 'Schema'] = names
    const base =
      names.size > 1 && [...names].every(name => name.endsWith('Problem'))
        ? 'Problem'
        : pascal(first)
    let name = base
    for (let number = 2; taken.has(name); number += 1) name = `${base}${number}`
    taken.add(name)
    const { description: _, ...bare } = schema
    const [description] = descriptions
    const common = descriptions.size === 1 && typeof description === 'string'
    shared.set(shape, { name, schema: common ? { ...bare, description } : bare })
  }
  return shared
}

// In 3.0.3 what stands beside a reference is ignored, so a description of its own needs the `allOf`
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
  for (const keyword of ['items', 'additionalProperties', 'not'])
    if (keyword in schema) changed[keyword] = next(schema[keyword])
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const members = schema[keyword]
    if (Array.isArray(members)) changed[keyword] = members.map(next)
  }
  return changed
}
