import type { TProperties, TSchema, TUnsafe } from '@sinclair/typebox'
import { t } from '../answer/schema.ts'
import { boolOf, integerOf, wordOf } from './query.ts'

/** The key under which a parameter's schema has its documentation. */
export const typedKey = 'x-typed'

/** The type of a parameter, as a schema of OpenAPI. */
export interface TypedParameter {
  type: 'string' | 'integer' | 'number' | 'boolean'
  enum?: readonly string[]
  default?: string | number | boolean
  minimum?: number
  maximum?: number
  format?: 'date' | 'date-time' | 'email' | 'uuid'
  pattern?: string
  minLength?: number
  maxLength?: number
  /** Where it may be written in several ways. */
  anyOf?: readonly { type: 'string'; format: 'date' | 'date-time' }[]
  description: string
  examples?: readonly (string | number | boolean)[]
  /** The operation refuses to answer without it. */
  required?: true
  /** One of several parameters that the operation needs: samples of a call send it. */
  sampled?: true
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

/** The key of a parameter that the document leaves out. */
export const undescribedKey = 'x-undescribed'
/** A parameter that its handler always refuses, with a sentence about what to send instead. */
export const refusedQuery = t.Optional(t.String({ [undescribedKey]: true }))

const flagWords = ['true', 'false', '1', '0', 'yes', 'no']

/**
 * Whether an operation that describes its parameter like this refuses the text. What some handler may
 * read, as a word in capitals or a number above the maximum, is not malformed: the handler decides.
 */
export function isMalformed(schema: TypedParameter, text: string): boolean {
  const word = text.trim().toLowerCase()
  if (word === '') return false
  if (schema.enum) return !schema.enum.some(known => known.toLowerCase() === word)
  const isBelow = (least = Number.NEGATIVE_INFINITY) => Number(word) < least
  switch (schema.type) {
    case 'integer':
      return !/^-?\d{1,15}$/.test(word) || isBelow(schema.minimum)
    case 'number':
      return Number.isNaN(Number(word)) || isBelow(schema.minimum)
    case 'boolean':
      return !flagWords.includes(word)
    case 'string': {
      const formats = [schema.format, ...(schema.anyOf ?? []).map(({ format }) => format)]
      const isMoment = formats.some(format => format === 'date' || format === 'date-time')
      return isMoment && !/^\d{4}/.test(word)
    }
  }
}

type Example = string | number | boolean
export type ParameterOptions = Omit<TypedParameter, 'type' | 'enum' | 'description' | 'examples'>

const parameter =
  (type: TypedParameter['type'], usual: Partial<TypedParameter> = {}) =>
  (description: string, example?: Example, options?: ParameterOptions) =>
    typed({
      type,
      ...usual,
      description,
      ...(example !== undefined && { examples: [example] }),
      ...options,
    })

export const integerParameter = parameter('integer')
export const numberParameter = parameter('number')
export const flagParameter = parameter('boolean')
export const wordParameter = (
  words: readonly string[],
  ...described: Parameters<typeof textParameter>
) => parameter('string', { enum: words })(...described)

/** Makes the value of a parameter from its text. */
type ReadValue = (name: string, text: string | undefined) => unknown

const readsBySchema = new WeakMap<TSchema, ReadValue>()

function readBy<T>(schema: ReturnType<typeof typed>, read: ReadValue): TUnsafe<T> {
  const parameter = t.Optional(t.Unsafe<T>(schema))
  readsBySchema.set(parameter, read)
  return parameter
}

/**
 * Parameters that a handler gets as values: parsed by the default and the bounds that they are
 * described with, undefined where they are absent and have no default.
 */
export const parsed = {
  /** A whole number of a range; `subject` is what it counts. */
  integer: (
    subject: string,
    [minimum, maximum]: readonly [number, number],
    fallback: number,
    example = fallback,
  ) =>
    readBy<number>(
      integerParameter(`${subject}, ${minimum} to ${maximum}; default: ${fallback}.`, example, {
        default: fallback,
        minimum,
        maximum,
      }),
      (name, text) => integerOf(name, text, fallback, minimum, maximum),
    ),
  word<const T extends string, const O extends ParameterOptions = object>(
    words: readonly T[],
    description: string,
    example: string,
    options?: O,
  ) {
    const fallback = options?.default as T | undefined
    return readBy<Parsed<T, O>>(wordParameter(words, description, example, options), (name, text) =>
      wordOf(name, text, fallback, words),
    )
  },
  flag<const O extends ParameterOptions = object>(
    description: string,
    example?: boolean,
    options?: O,
  ) {
    const fallback = options?.default as boolean | undefined
    return readBy<Parsed<boolean, O>>(flagParameter(description, example, options), (name, text) =>
      boolOf(name, text, fallback),
    )
  },
}

type Parsed<T, O> = O extends { default: unknown } ? T : T | undefined

/**
 * Gives handlers the values of parsed parameters, each when it is read: the first that a handler
 * reads is the first that it refuses. Undefined where the query has none.
 */
export function queryParser(parameters: TProperties = {}) {
  const reads = Object.entries(parameters).flatMap(([name, schema]) => {
    const read = readsBySchema.get(schema)
    return read ? [{ name, read }] : []
  })
  if (reads.length === 0) return undefined
  return (query: Readonly<Record<string, string | undefined>>) => {
    const values: Record<string, unknown> = { ...query }
    for (const { name, read } of reads)
      Object.defineProperty(values, name, { get: () => read(name, query[name]), enumerable: true })
    return values
  }
}

/** A day or a time of it with a zone. */
export const momentParameter = parameter('string', {
  anyOf: [
    { type: 'string', format: 'date' },
    { type: 'string', format: 'date-time' },
  ],
})
export const dayParameter = parameter('string', { format: 'date' })
export const instantParameter = parameter('string', { format: 'date-time' })
export const idParameter = parameter('string', { format: 'uuid' })

/** Free text. */
export const textParameter = parameter('string', { minLength: 1, maxLength: 200 })

/** One name of something: a code, an alias, a slug. */
export const codeParameter = parameter('string', { pattern: '^[^,]+$' })

const codeNames = ['by_code', 'code', 'commodity'] as const
type CodeName = (typeof codeNames)[number]

/**
 * A code under the name that the operation documents, and under those of its neighbours: who mixes
 * them up must not be answered about another code. `codeOf` reads it.
 */
export function oneCode(
  name: CodeName,
  ...described: Parameters<typeof codeParameter>
): Record<CodeName, ReturnType<typeof codeParameter>> {
  const others = codeNames.filter(other => other !== name)
  const alias = codeParameter(`Another name of \`${name}\`.`, described[1])
  const aliases = others.map(other => [other, alias])
  return { [name]: codeParameter(...described), ...Object.fromEntries(aliases) }
}

/** The code that a query names, whichever name it has for it. */
export const codeOf = (query: Partial<Record<CodeName, string>>): string | undefined =>
  query.by_code || query.code || query.commodity

/** Names, comma-separated, at most `max` of them; undefined: as many as the plan takes. */
export const codesParameter = (
  max: number | undefined,
  ...described: Parameters<typeof codeParameter>
) =>
  parameter('string', {
    pattern: `^[^,]+(,[^,]+)${max === undefined ? '*' : `{0,${max - 1}}`}$`,
  })(...described)
