import { type Camel, camelCase } from '../../lib/text/name-case.ts'
import { isoInstant } from '../../lib/time/instant.ts'

/** The schema of an object, as far as a row needs it. */
interface RowSchema {
  properties: object
  required?: readonly string[] | undefined
  static: unknown
}

/** The values of a record that can become the field `Name`, which has the type `Value`. */
type Source<Name, Value> =
  | (Value extends readonly (infer Item)[] ? readonly Item[] : Value)
  | (Name extends `${string}_at` ? (string extends Value ? number : never) : never)
  | (null extends Value ? undefined : never)

/** The fields that a record must have: those that are not given otherwise. */
type RecordFor<Row, Given> = {
  readonly [Name in keyof Row as Name extends Given ? never : Camel<Name & string>]: Source<
    Name,
    Row[Name]
  >
}

interface Field {
  name: string
  /** Its name in records. */
  source: string
  isInstant: boolean
  isRequired: boolean
}

const fieldsBySchema = new WeakMap<RowSchema, readonly Field[]>()

const fieldsOf = (schema: RowSchema): readonly Field[] =>
  fieldsBySchema.getOrInsertComputed(schema, () =>
    Object.keys(schema.properties).map(name => ({
      name,
      source: camelCase(name),
      isInstant: name.endsWith('_at'),
      isRequired: schema.required?.includes(name) ?? false,
    })),
  )

/**
 * A record in the form of a response. Each field of the schema is from `rest`, or from the field of
 * the record that has its name in camel case: there a missing value is null, and a number in a
 * field that ends in `_at` is Unix ms. Optional fields are only from `rest`, because a record may
 * have under their names what no response has, such as a secret.
 */
export function answerRow<S extends RowSchema, Given extends keyof S['static']>(
  schema: S,
  record: RecordFor<S['static'], Given>,
  rest: Pick<S['static'], Given>,
): S['static'] {
  const values = record as Readonly<Record<string, unknown>>
  const overrides = rest as Readonly<Record<string, unknown>>
  const row: Record<string, unknown> = {}
  for (const { name, source, isInstant, isRequired } of fieldsOf(schema)) {
    if (name in overrides) row[name] = overrides[name]
    else if (isRequired) {
      const value = values[source] ?? null
      row[name] = isInstant && typeof value === 'number' ? isoInstant(value) : value
    }
  }
  return row
}
