import { expect, test } from 'bun:test'
import { type AnyElysia, Elysia } from 'elysia'
import { RouteList } from '../../src/http/route-list.ts'
import { createApp } from '../../src/instance/app/app.ts'
import { openTestInstance } from '../support/instance/instance.ts'

const answerTo = async (app: { handle(request: Request): Promise<Response> }, path: string) =>
  await (await app.handle(new Request(`http://localhost${path}`))).text()

const documented = (app: AnyElysia) =>
  app.routes.map(({ method, path, hooks }: AnyElysia['routes'][number]) => [
    method,
    path,
    hooks.detail,
  ])

test('a list gives its routes its prefix and what it says of all of them', () => {
  const list = new RouteList({ prefix: '/v1', tags: ['prices'], detail: { hide: true } })
    .get('/a', () => 'a', { detail: { summary: 'A' } })
    .post('/b', () => 'b', { detail: { tags: ['others'] } })
  expect(documented(new Elysia().use(list))).toEqual([
    ['GET', '/v1/a', { hide: true, tags: ['prices'], summary: 'A' }],
    ['POST', '/v1/b', { hide: true, tags: ['others'] }],
  ])
})

test('a list within a list stands within its prefix, its own topics before those around it', () => {
  const inner = new RouteList({ prefix: '/inner', tags: ['inner'] }).get('/x', () => 'x')
  const plain = new RouteList().get('/y', () => 'y')
  const outer = new RouteList({ prefix: '/outer', tags: ['outer'] }).use(inner).use(plain)
  expect(documented(new Elysia().use(outer))).toEqual([
    ['GET', '/outer/inner/x', { tags: ['inner'] }],
    ['GET', '/outer/y', { tags: ['outer'] }],
  ])
})

test('handlers have what a plugin that their list names puts into the context', async () => {
  const plugin = new Elysia().decorate('greeting', 'good day')
  const list = new RouteList().use(plugin).get('/', ({ greeting }) => greeting)
  expect(await answerTo(new Elysia().use(list), '/')).toBe('good day')
})

test('an application takes a plugin once, and each of two applications does', () => {
  const plugin = new Elysia().macro({ marked: () => ({}) })
  const lists = ['/a', '/b'].map(path => new RouteList().use(plugin).get(path, () => path))
  for (const _ of ['one', 'another']) {
    const taken: unknown[] = []
    const app = new Elysia()
    const { _use } = app as unknown as { _use(plugin: unknown): unknown }
    Object.assign(app, {
      _use(used: unknown) {
        if (typeof used !== 'function') taken.push(used)
        return _use.call(app, used)
      },
    })
    for (const list of lists) app.use(list)
    expect(taken).toEqual([plugin])
  }
})

const { services } = openTestInstance()

test('each route of the interface is added once', () => {
  const { add } = Elysia.prototype as unknown as { add(...of: unknown[]): unknown }
  let additions = 0
  Object.assign(Elysia.prototype, {
    add(this: Elysia, ...of: unknown[]) {
      additions += 1
      return add.apply(this, of)
    },
  })
  try {
    const app = createApp(services)
    const { routes } = app
    expect(additions).toBeGreaterThan(500)
    expect(routes).toHaveLength(additions)
  } finally {
    Object.assign(Elysia.prototype, { add })
  }
})
