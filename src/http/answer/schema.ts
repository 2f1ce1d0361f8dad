import {
  type IntegerOptions,
  type NumberOptions,
  type SchemaOptions,
  type StringOptions,
  type TInteger,
  type TProperties,
  Type,
} from '@sinclair/typebox'
import { type TSchema, t } from 'elysia'

/** Documents a field in addition to its type. */
const documented = <Options extends SchemaOptions>(
  description: string,
  example: unknown,
  options?: Options,
) => ({ description, ...(example !== undefined && { examples: [example] }), ...options })

export const string = (description: string, example?: string | null, options?: StringOptions) =>
  t.String(documented(description, example, options))
export const number = (description: string, example?: number, options?: NumberOptions) =>
  t.Number(documented(description, example, options))
export const boolean = (description: string, example?: boolean) =>
  t.Boolean(documented(description, example))
export const date = (description: string, example?: string) =>
  t.String({ format: 'date', ...documented(description, example) })
export const instant = (description: string, example?: string) =>
  t.String({ format: 'date-time', ...documented(description, example) })

/**
 * A whole number. Elysia's own type accepts text as well, compiles a checker at each mention, which
 * is a tenth of the start, and re-encodes every response that contains one.
 */
export const integer = (
  described?: string | IntegerOptions,
  example?: number,
  options?: IntegerOptions,
): TInteger =>
  Type.Integer(typeof described === 'string' ? documented(described, example, options) : described)

/** An object with its own name in the document. */
export const object = <Properties extends TProperties>(title: string, properties: Properties) =>
  t.Object(properties, { title })

export const objects = <Properties extends TProperties>(
  description: string,
  properties: Properties,
) => t.Array(t.Object(properties), { description })

/** One of these words, and typed as one of them. */
export const oneOf = <T extends string>(words: readonly T[], description?: string) =>
  t.Unsafe<T>(
    t.Union(
      words.map(word => t.Literal(word)),
      description === undefined ? {} : { description },
    ),
  )

export const orNull = <T extends TSchema>(schema: T, description?: string) =>
  t.Union([schema, t.Null()], description === undefined ? {} : { description })

/** An instant that is null where it is not known or has not come. */
export const instantOrNull = (description: string) =>
  orNull(t.String({ format: 'date-time' }), description)

/** A number that is null where there is none, such as a limit that the plan does not set. */
export const countOrNull = (description: string) => orNull(integer(), description)
