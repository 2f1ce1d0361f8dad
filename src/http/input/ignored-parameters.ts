import { headerSafe, Problem } from '../problem/problem.ts'
import type { IgnoredParameters, KnownNames, UnknownParameter } from './known-names.ts'

/** `Prefer: handling=strict`, alone or among others. */
const strict = /(?:^|[,;\s])handling\s*=\s*"?strict"?(?:$|[,;\s])/i

export const ignoredParametersHeader = (prefix: string): string => `${prefix}Ignored-Parameters`

export function createIgnoredParameters(names: KnownNames, prefix: string): IgnoredParameters {
  const header = ignoredParametersHeader(prefix).toLowerCase()
  return {
    check(request, route, query, headers) {
      const unknown = names.unknownParameters(
        request.method,
        route,
        query as Readonly<Record<string, unknown>> | undefined,
      )
      if (!unknown) return
      // Who asks for what was known then must not be answered with what is known now.
      if (unknown.some(({ name }) => name === 'as_of')) throw noPast()
      const answering = headers as Record<string, string>
      if (strict.test(request.headers.get('prefer') ?? ''))
        throw refused(unknown, names.parameters(request.method, route))
      answering[header] = headerSafe(unknown.map(listed).join(', '))
    },
  }
}

/** `code;nearest=by_code`, as items of a structured list. */
const listed = ({ name, nearest }: UnknownParameter): string => {
  const shown = name.replace(/[^\w.[\]-]+/g, '?').slice(0, 64)
  return nearest === undefined ? shown : `${shown};nearest=${nearest}`
}

const noPast = () =>
  new Problem(
    'INVALID_PARAMETER',
    'as_of is not supported: this operation returns current data only.',
    { parameter: 'as_of', value: null },
  )

function refused(unknown: readonly UnknownParameter[], allowed: readonly string[]): Problem {
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
