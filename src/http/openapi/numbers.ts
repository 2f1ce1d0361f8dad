import { isRecord, type Schema } from './schema.ts'

/** Whether one of the alternatives of a schema fulfils a condition. */
const ofSome = (schema: Schema, holds: (member: Schema) => boolean): boolean =>
  Array.isArray(schema.anyOf) && schema.anyOf.some(member => isRecord(member) && holds(member))

const isNumeric = (schema: Schema): boolean =>
  schema.type === 'number' || schema.type === 'integer' || ofSome(schema, isNumeric)

const isDescribed = (schema: Schema): boolean =>
  Boolean(schema.description) || ofSome(schema, isDescribed)

/** Reports every number in the properties of a document that has no description, with its name. */
function eachUndescribed(part: unknown, report: (name: string, schema: Schema) => void): void {
  // Lists are walked as they are: a document has a million parts, and most hold no number.
  if (Array.isArray(part)) {
    for (const member of part) eachUndescribed(member, report)
    return
  }
  if (!isRecord(part)) return
  if (isRecord(part.properties))
    for (const [name, schema] of Object.entries(part.properties))
      if (isRecord(schema) && isNumeric(schema) && !isDescribed(schema)) report(name, schema)
  for (const keyword in part) {
    // An example is data, whatever its fields are called.
    if (keyword !== 'example') eachUndescribed(part[keyword], report)
  }
}

/** Numbers in the properties of a document, each with its name; those that are described are left out. */
export function undescribedNumbers(part: unknown): { name: string; schema: Schema }[] {
  const undescribed: { name: string; schema: Schema }[] = []
  eachUndescribed(part, (name, schema) => void undescribed.push({ name, schema }))
  return undescribed
}

/** Describes numbers that have no description by the text for their name. */
export function describeNumbers(part: unknown, texts: Readonly<Record<string, string>>): void {
  for (const { name, schema } of undescribedNumbers(part)) {
    const description = Object.hasOwn(texts, name) ? texts[name] : undefined
    if (description !== undefined) schema.description = description
  }
}
