import type { AnyElysia, Elysia } from 'elysia'

/** What all routes of a list have in common. */
export interface RouteListOptions<Prefix extends string> {
  /** Stands before each path. */
  prefix?: Prefix
  /** Topics of the documentation, of routes that name none themselves. */
  tags?: string[]
  detail?: { hide: boolean }
}

/** What the lists around a list say of its routes. */
interface Around {
  prefix: string
  detail: object
}

/** Adds the routes of a list to an application, which calls it as it calls any plugin. */
type List = (app: AnyElysia, around?: Around) => AnyElysia

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

/** What adds a route, whatever its handler takes: that is checked where the list is written. */
type Adding = Record<
  (typeof methods)[number],
  (path: string, handler: unknown, hook: { detail: object }) => void
>

const lists = new WeakSet<object>()
/** An application takes a plugin once, however many lists name it. */
const taken = new WeakMap<AnyElysia, WeakSet<object>>()

function createRouteList({ prefix = '', tags, detail }: RouteListOptions<string> = {}): List {
  const steps: ((app: AnyElysia, around: Around) => void)[] = []
  const own = { ...detail, ...(tags && { tags }) }
  const list: List = (app, around = { prefix: '', detail: {} }) => {
    const common = { prefix: around.prefix + prefix, detail: { ...around.detail, ...own } }
    for (const step of steps) step(app, common)
    return app
  }
  lists.add(list)
  const later = (step: (typeof steps)[number]) => {
    steps.push(step)
    return list
  }
  const adding = methods.map(method => [
    method,
    (path: string, handler: unknown, hook: { detail?: object } = {}) =>
      later((app, common) => {
        const detail = { ...common.detail, ...hook.detail }
        const adding = app as unknown as Adding
        adding[method](common.prefix + path, handler, { ...hook, detail })
      }),
  ])
  return Object.assign(list, Object.fromEntries(adding), {
    use: (plugin: AnyElysia | List) =>
      later((app, common) => {
        if (isList(plugin)) plugin(app, common)
        else takeOnce(app, plugin)
      }),
  })
}

/**
 * Routes that wait to be added to the application, written and typed as those of an `Elysia`. An
 * `Elysia` for each topic would be an application of its own, which adds its routes to its own
 * router, and whoever uses it adds all of them again: 1,309 additions for 521 routes, which every
 * start and every thread would make.
 */
export const RouteList = createRouteList as unknown as new <Prefix extends string = ''>(
  options?: RouteListOptions<Prefix>,
) => Elysia<Prefix>

const isList = (plugin: AnyElysia | List): plugin is List => lists.has(plugin)

function takeOnce(app: AnyElysia, plugin: AnyElysia) {
  const plugins = taken.get(app) ?? new WeakSet()
  taken.set(app, plugins)
  if (plugins.has(plugin)) return
  plugins.add(plugin)
  app.use(plugin)
}
