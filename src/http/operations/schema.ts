import { type TSchema, t } from 'elysia'

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
