import { type TSchema, t } from 'elysia'
import { integer } from '../answer/integer.ts'

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
