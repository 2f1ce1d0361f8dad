import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { pageParts } from '../../src/console/paths.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'

let copy: DemoInstance
beforeAll(() => {
  copy = demoInstance()
}, 120_000)
afterAll(() => copy.remove())

const statusOf = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await copy.ask('GET', path, { key: null, headers })
  const text = await answer.text()
  return { path, status: answer.status, isConsole: text.includes('id="console"') }
}

describe('an address of the console', () => {
  test.each([
    '/docs/nope',
    '/docs/quickstart.html',
    '/series/NO_SUCH_CODE',
    ...Object.keys(pageParts).map(page => `/${page}/nope`),
    '/markets/constructor',
  ])('%s names nothing, and gets the page with status 404', async path => {
    expect(await statusOf(path)).toEqual({ path, status: 404, isConsole: true })
  })

  test.each([
    '/docs',
    '/docs/quickstart',
    '/series',
    '/series/WTI_USD',
    '/series/wti_usd',
    ...Object.entries(pageParts).flatMap(([page, parts]) =>
      Object.keys(parts).map(part => (part === '' ? `/${page}` : `/${page}/${part}`)),
    ),
  ])('%s names something, and gets the page with status 200', async path => {
    expect(await statusOf(path)).toEqual({ path, status: 200, isConsole: true })
  })

  test('of a series that is for some accounts is there for those accounts alone', async () => {
    const { services } = copy.running
    const state = services.keys.find(copy.apiKey)!.account
    const { token, session } = await services.sessions.issue(state, 'link')
    services.sessions.write(session)
    const made = await copy.ask('POST', '/admin/v1/series', {
      key: null,
      headers: { authorization: `Bearer ${copy.adminToken}` },
      body: {
        code: 'DESK_USD',
        name: 'Desk mark',
        category: 'crude_oil',
        unit: 'barrel',
        currency: 'USD',
        visible_to: [state.account.id],
      },
    })
    expect(made.status).toBe(201)
    expect((await statusOf('/series/DESK_USD')).status).toBe(404)
    expect((await statusOf('/series/DESK_USD', { cookie: `session=${token}` })).status).toBe(200)
  })
})
