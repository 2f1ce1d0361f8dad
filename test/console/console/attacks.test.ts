import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Visitor } from '../../support/console/browser.ts'
import { needs } from '../../support/needs.ts'
import { openStage, type Stage } from './stage.ts'

/** Each would run, were it written into a page as it stands; the browser would complain, too. */
const markup = (name: string) =>
  `${name}"><img src=x onerror=self.owned=1><script>self.owned=1</script>`

const formula = '=2+5+cmd|calc'

needs('chromium').describe('what others wrote, in a browser', () => {
  let stage: Stage
  let webhook = ''
  let reader: Visitor
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(markup('answer'), { headers: { 'content-type': 'text/html' } }),
  })

  beforeAll(async () => {
    stage = await openStage({})
    const operator = { authorization: `Bearer ${stage.instance.adminToken}` }
    const make = async (
      path: string,
      body: unknown,
      options: { method?: string; isOperator?: boolean } = {},
    ) => {
      const answer = await stage.instance.ask(options.method ?? 'POST', path, {
        body,
        ...(options.isOperator && { key: null, headers: operator }),
      })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
      return JSON.parse(text) as Record<string, Record<string, Record<string, unknown>>>
    }
    await make('/v1/api-keys', { name: markup('key') })
    await make('/v1/alerts', {
      price_alert: {
        name: markup('alert'),
        commodity_code: 'WTI_USD',
        condition_operator: 'greater_than',
        condition_value: 500,
      },
    })
    const endpoint = await make('/v1/webhooks', {
      url: `http://127.0.0.1:${receiver.port}/`,
      description: markup('hook'),
      events: ['invoice.paid'],
    })
    webhook = /"id":"([^"]+)"/.exec(JSON.stringify(endpoint))![1]!
    await make(`/v1/webhooks/${webhook}/test`, {})
    await make('/admin/v1/batches', { file_name: markup('file') }, { isOperator: true })
    await make(
      '/admin/v1/series',
      {
        code: 'MARKED_UP_USD',
        name: markup('series'),
        category: 'refined_products',
        unit: 'barrel',
        currency: 'USD',
      },
      { isOperator: true },
    )
    await make(
      '/admin/v1/suppressions',
      { address: 'gone@example.com', reason: markup('reason') },
      { isOperator: true },
    )
    await make(
      '/admin/v1/quarantine',
      { code: 'WTI_USD', from: '2026-01-01', to: '2026-01-02', reason: markup('why') },
      { isOperator: true },
    )
    stage.instance.running.services.log.error('marked_up', { message: markup('line') })
    reader = await stage.visitor()
    await reader.page.addInitScript(
      `sessionStorage.setItem('operator', '${stage.instance.adminToken}')`,
    )
  }, 120_000)
  afterAll(async () => {
    await receiver.stop(true)
    await stage?.close()
  })

  test.each([
    ['/account', 'key'],
    ['/alerts', 'alert'],
    ['/webhooks', 'hook'],
    ['/operator/data', 'file'],
    ['/operator/data', 'why'],
    ['/operator/series', 'series'],
    ['/operator/outbox', 'reason'],
    ['/operator/logs', 'line'],
    ['/series/MARKED_UP_USD', 'series'],
  ])('%s shows it as text: %s', async (path, name) => {
    const { page, goTo, complaints } = reader
    await goTo(path)
    if (path === '/operator/series') await page.fill('main input[type=search]', 'MARKED_UP')
    await page.locator(`main :text("${name}\\">")`).first().waitFor()
    expect(await page.locator('main img, main script').count()).toBe(0)
    expect(await page.evaluate('self.owned')).toBeUndefined()
    expect(complaints).toEqual([])
  })

  test('what a receiver of webhooks answered is text', async () => {
    const { page, goTo, complaints } = reader
    await goTo(`/webhooks/${webhook}`)
    const entry = page.locator('details.entry', { hasText: 'webhook.test' })
    await entry.locator('summary').click()
    await entry.locator('pre', { hasText: 'onerror' }).waitFor()
    expect(await page.locator('main img, main script').count()).toBe(0)
    expect(await page.evaluate('self.owned')).toBeUndefined()
    expect(complaints).toEqual([])
  })

  test('cells of a file that is imported are text', async () => {
    const { page, goTo } = reader
    await goTo('/operator/data')
    await page.setInputFiles('input[type=file]', {
      name: '<img src=x onerror=self.owned=1>.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(
        'date,code,price\n2026-11-19T12:00:00Z,<img src=x onerror=self.owned=1>,61.5\n',
      ),
    })
    await page.waitForSelector('section[aria-labelledby=rejected] >> text=onerror')
    expect(await page.locator('main img').count()).toBe(0)
    expect(await page.evaluate('self.owned')).toBeUndefined()
  })

  test('a name that a sheet would run is a text in the file of a table', async () => {
    const { page, goTo } = reader
    await stage.instance.ask('POST', '/v1/api-keys', { body: { name: formula } })
    await goTo('/account')
    const saving = page.waitForEvent('download')
    await page.click('[aria-label="API keys: export"] button:text-is("CSV")')
    const text = readFileSync(await (await saving).path(), 'utf8')
    expect(text).toContain(`'${formula}`)
    expect(text).not.toMatch(/(^|,)"?=/m)
  })

  test('another site changes nothing with the session, and draws no frame around the console', async () => {
    const { page, context } = await stage.visitor()
    const keys = async () =>
      (await (await stage.instance.ask('GET', '/v1/api-keys')).text()).split('"token_hint"').length
    const before = await keys()
    const site = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () =>
        new Response(
          `<form method="post" action="${stage.origin}/v1/api-keys" enctype="text/plain"><input name='{"name":"stolen","x":"' value='"}'></form>
           <iframe src="${stage.origin}/board"></iframe>`,
          { headers: { 'content-type': 'text/html' } },
        ),
    })
    try {
      // Another port is another origin of the same site: the cookie goes along.
      await page.goto(`http://127.0.0.1:${site.port}/`)
      const frame = page.frames().find(part => part !== page.mainFrame())
      expect(await frame?.locator('#console').count()).toBe(0)
      const answered = page.waitForResponse(answer => answer.url().endsWith('/v1/api-keys'))
      await page.evaluate('document.forms[0].submit()')
      expect((await answered).status()).toBeGreaterThanOrEqual(400)
      expect(await keys()).toBe(before)
    } finally {
      await site.stop(true)
      await context.close()
    }
  })

  test('signing in leads to no other site', async () => {
    const { page, context } = await stage.visitor({ isSignedIn: false })
    const leads = async (next: string) => {
      await page.goto(`${stage.origin}/sign-in?next=${encodeURIComponent(next)}`)
      await page.waitForSelector('h1')
      return (await page.locator('input[name=next]').count()) > 0
    }
    expect(await leads('/alerts')).toBe(true)
    for (const next of [
      'https://evil.example/',
      '//evil.example/',
      '/\\evil.example/',
      'javascript:alert(1)',
    ])
      expect(await leads(next), next).toBe(false)
    await context.close()
  })
})
