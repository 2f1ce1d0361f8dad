import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { dayMs } from '../../../src/lib/time/instant.ts'
import { launchBrowser, openVisitor, type Visitor } from '../../support/console/browser.ts'
import { pagesOf } from '../../support/console/pages.ts'
import { remove, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/until.ts'

const own = [...pagesOf.anyone, ...pagesOf.members, ...pagesOf.operators].filter(
  path => !path.startsWith('/desk') && !/[0-9a-f]{8}-/.test(path),
)

const nonsense = /undefined|\bNaN\b|\bnull\b|Invalid Date|\[object/
/** Refusals that a page puts into words, and the browser notes all the same. */
const known = /status of 404 .*(indicators\/cftc-positioning|organizations\/dashboard)/

/** The text of a page without data: each sentence names a next step. */
const saying: Record<string, RegExp> = {
  '/': /No prices yet\. The operator imports files/,
  '/status': /Nothing has been recorded yet/,
  '/board': /Choose codes to see their prices/,
  '/series': /No prices yet\. The operator imports files/,
  '/series/WTI_USD?type=candles&indicator=bollinger': /No prices in this range.*imports files/,
  '/series/formulas': /No formulas yet\. Write one above/,
  '/market': /No prices yet\. The operator imports files/,
  '/markets': /No curve yet\. The operator/,
  '/markets/spreads': /The operator imports files/,
  '/markets/storage': /no values yet\. The operator/,
  '/markets/seasons': /no prices yet\. The operator/,
  '/markets/correlation': /The operator imports files/,
  '/markets/positions': /The operator imports files/,
  '/markets/rigs': /No rig counts yet\. The operator/,
  '/markets/permits': /No permits yet\. The operator/,
  '/alerts': /No alerts yet\. Create one/,
  '/alerts/new?code=WTI_USD': /No series has data yet/,
  '/webhooks': /No endpoints yet\. Add one below/,
  '/account/usage': /No requests in the last 30 days/,
  '/account/plan': /No invoices yet\./,
  '/account/notifications': /Create an alert/,
  '/account/sources': /No data sources yet\. Add one below/,
  '/operator':
    /○ Enable a feed or import a file.*✓ Create the first customer.*StateOperational.*No feeds are enabled\. Browse feeds/,
  '/operator/data': /No batches yet\. Drop a file above/,
  '/operator/outbox': /The outbox is empty\. Test delivery channels/,
  '/operator/backups': /Backups are not configured: set/,
}

needs('chromium').describe('a copy without any data, in the binary', () => {
  const dir = temporaryDir()
  let server: Server
  let browser: Browser
  let member: Visitor
  /** The overview of the operator before there is any customer. */
  let firstOverview = ''

  beforeAll(async () => {
    server = await start('serve', dir)
    browser = await launchBrowser()
    const asOperator = async <T>(path: string, body: object): Promise<T> => {
      const answer = await fetch(`${server.url}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${server.adminToken}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return (await answer.json()) as T
    }
    const operator = await openVisitor(browser, server.url)
    await operator.page.addInitScript(`sessionStorage.setItem('operator', '${server.adminToken}')`)
    await operator.goTo('/operator')
    await operator.page.waitForSelector('section[aria-labelledby=first-steps]')
    firstOverview = (await operator.page.textContent('main'))!
    await operator.context.close()
    const { data } = await asOperator<{ data: { account: { id: string } } }>('/admin/v1/accounts', {
      email: 'first@example.com',
      plan: 'enterprise',
    })
    const link = await asOperator<{ data: { sign_in_url: string } }>(
      `/admin/v1/accounts/${data.account.id}/link`,
      {},
    )
    const token = new URL(link.data.sign_in_url, server.url).searchParams.get('token')!
    member = await openVisitor(browser, server.url, { width: 390 }, token)
    await member.page.addInitScript(`sessionStorage.setItem('operator', '${server.adminToken}')`)
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    await remove(dir)
  })

  test('every console page of an empty instance loads and names the next step', async () => {
    const { page, goTo, overflow, spills, complaints } = member
    const faults: string[] = []
    const shown = async () => (await page.locator('main').textContent())!.replaceAll(/\s+/g, ' ')
    /** Some pages know only once a list of codes has come. */
    const shownWith = async (said: RegExp | undefined) => {
      if (said)
        await until(`the page says ${said}`, async () => said.test(await shown())).catch(
          () => undefined,
        )
      return shown()
    }
    for (const path of own) {
      complaints.length = 0
      await goTo(path)
      const said = saying[path]
      const text = await shownWith(said)
      if (said && !said.test(text)) faults.push(`${path} does not say ${said}: ${text}`)
      if (!/^\/(docs|operator\/system)/.test(path) && nonsense.test(text))
        faults.push(`${path}: ${text}`)
      if ((await page.locator('main .notice.bad').count()) > 0)
        faults.push(`${path} calls a first start an error: ${text}`)
      if ((await overflow()) > 0) faults.push(`${path} is wider than a phone`)
      for (const text of await spills()) faults.push(`${path}: a text is cut or covered: ${text}`)
      for (const complaint of complaints.filter(text => !known.test(text)))
        faults.push(`${path}: ${complaint}`)
    }
    expect(faults).toEqual([])
    expect(Object.keys(saying).filter(path => !own.includes(path as never))).toEqual([])
  }, 120_000)

  test('the account of the operator is not the first customer', () => {
    expect(firstOverview).toContain('○ Create the first customer')
  })

  test('the menu and the search lead only an operator to the operator’s pages', async () => {
    const visitor = await openVisitor(browser, server.url)
    const { page } = visitor
    const link = page.locator('.rail nav a[href="/operator"]')
    await visitor.goTo('/')
    expect(await link.count()).toBe(0)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('backups')
    await page.waitForSelector('dialog[open] [role=status], dialog[open] a')
    expect(await page.locator('dialog[open] a[href="/operator/backups"]').count()).toBe(0)
    await visitor.goTo('/operator')
    await page.fill('input[name=token]', server.adminToken!)
    await page.keyboard.press('Enter')
    await link.first().waitFor()
    await visitor.context.close()
  })

  test('the start page of production names every plan with its price, and how to get a key', async () => {
    const visitor = await openVisitor(browser, server.url)
    await visitor.goTo('/')
    const plans = visitor.page.locator('section[aria-labelledby=plans] .card')
    await plans.first().waitFor()
    const texts = (await plans.allTextContents()).join('\n')
    expect(texts).toMatch(/Free.*USD 0\.00 a month.*50 requests a day/s)
    expect(texts).toMatch(/Professional.*USD 99\.00 a month/s)
    expect(texts).toMatch(/Enterprise.*By agreement/s)
    expect(texts).not.toContain('Trial')
    await visitor.page.waitForSelector('main a[href="/signup"]:text-is("Get a key")')
    expect(await visitor.violations()).toEqual([])
    await visitor.goTo('/signup')
    const signup = await visitor.page.textContent('main')
    expect(signup).toContain('The operator creates your account')
    expect(signup).not.toMatch(/wellhead accounts|accounts\.signup/)
    await visitor.context.close()
  })

  test('the watchlist page shows that it is loading until it knows its codes', async () => {
    const { page } = member
    const layout = '**/v1/prices/board/layout'
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route(layout, async route => {
      await released
      await route.continue()
    })
    await page.goto(`${server.url}/board`)
    await page.waitForSelector('main .waiting')
    release()
    await page.waitForSelector('main:not(:has(.waiting)) >> text=Choose codes to see their prices')
    await page.unroute(layout)
  })

  /** Prices of nine days, of which the newest is so many days old. */
  const nineDaysOf = (codes: readonly string[], base: number, newestDays: number) =>
    codes.flatMap(code =>
      Array.from({ length: 9 }, (_, i) => ({
        code,
        price: base + (i % 3),
        observed_at: new Date(Date.now() - (newestDays + i) * dayMs).toISOString(),
      })),
    )
  const push = async (body: { source?: string; observations: object[] }) => {
    const answer = await fetch(`${server.url}/admin/v1/observations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${server.adminToken}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
    expect(answer.status).toBe(200)
  }

  test('a desk of European gas sees its prices, and nothing is requested that it lacks', async () => {
    await push({
      source: 'Desk',
      observations: nineDaysOf(['DUTCH_TTF_EUR', 'EU_CARBON_EUR'], 30, 0),
    })
    const { page, goTo, complaints } = member
    complaints.length = 0
    for (const path of ['/market', '/board']) {
      await goTo(path)
      await page.waitForSelector('main tbody a[href="/series/DUTCH_TTF_EUR"]')
      await page.waitForSelector('main tbody a[href="/series/EU_CARBON_EUR"]')
    }
    for (const path of ['/markets', '/markets/spreads', '/series/DUTCH_TTF_EUR']) await goTo(path)
    expect(complaints).toEqual([])
    await goTo('/')
    await page.waitForSelector('section[aria-labelledby=offered] .tile')
    expect(await page.textContent('main')).not.toContain('No prices yet')
  })

  test('a first import of old prices does not count as their release', async () => {
    await push({ source: 'Desk', observations: nineDaysOf(['WTI_USD', 'BRENT_CRUDE_USD'], 70, 3) })
    const { page, goTo } = member
    await goTo('/market')
    const row = page.locator('section[aria-labelledby=movers] tr:has(a[href="/series/WTI_USD"])')
    await row.waitFor()
    expect(
      await page.locator('section[aria-labelledby=movers] .tag:text-is("Release")').count(),
    ).toBe(0)
  })

  test('the page of a series names the source of its newest value, and no publisher for one without a source', async () => {
    const { page, goTo } = member
    await goTo('/series/WTI_USD')
    await page.waitForSelector('.quote dd:text-is("Desk, every 5 minutes")')
    await goTo('/status')
    await page.waitForSelector('section[aria-labelledby=sources] th:has-text("Desk, crude oil")')
    await push({
      observations: [
        { code: 'BRENT_CRUDE_USD', price: 71, observed_at: new Date(Date.now()).toISOString() },
      ],
    })
    await goTo('/series/BRENT_CRUDE_USD')
    await page.waitForSelector('.quote dd:text-is("Not named, every 2.5 minutes")')
  })

  test('the start page of production lists the series by category with one request of the hourly limit', async () => {
    const visitor = await openVisitor(browser, server.url)
    await visitor.goTo('/')
    const offered = visitor.page.locator('section[aria-labelledby=offered]')
    await offered.locator('.tile:has-text("Crude oil")').waitFor()
    expect(await offered.locator('h2').textContent()).toMatch(/^[1-9]\d* series$/)
    expect(visitor.requested.filter(url => url.includes('/v1/demo/'))).toEqual([
      `${server.url}/v1/demo/prices`,
    ])
    await visitor.context.close()
  })

  test('a file with more rows than a request takes is one import, and one undo takes it back', async () => {
    const { page, goTo } = member
    await goTo('/operator/data')
    const lines = Array.from({ length: 10_001 }, (_, i) => {
      const at = new Date(Date.UTC(2020, 0, 1) + i * 60_000).toISOString()
      return `GOLD_USD,${at},1500`
    })
    await page.setInputFiles('input[type=file]', {
      name: 'gold.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(['code,observed_at,price', ...lines].join('\n')),
    })
    await page.click('button:text-is("Record 10,001 rows")')
    await page.waitForSelector('.notice:has-text("10,001 new, 0 revised")')
    const batch = page.locator('section[aria-labelledby=batches] tr:has-text("gold.csv")')
    expect(await batch.count()).toBe(1)
    expect(await batch.textContent()).toMatch(/10,?001/)
    await batch.locator('button:text-is("Undo")').first().click()
    await batch.locator('dialog[open] button:text-is("Undo")').click()
    await batch.locator('.tag:text-is("Undone")').waitFor()
    await goTo('/series/GOLD_USD?range=10y')
    await page.waitForSelector('main >> text=No prices in this range')
  })
})
