import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openTestInstance, type TestInstance } from '../../../../support/instance/instance.ts'

interface Answer {
  feed?: { name: string; state: string }
  settings?: { name: string; value: string; source: string }[]
  errors?: { field: string; message: string; value?: string }[]
}

let instance: TestInstance
let admin: (
  method: string,
  path: string,
  body?: unknown,
) => Promise<{ status: number; body: Answer }>

beforeAll(() => {
  instance = openTestInstance()
  const headers = {
    authorization: `Bearer ${instance.services.adminTokens.rotate()}`,
    'content-type': 'application/json',
  }
  admin = async (method, path, body) => {
    const answer = await instance.send(method, `/admin/v1/feeds${path}`, body, undefined, headers)
    return { status: answer.status, body: (await answer.json()) as Answer }
  }
})

afterAll(() => instance.services.db.close())

test('without the admin token the refusal offers no sign-up and no demo', async () => {
  const answer = await instance.send('GET', '/admin/v1/feeds', undefined, undefined, {})
  expect(answer.status).toBe(401)
  const { error } = (await answer.json()) as { error: object }
  expect(Object.keys(error)).not.toContain('signup_url')
  expect(Object.keys(error)).not.toContain('demo_endpoint')
})

describe('PUT /admin/v1/feeds/{name}', () => {
  test('feed settings are stored and returned with their source and without the secret key', async () => {
    const put = await admin('PUT', '/fred', {
      key: ' 0123456789abcdef0123456789abcdef ',
      base_url: 'https://mirror.example/fred',
      codes: ['WTI_USD'],
      since: '2026-01-31',
      reread: '60d',
      license: null,
    })
    expect(put).toMatchObject({ status: 200, body: { feed: { name: 'fred' } } })
    const { settings } = (await admin('GET', '/fred')).body
    const shownAs = (name: string) => settings!.find(setting => setting.name === name)?.value
    expect(shownAs('key')).toBe('[redacted]')
    expect(shownAs('base_url')).toBe('https://mirror.example/fred')
    expect(shownAs('codes')).toBe('WTI_USD')
    expect(shownAs('since')).toBe('2026-01-31')
    expect(shownAs('reread')).toBe('60d')
  })

  test.each([
    ['since', '2026-02-30', 'since must be a day, such as 2026-01-31; got "2026-02-30".'],
    ['reread', '60', 'reread must be days, such as 60d; got "60".'],
    [
      'base_url',
      'ftp://mirror.example',
      'base_url must be an http or https address; got "ftp://mirror.example".',
    ],
    [
      'base_url',
      'https://ann@mirror.example',
      'base_url must be an http or https address; got "https://ann@mirror.example".',
    ],
    ['key', 'two\nlines', 'key must be text on one line.'],
    ['keys', 'x', 'keys is not a field of this operation. Did you mean key?'],
  ])('refuses %s %p', async (field, value, message) => {
    const { status, body } = await admin('PUT', '/fred', { [field]: value })
    expect(status).toBe(422)
    expect(body.errors).toEqual([expect.objectContaining({ field, message })])
  })

  test.each([
    'http://127.0.0.1:9/fred',
    'https://10.0.0.1/fred',
    'https://169.254.169.254/latest',
    'https://[::1]/fred',
    'https://0x7f000001/fred',
    'https://localhost/fred',
    'http://mirror.example/fred',
  ])('refuses the mirror %p when it is set, as when it would be read', async base_url => {
    const { status, body } = await admin('PUT', '/ecb', { base_url })
    expect({ status, errors: body.errors }).toEqual({
      status: 422,
      errors: [
        expect.objectContaining({
          field: 'base_url',
          message: expect.stringMatching(/^base_url: /),
        }),
      ],
    })
    const { settings } = (await admin('GET', '/ecb')).body
    expect(settings!.map(({ name }) => name)).not.toContain('base_url')
  })

  test('sends the key of the configuration to no address that a token of the role data names', async () => {
    const requests: string[] = []
    const stranger = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch({ url }) {
        requests.push(url)
        return new Response('{}')
      },
    })
    const own = openTestInstance({
      'feeds.eia.key': '0123456789abcdef0123456789abcdef',
      'egress.allow': '127.0.0.0/8',
    })
    const { adminTokens } = own.services
    const send = (token: string, method: string, path: string, body?: unknown) =>
      own.send(method, `/admin/v1/feeds/eia${path}`, body, undefined, {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      })
    const { token: data } = adminTokens.create('desk', 'data')
    const base_url = `http://127.0.0.1:${stranger.port}`
    const refused = await send(data, 'PUT', '', { base_url })
    expect({ status: refused.status, xErrorCode: refused.headers.get('x-error-code') }).toEqual({
      status: 403,
      xErrorCode: 'ADMIN_ROLE_MISSING',
    })
    expect((await send(data, 'PUT', '', { since: '2026-01-31' })).status).toBe(200)
    const shown = await (await send(data, 'GET', '')).text()
    expect(shown).not.toContain('base_url')

    const { token: everything } = adminTokens.create('owner', 'all')
    expect((await send(everything, 'PUT', '', { base_url })).status).toBe(200)
    expect(requests).toEqual([])
    await send(everything, 'POST', '/test', {})
    expect(requests.join(' ')).toContain('0123456789abcdef')
    await stranger.stop(true)
    own.services.db.close()
  })

  test('refuses what the feed has no series for, each by its name', async () => {
    const { status, body } = await admin('PUT', '/norges_bank', {
      codes: ['USD_NOK', 'USD_NKO', 'rig-counts'],
    })
    expect(status).toBe(422)
    const message = (code: string) =>
      `codes: norges_bank has no series for ${code}; its map has what it can be read into.`
    expect(body.errors).toEqual([
      { field: 'codes', message: message('USD_NKO'), value: 'USD_NKO' },
      { field: 'codes', message: message('rig-counts'), value: 'rig-counts' },
    ])
    expect((await admin('GET', '/norges_bank')).body.feed!.state).toBe('off')
  })

  test('names every fault at once', async () => {
    const { body } = await admin('PUT', '/fred', { since: 'soon', reread: 'often', license: 'no' })
    expect(body.errors!.map(error => error.field)).toEqual(['since', 'reread', 'license'])
  })
})

describe('POST /admin/v1/feeds/{name}/pause', () => {
  test('is refused for a feed that is off, so that it runs once it is added', async () => {
    const refused = await admin('POST', '/alberta/pause', {})
    expect(refused.status).toBe(422)
    expect(refused.body).toMatchObject({ message: 'alberta is off, so it cannot be paused.' })
    expect((await admin('PUT', '/alberta', {})).body.feed!.state).toBe('ok')
    expect((await admin('POST', '/alberta/pause', {})).body.feed!.state).toBe('paused')
  })
})

describe('POST /admin/v1/feeds/{name}/run', () => {
  test.each([
    ['since', 'yesterday', 'since must be a day, such as 2026-01-31; got "yesterday".'],
    ['wiat', true, 'wiat is not a field of this operation. Did you mean wait?'],
  ])('refuses %s %p before anything is read', async (field, value, message) => {
    const { status, body } = await admin('POST', '/ecb/run', { [field]: value })
    expect(status).toBe(422)
    expect(body.errors).toEqual([expect.objectContaining({ field, message })])
    expect(instance.services.feeds.runs('ecb', 10, 0)).toEqual([])
  })
})
