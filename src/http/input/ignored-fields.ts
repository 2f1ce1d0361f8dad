import { isObject } from '../../lib/text/json.ts'
import { nearestWord } from '../../lib/text/wrong-value.ts'
import type { FieldFault } from '../problem/problem.ts'

/** The fields that an object may have, with those of the objects in them; `any` where it is open. */
export type KnownFields = ReadonlyMap<string, KnownFields> | 'any'

/** A name that an operation does not have, and the nearest one that it has. */
export interface UnknownName {
  /** That of a field has the objects around it: `price_alert.cooldown`. */
  name: string
  nearest: string | undefined
}

export type FieldOwner = 'body' | 'item of a list' | 'object'

/** A field that an operation does not have, and what has it. */
export interface UnknownField extends UnknownName {
  owner: FieldOwner
}

const fieldsMax = 8
const nameCharactersMax = 100
/** Rows of one list have the same shape: a name that the first ones lack is rarely in a later one. */
const itemsMax = 20

type Schema = Readonly<Record<string, unknown>>

/** The fields of a documented body, of all of its forms together. */
export function knownFields(schema: unknown): KnownFields {
  const fields = new Map<string, Schema[]>()
  for (const form of formsOf(schema as Schema)) {
    if (form.type === 'array' || isScalar(form)) continue
    const { properties, additionalProperties, patternProperties } = form
    if (!isObject(properties) || additionalProperties || patternProperties) return 'any'
    for (const [name, inner] of Object.entries(properties))
      fields.set(name, [...(fields.get(name) ?? []), ...itemsOf(inner as Schema)])
  }
  return new Map([...fields].map(([name, anyOf]) => [name, knownFields({ anyOf })]))
}

/** The fields of the rows of a body that is a list. */
export const knownItems = (schema: unknown): KnownFields => {
  const lists = formsOf(schema as Schema).filter(form => form.type === 'array')
  return lists.length === 0 ? 'any' : knownFields({ anyOf: lists.flatMap(itemsOf) })
}

/** The first rows of a body of lines; none if a line is invalid JSON, which its parser reports. */
export function firstRows(text: string): unknown[] {
  const lines = text.split('\n', itemsMax).filter(line => line.trim() !== '')
  try {
    return lines.map(line => JSON.parse(line))
  } catch {
    return []
  }
}

const isScalar = ({ type, const: only, enum: words }: Schema): boolean =>
  (typeof type === 'string' && type !== 'object') || only !== undefined || words !== undefined

/** A schema as the alternatives that it is made of. */
const formsOf = (schema: Schema): Schema[] => {
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].filter(Array.isArray).flat() as Schema[]
  return parts.length === 0 ? [schema] : parts.flatMap(formsOf)
}

/** The same, with the schemas of lists replaced by those of their items. */
const itemsOf = (schema: Schema): Schema[] =>
  formsOf(schema).map(form => (isObject(form.items) ? (form.items as Schema) : form))

/**
 * The fields of a body that its operation does not have. Where those of `refused` are sought, all
 * items of a list are read, because one mistyped field is one too many.
 */
export function ignoredFields(
  body: unknown,
  known: KnownFields,
  refused: readonly FieldOwner[] = [],
): UnknownField[] {
  const items = refused.includes('item of a list') ? undefined : itemsMax
  const found: UnknownField[] = []
  const walk = (value: unknown, fields: KnownFields, prefix: string, owner: FieldOwner): void => {
    if (fields === 'any' || found.length >= fieldsMax) return
    if (Array.isArray(value))
      value
        .slice(0, items)
        .forEach((item, i) => void walk(item, fields, `${prefix}${i}.`, 'item of a list'))
    else if (isObject(value))
      for (const [name, inner] of Object.entries(value)) {
        const innerFields = fields.get(name)
        if (innerFields) walk(inner, innerFields, `${prefix}${name}.`, 'object')
        else if (found.length < fieldsMax)
          found.push({ name: prefix + name, nearest: nearestWord(name, [...fields.keys()]), owner })
      }
  }
  walk(body, known, '', 'body')
  return found
}

export const asFault = ({ name, nearest }: UnknownName): FieldFault => {
  const field = name.slice(0, nameCharactersMax)
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return { field, message: `${field} is not a field of this operation.${meant}`, value: null }
}
