import type { AnyElysia } from 'elysia'
import { findPlainPaths } from './plain-paths.ts'

/** What routes are added to. */
export type Application = AnyElysia

/** Routes that are added together. */
export interface RouteGroup {
  /** How their paths begin: each path with one of these, of three segments at most. */
  below: readonly string[]
  add(): void
}

type Routes = AnyElysia['routes']

/** Of how a path begins. */
const segmentsMax = 3

/**
 * Adds the routes of a group when something below its paths is first asked for: of 520 routes a
 * start needs the few that it is asked for, and adding all of them takes a third of its time.
 * Whoever reads `app.routes` has all of them, in the order of the groups. `added` hears of each
 * group's routes.
 */
export function addLate(
  app: Application,
  groups: readonly RouteGroup[],
  added: (routes: Routes) => void,
): void {
  const { http, history } = app.router
  const own = history.slice()
  const routesOf = new Map<RouteGroup, Routes>()
  /** By how a path begins. Those that were added are taken out. */
  const waiting = Map.groupBy(
    groups.flatMap(group => group.below.map(beginning => ({ beginning, group }))),
    ({ beginning }) => beginning,
  )
  const finder = findPlainPaths(app)

  const add = (asked: readonly RouteGroup[]) => {
    const missing = asked.filter(group => !routesOf.has(group))
    for (const group of missing) {
      const before = history.length
      group.add()
      const routes = history.slice(before)
      for (const { path } of routes) refuseElsewhere(path, group)
      routesOf.set(group, routes)
      added(routes)
    }
    if (missing.length === 0) return
    finder.take()
    if (routesOf.size < groups.length) http.find = find
  }
  const addAll = () => add(groups)
  const addBelow = (path: string) => {
    for (const beginning of beginningsOf(path)) {
      const below = waiting.get(beginning)
      if (!below) continue
      waiting.delete(beginning)
      add(below.map(({ group }) => group))
    }
  }

  const find: typeof http.find = (method, path) => {
    // A path as it is written stands before those with parameters, whatever else is added.
    const plain = finder.findPlain(method, path)
    if (plain) return plain
    addBelow(path)
    const route = finder.find(method, path)
    // Elysia looks for the GET of a HEAD next.
    if (route || method === 'HEAD') return route
    // What no route is behind is told of the nearest there is.
    addAll()
    return finder.find(method, path)
  }
  http.find = find
  Object.defineProperty(app, 'routes', {
    get() {
      addAll()
      return [...own, ...groups.flatMap(group => routesOf.get(group)!)]
    },
  })
}

/** A route that nothing asked for would add must not be found by chance. */
function refuseElsewhere(path: string, { below }: RouteGroup): void {
  if (!beginningsOf(path).some(beginning => below.includes(beginning)))
    throw new Error(
      `the route ${path} is below none of the paths of its group: ${below.join(', ')}`,
    )
}

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
