import { afterAll, expect } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { openTestInstance, type TestInstance } from '../support/instance/instance.ts'
import { Assistant } from '../support/interface/assistant.ts'
import { needs } from '../support/needs.ts'
import { moduleFolder, type Need } from '../support/requirements.ts'

const directory = mkdtempSync(join(tmpdir(), 'wellhead-issuers-'))
/** Real issuers, which npm installs for the whole machine. */
const load = (name: Need) => {
  const folder = moduleFolder(name)!
  return import(Bun.resolveSync(`./${basename(folder)}`, dirname(folder)))
}

let instance: TestInstance
const stops: (() => unknown)[] = []
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: request => instance.app.handle(request),
})
const base = `http://127.0.0.1:${server.port}`

afterAll(async () => {
  for (const stop of stops) await stop()
  await server.stop(true)
  rmSync(directory, { recursive: true, force: true })
})

const openFor = (issuer: string) => {
  const secret = join(directory, 'secret')
  writeFileSync(secret, 'a secret of the client\n')
  instance = openTestInstance(
    {
      'server.base_url': base,
      'oidc.issuer': issuer,
      'oidc.client_id': 'wellhead',
      'oidc.client_secret_file': secret,
      'oidc.domains': 'example.com',
    },
    Date.now(),
  )
}

/** A browser without pages: follows redirects and keeps cookies by host. */
function browser() {
  const jar = new Map<string, string>()
  const send = async (url: string, form?: Record<string, string>): Promise<Response> => {
    const cookies = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, {
      redirect: 'manual',
      headers: {
        ...(cookies && { cookie: cookies }),
        'sec-fetch-site': form ? 'same-origin' : 'none',
      },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    const to = response.headers.get('location')
    return to === null ? response : send(new URL(to, url).href)
  }
  return { send, session: () => jar.get('session') }
}

const usage = (token: string) =>
  fetch(`${base}/v1/usage`, { headers: { authorization: `Bearer ${token}` } })

async function openIssuer() {
  const { default: Provider } = await load('oidc-provider')
  const http = createServer((request, response) => listener(request, response))
  let listener: RequestListener = () => undefined
  await new Promise<void>(done => http.listen(0, '127.0.0.1', done))
  stops.push(() => http.close())
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'wellhead',
        client_secret: 'a secret of the client',
        redirect_uris: [`${base}/sign-in/company/callback`],
        backchannel_logout_uri: `${base}/sign-in/company/logout`,
        backchannel_logout_session_required: true,
      },
    ],
    conformIdTokenClaims: false,
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'] },
    features: { backchannelLogout: { enabled: true } },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        email: `${id}@example.com`,
        email_verified: true,
        groups: ['member'],
      }),
    }),
  })
  listener = provider.callback()
  openFor(issuer)
  const { send, session } = browser()
  const actionIn = async (response: Response) =>
    new URL(/action="([^"]+)"/.exec(await response.clone().text())![1]!, issuer).href
  /** Signs in and consents at the issuer, as far as it asks, and returns the page after it. */
  const signIn = async (path: string) => {
    let page = await send(base + path)
    for (const prompt of ['login', 'consent']) {
      if (!page.url.startsWith(issuer)) break
      page = await send(await actionIn(page), { prompt, login: 'ada', password: 'x' })
    }
    return page
  }
  return { issuer, send, session, actionIn, signIn }
}

needs('oidc-provider').test(
  'a person signs in at oidc-provider, has one account, and is out when the provider says so',
  async () => {
    const { issuer, send, session, actionIn, signIn } = await openIssuer()
    const page = await signIn('/sign-in/company?next=/docs')
    expect(page.url).toBe(`${base}/docs`)
    const token = session()!
    expect((await usage(token)).status).toBe(200)
    await signIn('/sign-in/company?next=/docs')
    expect(instance.services.keys.accounts().map(({ account }) => account.email)).toEqual([
      'ada@example.com',
    ])

    const ending = await send(`${issuer}/session/end`)
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(await ending.clone().text()) ?? []
    await send(await actionIn(ending), { xsrf, logout: 'yes' })
    expect((await usage(token)).status).toBe(401)
    expect((await usage(session()!)).status).toBe(401)
  },
  60_000,
)

needs('oidc-provider').test(
  'an assistant that knows the address alone connects once a person signs in at oidc-provider and agrees',
  async () => {
    const { issuer, send, signIn } = await openIssuer()
    const codes: string[] = []
    await using program = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        codes.push(new URL(request.url).searchParams.get('code') ?? '')
        return new Response('You can close this page.')
      },
    })
    const assistant = new Assistant()
    assistant.redirectUrl = `http://127.0.0.1:${program.port}/callback`
    assistant.clientMetadata.redirect_uris = [assistant.redirectUrl]
    const address = new URL(`${base}/mcp`)
    const transport = new StreamableHTTPClientTransport(address, { authProvider: assistant })
    const client = new Client({ name: 'test', version: '1' })
    await expect(client.connect(transport)).rejects.toThrow('Unauthorized')

    const offered = await send(assistant.sentTo!.href)
    const [, link = ''] = /href="(\/sign-in\/company\?[^"]+)"/.exec(await offered.text()) ?? []
    const asked = await signIn(link.replaceAll('&amp;', '&'))
    expect(asked.url.startsWith(issuer)).toBe(false)
    const text = await asked.text()
    expect(text).toContain('ada@example.com')
    const fields = Object.fromEntries(
      [...text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [
        name!,
        value!.replaceAll('&amp;', '&'),
      ]),
    )
    await send(`${base}/oauth/authorize`, { ...fields, agreed: 'yes' })
    await transport.finishAuth(codes[0]!)

    const again = new StreamableHTTPClientTransport(address, { authProvider: assistant })
    const connected = new Client({ name: 'test', version: '1' })
    await connected.connect(again)
    expect((await connected.listTools()).tools.length).toBeGreaterThan(5)
    await connected.close()
    const [ada] = instance.services.keys.accounts()
    expect(ada!.account.email).toBe('ada@example.com')
  },
  60_000,
)

needs('oauth2-mock-server').test(
  'a person signs in at oauth2-mock-server and calls the API with its tokens',
  async () => {
    const { OAuth2Server } = await load('oauth2-mock-server')
    const mock = new OAuth2Server()
    await mock.issuer.keys.generate('RS256')
    await mock.start(0, '127.0.0.1')
    stops.push(() => mock.stop())
    const issuer = mock.issuer.url.replace('localhost', '127.0.0.1')
    mock.issuer.url = issuer
    openFor(issuer)
    mock.service.on('beforeTokenSigning', ({ payload }: { payload: Record<string, unknown> }) => {
      Object.assign(payload, { email: 'ada@example.com', email_verified: true })
    })

    const first = browser()
    expect((await first.send(`${base}/sign-in/company?next=/docs`)).url).toBe(`${base}/docs`)
    expect((await usage(first.session()!)).status).toBe(200)

    const access = await mock.issuer.buildToken({
      scopesOrTransform: (_: unknown, payload: Record<string, unknown>) =>
        Object.assign(payload, { sub: 'johndoe', aud: 'wellhead' }),
    })
    expect((await usage(access)).status).toBe(200)
    const foreign = await mock.issuer.buildToken({
      scopesOrTransform: (_: unknown, payload: Record<string, unknown>) =>
        Object.assign(payload, { sub: 'johndoe', aud: 'other' }),
    })
    expect((await usage(foreign)).status).toBe(401)
  },
  60_000,
)
