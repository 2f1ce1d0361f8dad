import { t } from 'elysia'

/** Key of a parameter's schema under which stands what the document says of it. */
export const typedKey = 'x-typed'

/** What a parameter is, as a schema of OpenAPI. */
export interface TypedParameter {
  type: 'string' | 'integer' | 'number' | 'boolean'
  enum?: readonly string[]
  default?: string | number | boolean
  minimum?: number
  maximum?: number
  format?: 'date' | 'date-time'
  description: string
  examples?: readonly (string | number | boolean)[]
  /** The operation refuses to answer without it. */
  required?: true
}

/**
 * A query parameter that the document describes by its type and that its handler reads as text, so
 * that a refusal is our own sentence and not the router's.
 */
export const typed = ({ required, ...schema }: TypedParameter) =>
  t.Optional(
    t.String({
      description: schema.description,
      ...(schema.examples && { examples: schema.examples.map(String) }),
      [typedKey]: { ...schema, ...(required && { required }) },
    }),
  )

type Given = Omit<TypedParameter, 'type' | 'enum'>

export const integerParameter = (given: Given) => typed({ type: 'integer', ...given })
export const numberParameter = (given: Given) => typed({ type: 'number', ...given })
export const flagParameter = (given: Given) => typed({ type: 'boolean', ...given })
export const wordParameter = (words: readonly string[], given: Given) =>
  typed({ type: 'string', enum: words, ...given })
