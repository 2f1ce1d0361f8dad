import type { AnyElysia, InternalRoute } from 'elysia'

/** The API: every operation, found by method and path. */
export type Api = ReturnType<typeof createApi>

/** Operations that are registered together. */
export interface OperationGroup {
  /** The prefixes of its paths, of three segments at most. */
  below: readonly string[]
  /** An application of the framework with these operations. */
  open(): AnyElysia
}

export interface ApiParts {
  groups: readonly OperationGroup[]
  /** Gets the routes of each group when they are registered. */
  registered(routes: readonly InternalRoute[]): void
  /** Answers requests without an operation. */
  unknown(request: Request): Response | Promise<Response>
}

type Fetch = (request: Request) => Response | Promise<Response>

/**
 * Registers the operations of a group when a path below it is first requested: a started instance
 * needs few of its 520 routes, and registering all of them takes a third of the time of a start.
 * Each group is a separate application of the framework, so that the switch that the framework
 * compiles for its paths stays small; this finds the group of a path.
 */
export function createApi({ groups, registered, unknown }: ApiParts) {
  const routesOf = new Map<OperationGroup, readonly InternalRoute[]>()
  const table = createRouteTable()
  /** By how a path begins, without those that are open. */
  const waiting = Map.groupBy(
    groups.flatMap(group => group.below.map(beginning => ({ beginning, group }))),
    ({ beginning }) => beginning,
  )
  const open = (some: readonly OperationGroup[]) => {
    for (const group of some) {
      if (routesOf.has(group)) continue
      const app = group.open()
      const routes = app.routes as InternalRoute[]
      for (const { method, path } of routes) {
        refuseElsewhere(path, group)
        table.add(method, path, app.fetch)
      }
      routesOf.set(group, routes)
      registered(routes)
    }
  }
  const openBelow = (path: string) => {
    for (const beginning of beginningsOf(path)) {
      const groupsBelow = waiting.get(beginning)
      if (!groupsBelow) continue
      waiting.delete(beginning)
      open(groupsBelow.map(({ group }) => group))
    }
  }
  const find = (method: string, path: string): Fetch | undefined => {
    // A path as it is written comes before those with parameters, whatever else is registered.
    const plain = table.plain(method, path)
    if (plain) return plain
    openBelow(path)
    const fetch = table.find(method, path)
    if (fetch) return fetch
    // An unknown path is answered with the nearest of all.
    open(groups)
    return table.find(method, path)
  }
  const fetch: Fetch = request => {
    const { method } = request
    const handler = find(method === 'HEAD' ? 'GET' : method, pathIn(request.url))
    return handler ? handler(request) : unknown(request)
  }
  return {
    /** Answers a request synchronously where possible. */
    fetch,
    handle: async (request: Request) => await fetch(request),
    /** All of them, in the order of their groups. */
    get routes() {
      open(groups)
      return groups.flatMap(group => routesOf.get(group)!)
    },
  }
}

/** A segment of the paths that are registered. */
interface Segment {
  next: Map<string, Segment>
  parameter?: Segment
  fetch?: Fetch
  /** The handler of a wildcard at the end of a path. */
  rest?: Fetch
}

/** Which application a path belongs to. `/docs/` is `/docs`. */
function createRouteTable() {
  const plain = new Map<string, Map<string, Fetch>>()
  const trees = new Map<string, Segment>()
  const segmentsOf = (path: string) => path.replace(/\/$/, '').split('/').slice(1)

  const add = (method: string, path: string, fetch: Fetch) => {
    if (!/[:*]/.test(path)) {
      const paths = plain.get(method) ?? new Map<string, Fetch>()
      plain.set(method, paths)
      for (const spelling of [path, withOrWithoutSlash(path)])
        if (!paths.has(spelling)) paths.set(spelling, fetch)
      return
    }
    let segment: Segment = trees.get(method) ?? { next: new Map() }
    trees.set(method, segment)
    for (const name of segmentsOf(path)) {
      if (name === '*') {
        segment.rest ??= fetch
        return
      }
      const next: Segment = (name.startsWith(':') ? segment.parameter : segment.next.get(name)) ?? {
        next: new Map(),
      }
      if (name.startsWith(':')) segment.parameter = next
      else segment.next.set(name, next)
      segment = next
    }
    segment.fetch ??= fetch
  }
  const search = (segment: Segment, names: readonly string[], at: number): Fetch | undefined => {
    if (at === names.length) return segment.fetch
    const named = segment.next.get(names[at]!)
    const match = named && search(named, names, at + 1)
    if (match) return match
    const { parameter, rest } = segment
    return (parameter && names[at] !== '' && search(parameter, names, at + 1)) || rest
  }
  return {
    add,
    plain: (method: string, path: string) => plain.get(method)?.get(path),
    find(method: string, path: string): Fetch | undefined {
      const tree = trees.get(method)
      return plain.get(method)?.get(path) ?? (tree && search(tree, segmentsOf(path), 0))
    },
  }
}

/** The path of an address, without making a URL of it. */
function pathIn(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  if (start < 0) return '/'
  const end = url.indexOf('?', start)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}

const withOrWithoutSlash = (path: string) => (path.endsWith('/') ? path.slice(0, -1) : `${path}/`)

/** A route that no request would register must not be found by chance. */
function refuseElsewhere(path: string, { below }: OperationGroup): void {
  if (!beginningsOf(path).some(beginning => below.includes(beginning)))
    throw new Error(
      `the route ${path} is below none of the paths of its group: ${below.join(', ')}`,
    )
}

/** The number of segments that determine the group of a path. */
const segmentsMax = 3

/** Its first segment, its first two and its first three, as far as it has any. */
export function beginningsOf(path: string): string[] {
  const beginnings: string[] = []
  let end = 0
  while (end < path.length && beginnings.length < segmentsMax) {
    const next = path.indexOf('/', end + 1)
    end = next < 0 ? path.length : next
    beginnings.push(path.slice(0, end))
  }
  return beginnings
}
