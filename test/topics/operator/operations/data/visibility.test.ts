import { describe, expect, test } from 'bun:test'
import type { OpenApiDocument } from '../../../../../src/http/openapi/openapi.ts'
import { dayMs, hourMs } from '../../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../../support/instance/instance.ts'
import { rows } from '../../../../support/interface/every-route.ts'
import { cableClient, isType } from '../../../../support/servers/cable-client.ts'
import { serveApp } from '../../../../support/topics/streaming.ts'

const code = 'DESK_SECRET_USD'
const alias = 'HUSHHUSH'
const price = 71.123457
/** Texts that reveal the series: its names, its price, and its change. */
const secrets = ['DESK_SECRET', alias, 'Unspoken mark', '71.12']

/** A copy with a series that is for one of two accounts. */
async function openDemoInstance() {
  const copy = openTestInstance()
  const [ours, theirs] = [copy.key(), copy.key()]
  const account = copy.services.keys.find(ours)!.account.account
  const admin = { authorization: `Bearer ${copy.services.adminTokens.rotate()}` }
  const operate = async (method: string, path: string, body: unknown) => {
    const answer = await copy.send(method, path, body, undefined, admin)
    expect([answer.status, answer.status < 300 ? '' : await answer.text()]).toEqual([
      expect.any(Number),
      '',
    ])
  }
  copy.record('WTI_USD', [70, 71, 72], startAt, dayMs)
  await operate('POST', '/admin/v1/series', {
    code,
    name: 'Unspoken mark',
    category: 'crude_oil',
    unit: 'barrel',
    currency: 'USD',
    decimals: 6,
    aliases: [alias],
    visible_to: [account.id],
  })
  const push = (value: number, at: number) =>
    operate('POST', '/admin/v1/observations', {
      observations: [{ code, observed_at: new Date(at).toISOString(), price: value }],
    })
  for (let i = 40; i >= 0; i -= 1) await push(price, startAt - i * dayMs)
  return { copy, ours, theirs, account, admin, operate, push }
}

/** The names under which operations take codes; the document is looked through for others. */
const codeParameters = [
  'by_code',
  'code',
  'codes',
  'code1',
  'code2',
  'benchmark',
  'commodity',
  'commodity_code',
  'commodities',
  'symbol',
  'symbols',
  'base',
  'quote',
  'series',
  'q',
  'search',
]

const delivery = {
  name: 'Marks',
  commodity_codes: ['WTI_USD'],
  cadence: 'daily',
  delivery_time: '07:00',
  time_zone: 'UTC',
}
/** Creates the account's object that a change applies to; undefined where it exists already. */
const madeBy: Readonly<Record<string, { path: string; body: object } | undefined>> = {
  '/v1/prices/board/layout': undefined,
  '/v1/prices/board/layouts/{name}': undefined,
  '/v1/alerts/{id}': {
    path: '/v1/alerts',
    body: {
      price_alert: {
        name: 'x',
        commodity_code: 'WTI_USD',
        condition_operator: 'greater_than',
        condition_value: 80,
      },
    },
  },
  '/v1/subscriptions/{id}': {
    path: '/v1/subscriptions',
    body: { codes: ['WTI_USD'], interval_seconds: 60 },
  },
  '/v1/webhooks/{id}': {
    path: '/v1/webhooks',
    body: { url: 'https://example.com/hook', events: ['price.updated'] },
  },
  '/v1/scheduled-deliveries/{id}': {
    path: '/v1/scheduled-deliveries',
    body: { scheduled_delivery: delivery },
  },
}
/** Codes that a change takes, and its example does without. */
const alsoNamed: Readonly<Record<string, object>> = {
  '/v1/alerts/{id}': { price_alert: { commodity_code: 'WTI_USD' } },
}

describe('a series that is for chosen accounts', () => {
  test('is answered to them like any other', async () => {
    const { copy, ours } = await openDemoInstance()
    for (const path of [
      `/v1/prices/latest?by_code=${code}`,
      `/v1/prices/latest?by_code=${alias.toLowerCase()}`,
      `/v1/prices/past_week?by_code=${code}`,
    ]) {
      const answer = await copy.get(path, ours)
      expect({ status: answer.status, text: await answer.text() }).toEqual({
        status: 200,
        text: expect.stringContaining('71.12'),
      })
    }
    expect(await (await copy.get('/v1/commodities', ours)).text()).toContain(code)
  })

  test('a restricted series is not exposed to other accounts by any route', async () => {
    const { copy, ours, theirs } = await openDemoInstance()
    const routes = [...new Set(copy.app.routes.map(({ method, path }) => `${method} ${path}`))]
      .filter(route => route.startsWith('GET /') && !/GET \/(admin|_dev)/.test(route))
      .map(route => route.slice(4))
      // Streams continue.
      .filter(path => !/stream|cable|swagger|docs|openapi/.test(path))
    expect(routes.length).toBeGreaterThan(100)
    const query = codeParameters.map(name => `${name}=${code}`).join('&')
    let seen = 0
    for (const path of routes) {
      const filled = path.replaceAll(/:[a-z_]+\??|\*/gi, code)
      for (const url of [filled, `${filled}?${query}`, `${filled}?${query}&as_of=2026-11-19`]) {
        // Their request comes second: a response cached for us must not be served to them.
        for (const name of [ours, theirs, undefined]) {
          const text = await (await copy.get(url, name)).text()
          // Values that they sent themselves are repeated in refusals.
          const otherwise = text.replaceAll(new RegExp(`${code}|${code.toLowerCase()}`, 'g'), '')
          const leaked = secrets.filter(secret =>
            (url === path ? text : otherwise).includes(secret),
          )
          if (name === ours) seen += leaked.length
          else expect(leaked, `${url} ${name === theirs ? 'theirs' : 'nobody'}`).toEqual([])
        }
      }
    }
    expect(seen).toBeGreaterThan(10)
  }, 60_000)

  test('notes on a restricted series are listed for its accounts alone', async () => {
    const { copy, operate } = await openDemoInstance()
    const [ours, theirs] = [copy.key('enterprise'), copy.key('enterprise')]
    const { id } = copy.services.keys.find(ours)!.account.account
    await operate('PATCH', `/admin/v1/series/${code}`, { visible_to: [id] })
    const note = (name: string, commodity: string, date: string) =>
      operate('POST', '/admin/v1/datasets/annotations', {
        rows: [{ id: name, date, title: `A note on ${commodity}`, commodity }],
      })
    await note('mark', code, '2026-11-19')
    const listed = async (key: string) => {
      const answer = await copy.get('/v1/indicators/annotations', key)
      const { data, meta } = (await answer.json()) as {
        data?: { id: string }[]
        meta?: { total: number }
      }
      return { status: answer.status, ids: data?.map(({ id }) => id), total: meta?.total }
    }
    expect((await listed(ours)).ids).toEqual(['mark'])
    expect((await listed(theirs)).status).toBe(404)
    await note('wti', 'WTI_USD', '2026-11-18')
    expect(await listed(ours)).toEqual({ status: 200, ids: ['mark', 'wti'], total: 2 })
    expect(await listed(theirs)).toEqual({ status: 200, ids: ['wti'], total: 1 })
  })

  test('every code parameter of the OpenAPI document is covered by the visibility tests', async () => {
    const { copy } = await openDemoInstance()
    const { paths } = (await (await copy.get('/openapi.json')).json()) as OpenApiDocument
    const codes = new Set(copy.services.catalogue.list().map(series => series.code))
    const takesCodes = (example: unknown) =>
      String(example)
        .split(',')
        .some(name => codes.has(name))
    const names = Object.entries(paths)
      .filter(([path]) => !path.startsWith('/admin/'))
      .flatMap(([, methods]) => Object.values(methods))
      .flatMap(({ parameters = [] }) => parameters)
      .filter(parameter => parameter.in === 'query' && takesCodes(parameter.example))
      .map(({ name }) => name)
    expect(new Set(names).size).toBeGreaterThan(3)
    expect([...new Set(names)].filter(name => !codeParameters.includes(name))).toEqual([])
  })

  test('a restricted series looks the same as an unknown code to accounts without access', async () => {
    const { copy, theirs } = await openDemoInstance()
    for (const path of [
      '/v1/prices/latest?by_code=',
      '/v1/prices/past_week?by_code=',
      '/v1/commodities/',
    ]) {
      const [hidden, none] = await Promise.all(
        [code, 'DESK_SECREX_USD'].map(async name => {
          const answer = await copy.get(`${path}${name}`, theirs)
          const body = (await answer.text()).replaceAll(name, 'X')
          return [answer.status, body.replaceAll(/"request_id":"[^"]*"/g, '')]
        }),
      )
      expect(hidden).toEqual(none!)
    }
    const posted = await copy.send(
      'POST',
      '/v1/alerts',
      {
        price_alert: {
          name: 'x',
          commodity_code: code,
          condition_operator: 'greater_than',
          condition_value: 1,
        },
      },
      theirs,
    )
    expect(posted.status).toBeGreaterThanOrEqual(400)
  })

  test('is as unknown to them in every body that names codes', async () => {
    const { copy, ours, theirs } = await openDemoInstance()
    const bodies = rows.filter(
      ({ method, path, body }) =>
        method === 'POST' && !path.startsWith('/admin') && /_USD"/.test(JSON.stringify(body ?? '')),
    )
    expect(bodies.map(({ path }) => path)).toContain('/v1/prices/batch')
    const call = (name: string) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'latest_prices', arguments: { codes: [name] } },
    })
    const asked = [
      ...bodies.map(({ path, body }) => ({
        path,
        bodyOf: (name: string) =>
          JSON.parse(JSON.stringify(body).replaceAll(/\b[A-Z_]+_USD\b/g, name)),
      })),
      { path: '/mcp', bodyOf: call },
    ]
    const said = async (path: string, body: unknown, name: string, token: string) => {
      const answer = await copy.send('POST', path, body, token, {
        accept: 'application/json, text/event-stream',
      })
      const text = (await answer.text())
        .replaceAll(name, 'X')
        .replaceAll(/"(request_id|id|at|[a-z_]+_at|secret|timestamp)":"[^"]*"/g, '')
      return [path, answer.status, text]
    }
    for (const { path, bodyOf } of asked) {
      const none = await said(path, bodyOf('DESK_SECREX_USD'), 'DESK_SECREX_USD', theirs)
      expect(await said(path, bodyOf(code), code, theirs)).toEqual(none)
      // To us it is another one than none.
      expect(await said(path, bodyOf(code), code, ours)).not.toEqual(none)
    }
  })

  test('is as unknown to them in every change that names codes', async () => {
    const { copy, ours, theirs } = await openDemoInstance()
    const { paths } = (await (await copy.get('/openapi.json')).json()) as OpenApiDocument
    const listed = new Set(copy.services.catalogue.list().map(series => series.code))
    /** The same with another code in the place of each. */
    const naming = (value: unknown, name: string): unknown =>
      JSON.parse(
        JSON.stringify(value).replaceAll(/\b[A-Z0-9_]+\b/g, word =>
          listed.has(word) ? name : word,
        ),
      )
    const changes = Object.entries(paths).flatMap(([path, methods]) =>
      (['put', 'patch'] as const).flatMap(method => {
        const example = methods[method]?.requestBody?.content['application/json']?.example ?? {}
        const body = { ...(example as object), ...alsoNamed[path] }
        return !methods[method] || path.startsWith('/admin/')
          ? []
          : // Field by field, because the refusal of one field does not cover the others.
            Object.entries(body)
              .filter(([, value]) => !Bun.deepEquals(naming(value, ''), value))
              .map(([field, value]) => ({ path, method, body: { [field]: value } }))
      }),
    )
    // A new one belongs here, with what makes the thing that it changes.
    expect([...new Set(changes.map(({ path }) => path))].sort()).toEqual(Object.keys(madeBy).sort())

    const said = async (token: string, method: string, path: string, body?: unknown) => {
      const answer = await copy.send(method, path, body, token)
      return { status: answer.status, text: await answer.text() }
    }
    for (const { path, method, body } of changes)
      for (const token of [theirs, ours]) {
        const made = madeBy[path]
        const answer = made && (await said(token, 'POST', made.path, made.body))
        if (answer) expect({ path, status: answer.status }).toEqual({ path, status: 201 })
        const own = answer ? path.replace('{id}', /"id":"([^"]+)"/.exec(answer.text)![1]!) : path
        const change = async (name: string) => {
          const { status, text } = await said(token, method.toUpperCase(), own, naming(body, name))
          const told = text
            .replaceAll(name, 'X')
            .replaceAll(/"(request_id|[a-z_]+_at|timestamp)":"[^"]*"/g, '')
          return [path, status, told]
        }
        const none = await change('DESK_SECREX_USD')
        const hidden = await change(code)
        if (token === ours) {
          // To us it is another one than none.
          expect(hidden).not.toEqual(none)
          continue
        }
        expect(hidden).toEqual(none)
        const kept = (await said(token, 'GET', own)).text
        expect(
          secrets.filter(secret => kept.includes(secret)),
          path,
        ).toEqual([])
      }
  })

  test('a restricted series is not sent over a WebSocket to accounts without access', async () => {
    const { copy, ours, theirs, push } = await openDemoInstance()
    const served = serveApp(copy.services)
    try {
      const [mine, other] = await Promise.all(
        [ours, theirs].map(async token => {
          const client = (await cableClient(served.socketUrl, { token }))!
          client.subscribe({ commodities: [code] })
          client.subscribe({ commodities: [code, 'WTI_USD'] })
          await client.frame(isType('confirm_subscription'))
          return client
        }),
      )
      await other!.frame(isType('reject_subscription'))
      copy.clock.advance(hourMs)
      await push(85.125, copy.clock.now())
      copy.record('WTI_USD', [73.5], copy.clock.now(), dayMs)
      for (const client of [mine!, other!])
        await client.frame(frame => JSON.stringify(frame).includes('73.5'))
      const [seen, kept] = [mine!, other!].map(({ frames }) =>
        JSON.stringify(frames.filter(({ message }) => message)).includes('85.125'),
      )
      expect({ seen, kept }).toEqual({ seen: true, kept: false })
    } finally {
      await served.stop()
    }
  })

  test('comes by no watch and no mail to who is not among them any more', async () => {
    const { copy, ours, operate, push } = await openDemoInstance()
    const { services, clock } = copy
    const post = async (path: string, body: object) => {
      const answer = await copy.send('POST', path, body, ours)
      expect({ path, status: answer.status }).toEqual({ path, status: 201 })
    }
    await post('/v1/subscriptions', { codes: [code, 'WTI_USD'], interval_seconds: 60 })
    await post('/v1/scheduled-deliveries', {
      scheduled_delivery: {
        name: 'Marks',
        commodity_codes: [code, 'WTI_USD'],
        cadence: 'daily',
        delivery_time: '07:00',
        time_zone: 'UTC',
      },
    })
    const { id } = services.keys.find(ours)!.account.account
    /** The day's texts of the watch and the delivery, with the mark of the day. */
    const day = async (mark: number) => {
      clock.advance(dayMs)
      await push(mark, clock.now())
      copy.record('WTI_USD', [mark + 1], clock.now(), dayMs)
      await services.watchRuns.pass()
      await services.deliveries.dispatch(clock.now())
      const events = JSON.stringify(services.watchFeed.after(id, 0, 1000))
      const bodies = services.db.query('SELECT body FROM outbox_bodies').values()
      return {
        inEvents: events.includes(`${mark}`),
        inMessages: JSON.stringify(bodies).includes(`${mark}`),
      }
    }
    expect(await day(81.375)).toEqual({ inEvents: true, inMessages: true })
    await operate('PATCH', `/admin/v1/series/${code}`, { visible_to: ['00000000-nobody'] })
    expect(await day(82.625)).toEqual({ inEvents: false, inMessages: false })
  })

  test('fires no alert and sends no event to who is not among them any more', async () => {
    const { copy, ours, theirs, operate, push } = await openDemoInstance()
    const { db } = copy.services
    const count = (table: string) =>
      db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n
    for (const key of [ours, theirs])
      expect(
        (
          await copy.send(
            'POST',
            '/v1/webhooks',
            { url: 'https://example.com/hook', events: ['price.updated'] },
            key,
          )
        ).status,
      ).toBe(201)
    const created = await copy.send(
      'POST',
      '/v1/alerts',
      {
        price_alert: {
          name: 'x',
          commodity_code: code,
          condition_operator: 'greater_than',
          condition_value: 80,
          cooldown_minutes: 0,
        },
      },
      ours,
    )
    expect({ status: created.status, text: await created.text() }).toEqual({
      status: 201,
      text: expect.stringContaining(code),
    })
    const messages = () =>
      db
        .query<{ accountId: string; n: number }, [string]>(
          `SELECT o.account_id AS accountId, count(*) AS n FROM outbox o
             JOIN outbox_bodies b ON b.id = o.body_id WHERE b.body LIKE ? AND o.event_type = 'price.updated' GROUP BY 1`,
        )
        .all(`%${code}%`)
    copy.clock.advance(hourMs)
    await push(85, copy.clock.now())
    await copy.services.alerts.evaluation.pass()
    expect(count('alert_triggers')).toBe(1)
    const { id } = copy.services.keys.find(ours)!.account.account
    const before = messages()
    expect(before.map(row => row.accountId)).toEqual([id])

    const other = copy.services.keys.find(theirs)!.account.account.id
    await operate('PATCH', `/admin/v1/series/${code}`, { visible_to: ['00000000-nobody'] })
    expect(other).not.toBe(id)
    copy.clock.advance(hourMs)
    await push(86, copy.clock.now())
    await copy.services.alerts.evaluation.pass()
    expect(count('alert_triggers')).toBe(1)
    expect(messages()).toEqual(before)

    await operate('PATCH', `/admin/v1/series/${code}`, { visible_to: null })
    const answer = await copy.get(`/v1/prices/latest?by_code=${code}`, theirs)
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status: 200,
      text: expect.stringContaining('"price":86'),
    })
  })

  test('is not made of a shipped one', async () => {
    const { copy, admin, account } = await openDemoInstance()
    const answer = await copy.send(
      'PATCH',
      '/admin/v1/series/WTI_USD',
      { visible_to: [account.id] },
      undefined,
      admin,
    )
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status: 422,
      text: expect.stringContaining('must be absent for a shipped series'),
    })
  })
})
