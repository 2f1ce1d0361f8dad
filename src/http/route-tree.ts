import type { AnyElysia, ComposedHandler } from 'elysia'

/**
 * Has every path found by the router's tree. Left to itself Elysia writes the paths without
 * parameters into one function, a switch over all of them. Of 520 routes that is 100 KB of
 * bytecode: the engine takes up to 0.4 s to compile it, again for each thread and whenever it
 * learns more, and a collection of garbage waits for it, and every request for that. Called once all
 * routes are mounted and before the first request.
 */
export function routeByTree({ router }: Pick<AnyElysia, 'router'>): void {
  const { http, history } = router
  for (const [path, indexes] of Object.entries(router.static))
    for (const [method, index] of Object.entries(indexes)) {
      const route = history[index]
      if (!route) continue
      // What the router keeps of a path with parameters: the handler is made when it is first asked for.
      const entry: { handler?: ComposedHandler; compile(): ComposedHandler } = {
        compile() {
          const handler = route.compile()
          entry.handler = handler
          return handler
        },
      }
      http.add(method, path, entry)
      http.add(method, withOrWithoutSlash(path), entry)
    }
  router.static = {}
}

/** The same path to whoever asks: `/docs/` is `/docs`. */
const withOrWithoutSlash = (path: string) => (path.endsWith('/') ? path.slice(0, -1) : `${path}/`)
