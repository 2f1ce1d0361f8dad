import {
  type IntegerOptions,
  type NumberOptions,
  type SchemaOptions,
  type StringOptions,
  type TInteger,
  type TProperties,
  Type,
} from '@sinclair/typebox'
import { t as frameworkTypes, type TSchema } from 'elysia'

/** Documents a field in addition to its type. */
const documented = <Options extends SchemaOptions>(
  description: string,
  example: unknown,
  options?: Options,
) => ({ description, ...(example !== undefined && { examples: [example] }), ...options })

const string = (description: string, example?: string | null, options?: StringOptions) =>
  frameworkTypes.String(documented(description, example, options))
const number = (description: string, example?: number, options?: NumberOptions) =>
  frameworkTypes.Number(documented(description, example, options))
const boolean = (description: string) => frameworkTypes.Boolean({ description })
const date = (description: string, example?: string) =>
  frameworkTypes.String({ format: 'date', ...documented(description, example) })
const instant = (description: string, example?: string) =>
  frameworkTypes.String({ format: 'date-time', ...documented(description, example) })

/**
 * A whole number. Elysia's own type accepts text as well, compiles a checker at each mention, which
 * is a tenth of the start, and re-encodes every response that contains one.
 */
const integer = (
  described?: string | IntegerOptions,
  example?: number,
  options?: IntegerOptions,
): TInteger =>
  Type.Integer(typeof described === 'string' ? documented(described, example, options) : described)

/** An object with its own name in the document. */
const object = <Properties extends TProperties>(title: string, properties: Properties) =>
  frameworkTypes.Object(properties, { title })

const objects = <Properties extends TProperties>(description: string, properties: Properties) =>
  frameworkTypes.Array(frameworkTypes.Object(properties), { description })

/** One of these words, and typed as one of them. */
const oneOf = <const T extends string>(words: readonly T[], description?: string) =>
  frameworkTypes.Unsafe<T>(
    frameworkTypes.Union(
      words.map(word => frameworkTypes.Literal(word)),
      description === undefined ? {} : { description },
    ),
  )

const orNull = <T extends TSchema>(schema: T, description?: string) =>
  frameworkTypes.Union(
    [schema, frameworkTypes.Null()],
    description === undefined ? {} : { description },
  )

/** A number with an example, null where there is none. */
const numberOrNull = (description: string, example: number) =>
  orNull(frameworkTypes.Number({ examples: [example] }), description)
const stringOrNull = (description: string, example: string) =>
  orNull(frameworkTypes.String({ examples: [example] }), description)

/** An instant that is null where it is not known or has not come. */
const instantOrNull = (description: string) =>
  orNull(frameworkTypes.String({ format: 'date-time' }), description)

/** A whole number that is null where there is none, such as a limit that the plan does not set. */
const integerOrNull = (description: string, example?: number) =>
  orNull(integer(example === undefined ? undefined : { examples: [example] }), description)

/**
 * The types of fields: those with a capital are the framework's; the others are the ones above,
 * which take their documentation.
 */
export const t = Object.assign({}, frameworkTypes, {
  string,
  number,
  boolean,
  date,
  instant,
  integer,
  object,
  objects,
  oneOf,
  orNull,
  instantOrNull,
  integerOrNull,
  numberOrNull,
  stringOrNull,
})
