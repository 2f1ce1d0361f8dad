import { beforeAll, expect, test } from 'bun:test'
import { createClientProfiles, type Profiles } from '../../../src/http/profiles/profiles.ts'
import { dayMs } from '../../../src/lib/time/instant.ts'
import type { ClientProfile } from '../../../src/plans/clients/client-profile.ts'
import { handingOver } from '../../support/instance/handed-over.ts'
import { startAt } from '../../support/instance/instance.ts'
import { type People, people } from '../../support/topics/people.ts'

let instance: People
beforeAll(() => {
  instance = people()
  instance.record('WTI_USD', [60, 61, 62, 63], startAt, dayMs)
})

const statistics = '/v1/analytics/statistics?code=WTI_USD'

/** The paths that query workers get for a request. */
async function handedOver(
  path: string,
  authorization: string,
  body?: unknown,
): Promise<readonly string[]> {
  const { app, asked } = handingOver(instance)
  await app.fetch(
    new Request(`http://localhost${path}`, {
      headers: { authorization, 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    }),
  )
  return asked
}

test('query workers get a heavy path directly and as a table', async () => {
  const key = `Token ${instance.person('table').key}`
  expect(await handedOver(statistics, key)).toEqual([statistics])
  for (const table of ['/v1/excel/run', '/v1/excel/run.xml', '/openbb/table'])
    expect(
      await handedOver(`${table}?path=/v1/analytics/statistics&code=WTI_USD`, key),
      table,
    ).toEqual([statistics])
})

test('the connection of a table does not count as idle while a query worker answers its path', async () => {
  const idle: string[] = []
  const { app } = handingOver(instance, {
    idle: ({ url }, seconds) => void idle.push(`${new URL(url).pathname} ${seconds}`),
  })
  const headers = { authorization: `Token ${instance.person('idle').key}` }
  const url = 'http://localhost/openbb/table?path=/v1/analytics/statistics&code=WTI_USD'
  await app.fetch(new Request(url, { headers }))
  expect(idle[0]).toBe('/openbb/table 60')
})

test('the main thread serves a light path as a table as it does directly', async () => {
  const key = `Token ${instance.person('light').key}`
  for (const path of ['/v1/prices/latest', '/v1/storage', '/v1/prices/past_day'])
    expect(await handedOver(`/openbb/table?path=${path}&by_code=WTI_USD`, key), path).toEqual([])
})

test('query workers make the tables of every code', async () => {
  const key = `Token ${instance.person('long').key}`
  for (const table of ['/v1/excel/run', '/v1/excel/run.xml', '/openbb/table'])
    for (const path of ['/v1/prices/all', '/v1/commodities', '/v1/commodities/categories']) {
      const asked = `${table}?path=${path}`
      expect((await handedOver(asked, key))[0]).toBe(asked)
    }
})

test('query workers get the heavy requests of operators who impersonate an account', async () => {
  const { account } = instance.person('seen')
  const operator = `Bearer ${instance.services.adminTokens.rotate()}`
  const begun = await instance.ask(
    'POST',
    `/admin/v1/accounts/${account.account.id}/look`,
    operator,
    {
      minutes: 10,
    },
  )
  const { token } = begun.body.data as { token: string }
  expect(await handedOver(statistics, `Bearer ${token}`)).toEqual([statistics])
})

test('query workers get reads of the past that take long, and series of dashboards', async () => {
  const key = `Token ${instance.person('past').key}`
  for (const path of [
    '/v1/storage',
    '/v1/storage/spr',
    '/v1/storage/regional',
    '/v1/spreads/curve-structure/all',
    '/v1/spreads/curve-structure?commodity=EXCH_BRENT',
    '/v1/spreads/crack',
    '/v1/spreads/basis/all',
    '/v1/futures/exch-brent',
    '/v1/prices/metrics?by_code=WTI_USD',
    '/v1/prices/convert?by_code=WTI_USD&to_unit=metric_ton',
  ]) {
    expect(await handedOver(path, key), path).toEqual([])
    const past = `${path}${path.includes('?') ? '&' : '?'}as_of=2026-11-10T12:00:00Z`
    expect(await handedOver(past, key)).toEqual([past])
  }
  const converted = '/v1/prices/convert?by_code=WTI_USD&date=2026-11-10'
  expect(await handedOver(converted, key)).toEqual([converted])
  const positions = '/v1/indicators/cftc-positioning'
  expect(await handedOver(positions, key)).toEqual([positions])
  const query = { targets: [{ target: 'WTI_USD' }] }
  expect(await handedOver('/grafana/query', key, query)).toEqual(['/grafana/query'])
})

test('a query worker gives a request of this instance the refusals of its client and no other shape', () => {
  const url = `http://localhost${statistics}`
  const headers = { 'x-desk': 'oil' }
  const desk: ClientProfile = {
    name: 'desk',
    signs: [{ of: 'x-desk', pattern: /^oil/, weight: 1 }],
    needed: 1,
    switches: new Map([
      ['error_string', { only: [], except: [] }],
      ['latest_list', { only: [], except: [] }],
    ]),
    retryAfterCapSeconds: 60,
  }
  const main = createClientProfiles([desk])
  const inner = new Request(url)
  main.refuseAs(inner, new Request(url, { headers }))
  const profile = main.assignedTo(inner)
  expect(profile).toEqual({ name: 'desk', isForRefusals: true })

  const worker = createClientProfiles([desk], { get: () => ({ profile }) })
  const leave = (profiles: Profiles, request: Request, status: number, value: object) =>
    profiles.leave({ request, route: '/v1/prices/latest', set: { headers: {}, status }, value })
  const refused = { error: { code: 'NO_DATA', message: 'No data.' } }
  const price = { status: 'success', data: { code: 'WTI_USD', price: 63 } }
  expect(leave(worker, inner, 422, refused)).toMatchObject({ error: 'No data.' })
  expect(leave(worker, inner, 200, price)).toBeUndefined()
  expect(leave(main, new Request(url, { headers }), 200, price)).toBeObject()
  expect(worker.switched(inner, 'error_string')).toBe(false)
})
