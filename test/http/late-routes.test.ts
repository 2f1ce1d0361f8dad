import { describe, expect, test } from 'bun:test'
import { type AnyElysia, Elysia } from 'elysia'
import { addLate, beginningsOf } from '../../src/http/late-routes.ts'
import { createApp } from '../../src/instance/app/app.ts'
import { topics } from '../../src/instance/app/topics.ts'
import { evaluationCopy } from '../support/instance/evaluation-copy.ts'
import { openTestInstance } from '../support/instance/instance.ts'

/** Two groups below one path and one below another; which were added, and what was heard of. */
function lateApp() {
  const app: AnyElysia = new Elysia({ strictPath: false, precompile: false }).get(
    '/own',
    () => 'own',
  )
  const added: string[] = []
  const heard: string[] = []
  const group = (name: string, below: string[], add: () => void) => ({
    below,
    add() {
      added.push(name)
      add()
    },
  })
  addLate(
    app,
    [
      group('codes', ['/v1/prices'], () =>
        app.get('/v1/prices/:code', ({ params }) => params.code),
      ),
      group('lists', ['/v1/prices', '/v1/lists'], () =>
        app.get('/v1/prices/latest', () => 'latest').get('/v1/lists/:id', () => 'list'),
      ),
      group('pages', ['/', '/docs'], () =>
        app
          .get('/', () => 'home')
          .get('/docs/*', () => 'page')
          .post('/docs/start', () => 'posted'),
      ),
    ],
    routes => heard.push(...routes.map(({ path }) => path)),
  )
  const ask = async (path: string, method = 'GET') => {
    const response = await app.handle(new Request(`http://localhost${path}`, { method }))
    return response.status === 404 ? 404 : await response.text()
  }
  return { app, added, heard, ask }
}

describe('routes that are added late', () => {
  test('come with what is asked below their paths, and no others do', async () => {
    const { added, heard, ask } = lateApp()
    expect(await ask('/own')).toBe('own')
    expect(added).toEqual([])
    expect(await ask('/docs/one')).toBe('page')
    expect(await ask('/docs/start/', 'POST')).toBe('posted')
    expect(added).toEqual(['pages'])
    expect(heard).toEqual(['/', '/docs/*', '/docs/start'])
    expect(await ask('/v1/lists/7?x=1')).toBe('list')
    expect(added).toEqual(['pages', 'lists'])
    // Its neighbour below the same path is there before a parameter can take its name.
    expect(await ask('/v1/prices/latest')).toBe('latest')
    expect(await ask('/v1/prices/WTI_USD')).toBe('WTI_USD')
    expect(added).toEqual(['pages', 'lists', 'codes'])
    expect(heard).toHaveLength(6)
  })

  test('a path as it is written is found before a parameter, also in a group that comes after', async () => {
    const { added, ask } = lateApp()
    expect(await ask('/v1/prices/latest')).toBe('latest')
    expect(added).toEqual(['codes', 'lists'])
  })

  test('HEAD is GET without its body and adds no more than that', async () => {
    const { added, ask } = lateApp()
    expect(await ask('/v1/lists/7', 'HEAD')).toBe('')
    expect(added).toEqual(['lists'])
  })

  test('what no route is behind has all of them added, once', async () => {
    const { added, ask } = lateApp()
    for (const path of ['/nothing', '/docs', '/v1', '/nothing']) expect(await ask(path)).toBe(404)
    expect(added).toEqual(['codes', 'lists', 'pages'])
  })

  test('stand in the order of their groups, whichever was asked first', async () => {
    const inOrder = [
      '/own',
      '/v1/prices/:code',
      '/v1/prices/latest',
      '/v1/lists/:id',
      '/',
      '/docs/*',
    ]
    const pathsOf = ({ routes }: AnyElysia) => routes.map(({ path }: { path: string }) => path)
    const { app, added, ask } = lateApp()
    await ask('/docs/one')
    await ask('/v1/lists/7')
    expect(pathsOf(app)).toEqual([...inOrder, '/docs/start'])
    expect(added).toEqual(['pages', 'lists', 'codes'])
    const other = lateApp()
    for (const _ of ['once', 'again']) expect(pathsOf(other.app)).toEqual(pathsOf(app))
    expect(other.heard).toHaveLength(6)
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

test('a route elsewhere than its group says is refused', () => {
  const app: AnyElysia = new Elysia({ precompile: false })
  addLate(app, [{ below: ['/v1/a'], add: () => app.get('/v1/b/:id', () => '') }], () => {})
  expect(() => app.routes).toThrow('/v1/b/:id is below none of the paths of its group: /v1/a')
})

test('each path that a topic names has routes below it', () => {
  // With the controls that only a copy has.
  const copy = evaluationCopy(
    undefined,
    { 'dev.world': 'small' },
    { unfilled: true, controls: true },
  )
  const { routes }: AnyElysia = copy.running.app
  const beginnings = new Set(routes.flatMap(({ path }: { path: string }) => beginningsOf(path)))
  expect(topics.flatMap(({ below }) => below).filter(path => !beginnings.has(path))).toEqual([])
  copy.remove()
})

const instance = openTestInstance()

test('the interface has the same routes in the same order, whatever was asked first', async () => {
  const names = ({ routes }: AnyElysia) =>
    routes.map(({ method, path }: { method: string; path: string }) => `${method} ${path}`)
  const asked = createApp(instance.services)
  for (const path of ['/docs', '/admin/v1/series', '/v1/alerts', '/v1/prices/latest', '/health'])
    await asked.handle(new Request(`http://localhost${path}`))
  expect(names(asked)).toEqual(names(createApp(instance.services)))
})

test('whoever asks for a path that is none is told the same, whatever was asked first', async () => {
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
