import { type SchemaOptions, type Static, type TObject, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { oneOf, shownValue, unknownName } from '../../../lib/text/wrong-value.ts'

/** A query parameter; undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** Calls the API with the key of the tools' user. Throws Refusal. */
export type Ask = <T>(method: 'GET' | 'POST', path: string, options?: AskOptions) => Promise<T>

export interface AskOptions {
  query?: Query
  body?: unknown
}

/** An error of the API or of a tool; its message is for the caller. */
export class Refusal extends Error {
  constructor(
    message: string,
    /** HTTP status, where the API answered. */
    readonly status?: number,
    /** The code of the API's error. */
    readonly code?: string,
  ) {
    super(message)
  }
}

/** A part of a result, or the reason why the caller cannot have it. */
export const orReason = <T>(part: Promise<T>): Promise<T | string> =>
  part.catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error
    return `not available: ${error.message}`
  })

/** An argument that is one of some words. */
export const wordsOf = <const Word extends string>(
  words: readonly Word[],
  options: SchemaOptions,
) =>
  Type.Union(
    words.map(word => Type.Literal(word)),
    options,
  )

/** An argument that is a whole number of a range, both ends included. */
export const wholeOf = (minimum: number, maximum: number, fallback: number, description: string) =>
  Type.Integer({ minimum, maximum, default: fallback, description })

/** An argument that may be left out: a text, or a number. */
export const textIfAny = (description: string) => Type.Optional(Type.String({ description }))
export const numberIfAny = (description: string) => Type.Optional(Type.Number({ description }))

/** The description of a tool, by which programs choose it. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: TObject
  /** It changes something, and requires `confirm`. */
  readonly writes: boolean
  run(args: unknown, ask: Ask): Promise<unknown>
}

interface ToolDefinition<Input extends TObject>
  extends Pick<Tool, 'name' | 'title' | 'description'> {
  input: Input
  writes?: boolean
  run(args: Static<Input>, ask: Ask): Promise<unknown>
}

/**
 * The arguments as they are meant: assistants and command lines send lists as text, with commas or
 * as JSON, and numbers as text.
 */
function meantBy(input: TObject, args: unknown): unknown {
  const given = { ...(args as Record<string, unknown> | undefined) }
  for (const [name, { type }] of Object.entries(input.properties)) {
    const value = given[name]
    if (type === 'array' && typeof value === 'string')
      given[name] = value.split(/[\s,"[\]]+/).filter(word => word !== '')
  }
  return Value.Convert(input, Value.Default(input, structuredClone(given)))
}

/** A tool whose arguments are checked against its schema before it runs. */
export function createTool<Input extends TObject>(definition: ToolDefinition<Input>): Tool {
  const { input, writes = false } = definition
  return {
    ...definition,
    writes,
    async run(args, ask) {
      const values = meantBy(input, args)
      const names = Object.keys(input.properties)
      const unknown = Object.keys(values as object).find(name => !names.includes(name))
      if (unknown !== undefined && names.length > 0)
        throw new Refusal(unknownName('argument', unknown, names))
      const fault = Value.Errors(input, values).First()
      if (fault) {
        const field = fault.path.slice(1).replaceAll('/', '.') || 'arguments'
        const words = (fault.schema.anyOf as { const?: string }[] | undefined)?.flatMap(
          ({ const: word }) => word ?? [],
        )
        const right = words?.length ? `Expected ${oneOf(words)}` : fault.message
        throw new Refusal(`${field}: ${right}; got ${shownValue(fault.value)}.`)
      }
      return await definition.run(values as Static<Input>, ask)
    },
  }
}

interface RefusalBody {
  message?: string
  code?: string
  error?: string | { message?: string; code?: string }
}

/** The error in a response of the API; `reworded` puts its message into other words. */
export function refusalOf(
  status: number,
  body: unknown,
  reworded = (message: string): string => message,
): Refusal {
  const { message, code, error } = (body ?? {}) as RefusalBody
  const inner = typeof error === 'object' ? error : undefined
  const text = message ?? inner?.message ?? `the server returned status ${status}`
  const name = code ?? inner?.code
  const head = name === undefined ? `${status}` : `${status} ${name}`
  return new Refusal(`${head}: ${reworded(text)}`, status, name)
}
