import { describe, expect, test } from 'bun:test'
import { createEncoder } from '../../../src/http/answer/encoding.ts'
import { front } from '../../../src/http/front.ts'
import { varyOf } from '../../../src/http/profiles/profiles.ts'
import type { App } from '../../../src/instance/app/app.ts'
import { type SwitchName, switchNames } from '../../../src/plans/clients/switches.ts'
import listed from '../../operations/interface.json'
import { inOtherNames, withProfiles } from '../../support/instance/renamed-instance.ts'
import {
  type Answer,
  dataOf,
  type Fields,
  switchClients,
} from '../../support/instance/switch-clients.ts'

const { ask, copy, app } = switchClients()

describe('createClientProfiles: which profile applies', () => {
  const path = '/v1/prices/latest?by_code=WTI_USD'
  const profiles = `
[[client_profiles]]
name = "both headers"
match = { User-Agent = '^example-client/1\\.', X-Platform = 'sheets?' }
switches = ["latest_list"]
[[client_profiles]]
name = "agent only"
match = { user-agent = '^example-client/' }
switches = ["latest_flat_and_list"]
`
  test('the first profile whose headers all match applies, in any letter case', async () => {
    const of = withProfiles(copy().running.services, profiles)
    const shape = async (headers: Record<string, string>) => {
      const { data } = (await ask(path, undefined, { headers, of })).body as { data: Fields }
      return 'prices' in data ? ('code' in data ? 'flat and list' : 'list') : 'flat'
    }
    expect(await shape({ 'user-agent': 'example-client/1.9', 'x-platform': 'SHEET' })).toBe('list')
    expect(await shape({ 'user-agent': 'Example-Client/1.9' })).toBe('flat and list')
    expect(await shape({ 'user-agent': 'example-client/2.0', 'x-platform': 'sheets' })).toBe(
      'flat and list',
    )
    expect(await shape({ 'user-agent': 'an example-client/1.9', 'x-platform': 'sheets' })).toBe(
      'flat',
    )
    expect(await shape({ 'x-platform': 'sheets' })).toBe('flat')
    expect(await shape({})).toBe('flat')
  })

  test('each of several requests that are answered at the same time has its own profile', async () => {
    const of = withProfiles(copy().running.services, profiles)
    const agents = ['example-client/1.9', 'other/1', 'example-client/2.0', '']
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        ask(path, undefined, { headers: { 'user-agent': agents[i % agents.length]! }, of }),
      ),
    )
    for (const [i, { body }] of answers.entries())
      expect('prices' in (body as { data: Fields }).data, agents[i % agents.length]).toBe(
        agents[i % agents.length]!.startsWith('example-client/'),
      )
  })

  test('only the beginning of a header is matched against a profile', async () => {
    const of = withProfiles(
      copy().running.services,
      profiles.replaceAll('example-client/', '.*client'),
    )
    const padded = (length: number) =>
      ask(path, undefined, { headers: { 'user-agent': `${'x'.repeat(length)} client` }, of })
    expect((await padded(505)).body.data).toHaveProperty('prices')
    expect((await padded(506)).body.data).not.toHaveProperty('prices')
  })

  test('Vary names every header that a profile matches on, on every answer', async () => {
    const of = withProfiles(copy().running.services, profiles)
    const vary = 'User-Agent, X-Platform'
    const answers = [
      await ask(path, undefined, { of }),
      await ask('/v1/prices/past_day?format=csv', undefined, { of }),
      await ask('/v1/prices/latest', undefined, { of, key: 'nonsense' }),
      await ask('/v1/excel/run?path=/v1/prices/latest&by_code=NOPE_USD', undefined, { of }),
      await ask('/v1/excel/run.xml?path=/v1/prices/latest&by_code=NOPE_USD', undefined, { of }),
      await ask('/v1/futures/nope', undefined, { of }),
      await ask('/nowhere', undefined, { of }),
      await ask('/health', undefined, { of }),
      await ask('/docs', undefined, { of }),
      await ask('/v1/prices/batch', undefined, {
        of,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      }),
    ]
    expect(answers.map(answer => answer.headers.get('vary'))).toEqual(answers.map(() => vary))
    expect((await ask('/v1/commodities/codes', undefined, { of })).headers.get('vary')).toBe(vary)
  })

  test('the Vary header is also sent on preflights and ambiguous requests, in addition to the origin', async () => {
    const { services } = copy().running
    const profiled = withProfiles(services, profiles)
    const stand = front({
      handle: request => profiled.handle(request),
      ids: services.ids,
      links: () => ({ baseUrl: '', docsUrl: '', upgradeUrl: '', signupUrl: '' }),
      corsOrigins: ['https://desk.example'],
      vary: varyOf([
        {
          name: 'x',
          signs: [{ of: 'user-agent', pattern: /x/, weight: 1 }],
          needed: 1,
          switches: new Map(),
          retryAfterCapSeconds: 60,
        },
      ]),
      originals: new WeakMap(),
    })
    const sent = (method: string, headers: Record<string, string>) =>
      stand(
        new Request('http://localhost/v1/prices/latest', {
          method,
          headers: { host: 'localhost', ...headers },
        }),
      )
    const preflight = { origin: 'https://desk.example', 'access-control-request-method': 'GET' }
    expect((await sent('OPTIONS', preflight)).headers.get('vary')).toBe('Origin, User-Agent')
    expect((await sent('GET', { host: 'x' })).headers.get('vary')).toBe('User-Agent')
  })
})

describe('createClientProfiles: entity tags', () => {
  const path = '/v1/prices/latest?by_code=WTI_USD'
  const used = () =>
    copy().running.services.meter.quotaUsage(copy().running.services.keys.find(copy().apiKey)!).used

  test('are those of the switched body, and each client gets 304 for its own only', async () => {
    const plain = await ask(path, undefined)
    const listed = await ask(path, 'latest_list')
    const tags = { plain: plain.headers.get('etag')!, listed: listed.headers.get('etag')! }
    expect(tags.plain).not.toBe(tags.listed)
    expect((await ask(path, 'latest_list')).headers.get('etag')).toBe(tags.listed)
    const statusFor = async (client: string | undefined, tag: string) =>
      (await ask(path, client, { headers: { 'if-none-match': tag } })).status
    expect(await statusFor('latest_list', tags.listed)).toBe(304)
    expect(await statusFor('latest_list', `"x", W/${tags.listed}`)).toBe(304)
    expect(await statusFor('latest_list', '*')).toBe(304)
    expect(await statusFor('latest_list', tags.plain)).toBe(200)
    expect(await statusFor(undefined, tags.plain)).toBe(304)
    expect(await statusFor(undefined, tags.listed)).toBe(200)
    // A profile that leaves the answer as it is leaves its tag too.
    expect(await statusFor('error_string', tags.plain)).toBe(304)
    expect(await statusFor('error_string', tags.listed)).toBe(200)
  })

  test('a resource is changed with the tag of its switched body', async () => {
    const endpoint = { url: 'https://hooks.example.com/tag', events: ['price.updated'] }
    const created = await ask('/v1/webhooks', 'omit_null', { method: 'POST', body: endpoint })
    const path = `/v1/webhooks/${dataOf(created).id}`
    const tag = (await ask(path, 'omit_null')).headers.get('etag')!
    expect(tag).not.toBe((await ask(path, undefined)).headers.get('etag')!)
    const change = (description: string) =>
      ask(path, 'omit_null', {
        method: 'PATCH',
        body: { description },
        headers: { 'if-match': tag, 'if-none-match': '*' },
      })
    expect([(await change('one')).status, (await change('two')).status]).toEqual([200, 412])
    await ask(path, 'omit_null', { method: 'DELETE' })
  })

  test('a switched 304 costs nothing and looks like any other', async () => {
    const tag = (await ask(path, 'latest_list')).headers.get('etag')!
    const before = used()
    const switched = await ask(path, 'latest_list', { headers: { 'if-none-match': tag } })
    const plain = await ask(path, undefined, {
      headers: { 'if-none-match': (await ask(path, undefined)).headers.get('etag')! },
    })
    expect(used()).toBe(before + 1)
    expect({ status: switched.status, text: switched.text }).toEqual({ status: 304, text: '' })
    const names = (answer: Answer) => [...answer.headers.keys()].sort()
    expect(names(switched)).toEqual(names(plain))
  })

  test('a switched 304 names the encoding that the client has', async () => {
    const stand = front({
      handle: request => app().handle(request),
      ids: copy().running.services.ids,
      links: () => ({ baseUrl: '', docsUrl: '', upgradeUrl: '', signupUrl: '' }),
      corsOrigins: [],
      vary: '',
      originals: new WeakMap(),
      encoder: createEncoder(),
    })
    const sent = (headers: Record<string, string> = {}) =>
      stand(
        new Request('http://localhost/v1/prices/latest', {
          headers: {
            host: 'localhost',
            authorization: `Token ${copy().apiKey}`,
            'accept-encoding': 'gzip',
            'x-client': 'latest_list',
            ...headers,
          },
        }),
      )
    const first = await sent()
    const tag = first.headers.get('etag')!
    expect(first.headers.get('content-encoding')).toBe('gzip')
    expect(tag).toEndWith('-gzip"')
    const again = await sent({ 'if-none-match': tag })
    expect({ status: again.status, tag: again.headers.get('etag') }).toEqual({ status: 304, tag })
  })

  test('HEAD has the headers of GET and no body', async () => {
    const get = await ask(path, 'latest_list')
    const head = await ask(path, 'latest_list', { method: 'HEAD' })
    expect({ status: head.status, text: head.text, etag: head.headers.get('etag') }).toEqual({
      status: 200,
      text: '',
      etag: get.headers.get('etag'),
    })
    expect(head.headers.get('content-length')).toBe(String(get.text.length))
    const tag = get.headers.get('etag')!
    expect(
      (await ask(path, 'latest_list', { method: 'HEAD', headers: { 'if-none-match': tag } }))
        .status,
    ).toBe(304)
  })
})

describe('createClientProfiles: what switches leave alone', () => {
  const samples = listed
    .filter(row => row.method === 'GET' && row.sample !== null && row.access !== 'operator')
    .map(row => inOtherNames(row.sample!))
  /** Headers that vary by the moment, and those that mention profiles. */
  const passing = /^(x-ratelimit-|ratelimit|x-cache$|vary$)/
  const visibleOf = ({ status, text, headers }: Answer) => ({
    status,
    text,
    headers: [...headers].filter(([name]) => !passing.test(name)),
  })

  test('without a profile that fits, every byte is the same', async () => {
    const plain = withProfiles(copy().running.services, 'client_profiles = []')
    let compared = 0
    for (const path of samples) {
      const [first, profiled, again] = [
        await ask(path, undefined, { of: plain }),
        await ask(path, 'nobody', { of: app() }),
        await ask(path, undefined, { of: plain }),
      ]
      expect(first.headers.has('vary'), path).toBe(false)
      // Counters of requests differ in each response.
      if (first.text !== again.text) continue
      expect(visibleOf(profiled), path).toEqual(visibleOf(first))
      compared += 1
    }
    expect(compared).toBeGreaterThan(samples.length * 0.8)
  })

  test('with every switch on, only the answers that the switches name change', async () => {
    // Those at the end are for every success.
    const excluded = [
      'latest_flat_and_list',
      'quota_without_retry_after',
      'omit_null',
      'currency_text',
      'iso_week_number',
    ]
    const names = switchNames.filter(name => !excluded.includes(name))
    const everything = `[[client_profiles]]\nname = "all"\nmatch = { X-Client = "." }\nswitches = ${JSON.stringify(names)}\n`
    const of = withProfiles(copy().running.services, everything)
    const changed: string[] = []
    for (const path of samples) {
      const [before, after, again] = [
        await ask(path, undefined),
        await ask(path, 'x', { of }),
        await ask(path, undefined),
      ]
      if (before.text === again.text && before.text !== after.text)
        changed.push(path.replace(/\?.*/, ''))
    }
    const named =
      /^\/v1\/(alerts|scheduled-deliveries|api-keys|subscriptions|forecasts\/monthly|data-sources\/[\w-]+\/logs|ei\/opec_productions\/top_producers|prices\/(latest|all|historical|past_\w+|\d{4}-\d\d-\d\d)|commodities(\/\w+)?|storage(\/(cushing|spr|regional|history\/\w+|\w+\/history))?|webhooks|data-sources|forecasts\/(monthly\/)?archive|data-quality\/reports|well-production\/top-producers|bunker-fuels\/spreads\/ports|spreads\/(crack|basis|margin|refining-margin|physical-premium)(\/all)?|ei\/well-permits(\/\w+)?|ei\/(forecasts|frac-focus|opec_productions|drilling_productivities)\/latest|ei\/forecasts\/(compare|summary)|ei\/frac-focus\/\w+\/chemicals|drilling-intelligence\/(summary|basin\/\w+)|spreads\/curve-structure(\/all)?|webhooks\/[\w-]+\/events|market-brief|indicators\/(storage-analytics|fuel-switching)|diesel-prices\/states\/\w+|futures\/(continuous\/)?[\w-]+(\/[\w-]+)?)$/
    expect(
      changed.filter(
        path => !named.test(path) || /^\/v1\/futures\/(latest|curve|spreads)$/.test(path),
      ),
    ).toEqual([])
    expect(changed.length).toBeGreaterThan(15)
  })

  test('CSV, lists of several codes and tables for sheets stay as they are', async () => {
    const pairs: [SwitchName, string][] = [
      ['windowed_list', '/v1/prices/past_week?by_code=WTI_USD&format=csv'],
      ['latest_list', '/v1/prices/latest?by_code=WTI_USD,BRENT_CRUDE_USD'],
      ['latest_flat_and_list', '/v1/prices/latest'],
      ['latest_list', '/v1/excel/run?path=/v1/prices/latest&by_code=WTI_USD'],
      ['windowed_list', '/v1/excel/run.xml?path=/v1/prices/past_week&by_code=WTI_USD'],
      ['unknown_code_404', '/v1/analytics/statistics?code=NOPE_USD'],
      ['error_string', '/v1/excel/run.xml?path=/v1/nope'],
      ['futures_enveloped', '/v1/futures/latest'],
    ]
    for (const [name, path] of pairs)
      expect(visibleOf(await ask(path, name)), path).toEqual(visibleOf(await ask(path, undefined)))
  })

  test('a refusal inside of a sheet has the shape of its client, and takes nothing of the quota', async () => {
    const used = () =>
      copy().running.services.meter.quotaUsage(copy().running.services.keys.find(copy().apiKey)!)
        .used
    const before = used()
    const path = '/v1/excel/run?path=/v1/prices/latest&by_code=NOPE_USD'
    const switched = await ask(path, 'unknown_code_404')
    expect({
      status: switched.status,
      code: switched.body.code,
      errorStatus: switched.headers.get('x-error-status'),
    }).toEqual({ status: 404, code: 'invalid_code', errorStatus: '404' })
    expect(switched.headers.has('x-ratelimit-limit')).toBe(true)
    const flat = await ask('/v1/excel/run?path=/v1/futures/merc-wti/spread-history', 'error_string')
    expect({ status: flat.status, error: flat.body.error }).toEqual({
      status: 400,
      error: flat.body.message,
    })
    expect(used()).toBe(before)
  })

  test('where none is configured no answer depends on the client', async () => {
    const varies = async (of: App) =>
      (await of.handle(new Request('http://localhost/nothing'))).headers.get('vary')
    expect(await varies(withProfiles(copy().running.services, 'client_profiles = []'))).toBeNull()
    expect(await varies(app())).toBe('X-Client')
  })
})
