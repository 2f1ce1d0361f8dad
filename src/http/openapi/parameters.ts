import type { Schema } from './schema.ts'

/** A parameter of an operation. */
export interface Parameter {
  name: string
  in: string
  required: boolean
  schema: Schema
  description?: string
  [keyword: string]: unknown
}

/** Stands for a parameter that several operations share. */
export interface ParameterReference {
  $ref: string
}

type Paths = Readonly<
  Record<string, Readonly<Record<string, { parameters?: (Parameter | ParameterReference)[] }>>>
>

const prefix = '#/components/parameters/'
/** Operations that have a parameter word for word before it is described once for all of them. */
const sharedMin = 3

/**
 * Moves every parameter that several operations have word for word into components, refers to it
 * there, and returns the components. The most frequent one of a name has that name, the others a
 * number behind it.
 */
export function shareParameters(paths: Paths): Record<string, Parameter> {
  const lists = Object.values(paths).flatMap(item =>
    Object.values(item).flatMap(({ parameters }) => (parameters ? [parameters] : [])),
  )
  const counts = new Map<string, number>()
  for (const parameter of lists.flat()) {
    const text = JSON.stringify(parameter)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  const components: Record<string, Parameter> = {}
  const references = new Map<string, ParameterReference>()
  for (const [text, count] of [...counts].sort(([, one], [, other]) => other - one)) {
    if (count < sharedMin) break
    const parameter = JSON.parse(text) as Parameter
    const key = freeKey(parameter.name.replace(/[^\w.-]/g, '_'), components)
    components[key] = parameter
    references.set(text, { $ref: `${prefix}${key}` })
  }
  for (const list of lists)
    for (const [i, parameter] of list.entries())
      list[i] = references.get(JSON.stringify(parameter)) ?? parameter
  return components
}

function freeKey(name: string, taken: Readonly<Record<string, unknown>>): string {
  let key = name
  for (let n = 2; Object.hasOwn(taken, key); n += 1) key = `${name}_${n}`
  return key
}

interface Referring {
  paths: Readonly<Record<string, Readonly<Record<string, object>>>>
  components?: object
}

/** Inlines shared parameters, for tools that check one operation alone. */
export function withParametersInPlace<D extends Referring>(document: D): D {
  const { parameters: shared = {} } = (document.components ?? {}) as {
    parameters?: Readonly<Record<string, object>>
  }
  for (const item of Object.values(document.paths))
    for (const operation of Object.values(item)) {
      const { parameters } = operation as { parameters?: (object | ParameterReference)[] }
      for (const [i, parameter] of parameters?.entries() ?? [])
        if ('$ref' in parameter) parameters![i] = shared[parameter.$ref.slice(prefix.length)]!
    }
  return document
}
