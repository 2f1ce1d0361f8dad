import { describe, expect, test } from 'bun:test'
import { type AnyElysia, Elysia } from 'elysia'
import { type Api, beginningsOf, createApi } from '../../src/http/operations/api.ts'
import { createApp } from '../../src/instance/app/app.ts'
import { topics } from '../../src/instance/app/topics.ts'
import { demoInstance } from '../support/instance/demo-instance.ts'
import { openTestInstance } from '../support/instance/instance.ts'

/** Two groups below one path and others; which were opened, and which routes were registered. */
function lazyApi() {
  const opened: string[] = []
  const registered: string[] = []
  const framework = () => new Elysia({ strictPath: false, precompile: false })
  const group = (name: string, below: string[], open: () => AnyElysia) => ({
    below,
    open() {
      opened.push(name)
      return open()
    },
  })
  const api = createApi({
    groups: [
      group('own', ['/own'], () => framework().get('/own', () => 'own')),
      group('codes', ['/v1/prices'], () =>
        framework().get('/v1/prices/:code', ({ params }) => params.code),
      ),
      group('lists', ['/v1/prices', '/v1/lists'], () =>
        framework()
          .get('/v1/prices/latest', () => 'latest')
          .post('/v1/prices/latest', () => 'posted')
          .get('/v1/lists/:id', () => 'list')
          .get('/v1/lists/:id/rows/:row', ({ params }) => `${params.id} ${params.row}`),
      ),
      group('pages', ['/', '/docs'], () =>
        framework()
          .get('/', () => 'home')
          .get('/docs/*', ({ params }) => `page ${params['*']}`)
          .post('/docs/start', () => 'posted'),
      ),
    ],
    registered: routes => registered.push(...routes.map(({ path }) => path)),
    unknown: () => new Response('', { status: 404 }),
  })
  const ask = async (path: string, method = 'GET') => {
    const response = await api.handle(new Request(`http://localhost${path}`, { method }))
    return response.status === 404 ? 404 : await response.text()
  }
  return { api, opened, registered, ask }
}

describe('operations that are registered when they are needed', () => {
  test('operations are registered when a path below their prefix is first requested', async () => {
    const { opened, registered, ask } = lazyApi()
    expect(await ask('/docs/one')).toBe('page one')
    expect(await ask('/docs/start/', 'POST')).toBe('posted')
    expect(opened).toEqual(['pages'])
    expect(registered).toEqual(['/', '/docs/*', '/docs/start'])
    expect(await ask('/v1/lists/7?x=1')).toBe('list')
    expect(opened).toEqual(['pages', 'lists'])
    // Its neighbour below the same path is there before a parameter can take its name.
    expect(await ask('/v1/prices/latest')).toBe('latest')
    expect(await ask('/v1/prices/WTI_USD')).toBe('WTI_USD')
    expect(opened).toEqual(['pages', 'lists', 'codes'])
    expect(registered).toHaveLength(8)
  })

  test('a path as it is written is found before a parameter, also in a group that comes after', async () => {
    const { opened, ask } = lazyApi()
    expect(await ask('/v1/prices/latest')).toBe('latest')
    expect(opened).toEqual(['codes', 'lists'])
  })

  test('HEAD is GET without its body and adds no more than that', async () => {
    const { opened, ask } = lazyApi()
    expect(await ask('/v1/lists/7', 'HEAD')).toBe('')
    expect(opened).toEqual(['lists'])
  })

  test('what no route is behind has all of them added, once', async () => {
    const { opened, ask } = lazyApi()
    for (const path of ['/nothing', '/docs', '/v1', '/nothing']) expect(await ask(path)).toBe(404)
    expect(opened).toEqual(['own', 'codes', 'lists', 'pages'])
  })

  test('are in the order of their groups, whichever was requested first', async () => {
    const inOrder = [
      '/own',
      '/v1/prices/:code',
      '/v1/prices/latest',
      '/v1/prices/latest',
      '/v1/lists/:id',
      '/v1/lists/:id/rows/:row',
      '/',
      '/docs/*',
    ]
    const pathsOf = ({ routes }: Api) => routes.map(({ path }) => path)
    const { api, opened, ask } = lazyApi()
    await ask('/docs/one')
    await ask('/v1/lists/7')
    expect(pathsOf(api)).toEqual([...inOrder, '/docs/start'])
    expect(opened).toEqual(['pages', 'lists', 'own', 'codes'])
    const other = lazyApi()
    for (const _ of ['once', 'again']) expect(pathsOf(other.api)).toEqual(pathsOf(api))
    expect(other.registered).toHaveLength(9)
  })

  test.each([
    ['GET', '/v1/prices/latest', 'latest'],
    ['GET', '/v1/prices/latest/', 'latest'],
    ['GET', '/v1/prices/latest?by_code=WTI_USD', 'latest'],
    ['GET', '/v1/prices/later', 'later'],
    ['POST', '/v1/prices/latest', 'posted'],
    ['DELETE', '/v1/prices/latest', 404],
    ['GET', '/v1/prices', 404],
    ['GET', '/v1/lists/7/rows/a%2Fb', '7 a/b'],
    ['GET', '/v1/lists/7/rows', 404],
    ['GET', '/docs/start', 'page start'],
    ['GET', '/docs/deep/down', 'page deep/down'],
    ['POST', '/docs/start', 'posted'],
    ['GET', '/', 'home'],
  ] as const)('%s %s is answered: %p', async (method, path, answer) => {
    expect(await lazyApi().ask(path, method)).toBe(answer)
  })
})

test('a path begins with its first segment, its first two and its first three', () => {
  expect(beginningsOf('/')).toEqual(['/'])
  expect(beginningsOf('/health')).toEqual(['/health'])
  expect(beginningsOf('/docs/')).toEqual(['/docs', '/docs/'])
  expect(beginningsOf('/v1/prices')).toEqual(['/v1', '/v1/prices'])
  expect(beginningsOf('/v1/a/b/c/d')).toEqual(['/v1', '/v1/a', '/v1/a/b'])
  expect(beginningsOf('//v1')).toEqual(['/', '//v1'])
  expect(beginningsOf('')).toEqual([])
})

test('a route outside the paths of its group is refused', () => {
  const api = createApi({
    groups: [{ below: ['/v1/a'], open: () => new Elysia().get('/v1/b/:id', () => '') }],
    registered: () => {},
    unknown: () => new Response('', { status: 404 }),
  })
  expect(() => api.routes).toThrow('/v1/b/:id is below none of the paths of its group: /v1/a')
})

test('each path that a topic names has routes below it', () => {
  // With the controls that only a copy has.
  const copy = demoInstance(undefined, { 'dev.world': 'small' }, { controls: true })
  const { routes } = copy.running.app
  const beginnings = new Set(routes.flatMap(({ path }) => beginningsOf(path)))
  expect(topics.flatMap(({ below }) => below).filter(path => !beginnings.has(path))).toEqual([])
  copy.remove()
})

const instance = openTestInstance()

test('the API has the same routes in the same order, regardless of earlier requests', async () => {
  const names = ({ routes }: Api) => routes.map(({ method, path }) => `${method} ${path}`)
  const asked = createApp(instance.services)
  for (const path of ['/docs', '/admin/v1/series', '/v1/alerts', '/v1/prices/latest', '/health'])
    await asked.handle(new Request(`http://localhost${path}`))
  expect(names(asked)).toEqual(names(createApp(instance.services)))
})

test('an unknown path gets the same suggestions, regardless of earlier requests', async () => {
  const lost = async (...before: string[]) => {
    const app = createApp(instance.services)
    const ask = (path: string) =>
      app.handle(
        new Request(`http://localhost${path}`, { headers: { accept: 'application/json' } }),
      )
    for (const path of before) await ask(path)
    const answers = ['/v1/aler', '/v1/sm', '/v1/data', '/v1/rig'].map(ask)
    return Promise.all(
      answers.map(async answer => {
        const { error } = (await (await answer).json()) as { error: { nearest_paths: string[] } }
        return error.nearest_paths
      }),
    )
  }
  const told = await lost()
  // As near as one another are usage, health and status.
  expect(told[2]).toEqual(['/v1/health', '/v1/status', '/v1/usage'])
  expect(await lost('/v1/usage', '/v1/files', '/v1/status')).toEqual(told)
})
