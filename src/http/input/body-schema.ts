import { OptionalKind } from '@sinclair/typebox'
import type { TSchema } from 'elysia'
import { fieldsOf, isObject } from '../../lib/text/json.ts'
import { nearestWord, shownValue } from '../../lib/text/wrong-value.ts'
import { t } from '../answer/schema.ts'
import { refusedField } from '../problem/problem.ts'
import { type Form, formOf, type ListOf } from './form.ts'

/** Reads a field of a body; undefined when it is absent or when a fault was noted. */
type FieldParser<T> = (form: Form, name: string) => T | undefined

const reader: unique symbol = Symbol('reader')
/** Key of the sentence that refuses a body without the field. */
const absence: unique symbol = Symbol('absence')

/** A schema that documents a field of a body and reads it, so that the two cannot disagree. */
export type Field<T> = TSchema & {
  readonly [reader]: FieldParser<T>
  readonly [absence]?: string
}

export type Fields = Readonly<Record<string, Field<unknown>>>

/** The values of a body, under the names of the wire. */
export type Values<F extends Fields> = {
  -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never
}

/** JSON Schema keywords that document a field. */
export type FieldOptions = Readonly<Record<string, unknown>>

/** A field of any schema, read by the given function. */
export const field = <T>(schema: TSchema, read: FieldParser<T>): Field<T> =>
  Object.assign({ ...schema }, { [reader]: read })

/** Text of at most so many characters, without unpaired surrogates and null characters. */
export const text = (charactersMax: number, options?: FieldOptions): Field<string> =>
  field(t.String({ maxLength: charactersMax, ...options }), (form, name) =>
    form.text(name, charactersMax),
  )

export const flag = (options?: FieldOptions): Field<boolean> =>
  field(t.Boolean(options), (form, name) => form.flag(name))

/** A whole number of the range, both ends included. */
export const whole = (minimum: number, maximum: number, options?: FieldOptions): Field<number> =>
  field({ ...t.Number(options), type: 'integer', minimum, maximum } as TSchema, (form, name) =>
    form.integer(name, minimum, maximum),
  )

/** Any finite number of the range, both ends included. */
export const decimal = (minimum: number, maximum: number, options?: FieldOptions): Field<number> =>
  field(t.Number({ minimum, maximum, ...options }), (form, name) =>
    form.number(name, minimum, maximum),
  )

export const choice = <T extends string>(allowed: readonly T[], options?: FieldOptions): Field<T> =>
  field(
    t.Union(
      allowed.map(value => t.Literal(value)),
      options,
    ),
    (form, name) => form.choice(name, allowed),
  )

/** An ISO 8601 time with its zone, as Unix ms. */
export const moment = (options?: FieldOptions): Field<number> =>
  field(t.String({ format: 'date-time', ...options }), (form, name) => form.moment(name))

/**
 * A list without duplicates of at most `countMax` texts. `read` answers undefined for a text that
 * is not `what`, the words with which a refusal names what belongs in the list.
 */
export const listOf = <T extends string>(
  item: TSchema,
  what: ListOf,
  countMax: number,
  read: (text: string) => T | undefined,
  options?: FieldOptions,
): Field<T[]> =>
  field(t.Array(item, { maxItems: countMax, ...options }), (form, name) =>
    form.list(name, what, countMax, read),
  )

/** The fields of an object in a field; their faults are named with the field's name before them. */
export const part = <F extends Fields>(fields: F): Field<Values<F>> =>
  field(t.Object(fields), (form, name) => {
    if (!form.has(name)) return undefined
    return readFields(fields, form.part(name)) as Values<F>
  })

/** The same, where a name that the object does not have is refused. */
export const closedPart = <F extends Fields>(fields: F, options?: FieldOptions): Field<Values<F>> =>
  field(t.Object(fields, options), (form, name) => {
    const unknown = form
      .part(name)
      .names()
      .find(other => !Object.hasOwn(fields, other))
    if (unknown !== undefined) return form.wrongWord(name, Object.keys(fields), unknown)
    return form.has(name) ? (readFields(fields, form.part(name)) as Values<F>) : undefined
  })

/** A required field whose absence is refused with its own sentence. */
export const requiredAs = <T>(inner: Field<T>, why: string): Field<T> =>
  Object.assign({ ...inner }, { [absence]: why })

/** A field that may be left out. */
export const optional = <T>(inner: Field<T>): Field<T | undefined> => t.Optional(inner) as Field<T>

/** An optional field, in which null counts as absent. */
export const omittable = <T>(inner: Field<T>): Field<T | undefined> =>
  optional(
    field(inner, (form, name) => (form.isNull(name) ? undefined : inner[reader](form, name))),
  )

/** A field in which null has a meaning. */
export const nullable = <T>(inner: Field<T>, options?: FieldOptions): Field<T | null> =>
  nullableAs(inner, null, options)

/** A field in which null means `whenNull`. */
export const nullableAs = <T, N>(
  inner: Field<T>,
  whenNull: N,
  options?: FieldOptions,
): Field<T | N> =>
  field(t.Union([inner, t.Null()], options), (form, name) =>
    form.isNull(name) ? whenNull : inner[reader](form, name),
  )

/**
 * A field with a further check. `judge` returns the fault, as a sentence that continues after the
 * field's name, or undefined.
 */
export const checked = <T>(inner: Field<T>, judge: (value: T) => string | undefined): Field<T> =>
  field(inner, (form, name) => {
    const value = inner[reader](form, name)
    const fault = value === undefined ? undefined : judge(value)
    return fault === undefined ? value : form.fault(name, fault)
  })

/**
 * A field that a rule reads with `readField`: whether it counts depends on other fields of the
 * body.
 */
export const ruled = <T>(inner: Field<T>): Field<undefined> =>
  optional(field(inner, () => undefined))

/** The value of a field, for a rule; undefined when it is absent or faulty. */
export const readField = <T>(inner: Field<T>, form: Form, name: string): T | undefined =>
  form.has(name) ? inner[reader](form, name) : undefined

/** Rules between fields; they note what is wrong on the form, and see only what could be read. */
export type Rules<F extends Fields> = (form: Form, values: Partial<Values<F>>) => void

export interface Body<F extends Fields> {
  /** For the route: documents the body. The router itself checks nothing of it. */
  readonly schema: TSchema
  /** The fields as they stand, out of the wrapper. Throws VALIDATION_FAILED for no object. */
  fields(input: unknown): Readonly<Record<string, unknown>>
  /** Parses the body. Throws VALIDATION_FAILED, which names every fault at once. */
  read(input: unknown, rules?: Rules<F>): Values<F>
}

export interface BodyOptions {
  /** The fields may be in an object under this name, or bare. */
  wrapper?: string
  /** Which of the two forms the document shows. */
  documented?: 'both' | 'wrapped' | 'bare'
  /** A whole body that is accepted, where the examples of all fields together are not. */
  example?: Readonly<Record<string, unknown>>
}

/** A body of these fields: one schema that documents it and reads it. */
export function body<F extends Fields>(
  fields: F,
  { wrapper, documented: form = 'both', example }: BodyOptions = {},
): Body<F> {
  const documented = documentedFields(fields, wrapper, form)
  const within = (input: unknown) => (wrapper === undefined ? input : unwrapped(input, wrapper))
  return {
    schema: documentedBody(
      example ? { ...documented, examples: [example] } : documented,
      Object.values(fields).every(isOptional),
    ),
    fields(input) {
      const inner = within(input)
      formOf(inner)
      return fieldsOf(inner)
    },
    read: (input, rules) => readBody(formOf(within(input)), fields, rules),
  }
}

/**
 * A body whose fields may stand bare or in a part of this name, with which its faults then begin:
 * `name.field`.
 */
export function bareOrPart<F extends Fields>(fields: F, name: string): Omit<Body<F>, 'fields'> {
  const bare = t.Object(fields)
  return {
    schema: documentedBody(
      t.Union([bare, t.Object({ [name]: bare })]),
      Object.values(fields).every(isOptional),
    ),
    read(input, rules) {
      const form = formOf(input)
      return readBody(form.has(name) ? form.part(name) : form, fields, rules)
    },
  }
}

function readBody<F extends Fields>(form: Form, fields: F, rules: Rules<F> | undefined): Values<F> {
  const values = readFields(fields, form)
  rules?.(form, values)
  form.check()
  return values as Values<F>
}

function documentedFields(
  fields: Fields,
  wrapper: string | undefined,
  form: 'both' | 'wrapped' | 'bare',
) {
  const bare = t.Object(fields)
  if (wrapper === undefined || form === 'bare') return bare
  const wrapped = t.Object({ [wrapper]: bare })
  return form === 'wrapped' ? wrapped : t.Union([wrapped, bare])
}

/** The same fields for a change: none is required, and absent ones are kept. */
export const changeOf = <F extends Fields>(
  fields: F,
): { [K in keyof F]: F[K] extends Field<infer T> ? Field<T | undefined> : never } =>
  Object.fromEntries(
    Object.entries(fields).map(([name, inner]) => [name, optional(inner)]),
  ) as never

/** For operations without a body. */
export const noBody = documentedBody(t.Object({}), true)

const isOptional = (schema: TSchema): boolean => OptionalKind in schema

/** The fields of a form, with faults noted in it. For bodies with a list of objects. */
export function readFields<F extends Fields>(fields: F, form: Form): Partial<Values<F>> {
  const values: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(fields)) {
    if (form.has(name)) values[name] = schema[reader](form, name)
    else if (!isOptional(schema))
      form.fault(name, schema[absence] ?? `is required${sentInstead(name, fields, form)}.`)
  }
  return values as Partial<Values<F>>
}

/** A field of the body that means nothing and is named nearly like one that is absent. */
function sentInstead(name: string, fields: Fields, form: Form): string {
  const unknown = form.names().filter(other => !Object.hasOwn(fields, other))
  const near = unknown.find(
    other => nearestWord(other, [name]) !== undefined || isPartOf(other, name),
  )
  return near === undefined ? '' : `; got ${shownValue(near)} instead`
}

/** Whether a name is a word or more of another: `plan` of `plan_id`. */
const isPartOf = (part: string, name: string): boolean =>
  part !== '' && `_${name}_`.includes(`_${part}_`)

/** The object under the wrapper's name where there is one, else the body itself. */
function unwrapped(input: unknown, wrapper: string): unknown {
  if (!isObject(input) || !Object.hasOwn(input, wrapper)) return input
  const inner = input[wrapper]
  if (isObject(inner)) return inner
  throw refusedField(wrapper, `${wrapper} must be a JSON object.`)
}

/**
 * The schema of a body that its handler validates. It is documented like any other and not checked
 * by the router, which would let lone surrogates pass, make an object of a list, and report
 * "Expected union value" where a user needs a sentence.
 */
export function documentedBody(schema: TSchema, isOptionalBody: boolean): TSchema {
  const unchecked = t.Unknown({ allOf: [JSON.parse(JSON.stringify(schema))] })
  return isOptionalBody ? t.Optional(unchecked) : unchecked
}
