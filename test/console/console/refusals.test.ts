import { afterAll, beforeAll, expect, test } from 'bun:test'
import { evaluationAccountId } from '../../../src/demo/open.ts'
import { pagesOf } from '../../support/console/pages.ts'
import { part } from '../../support/full.ts'
import { needs } from '../../support/needs.ts'
import { openStage, type Stage } from './stage.ts'

/** A size that no other test has: its browser profile, and so its session, belongs to one test. */
const ownWidth = 1441

needs('chromium').describe('a page whose data or script does not come', () => {
  let stage: Stage

  beforeAll(async () => {
    stage = await openStage()
  }, 120_000)
  afterAll(async () => {
    await stage?.close()
  })

  test('says once that the session has ended, waits for nothing, and offers to sign in and return', async () => {
    const { page, context, goTo, follow } = await stage.visitor({ width: ownWidth })
    page.setDefaultTimeout(45_000)
    await goTo('/status')
    await context.clearCookies()
    // All parts of the market ask at once; the other pages have forms, lists, reports and charts.
    const parts = ['/market', ...part(pagesOf.members.filter(path => path !== '/market'))]
    for (const path of parts) {
      await follow(path, 'main h1')
      await page.waitForSelector('body:has([role=alert]):not(:has(main .waiting))')
      const alerts = await page.locator('[role=alert]').allInnerTexts()
      expect(
        alerts.map(text => text.replaceAll(/\s+/g, ' ')),
        path,
      ).toEqual(['Your session has ended. Sign in to return to this page. Sign in'])
      const back = await page.locator('[role=alert] a').getAttribute('href')
      expect(back).toBe(`/sign-in?next=${encodeURIComponent(path)}`)
      const boxes = page.locator(':is(.inset, .page-notice, .notice, .card):empty:visible')
      expect(await boxes.count(), `${path}: a box without words`).toBe(0)
    }
    await page.click('[role=alert] a')
    await page.waitForSelector('h1:has-text("Sign in")')
  }, 240_000)

  test('says once that an impersonation has ended, and leads back to the customers', async () => {
    const { page, context, goTo } = await stage.visitor({ isSignedIn: false, width: ownWidth })
    const asked = (method: string, path: string) =>
      fetch(`${stage.origin}/admin/v1/${path}`, {
        method,
        headers: {
          authorization: `Bearer ${stage.instance.adminToken}`,
          ...(method === 'POST' && { 'content-type': 'application/json' }),
        },
        ...(method === 'POST' && { body: '{}' }),
      })
    const begun = await asked('POST', `accounts/${evaluationAccountId}/look`)
    const { data } = (await begun.json()) as { data: { id: string } }
    expect((await asked('DELETE', `looks/${data.id}`)).status).toBe(200)
    await goTo('/status')
    await page.evaluate(`sessionStorage.setItem('look', ${JSON.stringify(JSON.stringify(data))})`)
    await goTo('/market')
    await page.waitForSelector('body:has([role=alert]):not(:has(main .waiting))')
    expect(await page.locator('[role=alert]').allInnerTexts()).toEqual([
      'The impersonation has ended.\nReturn to the customers',
    ])
    await page.click('[role=alert] button')
    await page.waitForURL('**/operator/people')
    expect(await page.evaluate(`sessionStorage.getItem('look')`)).toBeNull()
    await context.close()
  })

  test('asks once for the admin token after it was replaced', async () => {
    const { page, context, goTo } = await stage.visitor({ isSignedIn: false, width: ownWidth })
    await goTo('/status')
    await page.evaluate(`sessionStorage.setItem('operator', 'replaced')`)
    await goTo('/operator')
    await page.waitForSelector('main input[name=token]')
    expect(await page.locator('[role=alert]').allInnerTexts()).toEqual([
      'The admin token is not valid any more. Enter the new one.',
    ])
    await context.close()
  })

  test('offers to reload where a new version of the server has other scripts', async () => {
    const { page, goTo } = await stage.visitor()
    await goTo('/status')
    await page.route(/\.js$/, route => route.abort())
    await page.click('.rail a[href="/alerts"]')
    await page.waitForSelector('h1:has-text("Page not loaded")')
    await page.unroute(/\.js$/)
    await page.click('.notice.bad >> text=Reload')
    await page.waitForSelector('h1:has-text("Alerts")')
  })

  test('a page that was opened while offline loads by itself once the browser is online', async () => {
    const { page, context, goTo, follow } = await stage.visitor({ width: ownWidth + 2 })
    await goTo('/status')
    await context.setOffline(true)
    await follow('/alerts', 'h1:has-text("Page not loaded")')
    await context.setOffline(false)
    await page.waitForSelector('h1:has-text("Alerts")')
    expect(await page.locator('[role=alert]').count()).toBe(0)
    await context.close()
  })

  test.each([429, 503])('says once that the service is busy, by status %d', async status => {
    const { page, goTo } = await stage.visitor()
    const ofPage = /\/v1\/(?!account)/
    await page.route(ofPage, route =>
      route.fulfill({ status, json: { error: { code: 'BUSY', message: 'Too many requests.' } } }),
    )
    for (const path of ['/market', '/account/usage']) {
      await goTo(path)
      await page.waitForSelector('body:has([role=alert]):not(:has(main .waiting))')
      expect(await page.locator('[role=alert]').allInnerTexts(), path).toEqual([
        'Too many requests.',
      ])
    }
    await page.unroute(ofPage)
  })

  test('says each of two reasons for which parts of a page were refused', async () => {
    const { page, goTo } = await stage.visitor()
    const parts = [
      ['**/v1/usage', 503, { code: 'STORAGE_UNAVAILABLE', message: 'The disk is full.' }],
      ['**/v1/api-keys', 429, { code: 'RATE_LIMIT_EXCEEDED', message: 'Too many requests.' }],
    ] as const
    for (const [part, status, error] of parts)
      await page.route(part, route => route.fulfill({ status, json: { error } }))
    await goTo('/account/usage')
    await page.waitForSelector('body:has([role=alert]):not(:has(main .waiting))')
    expect((await page.locator('[role=alert]').allInnerTexts()).sort()).toEqual([
      'The disk is full.',
      'Too many requests.',
    ])
    for (const [part] of parts) await page.unroute(part)
  })

  test('refuses a day of an address that is none, and requests the chart once', async () => {
    const { page, goTo, requested } = await stage.visitor()
    await goTo('/series/WTI_USD?as_of=abc')
    await page.waitForSelector('[role=alert]:has-text("as_of must be")')
    const charts = requested.filter(url => url.includes('/v1/prices/chart?'))
    expect(charts.length).toBeLessThan(3)
  })

  test('says that a page failed while it was drawn, once, and draws the next page', async () => {
    const { page, goTo, requested } = await stage.visitor()
    const list = '**/v1/alerts'
    await page.route(list, route => route.fulfill({ json: { alerts: [null], data: [null] } }))
    await goTo('/alerts')
    await page.waitForSelector('h1:has-text("Page not shown")')
    expect(requested.filter(url => url.endsWith('/v1/alerts')).length).toBeLessThan(3)
    await page.unroute(list)
    await page.click('.rail a[href="/status"]')
    await page.waitForSelector('h1:has-text("Status")')
  })

  test('says nothing of the use of limits where the keys were refused', async () => {
    const { page, goTo } = await stage.visitor()
    const keys = '**/v1/api-keys'
    await page.route(keys, route =>
      route.fulfill({ status: 500, json: { error: { code: 'INTERNAL', message: 'No keys.' } } }),
    )
    await goTo('/account/usage')
    const limits = page.locator('section[aria-labelledby=limits]')
    await limits.locator('[role=alert]:text-is("No keys.")').waitFor()
    expect(await limits.locator('td').count()).toBe(0)
    await page.unroute(keys)
  })

  test('the start page offers a key where a network has used up its requests without one', async () => {
    const { page, goTo } = await stage.visitor({ isSignedIn: false })
    const prices = '**/v1/demo/prices'
    const code = 'RATE_LIMIT_EXCEEDED'
    await page.route(prices, route =>
      route.fulfill({ status: 429, json: { code, message: code, limit: 20, retry_after: 1500 } }),
    )
    await goTo('/')
    const part = page.locator('section[aria-labelledby=demo-prices]')
    await part.locator('a[href="/signup"]').waitFor()
    expect((await part.allInnerTexts()).join().replaceAll(/\s+/g, ' ')).toBe(
      'Prices now Without a key, your network can request prices 20 times an hour. Try again in 25 minutes, or get a key.',
    )
    expect(await page.locator('[role=alert]').count()).toBe(0)
    await page.unroute(prices)
  })

  test('says of a list of series that its prices were refused, and not that they never came', async () => {
    const { page, goTo } = await stage.visitor()
    await page.route('**/v1/prices/all', route =>
      route.fulfill({ status: 429, json: { error: { code: 'RATE_LIMITED', message: 'Slow.' } } }),
    )
    await goTo('/series')
    const list = page.locator('section[aria-labelledby=series]')
    await list.locator('[role=alert]:text-is("Slow.")').waitFor()
    expect(await list.locator('td:text-is("never")').count()).toBe(0)
    await page.unroute('**/v1/prices/all')
  })

  test('says of a family without quotes now that it has none, and shows the curves of the others', async () => {
    const { page, goTo } = await stage.visitor()
    const curve = /\/v1\/futures\/wti\/curve$/
    await page.route(curve, async route => {
      const response = await route.fetch()
      const { contracts: _, ...rest } = (await response.json()) as { contracts: object[] }
      await route.fulfill({ response, json: { ...rest, contracts: [], error: 'No quotes.' } })
    })
    await goTo('/market')
    await page.waitForSelector('.multiples .tile:has(b:text-is("WTI")) >> text=No quotes now')
    await page.waitForSelector('.multiples .tile svg')
    await page.unroute(curve)
  })

  test('spreads of one kind that cannot be calculated do not hide those of another', async () => {
    const { page, goTo } = await stage.visitor()
    const cracks = '**/v1/spreads/crack/all'
    const message = 'brent_gasoil is not available: its leg GASOIL_USD has no price.'
    await page.route(cracks, route =>
      route.fulfill({ status: 404, json: { error: { code: 'DATA_NOT_AVAILABLE', message } } }),
    )
    await goTo('/market')
    await page.waitForSelector('section[aria-labelledby=spreads-now] tbody tr')
    expect(await page.locator('main >> text=brent_gasoil').count()).toBe(0)
    await goTo('/markets/spreads')
    await page.waitForSelector('main:has-text("No spreads of this kind")')
    expect(await page.locator('main >> text=brent_gasoil').count()).toBe(0)
    await page.unroute(cracks)
  })

  test('the first month of a curve is written with as many digits as its others', async () => {
    const { page, goTo } = await stage.visitor()
    await page.route(/\/v1\/futures\/wti\/curve$/, async route => {
      const response = await route.fetch()
      const curve = (await response.json()) as { contracts: { price: number }[] }
      for (const [i, contract] of curve.contracts.entries()) contract.price = i === 0 ? 60.8 : 61.36
      await route.fulfill({ response, json: curve })
    })
    await goTo('/market')
    await page.waitForSelector('.tile:has-text("WTI") >> text=M1 60.80')
    await page.unroute(/\/v1\/futures\/wti\/curve$/)
  })

  test('an empty watchlist leads to its codes, and is not taken for missing data', async () => {
    const { page, goTo } = await stage.visitor()
    await page.route('**/v1/prices/board/layout', route =>
      route.fulfill({ json: { status: 'success', data: { groups: [], is_own: true } } }),
    )
    await goTo('/market')
    await page.waitForSelector('main:has-text("No code of this watchlist has a price.")')
    expect(await page.locator('main >> text=imports files').count()).toBe(0)
    await page.click('main a:text-is("Choose codes")')
    await page.waitForURL('**/board')
    await page.unroute('**/v1/prices/board/layout')
  })

  test('says once that the server does not respond, and continues when it does', async () => {
    const { page, context, goTo, follow } = await stage.visitor({ width: ownWidth + 1 })
    await goTo('/market')
    await goTo('/board')
    await context.setOffline(true)
    await page.click('main button:text-is("Refresh")')
    await page.waitForSelector('[role=alert]')
    await context.setOffline(false)
    await page.click('main button:text-is("Refresh")')
    await page.waitForSelector('[role=alert]', { state: 'detached' })
    await follow('/market', 'section[aria-labelledby=movers] tbody tr')
    await context.setOffline(true)
    await follow('/board', 'main h1:text-is("Board")')
    await follow('/market', 'main h1:text-is("Market")')
    await page.waitForSelector('body:has([role=alert]):not(:has(main .waiting))')
    expect(await page.locator('[role=alert]').allInnerTexts()).toEqual([
      'The server did not respond, or it was updated.\nReload',
    ])
    await context.setOffline(false)
    await page.click('[role=alert] >> text=Reload')
    await page.waitForSelector('section[aria-labelledby=movers] tbody tr')
    expect(await page.locator('[role=alert]').count()).toBe(0)
    await context.close()
  })

  test('on a phone, what is refused stands as wide as the rest of the page', async () => {
    const { page, goTo } = await stage.visitor({ width: 390 })
    await page.route('**/v1/users/me', route =>
      route.fulfill({ status: 503, json: { error: { code: 'OVERLOADED', message: 'Later.' } } }),
    )
    await goTo('/market')
    await page.waitForSelector('section[aria-labelledby=stocks] tbody tr')
    const edges = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.page-notice > .notice, .morning > *')].map(part => {
        const { left, right } = part.getBoundingClientRect()
        return left + ' to ' + right
      })`,
    )
    expect(edges.length).toBeGreaterThan(3)
    expect(new Set(edges).size, edges.join(', ')).toBe(1)
    await page.unroute('**/v1/users/me')
  })
})
