import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Response as PageResponse } from 'playwright-core'
import { type BinaryStage, openBinaryStage } from '../../support/console/binary-stage.ts'
import type { Visitor } from '../../support/console/browser.ts'
import { tabTo } from '../../support/console/keyboard.ts'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/until.ts'

interface Report {
  overview: { totalRequests: number }
  endpointBreakdown: { endpoint: string; via: string; requests: number }[]
}

needs('chromium').describe('what the console shows is what there is, in the binary', () => {
  let stage: BinaryStage
  let member: Visitor
  beforeAll(async () => {
    stage = await openBinaryStage({ size: 'whole' })
    member = await stage.visitor('member')
  }, 600_000)
  afterAll(async () => {
    await stage?.close()
  })

  /** The legend's texts of the first chart in a place. */
  const legendOf = async (place: string): Promise<string[]> => {
    await member.page.waitForSelector(`${place} .u-legend .u-series`)
    return member.page.locator(`${place} .u-legend .u-label`).allTextContents()
  }

  describe('a series as it was known', () => {
    test('is the same page after a reload, from its copied link, and after a sign-in', async () => {
      const { page, goTo, context } = member
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await goTo('/series/US_CRUDE_STORAGE')
      await page.focus('#known')
      for (let press = 0; press < 5; press += 1) await page.keyboard.press('ArrowLeft')
      await page.waitForURL('**/series/US_CRUDE_STORAGE?as_of=*')
      const shown = page.locator('text=as known at the end of that day')
      await shown.waitFor()
      const reloaded = await page.reload()
      expect({
        status: reloaded!.status(),
        contentType: reloaded!.headers()['content-type'],
      }).toEqual({ status: 200, contentType: 'text/html; charset=utf-8' })
      await shown.waitFor()
      await page.click('button:text-is("Copy link")')
      await page.waitForSelector('button:has-text("Copied")')
      const link = await page.evaluate<string>('navigator.clipboard.readText()')
      expect(new URL(link).searchParams.get('as_of')).toMatch(/^\d{4}-\d\d-\d\d$/)
      const stranger = await stage.visitor('stranger')
      await stranger.page.goto(link)
      await stranger.page.click('main a:text-is("Sign in")')
      await stranger.page.waitForURL('**/sign-in?next=*')
      expect(new URL(stranger.page.url()).searchParams.get('next')).toBe(
        new URL(link).pathname + new URL(link).search,
      )
    })

    test.each(['/', '/board', '/markets', '/docs', '/docs/vintages', '/status', '/alerts'])(
      '%s takes as_of as every page does, whatever it makes of it',
      async path => {
        const answer = await fetch(`${stage.instance.url}${path}?as_of=2026-11-13`)
        expect({ status: answer.status, contentType: answer.headers.get('content-type') }).toEqual({
          status: 200,
          contentType: 'text/html; charset=utf-8',
        })
        await answer.body?.cancel()
      },
    )
  })

  describe('pages that a member opens', () => {
    test('take nothing from quota or usage of the account, and are marked as the console’s', async () => {
      const own = await stage.visitor('member')
      const report = async (via: string) => {
        const answer = await fetch(`${stage.instance.url}/v1/analytics/performance?via=${via}`, {
          headers: { authorization: `Token ${stage.instance.apiKey}` },
        })
        return (await answer.json()) as Report
      }
      const me = async () => {
        const answer = await fetch(`${stage.instance.url}/v1/users/me`, {
          headers: { authorization: `Token ${stage.instance.apiKey}` },
        })
        return ((await answer.json()) as { requests_this_month: number }).requests_this_month
      }
      const [usedBefore, pagesBefore] = [await me(), await report('console')]
      const statuses: number[] = []
      own.page.on('response', (answer: PageResponse) => void statuses.push(answer.status()))
      for (const path of ['/board', '/markets', '/series/WTI_USD', '/alerts', '/account/usage'])
        await own.goTo(path)
      const asked = own.requested.filter(url => /\/v1\//.test(url)).length
      expect(asked).toBeGreaterThan(10)
      expect(statuses.filter(status => status === 429)).toEqual([])
      const after = await report('console')
      expect(after.overview.totalRequests - pagesBefore.overview.totalRequests).toBeGreaterThan(10)
      expect(after.endpointBreakdown.map(({ via }) => via)).toEqual(
        after.endpointBreakdown.map(() => 'console'),
      )
      // Reports and /v1/users/me have no quota, or were requested with a key: one report.
      expect(await me()).toBeLessThanOrEqual(usedBefore + 2)
      const clients = await report('api')
      expect(clients.endpointBreakdown.some(({ endpoint }) => endpoint.includes('board'))).toBe(
        false,
      )
    })

    test('are many in a minute without a refusal', async () => {
      const { page, goTo } = await stage.visitor('member')
      const refused: string[] = []
      page.on('response', (answer: PageResponse) => {
        if (answer.status() === 429) refused.push(answer.url())
      })
      await goTo('/markets')
      for (let turn = 0; turn < 4; turn += 1)
        for (const family of ['WTI', 'Gasoil', 'Henry Hub', 'TTF', 'Brent']) {
          await page.click(`button:text-is("${family}")`)
          await page.waitForSelector('main:not(:has(.waiting))')
        }
      expect(refused).toEqual([])
    })
  })

  describe('the market page', () => {
    const send = async (method: string, path: string, body: object) => {
      const answer = await fetch(`${stage.instance.url}${path}`, {
        method,
        headers: {
          authorization: `Token ${stage.instance.apiKey}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      })
      expect(answer.status).toBeLessThan(300)
    }

    test('shows a watchlist that an admin of the organization has shared, by its name', async () => {
      const { page, goTo, violations } = await stage.visitor('member')
      await send('PUT', '/v1/prices/board/layouts/Two%20crudes', {
        groups: [{ name: '', codes: ['DUBAI_CRUDE_USD', 'WTI_USD'] }],
      })
      await goTo('/board')
      await page.click('button:text-is("Choose codes")')
      const shared = page.locator('section[aria-labelledby=shared]')
      await shared.locator('li:has-text("Two crudes")').waitFor()
      await shared.locator('input').fill('All of it')
      await shared.locator('button:text-is("Share")').click()
      await shared.locator('li:has-text("All of it")').waitFor()
      expect(await violations()).toEqual([])
      const colleague = await stage.visitor('reader')
      await colleague.goTo('/market')
      await tabTo(colleague.page, '[aria-label=Watchlist] button:text-is("Two crudes")')
      await colleague.page.keyboard.press('Enter')
      await colleague.page.waitForURL('**/market?layout=Two%20crudes')
      await colleague.page.waitForSelector('ul.ticker li:nth-child(2):last-child')
      expect(await colleague.violations()).toEqual([])
      await colleague.context.close()
      for (const name of ['Two crudes', 'All of it']) {
        const row = shared.locator(`li:has-text("${name}")`)
        await row.locator('button:text-is("Delete")').first().click()
        await row.locator('dialog[open] button.danger').click()
        await row.waitFor({ state: 'detached' })
      }
    })

    test('marks the release of a series that was known before', async () => {
      const groups = [{ name: '', codes: ['US_CRUDE_STORAGE', 'WTI_USD'] }]
      await send('PUT', '/v1/prices/board/layouts/Stocks', { groups })
      const observedAt = new Date((await stage.instance.now()).getTime() - 2 * 86_400_000)
      await stage.instance.record([{ code: 'US_CRUDE_STORAGE', price: 400, observedAt }])
      await stage.instance.advance('PT1M')
      const { page, goTo } = member
      await goTo('/market?layout=Stocks')
      const rows = page.locator('section[aria-labelledby=movers] tbody tr')
      await rows
        .filter({ hasText: 'Release' })
        .locator('a[href="/series/US_CRUDE_STORAGE"]')
        .waitFor()
      expect(await rows.locator('.tag:text-is("Release")').count()).toBe(1)
      await send('DELETE', '/v1/prices/board/layouts/Stocks', {})
    })

    test('marks a correction, a move to the limit of exchanges, and alerts since the last visit', async () => {
      const { page, goTo, context } = await stage.visitor('member')
      await goTo('/market')
      await page.waitForSelector('section[aria-labelledby=movers] tbody tr')
      const price_alert = {
        name: 'While away',
        commodity_code: 'WTI_USD',
        condition_operator: 'greater_than',
        condition_value: 1,
      }
      await send('POST', '/v1/alerts', { price_alert })
      await stage.instance.advance('PT1M')
      const observedAt = await stage.instance.now()
      for (const price of [30, 31]) {
        await stage.instance.record([{ code: 'WTI_USD', price, observedAt }])
        await stage.instance.advance('PT1M')
      }
      const later = await context.newPage()
      await later.goto(`${stage.instance.url}/market`)
      const row = later.locator('section[aria-labelledby=movers] tr:has(a[href="/series/WTI_USD"])')
      await row.locator('.tag:text-is("Limit move")').waitFor()
      await row.locator('.tag:text-is("Revised")').waitFor()
      const fired = later.locator('section[aria-labelledby=fired]')
      await fired.locator('tr:has-text("While away") .tag:text-is("New")').first().waitFor()
      await fired.locator('text=/^\\d+ since your last visit/').waitFor()
    })
  })

  describe('curves', () => {
    const curve = 'section[aria-labelledby=curve]'

    test('by tenor have the earlier ones over today’s, from M1 to M12', async () => {
      const { page, goTo } = member
      await goTo('/markets')
      expect((await legendOf(curve)).join(' ')).toMatch(/Now.*A week ago.*A month ago.*A year ago/)
      const text = await page.textContent(`${curve} figcaption`)
      expect(text).toContain('Forward curve by tenor, 12 points')
      await page.click('button:text-is("By month")')
      await page.waitForSelector(`${curve} figcaption:has-text("by contract month")`)
    })

    test('that are refused are named, and only those of days without quotes are left out', async () => {
      const { page, goTo } = await stage.visitor('member', { isRefused: true })
      await page.route('**/v1/futures/*/curve?date=*', route =>
        route.fulfill({
          status: 429,
          contentType: 'application/json',
          body: JSON.stringify({ code: 'RATE_LIMIT_EXCEEDED', message: 'Rate limit exceeded.' }),
        }),
      )
      await goTo('/markets')
      await page.waitForSelector(`${curve} .notice.bad:has-text("Rate limit exceeded.")`)
      await page.unroute('**/v1/futures/*/curve?date=*')
      await page.route('**/v1/futures/*/curve?date=*', route =>
        route.fulfill({ status: 404, contentType: 'application/json', body: '{}' }),
      )
      await page.click('button:text-is("WTI")')
      await page.waitForSelector(
        `${curve} >> text=No quotes: a day ago, a week ago, a month ago, a year ago.`,
      )
      expect(await page.locator(`${curve} .notice`).count()).toBe(0)
    })

    test('market curves and spreads start one year ago', async () => {
      const { page, goTo } = member
      await goTo('/markets')
      const spread = page.locator('section[aria-labelledby=front] figcaption')
      await spread.waitFor({ state: 'attached' })
      expect(Number(/(\d+) points/.exec((await spread.textContent())!)![1])).toBeGreaterThan(240)
      await goTo('/markets/spreads')
      const crack = page.locator('section[aria-labelledby=spread] figcaption')
      await crack.waitFor({ state: 'attached' })
      expect(Number(/(\d+) points/.exec((await crack.textContent())!)![1])).toBeGreaterThan(240)
      await goTo('/markets/rigs')
      const rigs = page.locator('section[aria-labelledby=rigs] figcaption')
      await rigs.waitFor({ state: 'attached' })
      expect(Number(/(\d+) points/.exec((await rigs.textContent())!)![1])).toBeGreaterThan(250)
    })

    test('have one minus sign on figures and table', async () => {
      const { page, goTo } = member
      await goTo('/markets')
      const table = page.locator('section[aria-labelledby^=calendar-spreads] tbody')
      await table.waitFor()
      expect(await table.textContent()).toMatch(/−\d/)
      expect(await table.locator('td').allTextContents()).not.toContainEqual(
        expect.stringMatching(/^-\d/),
      )
    })
  })

  test('a console list that is cut off at an API page limit says so', async () => {
    const operator = await stage.visitor('operator')
    const visitors = [
      [
        member,
        ['/board', '/alerts', '/webhooks', '/markets', '/markets/spreads', '/markets/storage'],
      ],
      [member, ['/markets/rigs', '/account', '/account/plan', '/account/usage', '/series/WTI_USD']],
      [operator, ['/operator', '/operator/data', '/operator/people', '/operator/outbox']],
    ] as const
    for (const [{ page, goTo }, paths] of visitors)
      for (const path of paths) {
        const cut = new Map<string, number>()
        const note = async (answer: PageResponse) => {
          if (!answer.headers()['content-type']?.includes('json')) return
          const body = (await answer.json().catch(() => undefined)) as
            | { meta?: Meta; data?: { meta?: Meta } }
            | undefined
          const meta = body?.meta ?? body?.data?.meta
          const { pathname, searchParams } = new URL(answer.url())
          // A figure requests the number alone.
          if (meta === undefined || searchParams.get('per_page') === '1') return
          if (meta.has_next) cut.set(pathname, (cut.get(pathname) ?? 0) + 1)
          else cut.delete(pathname)
        }
        page.on('response', note)
        await goTo(path)
        page.off('response', note)
        const said = await page.locator('button:text-is("Show more"), nav[aria-label*=age]').count()
        expect(said >= cut.size ? [] : [...cut.keys()], path).toEqual([])
      }
  })

  describe('a chart', () => {
    const chart = 'section[aria-label=Chart]'

    test('of two units has an axis for each, and offers to index them', async () => {
      const { page, goTo } = member
      await goTo('/series/WTI_USD?compare=NATURAL_GAS_USD')
      await page.waitForSelector(
        `${chart} .notice:has-text("USD/bbl on the right, USD/MMBtu on the left")`,
      )
      await page.click(`${chart} .notice button:text-is("Index 100")`)
      await page.waitForURL('**scale=index*')
      await page.waitForSelector(`${chart} figcaption:has-text("first value 100")`, {
        state: 'attached',
      })
      await page.click(`${chart} button:text-is("Spread")`)
      await page.waitForSelector(`${chart} figcaption:has-text("WTI_USD − NATURAL_GAS_USD")`, {
        state: 'attached',
      })
      await goTo('/series/WTI_USD?compare=BRENT_CRUDE_USD')
      await page.waitForSelector(`${chart} figcaption:has-text("BRENT_CRUDE_USD")`, {
        state: 'attached',
      })
      expect(await page.locator(`${chart} .notice`).count()).toBe(0)
    })

    test('a candle chart shows open, high, low and close, the candle length and dates without times', async () => {
      const { page, goTo } = member
      await goTo('/series/BRENT_FUTURES?type=candles')
      const legend = page.locator(`${chart} .legend`)
      await legend.waitFor()
      expect(await legend.textContent()).toMatch(/^\d{4}-\d\d-\d\dO [\d.]+H [\d.]+L [\d.]+C [\d.]+/)
      await page.waitForSelector(`${chart} >> text=Each candle is a week.`)
    })

    test('of a stock has none of the words of a price', async () => {
      const { page, goTo } = member
      await goTo('/series/US_CRUDE_STORAGE')
      await page.waitForSelector('section[aria-labelledby=US_CRUDE_STORAGE] tbody tr')
      const text = (await page.textContent('main'))!
      expect(text).not.toMatch(/close|Candles|Hour|dataset/i)
      expect(text).toContain('52 weeks')
    })
  })

  describe('the frame', () => {
    test('keeps the chosen colour scheme and density on every page', async () => {
      const { page, goTo } = await stage.visitor('member')
      const look = () =>
        page.evaluate<string[]>(
          '[document.documentElement.dataset.scheme, document.documentElement.dataset.density]',
        )
      await goTo('/board')
      expect(await look()).toEqual(['light', 'normal'])
      await page.click('.rail button[aria-label="Dark"]')
      await page.click('.rail button[aria-label="Dense rows"]')
      expect(await look()).toEqual(['dark', 'dense'])
      await goTo('/status')
      expect(await look()).toEqual(['dark', 'dense'])
      await page.click('.rail button[aria-label="System"]')
      expect((await look())[0]).toBe('light')
      // They are stored with the account, which other tests use.
      await page.click('.rail button[aria-label="Dense rows"]')
      await until('the account has stored the density', () =>
        page.evaluate<boolean>(
          'JSON.parse(localStorage["preferences.1"]).unsent.density === undefined',
        ),
      )
    })

    test('has the parts of the open page under it, and all keys behind a question mark', async () => {
      const { page, goTo } = await stage.visitor('member')
      await goTo('/markets')
      await page.waitForSelector('.rail a[aria-current=page]:text-is("Curves")')
      await page.keyboard.press('?')
      await page.waitForSelector('dialog[open]:has-text("Keyboard shortcuts")')
      await page.keyboard.press('Escape')
      await page.keyboard.press('g')
      await page.keyboard.press('b')
      await page.waitForURL('**/board')
    })
  })

  describe('a table', () => {
    test('is sorted by its headings and filtered by words, and so is its file', async () => {
      const { page, goTo } = member
      await goTo('/series/WTI_USD?range=3m&interval=day')
      const rows = page.locator('section[aria-labelledby=WTI_USD] tbody tr')
      await rows.first().waitFor()
      const values = async () =>
        (await rows
          .locator('td')
          .first()
          .evaluateAll(all => all.length))
          ? (await rows.locator('td:nth-child(5)').allTextContents()).map(Number)
          : []
      await page.click('section[aria-labelledby=WTI_USD] th button:text-is("Close")')
      const down = await values()
      expect(down).toEqual(down.toSorted((a, b) => b - a))
      await page.fill('section[aria-labelledby=WTI_USD] input[type=search]', '2026-11')
      const saving = page.waitForEvent('download')
      await page.click('[aria-label^="Data"] button:text-is("CSV")')
      const file = await (await saving).path()
      const lines = (await Bun.file(file).text()).trim().split('\n').slice(1)
      expect(lines.length).toBe(await rows.count())
      expect(lines.every(line => line.startsWith('2026-11'))).toBe(true)
    })
  })

  describe('the search', () => {
    const found = async (typed: string): Promise<string[]> => {
      const { page } = member
      await page.fill('dialog[aria-label=Search] input', '')
      await page.fill('dialog[aria-label=Search] input', typed)
      await page.waitForSelector('#found-0')
      return page
        .locator('#found a')
        .evaluateAll(all => all.map(link => link.getAttribute('href')!))
    }

    test('opens with Ctrl-K and with the slash, and closes with one Escape', async () => {
      const { page, goTo } = member
      await goTo('/board')
      for (const key of ['Control+k', '/']) {
        await page.keyboard.press(key)
        await page.waitForSelector('dialog[aria-label=Search][open]')
        await page.keyboard.type('wti')
        // Pages are found at once, codes when they are here.
        await page.waitForSelector('#found-0[href="/series/WTI_USD"]')
        await page.keyboard.press('Escape')
        await page.waitForSelector('dialog[aria-label=Search]:not([open])', { state: 'attached' })
      }
    })

    test('has the exact name first, and every part of a page', async () => {
      const { page } = member
      await page.keyboard.press('/')
      for (const [typed, href] of [
        ['wti', '/series/WTI_USD'],
        ['brent', '/series/BRENT_CRUDE_USD'],
        ['WTI_USD', '/series/WTI_USD'],
        ['storage', '/markets/storage'],
        ['uptime', '/status'],
        ['watchlist', '/board'],
        ['postman', '/docs'],
        ['rigs', '/markets/rigs'],
        ['invoice', '/account/plan'],
        ['usage', '/account/usage'],
        ['members', '/account/members'],
        ['inbox', '/desk/inbox'],
        ['brent curve', '/markets'],
      ] as const)
        expect((await found(typed))[0], typed).toEqual(href)
      await page.keyboard.press('Escape')
    })
  })

  test('the dialog before a deletion has the focus on Cancel: Enter deletes nothing', async () => {
    const { page, goTo } = member
    await goTo('/alerts')
    const row = 'section[aria-labelledby=alerts] tr:has-text("Henry Hub below 1")'
    await page.click(`${row} button:text-is("Delete")`)
    await page.waitForSelector(`${row} dialog[open]`)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel')
    const align = await page.evaluate<string>(
      `getComputedStyle(document.querySelector('dialog[open] p')).textAlign`,
    )
    expect(align).toBe('start')
    await page.keyboard.press('Enter')
    await page.waitForSelector(`${row} dialog:not([open])`, { state: 'attached' })
    await page.reload()
    await page.waitForSelector(row)
  })

  test('a fired alert shows the measured value, and a z-score condition names both sides', async () => {
    const { page, goTo } = member
    await stage.asOperator('POST', '/_dev/scenario', { name: 'crash' })
    await goTo('/alerts')
    await page.waitForSelector('td:text-is("z-score above 2 or below −2")')
    const fired = page.locator(
      'section[aria-labelledby=fired] tr:has-text("WTI far from its month")',
    )
    await fired.first().waitFor()
    const text = (await fired.first().textContent())!
    expect(text).toMatch(/z-score −\d/)
    expect(text).toMatch(/z-score over 30 days above 2 or below −2/)
    expect(text).toMatch(/value \d/)
  })

  test('a delivery that was skipped on purpose is not painted as a failure', async () => {
    const { page, goTo } = await stage.visitor('member')
    await page.route('**/v1/webhooks/*/events?*', route =>
      route.fulfill({
        contentType: 'application/json',
        body: JSON.stringify({
          events: ['skipped', 'failed', 'retry_scheduled', 'delivered'].map(status => ({
            id: status,
            event_id: status,
            event_type: 'price.updated',
            status,
            attempts: 1,
            status_code: status === 'skipped' ? null : 200,
            delivery_duration_ms: 3,
            error: null,
            payload: {},
            created_at: '2026-11-20T15:00:00Z',
            next_attempt_at: null,
          })),
          meta: { total: 4, has_next: false },
        }),
      }),
    )
    await goTo('/webhooks/00000000-0000-4000-8000-000000000402')
    await page.waitForSelector('section[aria-labelledby=log] details')
    const tags = await page
      .locator('section[aria-labelledby=log] summary .tag')
      .evaluateAll(all => all.map(tag => [tag.textContent, tag.className.trim()]))
    expect(tags).toEqual([
      ['Skipped', 'tag'],
      ['Failed, 200', 'tag bad'],
      ['Retry scheduled, 200', 'tag warn'],
      ['Delivered, 200', 'tag good'],
    ])
    expect(await page.textContent('dl.facts')).not.toContain('0 arrived')
  })

  test('the reference renders error descriptions and explains 401 and 403 specifically', async () => {
    const { page, goTo } = member
    await goTo('/docs?operation=getLatestPrices')
    const errors = page.locator('section[aria-labelledby=refusals]')
    await errors.waitFor()
    const text = (await errors.textContent())!
    expect(text).not.toContain('`')
    expect(await errors.locator('code').count()).toBeGreaterThan(2)
    const sentences = await errors.locator('dd').allTextContents()
    expect(new Set(sentences).size).toBe(sentences.length)
  })

  test('moving the clock by a day shows progress and keeps users signed in', async () => {
    const both = await stage.visitor('member')
    const { page, goTo, context } = both
    await context.addInitScript(
      `self.origin !== 'null' && sessionStorage.setItem('operator', '${stage.instance.adminToken}')`,
    )
    await goTo('/desk')
    const clock = 'section[aria-labelledby=clock]'
    const before = (await page.textContent(`${clock} .now`))!
    const moved = page.waitForResponse(
      answer => answer.url().endsWith('/_dev/clock') && answer.request().method() === 'POST',
      { timeout: 120_000 },
    )
    await page.click(`${clock} button:text-is("+ 1 day")`)
    await page.waitForSelector(`${clock} progress`)
    await moved
    await page.waitForSelector(`${clock} .now:not(:text-is("${before}"))`)
    expect(await page.locator(`${clock} progress`).count()).toBe(0)
    await goTo('/board')
    await page.waitForSelector('table.board tbody tr')
    await page.waitForSelector('a.who:has-text("eval@example.com")')
  }, 180_000)

  test('OPEC production by country is in one unit', async () => {
    const { page, goTo } = member
    await goTo('/commodities/opec')
    const headings = page.locator('section[aria-labelledby=report-0] thead')
    await headings.locator('text=million bbl/d').waitFor()
    expect(await headings.textContent()).not.toMatch(/, bbl\/d/)
  })

  test('the first label of the time axis of a chart is inside of it', async () => {
    const { page, context, goTo } = await stage.visitor('member', { width: 390 })
    await context.addInitScript(`(() => {
      const { fillText } = CanvasRenderingContext2D.prototype
      self.labels = []
      CanvasRenderingContext2D.prototype.fillText = function (text, x, ...rest) {
        const width = this.measureText(text).width
        if (this.textAlign === 'center') labels.push({ text, left: x - width / 2 })
        return fillText.call(this, text, x, ...rest)
      }
    })()`)
    await goTo('/series/WTI_USD')
    await page.waitForSelector('.market canvas')
    await page.waitForFunction('labels.some(({ text }) => /^[A-Z][a-z]{2,3}$/.test(text))')
    expect(await page.evaluate('labels.filter(({ left }) => left < 0)')).toEqual([])
  })

  test('asks no other host for anything, and the browser complains about nothing', () => {
    stage.expectQuiet()
  })
})

interface Meta {
  has_next?: boolean
}
