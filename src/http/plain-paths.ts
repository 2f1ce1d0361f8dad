import type { AnyElysia, ComposedHandler } from 'elysia'

/** What the router keeps of a path: the handler is made when it is first asked for. */
interface Entry {
  handler?: ComposedHandler
  compile(): ComposedHandler
}

type Router = AnyElysia['router']

/** The routes of an application, found by method and path. */
export interface RouteFinder {
  /** Takes over the routes that were added since. */
  take(): void
  /** A route whose path has no parameters. */
  findPlain: Router['http']['find']
  find: Router['http']['find']
}

/**
 * Has every path without parameters found in a map, before the router's tree is asked. Left to
 * itself Elysia writes those paths into one function, a switch over all of them. Of 520 routes that
 * is 100 KB of bytecode: the engine takes up to 0.4 s to compile it, again for each thread and
 * whenever it learns more, and a collection of garbage waits for it, and every request for that.
 * Called before the first request.
 */
export function findPlainPaths({ router }: Pick<AnyElysia, 'router'>): RouteFinder {
  const { http, history } = router
  const entries = new Map<string, Map<string, Entry>>()
  const build = http.build.bind(http)
  // The first request would have the tree built again, and found in alone.
  http.build = () => undefined
  let findInTree = http.find
  const findPlain: Router['http']['find'] = (method, path) => {
    const store = entries.get(method)?.get(path)
    return store ? { store, params: {} } : null
  }
  const find: Router['http']['find'] = (method, path) =>
    findPlain(method, path) ?? findInTree(method, path)

  const take = () => {
    for (const [path, indexes] of Object.entries(router.static))
      for (const [method, index] of Object.entries(indexes)) {
        const route = history[index]
        if (!route) continue
        const entry: Entry = {
          compile() {
            const handler = route.compile()
            entry.handler = handler
            return handler
          },
        }
        const paths = entries.get(method) ?? new Map<string, Entry>()
        entries.set(method, paths)
        paths.set(path, entry)
        paths.set(withOrWithoutSlash(path), entry)
      }
    router.static = {}
    // It puts its own way to find a route back in place.
    build()
    findInTree = http.find.bind(http)
    http.find = find
  }
  take()
  return { take, findPlain, find }
}

/** The same path to whoever asks: `/docs/` is `/docs`. */
const withOrWithoutSlash = (path: string) => (path.endsWith('/') ? path.slice(0, -1) : `${path}/`)
