import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { exportSPKI, generateKeyPair } from 'jose'
import { operatorAlertsOf } from '../../../../src/instance/services/operator-alerts.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'
import {
  type Answer,
  type IdentityProvider,
  startIdentityProvider,
} from '../../../support/servers/identity-provider.ts'

type Fields = Record<string, unknown>

let now = startAt
let provider: IdentityProvider
let instance: TestInstance
beforeAll(async () => {
  provider = await startIdentityProvider(() => now)
})
afterAll(() => provider.stop())

const open = (settings: Record<string, string> = {}) => {
  now = startAt
  instance = openTestInstance({
    'oidc.issuer': provider.issuer,
    'oidc.client_id': 'wellhead',
    'oidc.domains': 'example.com',
    ...settings,
  })
}
beforeEach(() => open())

const advance = (ms: number) => {
  now += ms
  instance.clock.advance(ms)
}

interface Begun {
  state: string
  nonce: string
  cookie: string
  url: URL
}

const begin = async (next = ''): Promise<Begun> => {
  const response = await instance.get(`/sign-in/company${next}`)
  expect(response.status).toBe(303)
  const url = new URL(response.headers.get('location')!)
  return {
    url,
    state: url.searchParams.get('state')!,
    nonce: url.searchParams.get('nonce')!,
    cookie: response.headers.get('set-cookie')!.split(';')[0]!,
  }
}

const comeBack = (query: Record<string, string>, cookie?: string) =>
  instance.get(
    `/sign-in/company/callback?${new URLSearchParams(query)}`,
    undefined,
    cookie === undefined ? {} : { cookie },
  )

const idToken =
  (more: Fields = {}, header: Fields = {}): Answer =>
  async nonce => ({ id_token: await provider.sign(provider.claims(nonce, more), header) })

const signIn = async (more: Fields = {}) => {
  const { state, nonce, cookie } = await begin()
  return comeBack({ state, code: provider.code(nonce, idToken(more)) }, cookie)
}

const sessionOf = (response: Response): string | undefined =>
  /(?:^|, )session=([^;]+)/.exec(response.headers.get('set-cookie') ?? '')?.[1]

const usage = (token: string) =>
  instance.get('/v1/usage', undefined, { authorization: `Bearer ${token}` })

const signedIn = async (more: Fields = {}) => {
  const token = sessionOf(await signIn(more))
  expect(token).toBeString()
  return token!
}

describe('signing in at the company', () => {
  test('creates an account once, and leads to the requested page', async () => {
    const { state, nonce, cookie, url } = await begin('?next=/alerts')
    expect(url.searchParams.get('code_challenge_method')).toBe('S256')
    const code = provider.code(nonce, idToken())
    const response = await comeBack({ state, code }, cookie)
    expect({ status: response.status, to: response.headers.get('location') }).toEqual({
      status: 303,
      to: '/alerts',
    })
    expect(provider.forms.at(-1)!.get('code_verifier')).toHaveLength(64)
    expect((await usage(sessionOf(response)!)).status).toBe(200)
    await signedIn({ email: 'ada.lovelace@example.com' })
    const accounts = instance.services.keys.accounts().map(({ account }) => account.email)
    expect(accounts).toEqual(['ada@example.com'])
  })

  test('is offered on the page, with passwords or alone', async () => {
    const page = async () => (await instance.get('/sign-in')).text()
    expect(await page()).toContain('href="/sign-in/company"')
    expect(await page()).toContain('name="password"')
    open({ 'oidc.only': 'true' })
    expect(await page()).not.toContain('name="password"')
  })

  test('is the only way where passwords are off', async () => {
    open({ 'oidc.only': 'true' })
    instance.key('free', { email: 'ada@example.com' })
    const account = instance.services.keys.accountByEmail('ada@example.com')!
    expect(await instance.services.signIn.setPassword(account, 'correct horse battery')).toBe(
      undefined,
    )
    const refused = await instance.send('POST', '/v1/auth/session', {
      email: 'ada@example.com',
      password: 'correct horse battery',
    })
    const links = ['ada@example.com', 'nobody@example.com'].map(email =>
      instance.send('POST', '/v1/auth/link', { email }),
    )
    for (const answer of [refused, ...(await Promise.all(links))]) {
      expect(answer.status).toBe(403)
      const { error } = (await answer.json()) as { error: { code: string; message: string } }
      expect({ code: error.code, message: error.message }).toEqual({
        code: 'COMPANY_SIGN_IN_REQUIRED',
        message:
          'Passwords and e-mailed links are turned off. Sign in with your company account on the page /sign-in.',
      })
    }
    const page = await instance.app.handle(
      new Request('http://localhost/sign-in/link', {
        method: 'POST',
        headers: { origin: 'http://localhost' },
        body: new URLSearchParams({ email: 'ada@example.com' }),
      }),
    )
    expect({ status: page.status, text: await page.text() }).toEqual({
      status: 403,
      text: expect.stringContaining('Sign in with your company account'),
    })
    expect((await instance.get('/sign-in/company')).status).toBe(303)
    await signedIn()
  })

  test('says to sign in with the company where the only other way is to sign up', async () => {
    open({ 'oidc.only': 'true', 'accounts.signup': 'open' })
    const authorization = `Bearer ${instance.services.adminTokens.rotate()}`
    for (const [path, body, headers] of [
      ['/v1/auth/signup', { email: 'new@example.com' }, {}],
      ['/v1/auth/signup/confirm', { token: 'x' }, {}],
      ['/admin/v1/invitations', { email: 'new@example.com' }, { authorization }],
    ] as const) {
      const answer = await instance.send('POST', path, body, undefined, headers)
      const { error } = (await answer.json()) as { error: { code: string; message: string } }
      expect({ status: answer.status, code: error.code }).toEqual({
        status: 403,
        code: 'COMPANY_SIGN_IN_REQUIRED',
      })
      expect(error.message).toContain('Sign in with your company account')
    }
  })

  test('creates no account where that is off, and accepts existing ones', async () => {
    open({ 'oidc.auto_create': 'false' })
    expect((await signIn()).status).toBe(403)
    instance.key('free', { email: 'ada@example.com' })
    await signedIn()
  })

  test('follows keys that the provider rotates', async () => {
    await signedIn()
    await provider.rotate()
    advance(11_000)
    await signedIn()
  })

  test('gives roles by groups, and takes access away with them', async () => {
    const roleOf = () => instance.services.keys.accountByEmail('bob@example.com')?.role
    await signedIn({ groups: ['admin'] })
    const bob = { sub: 'person-2', email: 'bob@example.com' }
    await signedIn({ ...bob, groups: ['read-only', 'other'] })
    expect(roleOf()).toBe('read_only')
    const token = await signedIn({ ...bob, groups: ['member'] })
    expect(roleOf()).toBe('member')
    expect((await usage(token)).status).toBe(200)
    const refused = await signIn({ ...bob, groups: ['other'] })
    expect(refused.status).toBe(403)
    expect(await refused.text()).toContain('None of your groups has a role here.')
    expect((await usage(token)).status).toBe(401)
  })

  test.each([{ _claim_names: { groups: 'src1' } }, { hasgroups: true }])(
    'refuses a person whose groups the provider has left out: %j',
    async overage => {
      await signedIn({ groups: ['admin'] })
      const refused = await signIn({ sub: 'person-2', email: 'bob@example.com', ...overage })
      expect(refused.status).toBe(403)
      expect(await refused.text()).toContain('None of your groups has a role here.')
    },
  )

  test('takes roles from their own claim, although the provider left out the groups', async () => {
    open({ 'oidc.role_claim': 'roles', 'oidc.roles': 'desk=admin' })
    await signedIn({ roles: ['desk'], hasgroups: true, _claim_names: { groups: 'src1' } })
    expect(instance.services.keys.accountByEmail('ada@example.com')?.role).toBe('admin')
  })

  test('gives plans by groups', async () => {
    open({ 'oidc.plans': 'traders=professional', 'oidc.roles': 'traders=member' })
    await signedIn({ groups: ['traders'] })
    const { account } = instance.services.keys.accountByEmail('ada@example.com')!
    expect(account.plan).toBe('professional')
  })

  describe('of a person whose account pays for its own subscription', () => {
    const bob = { sub: 'person-2', email: 'bob@example.com' }
    const account = () => instance.services.keys.accountByEmail(bob.email)!
    const organizationOf = () => instance.services.organizations.of(account())?.organization.name
    const notices = () =>
      operatorAlertsOf(instance.services)
        .filter(({ id }) => /^(apart|paying)/.test(id))
        .map(({ text }) => text)
    const subscribe = (plan = 'scale' as const) =>
      instance.services.billing.ledger.agree(account(), {
        plan,
        billingPeriod: 'monthly',
        priceCents: 0,
      })
    const cancel = async () =>
      (await instance.services.billing.subscriptions.cancel(account()))() && undefined
    beforeEach(async () => {
      open({ 'oidc.plans': 'traders=professional', 'oidc.roles': 'admin=admin,traders=member' })
      await signedIn({ groups: ['admin'] })
    })

    test('works, leaves the account and its plan as they are, and says why until it is cancelled', async () => {
      instance.key('free', { email: bob.email })
      subscribe()
      const response = await signIn({ ...bob, groups: ['traders'] })
      expect(response.status).toBe(200)
      const page = await response.text()
      expect(page).toContain('Your account is not part of the organization example.com')
      expect(page).toContain('href="/market"')
      expect((await usage(sessionOf(response)!)).status).toBe(200)
      expect({ organization: organizationOf(), plan: account().account.plan }).toEqual({
        organization: undefined,
        plan: 'scale',
      })
      expect(notices()).toEqual([
        'bob@example.com signs in with the company account and stays outside of its organization, because the account has its own subscription. To let it join: wellhead subscriptions cancel bob@example.com',
      ])
      await cancel()
      expect(notices()).toEqual([])
      expect((await signIn({ ...bob, groups: ['traders'] })).status).toBe(303)
      expect(organizationOf()).toBe('example.com')
    })

    test('is named to the operator where an earlier version has joined it already', async () => {
      await signedIn({ ...bob, groups: ['traders'] })
      expect({ organization: organizationOf(), notices: notices() }).toEqual({
        organization: 'example.com',
        notices: [],
      })
      subscribe()
      expect(notices()).toEqual([
        'bob@example.com is a member of an organization, and is still charged for its own subscription, which it cannot see. To end it: wellhead subscriptions cancel bob@example.com',
      ])
      expect((await signIn({ ...bob, groups: ['admin'] })).status).toBe(303)
      expect(account().role).toBe('admin')
      await cancel()
      expect(notices()).toEqual([])
    })

    test('the first admin keeps the subscription, because the organization acts on it', async () => {
      open()
      instance.key('free', { email: bob.email })
      subscribe()
      expect((await signIn({ ...bob, groups: ['admin'] })).status).toBe(303)
      expect({ organization: organizationOf(), notices: notices() }).toEqual({
        organization: 'example.com',
        notices: [],
      })
    })
  })

  test('makes a person who was added before, and has not accepted, the member that is listed', async () => {
    await signedIn({ groups: ['admin'] })
    const { organizations, accountClosing, keys } = instance.services
    const ada = keys.accountByEmail('ada@example.com')!
    const emails = () => organizations.of(ada)!.members.map(({ email }) => email)
    for (const email of ['bob@example.com', 'bobby@example.com'])
      organizations.addMember(ada, { email, role: 'member', baseUrl: 'https://prices.example.com' })
    await signedIn({ sub: 'person-2', email: 'bob@example.com', groups: ['member'] })
    expect(emails().toSorted()).toEqual(['ada@example.com', 'bob@example.com', 'bobby@example.com'])
    // The same person under the other address, which they take as theirs.
    accountClosing.changeAddress(keys.accountByEmail('bob@example.com')!, 'bobby@example.com')
    accountClosing.changeAddress(ada, 'lovelace@example.com')
    expect(emails().toSorted()).toEqual(['bobby@example.com', 'lovelace@example.com'])
  })

  test('of a person who belongs to another organization with others says why it stays there', async () => {
    const { organizations, keys } = instance.services
    await signedIn({ groups: ['admin'] })
    const bob = { sub: 'person-2', email: 'bob@example.com' }
    for (const email of [bob.email, 'carol@example.com']) instance.key('free', { email })
    const [owner, other] = [bob.email, 'carol@example.com'].map(each => keys.accountByEmail(each)!)
    const { organization } = organizations.placeIn(undefined, owner!, 'admin')
    organizations.placeIn(organization!.id, other!, 'member')
    const response = await signIn({ ...bob, groups: ['member'] })
    expect({ status: response.status, text: await response.text() }).toEqual({
      status: 200,
      text: expect.stringContaining('because it belongs to another organization'),
    })
    expect(organizations.of(owner!)!.organization.id).toBe(organization!.id)
    expect(
      operatorAlertsOf(instance.services).filter(({ id }) => id.startsWith('apart')),
    ).toHaveLength(1)
  })

  test('opens the pages of the operator to operators, as long as they are in the group', async () => {
    const asOperator = (token: string) =>
      instance.get('/admin/v1/accounts', undefined, {
        cookie: `session=${token}`,
        'sec-fetch-site': 'same-origin',
      })
    const token = await signedIn({ groups: ['operator'] })
    expect((await asOperator(token)).status).toBe(200)
    const member = await signedIn({ groups: ['member'] })
    expect((await asOperator(member)).status).toBe(401)
    expect((await asOperator(token)).status).toBe(401)
  })
})

describe('what the provider ends', () => {
  const logoutEvent = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const logOut = async (more: Fields) => {
    const claims = provider.claims('', { nonce: undefined, jti: `id-${Math.random()}`, ...more })
    const token = await provider.sign(claims, { typ: 'logout+jwt' })
    const send = () =>
      instance.app.handle(
        new Request('http://localhost/sign-in/company/logout', {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ logout_token: token }).toString(),
        }),
      )
    return { first: await send(), again: await send() }
  }

  test('is a session by its id, and no other one', async () => {
    const [one, other] = [await signedIn({ sid: 'a' }), await signedIn({ sid: 'b' })]
    const { first, again } = await logOut({ sid: 'a', events: logoutEvent })
    expect({ first: first.status, again: again.status }).toEqual({ first: 200, again: 400 })
    expect([(await usage(one)).status, (await usage(other)).status]).toEqual([401, 200])
  })

  test('is every session of a person without one', async () => {
    const tokens = [await signedIn({ sid: 'a' }), await signedIn()]
    const stays = await signedIn({ sub: 'person-2', email: 'bob@example.com' })
    expect((await logOut({ events: logoutEvent })).first.status).toBe(200)
    for (const token of tokens) expect((await usage(token)).status).toBe(401)
    expect((await usage(stays)).status).toBe(200)
  })

  test('does not end for a token that is not a logout token, is old or for another party', async () => {
    const token = await signedIn()
    for (const more of [
      {},
      { events: {} },
      { events: logoutEvent, nonce: 'x' },
      { events: logoutEvent, aud: 'other' },
      { events: logoutEvent, jti: undefined },
      { events: logoutEvent, iat: Math.floor(now / 1000) - 3600 },
    ])
      expect((await logOut(more)).first.status).toBe(400)
    expect((await usage(token)).status).toBe(200)
  })

  test('a session of the provider cannot be refreshed here', async () => {
    const token = await signedIn()
    const refreshed = await instance.send('POST', '/v1/auth/session/refresh', {}, undefined, {
      authorization: `Bearer ${token}`,
    })
    expect(refreshed.status).toBe(401)
  })
})

describe('an access token of the provider', () => {
  const access = (more: Fields = {}) =>
    provider.sign(provider.claims('', { nonce: undefined, ...more }), { typ: 'at+jwt' })

  test('acts as its person, while it lasts', async () => {
    await signedIn()
    const token = await access()
    expect((await usage(token)).status).toBe(200)
    const sessions = await instance.get('/v1/auth/sessions', undefined, {
      authorization: `Bearer ${token}`,
    })
    expect(sessions.status).toBe(200)
    advance(400_000)
    expect((await usage(token)).status).toBe(401)
  })

  test('is named to an assistant, which acts as the person with its access tokens', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const accept = { accept: 'application/json, text/event-stream' }
    const refused = await instance.send('POST', '/mcp', message, undefined, accept)
    const [, address = ''] =
      /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
    const metadata = await (await instance.get(new URL(address).pathname)).json()
    expect(metadata).toMatchObject({
      resource: expect.stringMatching(/\/mcp$/),
      authorization_servers: [expect.any(String), provider.issuer],
    })
    await signedIn()
    const authorization = `Bearer ${await access()}`
    const listed = await instance.send('POST', '/mcp', message, undefined, {
      ...accept,
      authorization,
    })
    expect(listed.status).toBe(200)
    expect((await instance.get('/v1/usage')).headers.get('www-authenticate')).not.toContain(
      'resource_metadata',
    )
  })

  test('is refused for anybody and anything else', async () => {
    await signedIn()
    for (const more of [
      { sub: 'unknown' },
      { aud: 'other' },
      { iss: 'https://other.example.com' },
      { nonce: 'an ID token' },
      { at_hash: 'an ID token' },
      { typ: 'ID' },
      { events: {} },
      { exp: undefined },
      { groups: ['other'] },
    ])
      expect((await usage(await access(more))).status, JSON.stringify(more)).toBe(401)
  })
})

describe('a forged sign-in', () => {
  const seconds = () => Math.floor(now / 1000)
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const unsigned = (nonce: string, header: Fields, signature = '') =>
    `${encoded(header)}.${encoded(provider.claims(nonce))}.${signature}`
  const hmac = async (nonce: string, secret: string, alg = 'HS256') =>
    provider.sign(provider.claims(nonce), { alg }, new TextEncoder().encode(secret) as never)
  const claims = (more: Fields): [string, Answer] => [JSON.stringify(more), idToken(more)]
  const withKey =
    (alg: string, header: Fields = {}): Answer =>
    async nonce => {
      const { privateKey } = await generateKeyPair(alg)
      return {
        id_token: await provider.sign(provider.claims(nonce), { alg, ...header }, privateKey),
      }
    }
  const altered =
    (change: (token: string[]) => string): Answer =>
    async nonce => ({
      id_token: change((await provider.sign(provider.claims(nonce))).split('.')),
    })

  const tokens = (): [string, Answer][] => [
    ...[{ nonce: 'other' }, { nonce: undefined }, { nonce: '' }, { nonce: ['x'] }].map(claims),
    ...[
      { aud: 'other' },
      { aud: undefined },
      { aud: [] },
      { aud: ['other'] },
      { aud: ['wellhead', 'other'] },
      { aud: ['wellhead', 'other'], azp: 'other' },
      { azp: 'other' },
      { aud: 'Wellhead' },
    ].map(claims),
    ...[
      'https://issuer.example.com',
      `${provider.issuer}/`,
      provider.issuer.replace('http:', 'https:'),
      provider.issuer.toUpperCase(),
      undefined,
      '',
    ].map(iss => claims({ iss })),
    ...[
      { exp: seconds() - 120 },
      { exp: seconds() - 86_400 },
      { exp: undefined },
      { exp: 'tomorrow' },
      { nbf: seconds() + 3600 },
      { iat: undefined },
      { sub: undefined },
      { sub: '' },
      { sub: 7 },
      { sub: 'x'.repeat(300) },
    ].map(claims),
    ...[
      { email: undefined },
      { email: 'ada@other.example' },
      { email: 'ada@evil-example.com' },
      { email: 'ada@example.com.evil.test' },
      { email: 'ada@evil.test@example.com' },
      { email: 'ada@sub.example.com' },
      { email: ['ada@example.com'] },
      { email: '@example.com' },
      { email_verified: false },
      { groups: ['unknown'] },
      { groups: [] },
      { groups: ['Admin'] },
      { groups: '__proto__' },
      { groups: 'constructor' },
      { events: {} },
    ].map(claims),
    ['alg none', nonce => ({ id_token: unsigned(nonce, { alg: 'none' }) })],
    ['alg None', nonce => ({ id_token: unsigned(nonce, { alg: 'None', kid: 'first' }) })],
    ['alg none with a signature', nonce => ({ id_token: unsigned(nonce, { alg: 'none' }, 'eA') })],
    ['no alg', nonce => ({ id_token: unsigned(nonce, {}) })],
    ['no signature', altered(([head, body]) => `${head}.${body}.`)],
    ['half a signature', altered(([head, body, sign]) => `${head}.${body}.${sign!.slice(0, 100)}`)],
    [
      'another body',
      altered(([head, , sign]) => `${head}.${encoded(provider.claims('x'))}.${sign}`),
    ],
    ['two parts', altered(([head, body]) => `${head}.${body}`)],
    ['five parts', altered(parts => [...parts, 'a', 'b'].join('.'))],
    ['HS256 under the client id', async nonce => ({ id_token: await hmac(nonce, 'wellhead') })],
    [
      'HS256 under the public key',
      async nonce => ({ id_token: await hmac(nonce, await exportSPKI(provider.publicKey())) }),
    ],
    ['another key with the same id', withKey('RS256')],
    ['another key with another id', withKey('RS256', { kid: 'mine' })],
    ['another key without an id', withKey('RS256', { kid: undefined })],
    ['a key of another kind', withKey('ES256')],
    [
      'an unknown critical header',
      altered(
        ([, body, sign]) => `${encoded({ alg: 'RS256', crit: ['x'], x: 1 })}.${body}.${sign}`,
      ),
    ],
    ['no token', () => ({})],
    ['a token that is not text', () => ({ id_token: { sub: 'person-1' } })],
    ['an access token in its place', () => ({ access_token: 'x' })],
  ]

  const flows: [string, () => Promise<Response>][] = [
    ['another state', async () => whole(({ code }) => ({ state: 'x', code }))],
    ['no state', async () => whole(({ code }) => ({ code }))],
    ['no code', async () => whole(({ state }) => ({ state }))],
    ['an unknown code', async () => whole(({ state }) => ({ state, code: 'unknown' }))],
    ['an error', async () => whole(({ state }) => ({ state, error: 'access_denied' }))],
    [
      'another issuer',
      async () => whole(({ state, code }) => ({ state, code, iss: 'https://evil.test' })),
    ],
    ['no cookie', async () => whole(query => query, false)],
    ['the cookie of another browser', async () => whole(query => query, (await begin()).cookie)],
    [
      'a state that is used twice',
      async () => {
        const { state, nonce, cookie } = await begin()
        await comeBack({ state, code: provider.code(nonce, idToken({ sub: '' })) }, cookie)
        return comeBack({ state, code: provider.code(nonce, idToken()) }, cookie)
      },
    ],
    [
      'a sign-in that took too long',
      async () => {
        const { state, nonce, cookie } = await begin()
        advance(11 * 60_000)
        return comeBack({ state, code: provider.code(nonce, idToken()) }, cookie)
      },
    ],
    [
      'the token of another sign-in',
      async () => {
        const [first, other] = [await begin(), await begin()]
        const { id_token } = (await idToken()(first.nonce)) as { id_token: string }
        const code = provider.code(other.nonce, () => ({ id_token }))
        return comeBack({ state: other.state, code }, other.cookie)
      },
    ],
  ]

  async function whole(
    query: (sound: { state: string; code: string }) => Record<string, string>,
    cookie?: string | false,
  ) {
    const begun = await begin()
    const sound = { state: begun.state, code: provider.code(begun.nonce, idToken()) }
    return comeBack(query(sound), cookie === false ? undefined : (cookie ?? begun.cookie))
  }

  test('gets in by none of more than sixty ways', async () => {
    const inside: string[] = []
    const note = (name: string, response: Response) => {
      const isIn = sessionOf(response) !== undefined || response.status !== 403
      if (isIn) inside.push(`${name}: ${response.status}`)
    }
    const ways = tokens()
    for (const [name, answer] of ways) {
      // Sign-ins of one address are limited by the minute.
      advance(10_000)
      const { state, nonce, cookie } = await begin()
      note(name, await comeBack({ state, code: provider.code(nonce, answer) }, cookie))
    }
    for (const [name, flow] of flows) {
      advance(60_000)
      note(name, await flow())
    }
    expect(inside).toEqual([])
    expect(ways.length + flows.length).toBeGreaterThanOrEqual(60)
    expect(instance.services.keys.accounts()).toEqual([])
    await signedIn()
  })
})

test('a provider with another issuer, or with http endpoints elsewhere, is refused', async () => {
  provider.describe({ issuer: 'https://other.example.com' })
  expect((await instance.get('/sign-in/company')).status).toBe(502)
  provider.describe({})
  expect((await instance.get('/sign-in/company')).status).toBe(303)
})
