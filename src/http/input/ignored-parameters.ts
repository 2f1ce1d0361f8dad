import { headerSafe, Problem, refusedParameter, validationFailed } from '../problem/problem.ts'
import {
  asFault,
  type FieldOwner,
  ignoredFields,
  type KnownFields,
  type UnknownName,
} from './ignored-fields.ts'
import type { KnownNames } from './known-names.ts'

/** `Prefer: handling=strict`, alone or among others. */
const strict = /(?:^|[,;\s])handling\s*=\s*"?strict"?(?:$|[,;\s])/i

const isStrict = (request: Request): boolean => strict.test(request.headers.get('prefer') ?? '')

export const ignoredParametersHeader = (prefix: string): string => `${prefix}Ignored-Parameters`

export type IgnoredParameters = ReturnType<typeof createIgnoredParameters>

/** Reports parameters that have no effect to callers. */
export function createIgnoredParameters(names: KnownNames, prefix: string) {
  const header = ignoredParametersHeader(prefix).toLowerCase()
  return {
    /**
     * Names the parameters that the route does not have in a header; where the request prefers strict
     * handling (RFC 7240), refuses it. Refuses a parameter that is given twice with different values.
     */
    check(request: Request, route: string, query: unknown, headers: unknown) {
      const given = query as Readonly<Record<string, unknown>> | undefined
      const repeated = repeatedParameter(request.url, given)
      if (repeated && names.isParameter(request.method, route, repeated.name))
        throw givenTwice(repeated)
      const unknown = names.unknownParameters(request.method, route, given)
      if (!unknown) return
      // A request for past values must not be answered with current ones.
      if (unknown.some(({ name }) => name === 'as_of')) throw noPast()
      const answering = headers as Record<string, string>
      if (isStrict(request)) throw refused(unknown, names.parameters(request.method, route))
      answering[header] = listOf(unknown)
    },
    /** The same for the fields of a body; refuses those of `refused` whatever the request prefers. */
    checkFields(
      request: Request,
      known: KnownFields,
      body: unknown,
      headers: Record<string, string | number>,
      refused: readonly FieldOwner[],
    ) {
      const unknown = ignoredFields(body, known, refused)
      if (unknown.length === 0) return
      const faults = isStrict(request)
        ? unknown
        : unknown.filter(({ owner }) => refused.includes(owner))
      if (faults.length > 0) throw validationFailed(faults.map(asFault))
      const before = headers[header]
      headers[header] = before === undefined ? listOf(unknown) : `${before}, ${listOf(unknown)}`
    },
  }
}

interface RepeatedParameter {
  name: string
  value: string
}

/** A parameter that the address has with two values, of which `query` has only one. */
function repeatedParameter(url: string, query: object | undefined): RepeatedParameter | undefined {
  if (query === undefined) return undefined
  let separators = 0
  for (let at = url.indexOf('&'); at >= 0; at = url.indexOf('&', at + 1)) separators += 1
  if (separators < Object.keys(query).length) return undefined
  const values = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(url.slice(url.indexOf('?')))) {
    if (value !== (values.get(name) ?? value)) return { name, value }
    values.set(name, value)
  }
  return undefined
}

const givenTwice = ({ name, value }: RepeatedParameter): Problem =>
  refusedParameter(
    name,
    value,
    `${name} must be given once; got two values. Separate several values with commas where the parameter takes them.`,
  )

/** `code;nearest=by_code`, as items of a structured list. */
const listed = ({ name, nearest }: UnknownName): string => {
  const shown = name.replace(/[^\w.[\]-]+/g, '?').slice(0, 64)
  return nearest === undefined ? shown : `${shown};nearest=${nearest}`
}

const listOf = (unknown: readonly UnknownName[]): string =>
  headerSafe(unknown.map(listed).join(', '))

const noPast = () =>
  new Problem(
    'INVALID_PARAMETER',
    'as_of is not supported: this operation returns current data only.',
    { parameter: 'as_of', value: null },
  )

function refused(unknown: readonly UnknownName[], allowed: readonly string[]): Problem {
  const [first] = unknown
  const { name, nearest } = first!
  const meant =
    nearest === undefined
      ? allowed.length > 0
        ? ''
        : ' It takes no parameters.'
      : ` Did you mean ${nearest}?`
  return new Problem(
    'INVALID_PARAMETER',
    `${name.slice(0, 100)} is not a parameter of this operation.${meant}`,
    {
      parameter: name.slice(0, 100),
      value: null,
      allowed,
      unknown_parameters: unknown.map(parameter => ({
        parameter: parameter.name.slice(0, 100),
        nearest: parameter.nearest ?? null,
      })),
    },
    { headers: { 'preference-applied': 'handling=strict' } },
  )
}
