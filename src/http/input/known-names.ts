import { distance } from 'fastest-levenshtein'
import { nearestWord } from '../../lib/text/wrong-value.ts'
import type { UnknownName } from './ignored-fields.ts'
import { isMalformed, type TypedParameter, typedKey } from './typed.ts'

/** A route as the router knows it. */
export interface NamedRoute {
  method: string
  path: string
  hooks: unknown
}

/** The known routes and parameters, for suggestions to a caller who used an unknown one. */
export type KnownNames = ReturnType<typeof createKnownNames>

/** Marks a route whose parameters are those of another operation. */
export const parametersPassedOnKey = 'x-parameters-passed-on'

/** Every route accepts the key as a parameter. */
const everywhere = ['api_key']

/** Names that other APIs use for our parameters. */
const synonyms: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    code: ['by_code', 'code1'],
    codes: ['by_code'],
    commodity: ['by_code', 'code'],
    commodities: ['by_code', 'codes'],
    symbol: ['by_code', 'code'],
    symbols: ['by_code', 'codes'],
    ticker: ['by_code', 'code', 'contract'],
    by_codes: ['by_code', 'codes'],
    from: ['start_date', 'start'],
    since: ['start_date'],
    start: ['start_date'],
    to: ['end_date', 'end'],
    until: ['end_date'],
    end: ['end_date'],
    date: ['at', 'end_date'],
    limit: ['per_page'],
    page_size: ['per_page', 'limit'],
    count: ['per_page', 'limit'],
    resolution: ['interval'],
    granularity: ['interval'],
    frequency: ['interval'],
    type: ['by_type'],
    output: ['format'],
  }),
)

const methodsShown = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']
const nearestPathsMax = 3
const namesListedMax = 8
const nameCharactersMax = 64
const segmentsMax = 12

interface KnownPath {
  path: string
  segments: readonly string[]
  methods: string[]
  isShown: boolean
}

/** The parameters of a route by their names, with the schemas of those that have one. */
type RouteParameters = ReadonlyMap<string, TypedParameter | undefined>

/** Parameters that are not read where one of these is given. */
const supersededBy: ReadonlyMap<string, readonly string[]> = new Map([
  ['days', ['at', 'start_date', 'end_date', 'period']],
  ['grade', ['fuel_type']],
])

/** By method, then by path, so that no request needs a joined text as its key. */
function createParameterTable() {
  const parameters = new Map<string, Map<string, RouteParameters>>()
  return {
    add({ method, path, hooks }: NamedRoute) {
      const { query, detail } = (hooks ?? {}) as RouteHooks
      // A route that forwards its parameters has no names to compare them with.
      if (detail?.[parametersPassedOnKey]) return
      const names = new Map(
        Object.entries(query?.properties ?? {}).map(([name, schema]) => [name, schema[typedKey]]),
      )
      for (const name of everywhere) names.set(name, undefined)
      const ofMethod = parameters.get(method)
      if (ofMethod) ofMethod.set(path, names)
      else parameters.set(method, new Map([[path, names]]))
    },
    of: (method: string, path: string): RouteParameters | undefined =>
      parameters.get(method === 'HEAD' ? 'GET' : method)?.get(path),
  }
}

function pathsOf(routes: readonly NamedRoute[]): KnownPath[] {
  const paths = new Map<string, KnownPath>()
  for (const { method, path, hooks } of routes) {
    if (!methodsShown.includes(method)) continue
    const { detail } = (hooks ?? {}) as RouteHooks
    const shownPath = paths.get(path) ?? {
      path,
      segments: segmentsOf(path),
      methods: [],
      isShown: false,
    }
    // The hidden methods of a documented path refuse every request.
    const isShown = detail?.hide !== true
    if (isShown && !shownPath.isShown) shownPath.methods = []
    if (isShown || !shownPath.isShown) shownPath.methods.push(method)
    shownPath.isShown ||= isShown
    paths.set(path, shownPath)
  }
  return [...paths.values()]
}

export function createKnownNames() {
  const table = createParameterTable()
  let waiting: NamedRoute[] = []
  let allRoutes: () => readonly NamedRoute[] = () => []
  let paths: KnownPath[] | undefined
  const parametersOf = (method: string, path: string) => {
    // Parameters are read on first use, which keeps the start short.
    for (const route of waiting) table.add(route)
    waiting = []
    return table.of(method, path)
  }

  return {
    /**
     * Adds the parameters of routes; before that every name counts as known. Suggestions for
     * unknown paths come from `all`, which may be available later.
     */
    learn(routes: readonly NamedRoute[], all: () => readonly NamedRoute[] = () => routes) {
      waiting.push(...routes)
      allRoutes = all
      paths = undefined
    },
    /**
     * The parameters of a request that its route does not have, each with the nearest one that it
     * has; undefined where every one is known.
     */
    unknownParameters(
      method: string,
      route: string,
      query: Readonly<Record<string, unknown>> | undefined,
    ) {
      let parameters: RouteParameters | undefined
      let unknown: UnknownName[] | undefined
      for (const name in query) {
        parameters ??= parametersOf(method, route)
        if (!parameters) return undefined
        if (parameters.has(name)) continue
        unknown ??= []
        if (unknown.length < namesListedMax)
          unknown.push({ name, nearest: nearestName(name, [...parameters.keys()]) })
      }
      return unknown
    },
    /** Whether the route reads the parameter, or passes it on. */
    isParameter: (method: string, route: string, name: string) =>
      parametersOf(method, route)?.has(name) ?? true,
    parameters: (method: string, route: string) =>
      [...(parametersOf(method, route)?.keys() ?? [])].filter(name => !everywhere.includes(name)),
    /**
     * Whether the route refuses the query for a value that the schema of a parameter does not have.
     */
    isMalformed(method: string, route: string, query: URLSearchParams) {
      const parameters = parametersOf(method, route)
      if (!parameters) return false
      const isRead = (name: string) => !supersededBy.get(name)?.some(other => query.get(other))
      for (const [name, text] of query) {
        const schema = parameters.get(name)
        if (schema && isMalformed(schema, text) && isRead(name)) return true
      }
      return false
    },
    /** The documented paths nearest to one that does not exist, and the methods of this one. */
    nearest(path: string) {
      const written = path.split('/').filter(Boolean)
      const segments = segmentsOf(path).slice(0, segmentsMax)
      const meant = withVersion(segments)
      const farthest = meant === segments ? mostDistant(segments) : misspellingMax
      paths ??= pathsOf(allRoutes())
      const scored = paths
        .map(known => ({ known, score: pathDistance(meant, known.segments) }))
        .sort((a, b) => a.score - b.score)
      const template = scored.find(({ known }) => isBehind(segments, known.segments))?.known
      const isMisspelt = scored.some(
        ({ known, score }) => !known.path.includes(':') && score <= misspellingMax,
      )
      return {
        paths: scored
          .filter(
            ({ known, score }) =>
              known.isShown &&
              known.path.startsWith('/v1/') &&
              known !== template &&
              score <= farthest,
          )
          .slice(0, nearestPathsMax)
          .map(({ known }) => known.path.replace(/:(\w+)/g, '{$1}')),
        methods: template?.methods ?? [],
        /** The value in the place of the path's first parameter, where such a path exists. */
        parameter: (isMisspelt ? undefined : template)?.segments
          .map((name, i) => ({ name, value: written[i] ?? '' }))
          .find(({ name }) => name.startsWith(':')),
      }
    },
  }
}

interface RouteHooks {
  query?: { properties?: Readonly<Record<string, { [typedKey]?: TypedParameter }>> }
  detail?: { hide?: boolean; [parametersPassedOnKey]?: true }
}

const segmentsOf = (path: string): string[] =>
  path
    .toLowerCase()
    .split('/')
    .filter(Boolean)
    .map(segment => segment.slice(0, nameCharactersMax))

/** A path as the API has it, where the version was left out or follows another prefix. */
function withVersion(segments: readonly string[]): readonly string[] {
  const at = segments.indexOf('v1')
  if (at > 0) return segments.slice(at)
  return at === 0 || /^v\d/.test(segments[0] ?? '') ? segments : ['v1', ...segments]
}

/** Edits from a path to a template: a parameter takes any segment, another length costs most. */
function pathDistance(segments: readonly string[], template: readonly string[]): number {
  let sum = 0
  for (let i = 0; i < Math.max(segments.length, template.length); i++) {
    const [own, other] = [segments[i], template[i]]
    if (own === undefined || other === undefined) sum += missingSegmentCost
    else if (other.startsWith(':')) sum += parameterCost
    else sum += distance(own, other)
  }
  return sum
}

/** Whether a template takes this path as it stands. */
const isBehind = (segments: readonly string[], template: readonly string[]): boolean =>
  segments.length === template.length &&
  template.every((own, i) => own.startsWith(':') || own === segments[i])

const missingSegmentCost = 4
/** Edits of a path that was meant and not written; more, and a value for a parameter was meant. */
const misspellingMax = 2
/** A literal that fits is nearer than a parameter that takes anything. */
const parameterCost = 1

/** The maximum distance of a suggestion: half of the text, or one segment too many. */
const mostDistant = (segments: readonly string[]): number =>
  Math.max(missingSegmentCost, segments.join('').length / 2)

/** The parameter that is most likely meant; undefined where none is near. */
function nearestName(name: string, known: readonly string[]): string | undefined {
  const typed = name.toLowerCase().slice(0, nameCharactersMax)
  const synonym = synonyms.get(typed)?.find(candidate => known.includes(candidate))
  if (synonym) return synonym
  return nearestWord(
    typed,
    known.filter(candidate => !everywhere.includes(candidate)),
  )
}
