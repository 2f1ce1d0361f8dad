import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Elysia, t } from 'elysia'
import { type Browser, chromium, type Page } from 'playwright-core'
import { docsOperations } from '../../../src/console/server/docs/docs.ts'
import { documentOf, keySecurity, openSecurity } from '../../../src/http/openapi/openapi.ts'
import { answersKey } from '../../../src/http/openapi/source.ts'
import type { Context } from '../../../src/http/operations/context.ts'
import { mount } from '../../../src/http/operations/mount.ts'
import { needs } from '../../support/needs.ts'
import { chromiumPath } from '../../support/requirements.ts'

const browserArguments = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

function world() {
  const opened: string[] = []
  const seen: { path: string; authorization: string | null }[] = []
  const gate = new Elysia().macro({
    access: (access: { open?: string }) => ({
      detail: { security: access.open ? openSecurity : keySecurity },
      transform: ({ path }: { path: string }) => {
        opened.push(path)
      },
    }),
  })
  const app = new Elysia().use(gate)
  mount(
    app,
    {} as Context,
    docsOperations({
      serviceName: 'Prices & <more>',
      headerPrefix: 'X-Service-',
      document: (): Promise<string> => document(),
    }),
  )
  app.get(
    '/v1/prices/:code',
    ({ params, request }) => {
      seen.push({ path: params.code, authorization: request.headers.get('authorization') })
      return { code: params.code, price: 71.52 }
    },
    {
      access: {},
      params: t.Object({ code: t.String({ examples: ['WTI_USD'] }) }),
      detail: {
        operationId: 'getPrice',
        summary: 'Newest price of one code',
        tags: ['prices'],
        [answersKey]: { 200: t.Object({ code: t.String(), price: t.Number() }) },
      },
    },
  )
  const document = documentOf(app, {
    serviceName: 'Prices & <more>',
    description: 'Prices of **energy**, current and past.',
    baseUrl: 'https://elsewhere.example.com',
    tags: {
      prices: 'Current and past prices.',
      documentation: 'The OpenAPI document.',
    },
  })
  return {
    app,
    opened,
    seen,
    get: (path: string) => app.handle(new Request(`http://localhost${path}`)),
  }
}

describe('GET /docs and /openapi.json', () => {
  test('serves the document as JSON, its own routes in it', async () => {
    const response = await world().get('/openapi.json')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const document = (await response.json()) as { openapi: string; paths: Record<string, unknown> }
    expect(document.openapi).toBe('3.0.3')
    expect(Object.keys(document.paths)).toEqual([
      '/openapi.json',
      '/openapi-3.1.json',
      '/asyncapi.json',
      '/docs',
      '/swagger',
      '/v1/prices/{code}',
    ])
  })

  test.each(['/docs', '/swagger'])(
    '%s is a page that allows no script or style but its own files',
    async path => {
      const response = await world().get(path)
      const html = await response.text()
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      const policy = response.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).not.toMatch(/unsafe|https?:/)
      expect(html).not.toMatch(/<style|<script(?![^>]*\ssrc="\/)|\son\w+=|\sstyle=/)
      expect(html.replace("xmlns='http://www.w3.org/2000/svg'", '')).not.toContain('://')
      expect(html).toContain('<h1>Prices &amp; &lt;more&gt;</h1>')
      expect(html).toMatch(/<noscript>.*href="\/openapi\.json"/s)
    },
  )

  test('every asset of the docs page exists and is immutable only at its versioned URL', async () => {
    const { get } = world()
    const html = await (await get('/docs')).text()
    const files = [...html.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)].map(
      match => match[1]!,
    )
    expect(files.length).toBe(4)
    for (const file of files) {
      const response = await get(file)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toMatch(
        file.includes('.css') ? 'text/css' : 'text/javascript',
      )
      expect(response.headers.get('cache-control')).toContain('immutable')
      expect((await response.text()).length).toBeGreaterThan(500)
      expect((await get(file.replace(/\?.*/, ''))).headers.get('cache-control')).toBe('no-cache')
    }
  })

  test('passes every one of its routes through the gate', async () => {
    const { app, opened, get } = world()
    const paths = app.routes.map(route => route.path).filter(path => !path.includes(':'))
    for (const path of paths) expect((await get(path)).status, path).toBe(200)
    expect(opened).toEqual(paths)
  })
})

needs('chromium').describe('the documentation page in a browser', () => {
  const { app, seen } = world()
  let browser: Browser
  let page: Page
  let origin: string
  const requested: string[] = []
  const complaints: string[] = []

  beforeAll(async () => {
    app.listen({ port: 0, hostname: '127.0.0.1' })
    origin = `http://127.0.0.1:${app.server?.port}`
    browser = await chromium.launch({ executablePath: chromiumPath, args: browserArguments })
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    page.on('request', request => requested.push(request.url()))
    page.on(
      'console',
      message => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()),
    )
    page.on('pageerror', error => complaints.push(error.message))
    await page.goto(`${origin}/docs`)
    await page.waitForSelector('.opblock')
  })

  afterAll(async () => {
    await browser?.close()
    await app.stop(true)
  })

  test('shows the service, the introduction and every operation with its summary', async () => {
    expect(await page.textContent('h1')).toBe('Prices & <more>')
    expect(await page.textContent('.info')).toContain('Prices of energy, current and past.')
    const summaries = await page.locator('.opblock-summary-description').allTextContents()
    expect(summaries.sort()).toEqual([
      'Get the AsyncAPI document',
      'Get the OpenAPI 3.1 document',
      'Get the OpenAPI document',
      'Get the Swagger page',
      'Get the documentation page',
      'Newest price of one code',
    ])
    expect(await page.locator('.topbar').count()).toBe(0)
  })

  test('calls the server it came from, with the key in the form that the server reads, and keeps the key', async () => {
    await page.click('.btn.authorize')
    await page
      .locator('.auth-container', { hasText: 'apiKeyHeader' })
      .locator('input')
      .fill('0123abcd')
    await page
      .locator('.auth-container', { hasText: 'apiKeyHeader' })
      .locator('button.authorize')
      .click()
    await page.locator('button.btn-done').first().click()
    await page
      .locator('.opblock', { hasText: 'Newest price of one code' })
      .locator('.opblock-summary')
      .click()
    await page.locator('.opblock.is-open .execute').click()
    await page.waitForSelector('.live-responses-table .response')
    expect(await page.textContent('.live-responses-table')).toContain('71.52')
    expect(seen).toEqual([{ path: 'WTI_USD', authorization: 'Token 0123abcd' }])
    await page.reload()
    await page.waitForSelector('.opblock')
    expect(await page.locator('.btn.authorize.locked').count()).toBe(1)
  })

  test('asks no other host for anything and complains about nothing', () => {
    const elsewhere = requested.filter(
      url => !url.startsWith(`${origin}/`) && !url.startsWith('data:'),
    )
    expect(requested.length).toBeGreaterThan(5)
    expect(elsewhere).toEqual([])
    expect(complaints).toEqual([])
  })

  test('is under its policy: a script written into the page does not run and no other host can be asked', async () => {
    const before = complaints.length
    let asked = 0
    const other = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => {
        asked += 1
        return new Response()
      },
    })
    const outcome = await page.evaluate(`(async () => {
      const script = document.createElement('script')
      script.textContent = 'window.ranInline = true'
      document.body.append(script)
      const fetched = await fetch('${other.url}', { mode: 'no-cors' }).then(() => 'allowed', () => 'refused')
      return { ranInline: window.ranInline === true, fetched }
    })()`)
    await other.stop(true)
    expect(asked).toBe(0)
    expect(outcome).toEqual({ ranInline: false, fetched: 'refused' })
    expect(complaints.slice(before).join('\n')).toContain('Content Security Policy')
  })
})
