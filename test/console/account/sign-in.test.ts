import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import jsQR from 'jsqr'
import { TOTP } from 'otpauth'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { productionKeys } from '../../../src/cli/server/first-start.ts'
import { hourMs } from '../../../src/lib/time/instant.ts'
import { needs } from '../../support/needs.ts'
import { chromiumPath } from '../../support/requirements.ts'
import { type People, people, tokenIn } from '../../support/topics/people.ts'

const password = 'correct horse battery'
const own = { 'sec-fetch-site': 'same-origin' }

/** A form as a browser sends it. */
const send = (
  { app }: People,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = own,
) =>
  app.handle(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(fields).toString(),
    }),
  )

const cookieOf = (response: Response): string =>
  response.headers.get('set-cookie')?.split(';')[0] ?? ''

describe('the operator’s own account', () => {
  test('opens the operator’s routes in pages of this site, and changes things for 15 minutes', async () => {
    const all = people()
    const { services, clock, app } = all
    const signedIn = await send(all, '/sign-in', { token: productionKeys(services).linkToken! })
    const cookie = cookieOf(signedIn)
    const asked = async (method: string, headers: Record<string, string> = own) => {
      const answer = await app.handle(
        new Request('http://localhost/admin/v1/accounts', {
          method,
          headers: { cookie, 'content-type': 'application/json', ...headers },
          ...(method === 'POST' && { body: JSON.stringify({ email: `${clock.now()}@a.example` }) }),
        }),
      )
      return answer.status
    }
    expect({ reads: await asked('GET'), changes: await asked('POST') }).toEqual({
      reads: 200,
      changes: 201,
    })
    expect(await asked('GET', {})).toBe(401)
    expect(await asked('GET', { 'sec-fetch-site': 'cross-site' })).toBe(401)
    clock.advance(16 * 60_000)
    expect({ reads: await asked('GET'), changes: await asked('POST') }).toEqual({
      reads: 200,
      changes: 403,
    })
  })

  test('is the only one whose session does: another person’s is refused', async () => {
    const all = people()
    productionKeys(all.services)
    const { account } = all.person('ann')
    const token = all.services.signIn.makeLink(account)
    const signedIn = await send(all, '/sign-in', { token })
    const answer = await all.app.handle(
      new Request('http://localhost/admin/v1/accounts', {
        headers: { cookie: cookieOf(signedIn), ...own },
      }),
    )
    expect(answer.status).toBe(401)
  })
})

describe('the sign-in link', () => {
  test('of the first start signs the operator in once, within an hour', async () => {
    const all = people()
    const { services, get, clock } = all
    const { linkToken, apiKey } = productionKeys(services)
    expect(productionKeys(services).linkToken).toBeUndefined()
    clock.advance(hourMs - 1000)
    for (let i = 0; i < 3; i += 1) {
      const page = await get(`/sign-in?token=${linkToken}`)
      expect({ status: page.status, setCookie: page.headers.get('set-cookie') }).toEqual({
        status: 200,
        setCookie: null,
      })
      expect(await page.text()).toContain('operator@localhost')
    }
    const signedIn = await send(all, '/sign-in', { token: linkToken! })
    expect({ status: signedIn.status, location: signedIn.headers.get('location') }).toEqual({
      status: 303,
      location: '/market',
    })
    expect((await get(`/sign-in?token=${linkToken}`)).status).toBe(410)
    const again = await send(all, '/sign-in', { token: linkToken! })
    expect({ status: again.status, setCookie: again.headers.get('set-cookie') }).toEqual({
      status: 401,
      setCookie: null,
    })
    const page = await (
      await get('/sign-in', undefined, { cookie: cookieOf(signedIn), ...own })
    ).text()
    expect(page).toContain('operator@localhost')
    expect(page).not.toContain(apiKey!)
  })

  test('a sign-in link requested from a page leads back to that page and never to another site', async () => {
    const all = people()
    const { services, get } = all
    const { email } = all.person('ann')
    const asked = async (next: string) => {
      await send(all, '/sign-in/link', { email, next })
      await services.signIn.settled()
      const [link] = /http\S+sign-in\?token=\S+/.exec(all.mailMessages(email).at(-1)!.text)!
      return new URL(link)
    }
    const link = await asked('/series/WTI_USD?range=1y')
    const page = await (await get(`${link.pathname}${link.search}`)).text()
    expect(page).toContain('name="next" value="/series/WTI_USD?range=1y"')
    const signedIn = await send(all, '/sign-in', {
      token: link.searchParams.get('token')!,
      next: link.searchParams.get('next')!,
    })
    expect(signedIn.headers.get('location')).toBe('/series/WTI_USD?range=1y')
    expect((await asked('https://evil.example/')).searchParams.get('next')).toBeNull()
    const forged = new URL(`${link.pathname}?token=x&next=//evil.example`, 'http://localhost')
    expect(await (await get(`${forged.pathname}${forged.search}`)).text()).not.toContain('evil')
  })

  test.each(['/.//evil.example', '/a/..//evil.example', '/%2e//evil.example', '/./\\evil.example'])(
    'leads to no other site by the spelling %p, and neither do a password and a code',
    async next => {
      const all = people()
      const { account, email } = all.person('ann')
      const { signIn, secondFactor } = all.services
      await signIn.setPassword(account, password)
      await send(all, '/sign-in/link', { email, next })
      await signIn.settled()
      const [link] = /http\S+sign-in\?token=\S+/.exec(all.mailMessages(email).at(-1)!.text)!
      const { searchParams } = new URL(link)
      expect(searchParams.get('next')).toBeNull()
      const linked = await send(all, '/sign-in', { token: searchParams.get('token')!, next })
      expect({ status: linked.status, location: linked.headers.get('location') }).toEqual({
        status: 303,
        location: '/market',
      })
      const signedIn = await send(all, '/sign-in', { email, password, next })
      expect({ status: signedIn.status, location: signedIn.headers.get('location') }).toEqual({
        status: 303,
        location: '/market',
      })

      const accountId = account.account.id
      secondFactor.enrol(accountId, email)
      const { secret } = secondFactor.waiting(accountId, email)!
      const code = () => new TOTP({ secret }).generate({ timestamp: all.clock.now() })
      secondFactor.confirm(accountId, code())
      all.clock.advance(60_000)
      const first = await (await send(all, '/sign-in', { email, password, next })).text()
      const [, step] = /name="second_step" value="([\w-]+)"/.exec(first)!
      const done = await send(all, '/sign-in', { second_step: step!, code: code(), next })
      expect({ status: done.status, location: done.headers.get('location') }).toEqual({
        status: 303,
        location: '/market',
      })
    },
  )

  test('an unused sign-in link expires after one hour', async () => {
    const all = people()
    const { linkToken } = productionKeys(all.services)
    all.clock.advance(hourMs)
    expect((await all.get(`/sign-in?token=${linkToken}`)).status).toBe(410)
    expect((await send(all, '/sign-in', { token: linkToken! })).status).toBe(401)
  })
})

describe('the cookie', () => {
  test.each([
    ['', /^session=[\w.-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/],
    [
      'https://prices.example.com',
      /^__Host-session=[\w.-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/,
    ],
  ])('of a service at %p is for this site only', async (baseUrl, form) => {
    const all = people({ 'server.base_url': baseUrl })
    const { linkToken } = productionKeys(all.services)
    const signedIn = await send(all, '/sign-in', { token: linkToken! })
    expect(signedIn.headers.get('set-cookie')).toMatch(form)
    expect(
      (await all.get('/v1/account', undefined, { cookie: cookieOf(signedIn), ...own })).status,
    ).toBe(200)
  })

  const cases: [what: string, method: string, headers: Record<string, string>, status: number][] = [
    ['a page of this site that reads', 'GET', { 'sec-fetch-site': 'same-origin' }, 200],
    ['an address that was typed in', 'GET', { 'sec-fetch-site': 'none' }, 200],
    ['a browser that says nothing and reads', 'GET', {}, 200],
    ['a link on another site', 'GET', { 'sec-fetch-site': 'cross-site' }, 401],
    ['another host of the same domain', 'GET', { 'sec-fetch-site': 'same-site' }, 401],
    ['a page of this site that writes', 'POST', { 'sec-fetch-site': 'same-origin' }, 200],
    ['a page of this site over plain http', 'POST', { origin: 'http://localhost' }, 200],
    [
      'a page of another site',
      'POST',
      { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      401,
    ],
    [
      'a page of another host of the domain',
      'POST',
      { 'sec-fetch-site': 'same-site', origin: 'http://localhost' },
      401,
    ],
    ['a page of another site over plain http', 'POST', { origin: 'http://evil.example' }, 401],
    ['a page of another port', 'POST', { origin: 'http://localhost:81' }, 401],
    ['a page without an origin', 'POST', { origin: 'null' }, 401],
    ['a browser that says nothing and writes', 'POST', {}, 401],
    ['a form that claims to be typed in', 'POST', { 'sec-fetch-site': 'none' }, 401],
  ]
  test.each(cases)('from %s (%s) counts accordingly', async (_, method, headers, status) => {
    const all = people()
    const signedIn = await send(all, '/sign-in', { token: productionKeys(all.services).linkToken! })
    const path = method === 'GET' ? '/v1/account' : '/v1/api-keys'
    const response = await all.ask(method, path, undefined, method === 'POST' ? {} : undefined, {
      cookie: cookieOf(signedIn),
      ...headers,
    })
    expect(response.status).toBe(status)
  })

  test('the Authorization header takes precedence over the session cookie', async () => {
    const all = people()
    const signedIn = await send(all, '/sign-in', { token: productionKeys(all.services).linkToken! })
    const { key, email } = all.person('ann')
    const me = await all.ask('GET', '/v1/users/me', `Token ${key}`, undefined, {
      cookie: cookieOf(signedIn),
      ...own,
    })
    expect(me.body.email).toBe(email)
    expect(
      (
        await all.ask('GET', '/v1/users/me', 'Token nonsense', undefined, {
          cookie: cookieOf(signedIn),
          ...own,
        })
      ).status,
    ).toBe(401)
  })

  test('with an answer that may be repeated seals it under the session, not under nothing', async () => {
    const all = people()
    const signedIn = await send(all, '/sign-in', { token: productionKeys(all.services).linkToken! })
    const headers = { cookie: cookieOf(signedIn), 'idempotency-key': 'once', ...own }
    const [first, second] = [
      await all.ask('POST', '/v1/api-keys', undefined, {}, headers),
      await all.ask('POST', '/v1/api-keys', undefined, {}, headers),
    ]
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    const stranger = await send(all, '/sign-in', {
      token: all.services.signIn.makeLink(all.services.keys.accountByEmail('operator@localhost')!),
    })
    const other = await all.ask(
      'POST',
      '/v1/api-keys',
      undefined,
      {},
      { ...headers, cookie: cookieOf(stranger) },
    )
    expect({ status: other.status, code: other.body.code }).toEqual({
      status: 422,
      code: 'idempotency_key_reused',
    })
  })

  test('the session cookie is renewed by a refresh and cleared by a sign-out', async () => {
    const all = people()
    const first = cookieOf(
      await send(all, '/sign-in', { token: productionKeys(all.services).linkToken! }),
    )
    const refreshed = await all.ask('POST', '/v1/auth/session/refresh', undefined, undefined, {
      cookie: first,
      ...own,
    })
    const second = refreshed.headers.get('set-cookie')!.split(';')[0]!
    expect((await all.get('/v1/account', undefined, { cookie: second, ...own })).status).toBe(200)
    const out = await all.ask('DELETE', '/v1/auth/session', undefined, undefined, {
      cookie: second,
      ...own,
    })
    expect(out.headers.get('set-cookie')).toMatch(/^session=; Path=\/; Max-Age=0;/)
    expect((await all.get('/v1/account', undefined, { cookie: second, ...own })).status).toBe(401)
  })

  test('is renewed when half of its time has gone, and the old one is good no more', async () => {
    const all = people()
    const first = cookieOf(
      await send(all, '/sign-in', { token: productionKeys(all.services).linkToken! }),
    )
    all.clock.advance(6 * hourMs - 1000)
    expect(
      (await all.get('/sign-in', undefined, { cookie: first, ...own })).headers.get('set-cookie'),
    ).toBeNull()
    all.clock.advance(1000)
    const renewed = await all.get('/sign-in', undefined, { cookie: first, ...own })
    expect(cookieOf(renewed)).toMatch(/^session=/)
    all.clock.advance(11 * hourMs)
    expect(
      (await all.get('/v1/account', undefined, { cookie: cookieOf(renewed), ...own })).status,
    ).toBe(200)
    expect((await all.get('/v1/account', undefined, { cookie: first, ...own })).status).toBe(401)
  })
})

describe('every form of the sign-in pages', () => {
  test.each(['/sign-in', '/sign-in/link', '/sign-in/password', '/sign-out', '/invitation'])(
    '%s does nothing for a page of another site',
    async path => {
      const all = people()
      const { services } = all
      const { linkToken } = productionKeys(services)
      const cookie = cookieOf(
        await send(all, '/sign-in', {
          token: services.signIn.makeLink(services.keys.accountByEmail('operator@localhost')!),
        }),
      )
      for (const headers of [
        {},
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { origin: 'https://evil.example' },
      ] as Record<string, string>[]) {
        const response = await send(
          all,
          path,
          { token: linkToken!, email: 'operator@localhost', password, all: 'true' },
          { cookie, ...headers },
        )
        expect({ status: response.status, setCookie: response.headers.get('set-cookie') }).toEqual({
          status: 403,
          setCookie: null,
        })
      }
      expect((await all.get('/v1/account', undefined, { cookie, ...own })).status).toBe(200)
      expect((await all.get(`/sign-in?token=${linkToken}`)).status).toBe(200)
    },
  )

  test('takes no more than a form has', async () => {
    const all = people()
    expect(
      (await send(all, '/sign-in', { email: 'a@example.com', password: 'x'.repeat(20_000) }))
        .status,
    ).toBe(413)
  })
})

describe('a password', () => {
  test('is set after a link without the old one, and later only with it; all others are signed out', async () => {
    const all = people()
    const { person, services, signedIn, ask, clock } = all
    const ann = person('ann')
    const elsewhere = await signedIn(ann)
    const cookie = cookieOf(
      await send(all, '/sign-in', { token: services.signIn.makeLink(ann.account) }),
    )
    const weak = await send(all, '/sign-in/password', { password: 'short' }, { cookie, ...own })
    expect({ status: weak.status, text: await weak.text() }).toEqual({
      status: 422,
      text: expect.stringContaining('at least 10 characters'),
    })
    expect((await send(all, '/sign-in/password', { password }, { cookie, ...own })).status).toBe(
      200,
    )
    expect((await ask('GET', '/v1/account', `Bearer ${elsewhere}`)).status).toBe(401)
    expect((await all.get('/v1/account', undefined, { cookie, ...own })).status).toBe(200)

    clock.advance(hourMs)
    const next = 'a second horse battery'
    expect(
      (await send(all, '/sign-in/password', { password: next }, { cookie, ...own })).status,
    ).toBe(401)
    expect(
      (
        await send(
          all,
          '/sign-in/password',
          { password: next, current: 'wrong' },
          { cookie, ...own },
        )
      ).status,
    ).toBe(401)
    expect(
      (
        await send(
          all,
          '/sign-in/password',
          { password: next, current: password },
          { cookie, ...own },
        )
      ).status,
    ).toBe(200)
    const byPassword = await send(all, '/sign-in', { email: ann.email, password: next })
    expect(byPassword.status).toBe(303)
    expect((await send(all, '/sign-in', { email: ann.email, password })).status).toBe(401)
  })

  test('is guessed five times from one place, on the page too', async () => {
    const all = people()
    const ann = all.person('ann')
    await all.services.signIn.setPassword(ann.account, password)
    for (let i = 0; i < 5; i += 1)
      expect(
        (await send(all, '/sign-in', { email: ann.email, password: `wrong ${i}` })).status,
      ).toBe(401)
    const locked = await send(all, '/sign-in', { email: ann.email, password })
    expect({ status: locked.status, text: await locked.text() }).toEqual({
      status: 429,
      text: expect.stringContaining('Too many failed attempts'),
    })
  })
})

describe('an invitation by e-mail', () => {
  async function invited(email: string) {
    const all = people()
    const ann = all.person('ann', 'scale')
    await all.ask('POST', '/organizations/invitations', `Token ${ann.key}`, {
      email,
      role: 'member',
    })
    return {
      ...all,
      ann,
      token: tokenIn(all.mailMessages(email)[0]!.text),
      mailMessage: all.mailMessages(email)[0]!,
    }
  }

  test('lets a newcomer in with one press: an account, a session and the membership', async () => {
    const all = await invited('new@example.com')
    expect(all.mailMessage.text).toContain(`/invitation?token=${all.token}`)
    const page = await all.get(`/invitation?token=${all.token}`)
    const text = await page.text()
    expect(text).toContain('Accept as new@example.com')
    expect(text).toContain('invites you to be a member of the organization')
    expect(all.services.keys.accountByEmail('new@example.com')).toBeUndefined()
    const accepted = await send(all, '/invitation', { token: all.token })
    expect(accepted.status).toBe(303)
    const me = await all.ask('GET', '/v1/users/me', undefined, undefined, {
      cookie: cookieOf(accepted),
      ...own,
    })
    expect(me.body).toMatchObject({
      email: 'new@example.com',
      tier: 'scale',
      email_confirmed: true,
    })
    expect((await send(all, '/invitation', { token: all.token })).status).toBe(410)
  })

  test('does not sign in to an existing account', async () => {
    const all = await invited('bob@example.com')
    const bob = all.person('bob', 'free')
    expect(await (await all.get(`/invitation?token=${all.token}`)).text()).toContain('Sign in')
    const refused = await send(all, '/invitation', { token: all.token })
    expect({ status: refused.status, setCookie: refused.headers.get('set-cookie') }).toEqual({
      status: 200,
      setCookie: null,
    })
    expect(bob.account.actsOn).toBe(bob.account)
    const cookie = cookieOf(
      await send(all, '/sign-in', { token: all.services.signIn.makeLink(bob.account) }),
    )
    expect((await send(all, '/invitation', { token: all.token }, { cookie, ...own })).status).toBe(
      303,
    )
    expect(bob.account.actsOn).toBe(all.ann.account)
  })
})

needs('chromium').describe('in a browser', () => {
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let origin: string
  let all: People
  let server: ReturnType<typeof Bun.serve>
  let evil: ReturnType<typeof Bun.serve>
  const requested: string[] = []
  const complaints: string[] = []

  beforeAll(async () => {
    all = people()
    server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: all.app.fetch })
    origin = `http://127.0.0.1:${server.port}`
    evil = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: request =>
        new Response(evilPage(new URL(request.url).pathname), {
          headers: { 'content-type': 'text/html' },
        }),
    })
    browser = await chromium.launch({
      executablePath: chromiumPath,
      args: [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    })
    context = await browser.newContext()
    page = await context.newPage()
    page.on('request', request => requested.push(request.url()))
    page.on(
      'console',
      message => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()),
    )
    page.on('pageerror', error => complaints.push(error.message))
    const ann = all.person('ann')
    all.services.keys.addKey(ann.account, {
      name: '<img src=x onerror="document.title=\'owned\'">',
    })
    await page.goto(`${origin}/sign-in?token=${all.services.signIn.makeLink(ann.account)}`)
  }, 30_000)
  afterAll(async () => {
    await browser?.close()
    await server?.stop(true)
    await evil?.stop(true)
  })

  /** A page of another port: the same site to the cookie, another origin to us. */
  function evilPage(path: string): string {
    if (path === '/frame') return `<iframe src="${origin}/sign-in"></iframe>`
    return `<form method="post" action="${origin}${path}"><input name="all" value="true"><input name="password" value="${password}"></form><script>document.forms[0].submit()</script>`
  }

  test('a press of the button signs in, and the page shows who and what, as text', async () => {
    expect(await page.textContent('main')).toContain('ann@example.com')
    await page.click('button')
    await page.waitForURL(`${origin}/market`)
    await page.goto(`${origin}/sign-in`)
    expect(await page.textContent('main')).toContain('You are signed in as ann@example.com')
    expect(await page.textContent('table')).toContain('<img src=x onerror=')
    expect(await page.title()).toContain('Your account')
    const [cookie] = await context.cookies()
    expect(cookie).toMatchObject({ name: 'session', httpOnly: true, sameSite: 'Lax', path: '/' })
    expect(await page.evaluate('document.cookie')).toBe('')
  })

  test('the policy lets nothing run that was put into the page, and nothing leaves for elsewhere', async () => {
    const ran = await page.evaluate(`(() => {
      const script = document.createElement('script')
      script.textContent = 'window.ran = true'
      document.body.append(script)
      return window.ran === true
    })()`)
    expect(ran).toBe(false)
    expect(
      complaints.splice(0).some(complaint => complaint.includes('Content Security Policy')),
    ).toBe(true)
    expect(requested.filter(url => !url.startsWith(origin) && !url.startsWith('data:'))).toEqual([])
  })

  test.each(['/sign-out', '/sign-in/password', '/v1/api-keys'])(
    'a form of another origin to %s gets nothing done, though the cookie comes along',
    async path => {
      const other = await context.newPage()
      const answer = other.waitForResponse(response => response.url() === `${origin}${path}`)
      await other.goto(`http://127.0.0.1:${evil.port}${path}`)
      expect([400, 401, 403]).toContain((await answer).status())
      await other.close()
      await page.goto(`${origin}/sign-in`)
      expect(await page.textContent('main')).toContain('You are signed in as ann@example.com')
      expect(all.services.keys.accountByEmail('ann@example.com')!.keys).toHaveLength(2)
    },
  )

  test('no page shows it in a frame', async () => {
    const other = await context.newPage()
    await other.goto(`http://127.0.0.1:${evil.port}/frame`)
    const frame = other.frames()[1]!
    expect(await frame.content()).not.toContain('ann@example.com')
    await other.close()
  })

  test('a password is set, signs in, and signing out ends it all', async () => {
    await page.goto(`${origin}/sign-in`)
    await page.fill('input[name=password]', password)
    await page.click('text=Set password')
    expect(await page.textContent('[role=status]')).toContain('The password is set')
    await page.click('text=Sign out everywhere')
    await page.waitForURL(`${origin}/sign-in`)
    expect(await context.cookies()).toEqual([])
    await page.fill('form[action="/sign-in"] input[name=email]', 'ann@example.com')
    await page.fill('input[name=password]', 'not the password')
    await page.click('text=Sign in >> nth=-1')
    expect(await page.textContent('[role=status]')).toContain('Wrong e-mail address or password')
    await page.fill('form[action="/sign-in"] input[name=email]', 'ann@example.com')
    await page.fill('input[name=password]', password)
    await page.click('form[action="/sign-in"] button')
    await page.waitForURL(`${origin}/market`)
    await page.goto(`${origin}/sign-in`)
    await page.waitForSelector('body:has-text("You are signed in as")')
    expect(complaints.filter(complaint => !complaint.includes('status of 401'))).toEqual([])
  })
})

/** The text that a camera reads from the QR code of a page. */
function cameraReads(page: string): string | undefined {
  const [, size, path] = /<figure.*viewBox="0 0 (\d+) \d+".* d="([^"]+)"/.exec(page)!
  const side = Number(size)
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255)
  for (const [, x, y, width, height] of path!.matchAll(/M(\d+),(\d+)h(\d+)v(\d+)h-\d+z/g))
    for (let row = Number(y); row < Number(y) + Number(height); row += 1)
      for (let column = Number(x); column < Number(x) + Number(width); column += 1)
        pixels.fill(0, (row * side + column) * 4, (row * side + column) * 4 + 3)
  return jsQR(pixels, side, side)?.data
}

describe('two-factor authentication', () => {
  const shown = (page: string, timestamp: number) => {
    const [, secret] = /secret=([A-Z2-7]+)/.exec(page)!
    return new TOTP({ secret: secret! }).generate({ timestamp })
  }

  test('is set up, asked for after the password, and turned off on the pages', async () => {
    const all = people()
    const { account, email } = all.person('ann')
    await all.services.signIn.setPassword(account, password)
    const cookie = cookieOf(await send(all, '/sign-in', { email, password }))
    const mine = { ...own, cookie }
    const page = async () => (await all.get('/sign-in', undefined, mine)).text()
    expect(await page()).toContain('Set up')
    await send(all, '/sign-in/second-step', {}, mine)
    const waiting = await page()
    expect(waiting).toContain('otpauth://totp/')
    const [, url] = /href="(otpauth:[^"]+)"/.exec(waiting)!
    expect(cameraReads(waiting)).toBe(url!.replaceAll('&amp;', '&'))
    expect(waiting).not.toContain('style=')
    const wrong = await send(all, '/sign-in/second-step/on', { code: '000000' }, mine)
    expect([
      wrong.status,
      (await wrong.text()).includes('The code is wrong or already used'),
    ]).toEqual([401, true])
    const code = shown(waiting, all.clock.now())
    const foreign = { cookie, 'sec-fetch-site': 'cross-site' }
    expect((await send(all, '/sign-in/second-step/on', { code }, foreign)).status).toBe(403)
    const on = await send(all, '/sign-in/second-step/on', { code }, mine)
    const recovery = (await on.text()).match(/([a-z2-7]{4}-){3}[a-z2-7]{4}/g)!
    expect(recovery).toHaveLength(10)

    const first = await send(all, '/sign-in', { email, password, next: '/board' })
    expect({ status: first.status, setCookie: first.headers.get('set-cookie') }).toEqual({
      status: 200,
      setCookie: null,
    })
    const [, second_step] = /name="second_step" value="([\w-]+)"/.exec(await first.text())!
    const refused = await send(all, '/sign-in', { second_step: second_step!, code: '000000' })
    expect(refused.status).toBe(401)
    expect(await refused.text()).toContain(second_step!)
    const done = await send(all, '/sign-in', {
      second_step: second_step!,
      code: recovery[0]!,
      next: '/board',
    })
    expect({ status: done.status, location: done.headers.get('location') }).toEqual({
      status: 303,
      location: '/board',
    })
    expect(cookieOf(done)).not.toBe('')
    const over = await send(all, '/sign-in', { second_step: second_step!, code: recovery[1]! })
    expect({ status: over.status, setCookie: over.headers.get('set-cookie') }).toEqual({
      status: 410,
      setCookie: null,
    })

    expect((await send(all, '/sign-in/second-step/off', { code: recovery[2]! }, mine)).status).toBe(
      303,
    )
    expect(await page()).toContain('Set up')
  })
})
