import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type BinaryStage, openBinaryStage } from '../../support/console/binary-stage.ts'
import type { Visitor } from '../../support/console/browser.ts'
import { tabTo } from '../../support/console/keyboard.ts'
import { needs } from '../../support/needs.ts'

needs('chromium').describe('what anybody does in the console, in the binary', () => {
  let stage: BinaryStage
  let stranger: Visitor

  beforeAll(async () => {
    stage = await openBinaryStage({ settings: { WELLHEAD_ACCOUNTS_SIGNUP: 'open' } })
    stranger = await stage.visitor('stranger')
  }, 600_000)
  afterAll(async () => {
    await stage?.close()
  })

  /** The link in the newest e-mail to an address, on this instance. */
  const linkTo = async (email: string): Promise<string> => {
    const mailMessage = await stage.instance.mail.next(message => message.to === email)
    const address = /https?:\/\/\S+token=\S+/.exec(mailMessage.text)![0]
    return address.replace(/^https?:\/\/[^/]+/, '')
  }

  describe('the start', () => {
    test('the start page identifies the demo instance and shows prices with their past month', async () => {
      const { page, goTo } = stranger
      await goTo('/')
      await page.waitForSelector('aside.ribbon >> text=Demo instance')
      await page.waitForSelector('section[aria-labelledby=demo-prices] tbody tr')
      const rows = page.locator('section[aria-labelledby=demo-prices] tbody tr')
      expect(await rows.locator('svg').count()).toBe(await rows.count())
      expect(await rows.locator('a').count()).toBe(0)
    })

    test('its calls run as they are pasted, in the language that is chosen', async () => {
      const { page } = stranger
      const calls = page.locator('section[aria-labelledby=calls]')
      const texts: string[] = []
      for (const choice of await calls.locator('[aria-label=Call] button').all()) {
        await choice.click()
        texts.push((await calls.locator('pre').textContent())!)
      }
      expect(new Set(texts).size).toBe(3)
      const [open, ...others] = texts
      const child = Bun.spawn(['bash', '-c', open!.replace('curl ', 'curl -sS --fail ')], {
        stdout: 'pipe',
      })
      expect(await new Response(child.stdout).text()).toContain('"WTI_USD"')
      expect(await child.exited).toBe(0)
      for (const call of others) {
        const address = /"(http[^"]+)"/.exec(call)![1]!
        const headers = { authorization: `Token ${stage.instance.apiKey}` }
        expect((await fetch(address, { headers })).status).toBe(200)
      }
      await tabTo(page, 'section[aria-labelledby=calls] button:text-is("Python")')
      await page.keyboard.press('Enter')
      await page.waitForSelector('section[aria-labelledby=calls] pre:has-text("import requests")')
    })

    test('a visitor can sign in with an e-mailed link by keyboard and sign out', async () => {
      const { page, goTo } = await stage.visitor('stranger')
      await goTo('/')
      await tabTo(page, 'main a:text-is("Sign in")')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/sign-in?next=*')
      await tabTo(page, 'form[action="/sign-in"] input[name=email]')
      await page.keyboard.type('eval@example.com')
      await tabTo(page, 'button:text-is("Mail me a link")')
      await page.keyboard.press('Enter')
      await page.waitForSelector('[role=status]')
      await page.goto(stage.instance.url + (await linkTo('eval@example.com')))
      await tabTo(page, 'main button')
      await page.keyboard.press('Enter')
      await page.waitForURL(url => !url.search.includes('token='))
      await goTo('/board')
      await page.waitForSelector('table.board tbody tr')
      await page.goto(`${stage.instance.url}/sign-in`)
      await page.click('button:text-is("Sign out")')
      await page.waitForSelector('text=Mail me a link')
      await goTo('/board')
      expect(await page.textContent('main')).toContain('Sign in to see this')
    })

    let newcomer: Visitor
    let key = ''

    test('a visitor can create an account by e-mail and gets a key and a watchlist', async () => {
      // Its plan has no webhooks, and it is in no organization: the browser notes both answers.
      newcomer = await stage.visitor('stranger', { width: 390, isRefused: true })
      const { page, goTo } = newcomer
      await goTo('/signup')
      await tabTo(page, 'section[aria-labelledby=make] input')
      await page.keyboard.type('new@example.com')
      await page.keyboard.press('Enter')
      await page.waitForSelector('text=An e-mail to new@example.com has been sent')
      await goTo(await linkTo('new@example.com'))
      await tabTo(page, 'button:has-text("Create account")')
      await page.keyboard.press('Enter')
      key = (await page.textContent('.notice.good code'))!
      const answer = await fetch(`${stage.instance.url}/v1/users/me`, {
        headers: { authorization: `Token ${key}` },
      })
      expect(answer.status).toBe(200)
      await page.click('button:has-text("Open your watchlist")')
      await page.waitForURL('**/board')
      await page.waitForSelector('a.who:has-text("new@example.com")', { state: 'attached' })
      await goTo('/account/members')
      await page.waitForSelector('text=You are the only member')
      await goTo('/webhooks')
      await page.waitForSelector('h2:text-is("Webhooks are not included in the Free plan")')
      await page.waitForSelector('text=The Professional plan includes them for USD 99.00 a month.')
      await page.waitForSelector('.offer .example >> text=price.updated')
      expect(await page.locator('text=Add an endpoint').count()).toBe(0)
      await page.waitForSelector('a[href="/account/plan"]:text-is("Upgrade to Professional")')
      await goTo('/alerts')
      await page.waitForSelector('h2:text-is("Alerts are not included in the Free plan")')
      await page.waitForSelector('text=The Starter plan includes them')
      expect(await page.locator('text=New alert').count()).toBe(0)
      await goTo('/series/WTI_USD?indicator=sma')
      const upsell = '.notice.upsell:has-text("Analytics are not included in the Free plan")'
      await page.waitForSelector(`${upsell} a[href="/account/plan"]:text-is("Upgrade to Starter")`)
      await page.waitForSelector(`${upsell} .example svg`)
      await goTo('/markets/permits')
      await page.waitForSelector('.notice.upsell:has-text("Well permits are not included")')
      const shown = page.locator('main :is(.notice.upsell, .map, input[type=search])')
      expect(await shown.count()).toBe(1)
      await goTo('/markets/positions')
      await page.waitForSelector('.notice.upsell >> text=positions of managed money')
      expect(await page.locator('main [aria-label=Market]').count()).toBe(0)
      expect(await page.locator('.notice.bad').count()).toBe(0)
      expect(await page.textContent('main')).not.toMatch(/Reservoir|Production Boost|_alerts/)
    })

    test('and chooses a plan, by keyboard, which holds at once', async () => {
      const { page, goTo } = newcomer
      const hooks = () =>
        fetch(`${stage.instance.url}/v1/webhooks`, { headers: { authorization: `Token ${key}` } })
      expect((await hooks()).status).toBe(403)
      await goTo('/account/plan')
      const row = 'section[aria-labelledby=plans] tr:has-text("Professional")'
      await tabTo(page, `${row} button:text-is("Choose")`)
      await page.keyboard.press('Enter')
      await page.waitForSelector(`${row} dialog[open] >> text=Change to Professional for USD 99.00`)
      await tabTo(page, `${row} dialog[open] button.danger`)
      await page.keyboard.press('Enter')
      await page.waitForSelector('.notice.good >> text=The Professional plan has started')
      await page.waitForSelector(`${row} >> text=Current`)
      expect((await hooks()).status).toBe(200)
      await goTo('/webhooks')
      await page.waitForSelector('text=No endpoints yet.')
    })

    test.each([
      ['/alerts?shown=all', '/alerts?shown=all'],
      ['https://evil.example/', '/market'],
      ['//evil.example/', '/market'],
      ['/\\evil.example/', '/market'],
      ['/\t/evil.example/', '/market'],
    ])('who signs in from a link with %s is on this host: %s', async (next, path) => {
      const { page } = newcomer
      const password = 'a password of the newcomer'
      const set = page.locator('form[action="/sign-in/password"]')
      await page.goto(`${stage.instance.url}/sign-in`)
      if ((await set.locator('[name=current]').count()) === 0) {
        await set.locator('[name=password]').fill(password)
        await set.locator('button').click()
        await page.waitForSelector('[role=status]')
      }
      await page.click('button:text-is("Sign out")')
      await page.waitForSelector('text=Mail me a link')
      await page.goto(`${stage.instance.url}/sign-in?next=${encodeURIComponent(next)}`)
      const form = page.locator('form[action="/sign-in"]')
      // The value that the page left out is put into the form, as any user could do.
      await form.evaluate((element, value) => {
        const field = element.ownerDocument.createElement('input')
        Object.assign(field, { type: 'hidden', name: 'next', value })
        element.prepend(field)
      }, next)
      await form.locator('[name=email]').fill('new@example.com')
      await form.locator('[name=password]').fill(password)
      await form.locator('button:text-is("Sign in")').click()
      await page.waitForURL(url => url.search === '' || url.pathname !== '/sign-in')
      expect(page.url()).toBe(`${stage.instance.url}${path}`)
      const cookies = await newcomer.context.cookies()
      expect(cookies.some(({ value }) => value !== '')).toBe(true)
    })

    test('an invalid sign-up link is refused with the message of the API', async () => {
      const { page, goTo } = await stage.visitor('stranger', { isRefused: true })
      await goTo('/signup?token=nothing')
      await page.click('button:has-text("Create account")')
      await page.waitForSelector('.notice.bad')
      await page.click('text=Send a new e-mail')
      await page.waitForSelector('section[aria-labelledby=make] input')
    })

    test('the menu of a phone is opened by keyboard and leads on', async () => {
      const { page, goTo } = await stage.visitor('stranger', { width: 390 })
      await goTo('/')
      await tabTo(page, 'button.menu')
      await page.keyboard.press('Enter')
      await page.waitForSelector('button.menu[aria-expanded=true]')
      await page.locator('#nav a:has-text("Status")').focus()
      await page.keyboard.press('Enter')
      await page.waitForURL('**/status')
      await page.waitForSelector('h1:text-is("Status")')
    })

    test('an unknown address returns status 404 with a page that suggests where to go', async () => {
      const { page, violations, overflow } = await stage.visitor('stranger', { isRefused: true })
      const answer = await page.goto(`${stage.instance.url}/inbox`)
      expect(answer!.status()).toBe(404)
      await page.waitForSelector('h1:text-is("Page not found")')
      await page.waitForSelector('text=No page exists at /inbox.')
      expect(await violations()).toEqual([])
      expect(await overflow()).toBeLessThanOrEqual(0)
      await page.click('main a:text-is("Desk: Inbox")')
      await page.waitForURL('**/desk/inbox')
      const program = await fetch(`${stage.instance.url}/inbox`)
      expect({ status: program.status, text: await program.text() }).toEqual({
        status: 404,
        text: '',
      })
    })

    test('an unknown guide address shows that there is no such guide', async () => {
      const { page } = await stage.visitor('stranger', { isRefused: true })
      await page.goto(`${stage.instance.url}/docs/no-such-guide`)
      await page.waitForSelector('text=This page does not exist.')
    })
  })

  describe('the status', () => {
    test('the status page shows components, freshness and feeds, and can be refreshed by keyboard', async () => {
      const { page, goTo } = stranger
      await goTo('/status')
      for (const section of ['incidents', 'sources'])
        await page.waitForSelector(`section[aria-labelledby=${section}]`)
      await page.waitForSelector('main >> text=Newest observation')
      await tabTo(page, 'main button:text-is("Refresh")')
      const asked = page.waitForResponse('**/status.json')
      await page.keyboard.press('Enter')
      expect((await asked).status()).toBe(200)
    })

    test('the status is also available as JSON and RSS', async () => {
      const links = await stranger.page
        .locator('main a[rel=external]')
        .evaluateAll(all => all.map(link => link.getAttribute('href')!))
      expect(links).toEqual(['/status.json', '/status/incidents.json', '/status/incidents.rss'])
      for (const link of links) {
        const answer = await fetch(stage.instance.url + link)
        expect(answer.status).toBe(200)
        expect(answer.headers.get('content-type')).toMatch(/json|rss\+xml/)
      }
    })
  })

  describe('the documentation', () => {
    test('an operation can be found by words of its description by keyboard', async () => {
      const { page, goTo } = stranger
      await goTo('/docs')
      await tabTo(page, '.reference input[type=search]')
      await page.keyboard.type('RSI')
      await tabTo(page, '.reference nav a:has-text("Trend and indicators")')
      await page.keyboard.press('Enter')
      await page.waitForSelector('#operation:has-text("Trend and indicators")')
    })

    test('documentation samples contain the API key of the visitor, and an operation can be tried out', async () => {
      const { page, goTo } = stranger
      await goTo('/docs?operation=getLatestPrices')
      await page.fill('.reference input[type=password]', stage.instance.apiKey)
      const sample = page.locator('section[aria-labelledby=call] pre').first()
      await sample.locator(`text=Token ${stage.instance.apiKey}`).waitFor()
      await page.fill('#parameter-by_code', 'WTI_USD')
      await tabTo(page, 'form[aria-label="Try it"] button')
      await page.keyboard.press('Enter')
      await page.waitForSelector('form[aria-label="Try it"] .tag.good')
      expect(await page.textContent('form[aria-label="Try it"] pre')).toContain('"WTI_USD"')
    })

    test('a call is filled in with fields of its schema, and its link opens it as it was filled in', async () => {
      const { page, goTo, context } = stranger
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await goTo('/docs?operation=getPricesPastWeek')
      expect(await page.getAttribute('#parameter-per_page', 'type')).toBe('number')
      await goTo('/docs?operation=getPriceChart')
      expect(await page.getAttribute('#parameter-start_date', 'type')).toBe('date')
      await page.fill('#parameter-start_date', '2026-11-02')
      await page.fill('#parameter-end_date', '2026-11-04')
      await page.fill('#parameter-end_date + [type=time]', '14:30')
      await page.selectOption('select#parameter-interval', 'week')
      await page.click('button:text-is("Copy link to this call")')
      const link = await page.evaluate<string>('navigator.clipboard.readText()')
      expect(link).not.toContain(stage.instance.apiKey)
      await page.goto(link)
      await page.waitForSelector('#parameter-interval')
      expect(await page.inputValue('#parameter-start_date')).toBe('2026-11-02')
      expect(await page.inputValue('#parameter-end_date')).toBe('2026-11-04')
      expect(await page.inputValue('#parameter-end_date + [type=time]')).toBe('14:30')
      expect(link).toContain(encodeURIComponent('2026-11-04T14:30:00Z'))
      expect(await page.inputValue('#parameter-interval')).toBe('week')
      await page.waitForSelector('section[aria-labelledby=call] pre:has-text("interval=week")')
    })

    test('the reference is saved as a collection for Postman and for Bruno', async () => {
      const { page, goTo } = stranger
      await goTo('/docs')
      for (const program of ['Postman', 'Bruno']) {
        const saving = page.waitForEvent('download')
        await page.click(`main button:text-is("${program}"):enabled`)
        const text = readFileSync(await (await saving).path(), 'utf8')
        expect(text).toContain('{{baseUrl}}/v1/prices/latest')
        expect(text).toContain(stage.instance.url)
      }
    })

    test('guides are read one after the other', async () => {
      const { page, goTo } = stranger
      await goTo('/docs/quickstart')
      for (let read = 0; read < 2; read += 1) {
        const title = await page.textContent('h1')
        await tabTo(page, 'a[rel=next]')
        await page.keyboard.press('Enter')
        await page.waitForSelector(`h1:not(:text-is("${title}"))`)
      }
    })
  })

  test('asks no other host for anything, and the browser complains about nothing', () => {
    stage.expectQuiet()
  })
})
