import { isRecord, type Schema } from './schema.ts'

const isNumeric = (schema: Schema): boolean =>
  schema.type === 'number' ||
  schema.type === 'integer' ||
  [schema.anyOf, schema.oneOf].flat().some(member => isRecord(member) && isNumeric(member))

const isDescribed = (schema: Schema): boolean =>
  Boolean(schema.description) ||
  [schema.anyOf, schema.oneOf].flat().some(member => isRecord(member) && isDescribed(member))

/** Numbers in the properties of a document, each with its name; those that are described are left out. */
export function undescribedNumbers(part: unknown): { name: string; schema: Schema }[] {
  if (Array.isArray(part)) return part.flatMap(undescribedNumbers)
  if (!isRecord(part)) return []
  const own = Object.entries(isRecord(part.properties) ? part.properties : {}).flatMap(
    ([name, schema]) =>
      isRecord(schema) && isNumeric(schema) && !isDescribed(schema) ? [{ name, schema }] : [],
  )
  // An example is data, whatever its fields are called.
  const parts = Object.entries(part).filter(([keyword]) => keyword !== 'example')
  return [...own, ...parts.flatMap(([, inner]) => undescribedNumbers(inner))]
}

/** Gives numbers that bring no description the one of their name. */
export function describeNumbers(part: unknown, texts: Readonly<Record<string, string>>): void {
  for (const { name, schema } of undescribedNumbers(part)) {
    const description = Object.hasOwn(texts, name) ? texts[name] : undefined
    if (description !== undefined) schema.description = description
  }
}
