import { beforeAll, expect, test } from 'bun:test'
import { auth } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Page } from 'playwright-core'
import type { Wellhead } from '../../clients/testkit/src/testkit.ts'
import { launchBrowser } from '../support/console/browser.ts'
import { Assistant, callback } from '../support/interface/assistant.ts'
import { sharedInstance } from '../support/interface/packages.ts'
import { needs } from '../support/needs.ts'

let instance: Wellhead
beforeAll(async () => {
  instance = await sharedInstance()
}, 600_000)

const ownPage = { 'sec-fetch-site': 'same-origin' }
const password = 'a password of a test'

const send = (url: string | URL, init: RequestInit = {}) =>
  fetch(url, { redirect: 'manual', ...init })
const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  send(instance.url + path, { method: 'POST', headers, body: new URLSearchParams(fields) })

/** A person with the cookie of a session. */
async function signedIn() {
  const account = await instance.account({ plan: 'professional' })
  const set = await fetch(`${instance.url}/admin/v1/accounts/${account.id}/password`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${instance.adminToken}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ password }),
  })
  expect(set.status, await set.text()).toBe(200)
  const { email } = account
  const response = await post('/sign-in', { email, password, next: '/market' }, ownPage)
  const [cookie = ''] = response.headers.get('set-cookie')!.split(';')
  return { account, cookie }
}

/** What the page asks the person: the fields of its form. */
async function consentOf(url: URL, cookie: string) {
  const page = await send(url, { headers: { cookie } })
  const text = await page.text()
  const fields = Object.fromEntries(
    [...text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name!,
      value!.replaceAll('&amp;', '&'),
    ]),
  )
  return { status: page.status, policy: page.headers.get('content-security-policy')!, text, fields }
}

const begin = async () => {
  const assistant = new Assistant()
  expect(await auth(assistant, { serverUrl: `${instance.url}/mcp` })).toBe('REDIRECT')
  return assistant
}

const agree = async (assistant: Assistant, cookie: string) => {
  const { fields } = await consentOf(assistant.sentTo!, cookie)
  const answer = await post(
    '/oauth/authorize',
    { ...fields, agreed: 'yes' },
    { cookie, ...ownPage },
  )
  return new URL(answer.headers.get('location')!)
}

const keysOf = async (apiKey: string) => {
  const headers = { authorization: `Token ${apiKey}` }
  const response = await fetch(`${instance.url}/v1/api-keys`, { headers })
  const { data } = (await response.json()) as {
    data: { api_keys: { id: string; name: string | null; read_only: boolean }[] }
  }
  return data.api_keys
}

test('an assistant that knows the address alone connects once a person agrees, with a read-only key that the person can revoke', async () => {
  const { account, cookie } = await signedIn()
  const address = new URL('/mcp', instance.url)
  const assistant = new Assistant()
  const transport = new StreamableHTTPClientTransport(address, { authProvider: assistant })
  const client = new Client({ name: 'test', version: '1' })
  await expect(client.connect(transport)).rejects.toThrow('Unauthorized')

  const toSignIn = await send(assistant.sentTo!)
  const signIn = new URL(toSignIn.headers.get('location')!, instance.url)
  expect({ status: toSignIn.status, pathname: signIn.pathname }).toEqual({
    status: 303,
    pathname: '/sign-in',
  })
  const next = signIn.searchParams.get('next')!
  const { email } = account
  const back = await post('/sign-in', { email, password, next }, ownPage)
  expect(new URL(back.headers.get('location')!, instance.url).href).toBe(assistant.sentTo!.href)

  const consent = await consentOf(assistant.sentTo!, cookie)
  expect(consent.text).toContain('Helpful &lt;b&gt;assistant&lt;/b&gt;')
  expect(consent.text).toContain('assistant.example.com')
  expect(consent.policy).toContain("form-action 'self' https://assistant.example.com;")
  const returned = await agree(assistant, cookie)
  expect(returned.href).toStartWith(callback)
  expect(returned.searchParams.get('state')).toBe('state of the assistant')
  await transport.finishAuth(returned.searchParams.get('code')!)

  const again = new StreamableHTTPClientTransport(address, { authProvider: assistant })
  const connected = new Client({ name: 'test', version: '1' })
  await connected.connect(again)
  const result = await connected.callTool({
    name: 'latest_prices',
    arguments: { codes: ['WTI_USD'] },
  })
  expect(result.isError).not.toBe(true)
  await connected.close()

  const keys = await keysOf(account.apiKey)
  const key = keys.find(({ name }) => name === 'Helpful <b>assistant</b> (assistant)')!
  expect(key.read_only).toBe(true)
  const revoke = { method: 'DELETE', headers: { authorization: `Token ${account.apiKey}` } }
  await fetch(`${instance.url}/v1/api-keys/${key.id}`, revoke)
  const bearer = { authorization: `Bearer ${assistant.kept!.access_token}` }
  expect((await fetch(`${instance.url}/v1/usage`, { headers: bearer })).status).toBe(401)
})

test('an assistant that connects again gets the same key with a new token', async () => {
  const { account, cookie } = await signedIn()
  const tokens: string[] = []
  for (let i = 0; i < 2; i += 1) {
    const assistant = await begin()
    const code = (await agree(assistant, cookie)).searchParams.get('code')!
    const serverUrl = `${instance.url}/mcp`
    expect(await auth(assistant, { serverUrl, authorizationCode: code })).toBe('AUTHORIZED')
    tokens.push(assistant.kept!.access_token)
  }
  expect(await keysOf(account.apiKey)).toHaveLength(2)
  const statuses = await Promise.all(
    tokens.map(async token => {
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch(`${instance.url}/v1/usage`, { headers })).status
    }),
  )
  expect(statuses).toEqual([401, 200])
})

/** What a person does in a browser, from the page that an assistant leads to until it has a code. */
async function walked(
  leave: (browser: Awaited<ReturnType<typeof launchBrowser>>, address: URL) => Promise<Page>,
  received: Promise<URL>,
  port: number | undefined,
) {
  const { account } = await signedIn()
  const browser = await launchBrowser()
  try {
    const assistant = new Assistant()
    // Any port of this machine is the address that is registered.
    assistant.clientMetadata.redirect_uris = ['http://127.0.0.1/callback']
    assistant.redirectUrl = `http://127.0.0.1:${port}/callback`
    const serverUrl = `${instance.url}/mcp`
    expect(await auth(assistant, { serverUrl })).toBe('REDIRECT')
    const page = await leave(browser, assistant.sentTo!)
    await page.fill('form[action="/sign-in"] input[name=email]', account.email)
    await page.fill('form[action="/sign-in"] input[name=password]', password)
    await page.click('form[action="/sign-in"] button')
    await page.click('button:text-is("Allow")')
    const code = (await received).searchParams.get('code')!
    expect(await auth(assistant, { serverUrl, authorizationCode: code })).toBe('AUTHORIZED')
  } finally {
    await browser.close()
  }
}

needs('chromium').test(
  'a person with a browser signs in, agrees, and comes to the address of the assistant',
  async () => {
    const received = Promise.withResolvers<URL>()
    await using program = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const url = new URL(request.url)
        if (url.pathname === '/callback') received.resolve(url)
        return new Response('You can close this page.')
      },
    })
    await walked(
      async (browser, address) => {
        const page = await browser.newPage()
        await page.goto(address.href)
        return page
      },
      received.promise,
      program.port,
    )
  },
  60_000,
)

needs('chromium').test(
  'a page of an assistant that opens consent in a popup gets the code from the popup',
  async () => {
    const received = Promise.withResolvers<URL>()
    const html = (script: string) =>
      new Response(`<!doctype html><script>${script}</script>`, {
        headers: { 'content-type': 'text/html' },
      })
    await using program = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const url = new URL(request.url)
        if (url.pathname === '/callback') return html('opener.postMessage(location.href, "*")')
        if (url.pathname === '/received') received.resolve(new URL(url.searchParams.get('at')!))
        return html(
          'onmessage = ({ data }) => fetch("/received?at=" + encodeURIComponent(data + "&closed=" + popup.closed))',
        )
      },
    })
    await walked(
      async (browser, address) => {
        const page = await browser.newPage()
        await page.goto(`http://127.0.0.1:${program.port}/`)
        const opened = page.waitForEvent('popup')
        await page.evaluate(`window.popup = open(${JSON.stringify(address.href)})`)
        return await opened
      },
      received.promise,
      program.port,
    )
    expect((await received.promise).searchParams.get('closed')).toBe('false')
  },
  60_000,
)

test('a code is redeemed once, by the program that began, and for its address only', async () => {
  const { cookie } = await signedIn()
  const tokenFor = async (change: Record<string, string>) => {
    const assistant = await begin()
    const code = (await agree(assistant, cookie)).searchParams.get('code')!
    const fields = {
      grant_type: 'authorization_code',
      code,
      client_id: assistant.information!.client_id,
      redirect_uri: callback,
      code_verifier: assistant.verifier,
    }
    const [first, repeated] = [
      await post('/oauth/token', { ...fields, ...change }),
      await post('/oauth/token', fields),
    ]
    return [first.status, repeated.status]
  }
  expect(await tokenFor({})).toEqual([200, 400])
  for (const change of [
    { code_verifier: 'x'.repeat(43) },
    { client_id: 'another' },
    { redirect_uri: 'https://assistant.example.com/other' },
    { grant_type: 'password' },
  ] as Record<string, string>[])
    expect((await tokenFor(change))[0], JSON.stringify(change)).toBe(400)
})

test('a person is sent nowhere without consent, and no other site gives it', async () => {
  const { cookie } = await signedIn()
  const assistant = await begin()
  const { fields } = await consentOf(assistant.sentTo!, cookie)
  const elsewhere = await post(
    '/oauth/authorize',
    { ...fields, agreed: 'yes' },
    { cookie, 'sec-fetch-site': 'cross-site' },
  )
  expect({ status: elsewhere.status, location: elsewhere.headers.get('location') }).toEqual({
    status: 403,
    location: null,
  })
  const refused = await post(
    '/oauth/authorize',
    { ...fields, agreed: 'no' },
    { cookie, ...ownPage },
  )
  const to = new URL(refused.headers.get('location')!)
  expect([to.searchParams.get('error'), to.searchParams.get('code')]).toEqual([
    'access_denied',
    null,
  ])
  for (const [name, value] of [
    ['redirect_uri', 'https://evil.example.com/'],
    ['client_id', 'nobody'],
    ['code_challenge_method', 'plain'],
    ['response_type', 'token'],
  ] as const) {
    const url = new URL(assistant.sentTo!)
    url.searchParams.set(name, value)
    const { status } = await send(url, { headers: { cookie } })
    expect(status, name).toBe(400)
  }
})

test('an assistant registers addresses that lead to itself only', async () => {
  const register = async (redirect_uris: unknown) => {
    const response = await fetch(`${instance.url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris }),
    })
    return response.status
  }
  for (const address of [callback, 'http://127.0.0.1:1234/x', 'http://localhost/x', 'cursor://x/y'])
    expect(await register([address]), address).toBe(201)
  for (const addresses of [
    [],
    undefined,
    'x',
    ['/x'],
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['http://example.com/'],
    ['https://user@example.com/'],
    ['https://example.com/#x'],
  ])
    expect(await register(addresses), String(addresses)).toBe(400)
})
