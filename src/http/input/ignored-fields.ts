import { isObject } from '../../lib/text/json.ts'
import { nearestWord } from '../../lib/text/wrong-value.ts'
import type { FieldFault } from '../problem/problem.ts'

/** The fields that an object may have, with those of the objects in them; `any` where it is open. */
export type KnownFields = ReadonlyMap<string, KnownFields> | 'any'

export interface IgnoredField {
  /** With the names of the objects around it: `price_alert.cooldown`. */
  name: string
  nearest: string | undefined
}

const fieldsMax = 8
/** Rows of one list have the same shape: a name that the first ones lack is rarely in a later one. */
const itemsMax = 20

type Schema = Readonly<Record<string, unknown>>

/** The fields of a documented body, of all of its forms together. */
export function knownFields(schema: unknown): KnownFields {
  const fields = new Map<string, KnownFields>()
  for (const form of formsOf(schema as Schema)) {
    if (form.type === 'array' || isScalar(form)) continue
    const { properties, additionalProperties, patternProperties } = form
    if (!isObject(properties) || additionalProperties === true || patternProperties) return 'any'
    if (isObject(additionalProperties)) return 'any'
    for (const [name, inner] of Object.entries(properties)) {
      const known = knownFields(itemsOf(inner as Schema))
      const before = fields.get(name)
      fields.set(name, before ? merged(before, known) : known)
    }
  }
  return fields
}

const isScalar = ({ type, const: only, enum: words }: Schema): boolean =>
  (typeof type === 'string' && type !== 'object') || only !== undefined || words !== undefined

/** A schema as the alternatives that it is made of. */
const formsOf = (schema: Schema): Schema[] => {
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].filter(Array.isArray).flat() as Schema[]
  return parts.length === 0 ? [schema] : parts.flatMap(formsOf)
}

/** A schema with those of lists replaced by those of their items. */
const itemsOf = (schema: Schema): Schema => ({
  anyOf: formsOf(schema).map(form => (isObject(form.items) ? (form.items as Schema) : form)),
})

const merged = (one: KnownFields, other: KnownFields): KnownFields =>
  one === 'any' || other === 'any' ? 'any' : new Map([...one, ...other])

/** The fields of a body that its operation does not have. */
export function ignoredFields(body: unknown, known: KnownFields): IgnoredField[] {
  const found: IgnoredField[] = []
  const walk = (value: unknown, fields: KnownFields, prefix: string): void => {
    if (fields === 'any' || found.length >= fieldsMax) return
    if (Array.isArray(value))
      value.slice(0, itemsMax).forEach((item, i) => void walk(item, fields, `${prefix}${i}.`))
    else if (isObject(value))
      for (const [name, inner] of Object.entries(value)) {
        const innerFields = fields.get(name)
        if (innerFields) walk(inner, innerFields, `${prefix}${name}.`)
        else if (found.length < fieldsMax)
          found.push({ name: prefix + name, nearest: nearestWord(name, [...fields.keys()]) })
      }
  }
  walk(body, known, '')
  return found
}

export const asFault = ({ name, nearest }: IgnoredField): FieldFault => ({
  field: name.slice(0, 100),
  message: `${name.slice(0, 100)} is not a field of this operation.${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`,
  value: null,
})
