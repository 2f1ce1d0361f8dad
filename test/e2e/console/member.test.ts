import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Response as PageResponse } from 'playwright-core'
import { timestampedSignature } from '../../../src/lib/secrets/signature.ts'
import { type BinaryStage, openBinaryStage } from '../../support/console/binary-stage.ts'
import type { Visitor } from '../../support/console/browser.ts'
import { tabTo } from '../../support/console/keyboard.ts'
import { needs } from '../../support/needs.ts'

/** A receiver of webhooks on this machine, with a configurable response. */
function openReceiver() {
  const bodies: string[] = []
  const state = { status: 200 }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      bodies.push(await request.text())
      return new Response('noted', { status: state.status })
    },
  })
  return { bodies, state, url: `http://127.0.0.1:${server.port}/hook`, close: () => server.stop() }
}

needs('chromium').describe('what a member does in the console, in the binary', () => {
  const receiver = openReceiver()
  let stage: BinaryStage
  let member: Visitor

  beforeAll(async () => {
    stage = await openBinaryStage({ size: 'whole' })
    member = await stage.visitor('member')
  }, 600_000)
  afterAll(async () => {
    await stage?.close()
    await receiver.close()
  })

  const ask = (path: string, key: string, method = 'GET') =>
    fetch(`${stage.instance.url}${path}`, { method, headers: { authorization: `Token ${key}` } })
  const figure = (text: string) => member.page.locator(`.chart figcaption:has-text("${text}")`)
  const isDrawn = (text: string) => figure(text).first().waitFor({ state: 'attached' })

  test('a formula is drawn while it is typed, its fault is marked, and it is created', async () => {
    const { page, goTo } = await stage.visitor('member', { isRefused: true })
    await goTo('/series/formulas')
    await page.fill('textarea[name=formula]', 'BRENT_CRUDE_USD - NOWHERE')
    await page.waitForSelector('[aria-label="Preview"] mark:text-is("NOWHERE")')
    const refusal = await page.textContent('[aria-label="Preview"] .notice')
    expect(refusal).toStartWith('formula must name known codes')
    await page.fill('textarea[name=formula]', 'BRENT_CRUDE_USD - WTI_USD')
    await page
      .locator('.chart figcaption:has-text("The formula over the past year")')
      .first()
      .waitFor({ state: 'attached' })
    await page.waitForSelector('[aria-label="Preview"] tr:has-text("WTI_USD")')
    await page.waitForSelector('input[name=unit][placeholder=barrel]')
    await page.fill('input[name=code]', 'MY_TYPED')
    await page.fill('input[name=name]', 'Typed spread')
    await page.click('button:text-is("Create formula")')
    await page.waitForSelector('.notice a[href="/series/MY_TYPED"]')
    await page.waitForSelector('tr:has-text("Typed spread") >> text=Edit MY_TYPED')
    await goTo('/series/formulas?code=MY_TYPED')
    await page.waitForSelector('button:text-is("Save formula")')
    await page.click('form button:text-is("Delete")')
    await page.click('dialog[open] button.danger')
    await page.waitForSelector('text=No formulas yet')
  })

  describe('the board', () => {
    test('codes are chosen, grouped and ordered by keyboard, with what may have been meant', async () => {
      const { page, goTo } = member
      await goTo('/board')
      await tabTo(page, 'button:has-text("Choose codes")')
      await page.keyboard.press('Enter')
      const chooser = '[aria-label="Watchlist codes"]'
      await tabTo(page, `${chooser} input[type=search]`)
      await page.keyboard.type('brnnntxx')
      await page.waitForSelector(`${chooser} >> text=Did you mean`)
      await page.keyboard.press('Control+A')
      await page.keyboard.type('urlas crude')
      await tabTo(page, `${chooser} button:has-text("URALS_CRUDE_USD")`)
      await page.keyboard.press('Enter')
      await page.waitForSelector('table.board >> text=Urals Crude Oil')
      await tabTo(page, `${chooser} button:has-text("New group")`)
      await page.keyboard.press('Enter')
      await tabTo(page, 'select[aria-label="Group of URALS_CRUDE_USD"]')
      await page.keyboard.press('ArrowDown')
      await page.waitForSelector('table.board .section:has-text("Group 2") + tr:has-text("Urals")')
      await tabTo(page, 'button[aria-label="BRENT_CRUDE_USD down"]')
      // The response to the group that was chosen before may still be on its way.
      const groups = async (answer: PageResponse) =>
        ((await answer.json()) as { data: { groups: { codes: string[] }[] } }).data.groups
      const saved = page.waitForResponse(
        async answer =>
          answer.request().method() === 'PUT' &&
          (await groups(answer))[0]!.codes.indexOf('BRENT_CRUDE_USD') === 1,
      )
      await page.keyboard.press('Space')
      expect((await groups(await saved))[1]!.codes).toEqual(['URALS_CRUDE_USD'])
    })

    test('a watchlist is stored for each person and can be reset', async () => {
      const colleague = await stage.visitor('colleague')
      await colleague.goTo('/board')
      await colleague.page.waitForSelector('table.board tbody tr')
      expect(await colleague.page.locator('table.board >> text=Urals').count()).toBe(0)
      const { page, goTo } = member
      await goTo('/board')
      await page.waitForSelector('table.board >> text=Urals Crude Oil')
      await page.click('text=Choose codes')
      await page.click('button[aria-label="Remove URALS_CRUDE_USD"]')
      await page.waitForSelector('table.board:not(:has-text("Urals"))')
      await page.click('button:text-is("Reset")')
      await page.click('dialog[open] button.danger')
      await page.waitForSelector('[aria-label="Watchlist codes"]:not(:has-text("Group 2"))')
    })

    test('ticks when a price comes, without being asked', async () => {
      const { page, goTo } = member
      await goTo('/board')
      await page.waitForSelector('table.board tbody tr')
      await stage.instance.record([{ code: 'WTI_USD', price: 61.37 }])
      await page.waitForSelector('table.board tr:has-text("WTI") >> text=61.37')
    })

    test('is had as a file', async () => {
      const { page, goTo } = member
      await goTo('/board')
      await page.waitForSelector('table.board tbody tr')
      const saving = page.waitForEvent('download')
      await page.click('[aria-label="Prices: export"] button:text-is("CSV")')
      const text = readFileSync(await (await saving).path(), 'utf8')
      expect(text).toStartWith('code,unit,name,price,')
      expect(text).toContain('WTI_USD,USD/bbl,WTI Crude Oil,61.37,')
    })

    test('is copied into a sheet', async () => {
      const { page, goTo, context } = member
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await goTo('/board')
      await page.waitForSelector('table.board tbody tr')
      await page.click('[aria-label="Prices: export"] button:text-is("Copy")')
      await page.waitForSelector('[aria-label="Prices: export"] button:has-text("Copied")')
      const copied = await page.evaluate<string>('navigator.clipboard.readText()')
      expect(copied).toStartWith('code\tunit\tname\tprice\t')
      expect(copied).toContain('WTI_USD\tUSD/bbl\tWTI Crude Oil\t61.37\t')
    })

    test('any page is found by keyboard from anywhere', async () => {
      const { page, goTo } = member
      await goTo('/board')
      await page.keyboard.press('/')
      await page.keyboard.type('hnery hub')
      await page.waitForSelector('#found-0')
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/series\/\w+$/)
      await page.waitForSelector('h1:has-text("Henry Hub")')
      expect(await page.evaluate('document.activeElement.id')).toBe('content')
      await page.keyboard.press('/')
      await page.keyboard.press('Escape')
      await page.waitForSelector('dialog[aria-label=Search]:not([open])', { state: 'attached' })
    })
  })

  describe('a series', () => {
    test('its range, interval, kind and scale are chosen by keyboard', async () => {
      const { page, goTo } = member
      await goTo('/series/WTI_USD')
      await isDrawn('WTI')
      for (const [button, query, said] of [
        ['3 M', 'range=3m', 'WTI'],
        ['Candles', 'type=candles', 'candles'],
        ['Log', 'scale=log', 'logarithmic scale'],
        ['Week', 'interval=week', 'WTI'],
        ['Index 100', 'scale=index', 'first value 100'],
      ] as const) {
        await tabTo(page, `section[aria-label=Chart] button:text-is("${button}")`)
        await page.keyboard.press('Enter')
        await page.waitForURL(url => url.search.includes(query))
        await isDrawn(said)
      }
    })

    test('it is compared with others, as lines that begin at 100', async () => {
      const { page, goTo } = member
      await goTo('/series/WTI_USD?range=3m&interval=day&scale=index')
      await page.fill('input[list=near]', 'BRENT_CRUDE_USD')
      await isDrawn('BRENT_CRUDE_USD: last')
      await page.click('button[aria-label="Stop comparing with BRENT_CRUDE_USD"]')
      await figure('BRENT_CRUDE_USD').waitFor({ state: 'detached' })
    })

    test.each([
      ['sma', 'SMA 20'],
      ['ema', 'EMA 20'],
      ['bollinger', 'Upper'],
      ['rsi', 'RSI 14'],
    ])('it has the indicator %s', async (indicator, line) => {
      const { page, goTo } = member
      await goTo('/series/WTI_USD?range=3m&interval=day')
      await page.selectOption('select:has(option[value=rsi])', indicator)
      await isDrawn(`${line}: last`)
    })

    test('the past is redrawn as it was known, by the arrows', async () => {
      const { page, goTo } = member
      await goTo('/series/WTI_USD?range=3m')
      await isDrawn('WTI')
      await tabTo(page, '#known')
      const answered = page.waitForResponse(answer => answer.url().includes('as_of='))
      await page.keyboard.press('ArrowLeft')
      const { data } = (await (await answered).json()) as { data: { as_of: string } }
      expect(data.as_of).toBe('2026-11-19T23:59:59Z')
      await page.waitForSelector('.known [role=status]')
      await tabTo(page, '.known button:text-is("Today")')
      await page.keyboard.press('Enter')
      await page.waitForURL(url => !url.search.includes('as_of'))
    })

    test('notes, volume, days left out and values that are held are shown', async () => {
      const { page, goTo } = member
      await stage.asOperator('POST', '/admin/v1/quarantine', {
        code: 'WTI_USD',
        from: '2026-11-10',
        reason: 'tried in a browser',
      })
      await stage.asOperator('POST', '/admin/v1/observations', {
        observations: [{ code: 'WTI_USD', price: 6.1, observed_at: '2026-11-12T12:00:00Z' }],
      })
      await goTo('/series/WTI_USD?range=3m&interval=day')
      await isDrawn('days held or quarantined')
      await page.waitForSelector('text=Quarantined: 2026-11-10')
      await page.waitForSelector('text=values of 2026-11-12')
      await goTo('/series/WTI_USD?range=1y')
      await page.click('nav[aria-label="More of this series"] button:text-is("Events")')
      await page.waitForSelector('section[aria-labelledby=notes] tbody tr')
      await goTo('/series/BRENT_FUTURES?range=3m&interval=day')
      await isDrawn('Volume: last')
    })

    test('its numbers are files, and the call behind it runs', async () => {
      const { page, goTo } = member
      await goTo('/series/BRENT_CRUDE_USD?range=1m&interval=day')
      for (const format of ['CSV', 'Parquet']) {
        const saving = page.waitForEvent('download')
        await page.click(`text=Export ${format}`)
        const bytes = readFileSync(await (await saving).path())
        const head = bytes.subarray(0, 4).toString()
        expect(head).toBe(format === 'CSV' ? 'code' : 'PAR1')
      }
      await page.waitForSelector('section[aria-labelledby=BRENT_CRUDE_USD] tbody tr')
      await page.click('nav[aria-label="More of this series"] button:text-is("API")')
      const samples = page.locator('section[aria-labelledby=call]')
      for (const language of ['Python', 'TypeScript', 'Excel', 'curl']) {
        await samples.locator(`button:text-is("${language}")`).click()
        await samples.locator('pre:has-text("BRENT_CRUDE_USD")').waitFor()
      }
      const address = /"(http[^"]+)"/.exec((await samples.locator('pre').textContent())!)![1]!
      const answer = await fetch(address, {
        headers: { authorization: `Token ${stage.instance.apiKey}` },
      })
      expect(answer.status).toBe(200)
    })

    test.each([
      ['Statistics', 'section[aria-labelledby=statistics] .figure'],
      ['Seasonality', 'section[aria-labelledby=months] tbody tr'],
      ['Vintages', 'section[aria-labelledby=vintages] tbody td .strong'],
      ['Forecast', 'section[aria-labelledby=forecast] tbody tr'],
    ])('its %s are a tab, which its link shows', async (tab, shown) => {
      const { page, goTo } = member
      await goTo('/series/US_CRUDE_STORAGE')
      await page.click(`nav[aria-label="More of this series"] button:text-is("${tab}")`)
      await page.locator(shown).first().waitFor()
      await page.reload()
      await page.locator(shown).first().waitFor()
    })

    test('its cursor is moved by keys, says its values, and crosses no closed session', async () => {
      const { page, goTo } = member
      await goTo('/series/WTI_USD?range=1m&interval=day')
      await tabTo(page, '.market .plot')
      const spoken = page.locator('.market > [role=status]')
      const seen: string[] = []
      for (let press = 0; press < 8; press += 1) {
        await page.keyboard.press('ArrowLeft')
        seen.push((await spoken.textContent())!)
      }
      const days = seen.map(text => text.slice(0, 10))
      expect(new Set(days).size).toBe(8)
      expect(days.map(day => new Date(day).getUTCDay()).filter(day => day % 6 === 0)).toEqual([])
      expect(seen[0]).toMatch(/: WTI_USD \d+\.\d\d/)
    })

    test('its picture is saved', async () => {
      const { page, goTo } = member
      await goTo('/series/WTI_USD')
      await page.waitForSelector('.market canvas')
      const saving = page.waitForEvent('download')
      await page.click('button[aria-label="Save as PNG"]')
      const bytes = readFileSync(await (await saving).path())
      expect(bytes.subarray(1, 4).toString()).toBe('PNG')
    })
  })

  describe('markets', () => {
    test('each part shows what it is about, and is chosen by keyboard', async () => {
      const { page, goTo } = member
      await goTo('/markets')
      await isDrawn('A year ago')
      await tabTo(page, 'button:text-is("WTI")')
      await page.keyboard.press('Enter')
      await page.waitForSelector('button:text-is("WTI")[aria-pressed=true]')
      await page.waitForSelector('section:has(h2:has-text("Calendar spreads")) tbody tr')
      for (const [tab, shown] of [
        ['Spreads', 'section[aria-labelledby=spread] .chart canvas'],
        ['Storage', 'section[aria-labelledby=storage] .chart canvas'],
        ['Seasons', 'table.heat td'],
        ['Correlation', 'h2:has-text("Price correlation")'],
        ['Positions', '.chart canvas'],
        ['Rigs', 'h2:has-text("By basin")'],
        ['Permits', '.map circle'],
      ] as const) {
        await tabTo(page, `.rail li li a:text-is("${tab}")`)
        await page.keyboard.press('Enter')
        await page.waitForSelector(`.rail a[aria-current=page]:text-is("${tab}")`)
        await page.locator(shown).first().waitFor({ state: 'attached' })
      }
    })

    test('spreads of each kind, and permits by words', async () => {
      const { page, goTo } = member
      await goTo('/markets/spreads')
      for (const kind of ['Margins', 'Basis', 'Premiums', 'Cracks']) {
        await page.click(`[aria-label=Kind] button:text-is("${kind}")`)
        await page.waitForSelector(`[aria-label=Kind] button:text-is("${kind}")[aria-pressed=true]`)
        await page.waitForSelector('section:has(h2:text-is("Spreads now")) tbody tr')
      }
      await goTo('/markets/permits')
      await page.fill('input[placeholder="midland wolfcamp"]', 'midland')
      await page.keyboard.press('Enter')
      await page.waitForSelector('section[aria-labelledby=permits] td:has-text("Midland, TX")')
    })
  })

  describe('alerts', () => {
    test('one is tried on the past and made, all by keyboard', async () => {
      const { page, goTo } = member
      await goTo('/alerts')
      await tabTo(page, 'main a:text-is("New alert")')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/alerts/new')
      await tabTo(page, 'input[list=alert-codes]')
      await page.keyboard.press('Control+A')
      await page.keyboard.type('WTI_USD')
      await tabTo(page, 'form input[type=number]')
      await page.keyboard.type('70')
      await page.waitForSelector('.notice.good >> text=Would have fired')
      await isDrawn('over the past year')
      await tabTo(page, 'form input[maxlength="100"]')
      await page.keyboard.type('Seventy by keyboard')
      await page.keyboard.press('Enter')
      await page.waitForSelector(
        'section[aria-labelledby=alerts] tr:has-text("Seventy by keyboard")',
      )
    })

    test('a table is printed alone', async () => {
      const { page, goTo } = member
      await goTo('/alerts')
      await page.emulateMedia({ media: 'print' })
      // A page without a window to it prints nothing: what would be on the paper is checked.
      await page.evaluate(`self.print = () => {
        self.onPaper = [...document.querySelectorAll('header, main section, main table')]
          .filter(part => part.checkVisibility())
          .map(part => part.getAttribute('aria-labelledby') ?? part.localName)
      }`)
      await page.evaluate(
        `document.querySelector('[aria-label="Your alerts: export"] button:last-child').click()`,
      )
      const onPaper = await page.evaluate<string[]>('self.onPaper')
      expect(onPaper).toContain('alerts')
      expect(onPaper).toContain('table')
      expect(onPaper).not.toContain('channels')
      expect(onPaper).not.toContain('fired')
      await page.emulateMedia({ media: 'screen' })
    })

    test('it is changed, muted, turned on and deleted', async () => {
      const { page, goTo } = member
      await goTo('/alerts')
      await page.click('a:text-is("Seventy by keyboard")')
      await page.selectOption('form select >> nth=0', 'rsi')
      await page.waitForSelector('.notice.good >> text=Would have fired')
      await page.click('text=Save alert')
      const row = page.locator('section[aria-labelledby=alerts] tr:has-text("Seventy")')
      await row.locator('text=rsi >> visible=true').first().waitFor()
      await row.locator('button:text-is("Mute")').click()
      await row.locator('td > .tag:text-is("Muted")').waitFor()
      await row.locator('button:text-is("Unmute")').click()
      await row.locator('td > .tag:text-is("Watching")').waitFor()
      await row.locator('button:text-is("Delete")').first().click()
      await row.locator('dialog[open] button.danger').click()
      await row.waitFor({ state: 'detached' })
    })

    test('an alert that fires appears in the history of all alerts and in its own history', async () => {
      const { page, goTo } = member
      await goTo('/alerts/new?code=WTI_USD&value=5')
      await page.fill('form input[maxlength="100"]', 'Always')
      await page.click('text=Create alert')
      await page.waitForSelector('tr:has-text("Always")')
      await stage.instance.advance('PT1M')
      await stage.instance.record([{ code: 'WTI_USD', price: 61.4 }])
      await stage.instance.advance('PT1M')
      await goTo('/alerts')
      await page.waitForSelector('section[aria-labelledby=fired] tr:has-text("Always")')
      await page.click('a:text-is("Always")')
      await page.waitForSelector('section[aria-labelledby=alert-history] tbody tr')
    })

    test('channels are chosen where the alerts are', async () => {
      const { page, goTo } = member
      await goTo('/alerts')
      const email = page.locator('section[aria-labelledby=channels] label:has-text("E-mail") input')
      const wasOn = await email.isChecked()
      const answered = page.waitForResponse(answer => answer.request().method() === 'PATCH')
      await email.click()
      expect(await (await answered).json()).toMatchObject({ email: { price_alerts: !wasOn } })
      await email.click()
    })
  })

  describe('webhooks', () => {
    test('an endpoint is added by keyboard, with filters, and its secret shown once', async () => {
      const { page, goTo } = member
      await goTo('/webhooks')
      await tabTo(page, '#add')
      await page.keyboard.press('Enter')
      await tabTo(page, 'form[aria-labelledby=add] input[name=url]')
      await page.keyboard.type(receiver.url)
      await tabTo(page, 'form[aria-labelledby=add] input[value="price_alert.triggered"]')
      await page.keyboard.press('Space')
      await tabTo(page, 'form[aria-labelledby=add] input[name=commodity_filters]')
      await page.keyboard.type('WTI_USD')
      await page.keyboard.press('Enter')
      await page.waitForSelector('.notice.good code:has-text("whsec_")')
      await page.click(`a:has-text("${receiver.url}")`)
      await page.waitForSelector('dl.facts dd:text-is("WTI_USD")')
    })

    test('a webhook endpoint can be tested, and its log shows the request and the response', async () => {
      const { page } = member
      await page.click('text=Send a test')
      await page.waitForSelector('.notice.good >> text=The endpoint returned 200')
      expect(receiver.bodies.at(-1)).toContain('webhook.test')
      const entry = page.locator('details.entry:has-text("webhook.test")').first()
      await entry.locator('summary').click()
      await entry.locator('text=1 attempt').waitFor()
      const before = receiver.bodies.length
      await entry.locator('button:text-is("Send again")').click()
      await stage.instance.advance('PT1M')
      expect(receiver.bodies.length).toBeGreaterThan(before)
    })

    test('a webhook endpoint can be edited, paused, resumed and given a new secret', async () => {
      const { page } = member
      await page.click('summary:text-is("Edit endpoint")')
      const form = page.locator('form[aria-label="Edit endpoint"]')
      await form.locator('input[name=description]').fill('The desk')
      await form.locator('input[name=debug_mode]').check()
      await form.locator('input[name=commodity_filters]').fill('WTI_USD BRENT_CRUDE_USD')
      await form.locator('button').click()
      await page.waitForSelector('dl.facts dd:text-is("WTI_USD, BRENT_CRUDE_USD")')
      await page.click('button:text-is("Pause")')
      await page.waitForSelector('.facts .tag:text-is("Disabled")')
      await page.click('button:text-is("Resume")')
      await page.waitForSelector('.facts .tag:text-is("Active")')
      const hint = await page.textContent('dl.facts dd:has-text("whsec_")')
      await page.click('button:text-is("New secret")')
      await page.click('dialog[open] button.danger')
      await page.waitForSelector('.notice.good code:has-text("whsec_")')
      await page.waitForSelector(`dl.facts:not(:has(dd:text-is("${hint}")))`)
    })

    test('failed webhooks show their response and next attempt, and can be filtered and resent as a range', async () => {
      const { page } = member
      receiver.state.status = 503
      await stage.instance.record([{ code: 'WTI_USD', price: 62.4 }])
      await stage.instance.advance('PT2S')
      await page.click('section[aria-labelledby=log] button:text-is("Refresh")')
      await page.selectOption('section[aria-labelledby=log] select >> nth=0', 'retry_scheduled')
      const entry = page.locator('details.entry:has-text("price.updated")').first()
      await entry.locator('summary').click()
      await entry.locator('text=next attempt').waitFor()
      await entry.locator('pre:has-text("noted")').waitFor()
      await page.selectOption('section[aria-labelledby=log] select >> nth=1', 'webhook.test')
      await page.waitForSelector('text=No matching deliveries')
      await page.selectOption('section[aria-labelledby=log] select >> nth=0', '')
      await page.waitForSelector('details.entry:has-text("webhook.test")')
      receiver.state.status = 200
      await page.click('#replay')
      await page.fill('form[aria-labelledby=replay] input >> nth=0', '2026-11-20T00:00')
      await page.selectOption('form[aria-labelledby=replay] select', 'all')
      await page.click('form[aria-labelledby=replay] button')
      await page.waitForSelector('form[aria-labelledby=replay] .notice.good:has-text("sent again")')
    })

    test('a deleted webhook endpoint leaves the list of endpoints', async () => {
      const { page } = member
      await page.click('.head button:text-is("Delete")')
      await page.click('dialog[open] button.danger')
      await page.waitForURL('**/webhooks')
      await page.waitForSelector('section[aria-labelledby=endpoints] tbody tr')
      expect(await page.locator(`a:has-text("${receiver.url}")`).count()).toBe(0)
    })

    test('a webhook signature is checked in the browser without any request', async () => {
      const { page, goTo, requested } = member
      await goTo('/webhooks')
      await page.click('summary:text-is("Check a signature")')
      const before = requested.length
      const body = '{"id":"evt_1"}'
      await page.fill('input[name=secret]', 'whsec_made')
      await page.fill('input[name=timestamp]', '1790000000')
      await page.fill('input[name=signature]', timestampedSignature('whsec_made', body, 1790000000))
      await page.fill('textarea[name=body]', body)
      await page.click('form button:text-is("Check")')
      await page.waitForSelector('.notice.good >> text=is signed with this secret')
      expect(requested.length).toBe(before)
    })

    test('watches and deliveries are made, paused, sent at once and ended', async () => {
      const { page, goTo } = member
      await goTo('/webhooks')
      await page.click('summary:text-is("Watch codes on a schedule")')
      const watch = page.locator('form[aria-label="New watch"]')
      await watch.locator('[name=codes]').fill('WTI_USD, BRENT_CRUDE_USD')
      await watch.locator('[name=name]').fill('Hourly oil')
      await watch.locator('button').click()
      await page.click('button[aria-label="Pause Hourly oil"]')
      await page.click('button[aria-label="Resume Hourly oil"]')
      await page.waitForSelector('button[aria-label="Pause Hourly oil"]')
      await page.click('summary:text-is("Send prices on a schedule")')
      const delivery = page.locator('form[aria-label="New delivery"]')
      await delivery.locator('[name=codes]').fill('WTI_USD')
      await delivery.locator('[name=name]').fill('Daily oil')
      await delivery.locator('button').click()
      await page.click('button[aria-label="Send Daily oil"]')
      await page.click('button[aria-label="Pause Daily oil"]')
      for (const name of ['Hourly oil', 'Daily oil']) {
        const row = page.locator(`tr:has-text("${name}")`)
        await row.locator('button:text-is("Delete")').first().click()
        await row.locator('dialog[open] button.danger').click()
        await row.waitFor({ state: 'detached' })
      }
    })
  })

  describe('the account', () => {
    test('a key is made by keyboard, restricted, rolled and revoked', async () => {
      const { page, goTo } = member
      await goTo('/account')
      await tabTo(page, 'section[aria-labelledby=keys] form input')
      await page.keyboard.type('by keyboard')
      await page.keyboard.press('Enter')
      const shown = page.locator('.notice.good code')
      const first = (await shown.textContent())!
      expect((await ask('/v1/alerts', first)).status).toBe(200)
      const row = page.locator('section[aria-labelledby=keys] tr:has-text("by keyboard")')
      await page.click('button[aria-label="Restrict by keyboard"]')
      await page.check('form[aria-labelledby=limits] input[value=prices]')
      await page.check('form[aria-labelledby=limits] input[name=read_only]')
      await page.click('text=Save key')
      await row.locator('text=Read-only').waitFor()
      expect((await ask('/v1/alerts', first)).status).toBe(403)
      await row.locator('button:text-is("Roll")').first().click()
      await row.locator('dialog[open] button.danger').click()
      await page.waitForSelector(`.notice.good code:not(:text-is("${first}"))`)
      const second = (await shown.textContent())!
      expect((await ask('/v1/prices/latest?by_code=WTI_USD', first)).status).toBe(401)
      expect((await ask('/v1/prices/latest?by_code=WTI_USD', second)).status).toBe(200)
      await row.locator('button:text-is("Revoke")').first().click()
      await row.locator('dialog[open] button.danger').click()
      await row.locator('text=Ended').waitFor()
      expect((await ask('/v1/prices/latest?by_code=WTI_USD', second)).status).toBe(401)
    })

    test('usage against the limits by day, key and route; plan, invoices and packs', async () => {
      const { page, goTo } = member
      await stage.instance.get('/v1/prices/latest', { by_code: 'WTI_USD' })
      await stage.instance.advance('PT1M')
      await goTo('/account/usage')
      const quota = page.locator('section[aria-labelledby=limits] tr:has-text("Plan quota")')
      await quota.locator('td:text-matches("^[1-9][0-9,]* of [0-9,]+$")').waitFor()
      await quota.locator('.bar').waitFor()
      await page.waitForSelector('section[aria-labelledby=usage-by-key] tbody tr')
      await page.waitForSelector('section[aria-labelledby=routes] tbody tr')
      await isDrawn('Charged requests by day')
      await goTo('/account/plan')
      const invoice = page.locator('section[aria-labelledby=invoices] tbody a').first()
      const path = (await invoice.getAttribute('href'))!
      const pdf = await page.evaluate<string>(
        `fetch('${path}').then(answer => answer.text()).then(text => text.slice(0, 4))`,
      )
      expect(pdf).toBe('%PDF')
      await page.waitForSelector('section[aria-labelledby=credits]')
    })

    test('requests are bought, and the plan is ended and gone on with', async () => {
      const { page, goTo } = member
      await goTo('/account/plan')
      const packs = page.locator('section[aria-labelledby=credits]')
      await packs.locator('button:text-is("Buy")').first().click()
      const bought = page.waitForResponse(answer => answer.request().method() === 'POST')
      await packs.locator('dialog[open] button.danger').click()
      expect((await bought).status()).toBeLessThan(300)
      await packs.locator('text=10,000 requests left').waitFor()
      const plans = page.locator('section[aria-labelledby=plans]')
      await plans.locator('button:text-is("Cancel plan")').first().click()
      await plans.locator('dialog[open] button.danger').click()
      await plans.locator('text=Enterprise ends on').waitFor()
      await plans.locator('button:has-text("Resume Enterprise")').click()
      await plans.locator('text=renews automatically').waitFor()
    })

    test('a member can be invited, an invitation can be withdrawn and roles can be changed', async () => {
      const { page, goTo } = member
      await goTo('/account/members')
      await tabTo(page, 'form[aria-label=Invite] input[name=email]')
      await page.keyboard.type('new@example.com')
      await page.keyboard.press('Enter')
      await page.waitForSelector(
        '.notice.good >> text=An invitation has been sent to new@example.com',
      )
      const invited = page.locator('tr:has-text("new@example.com")')
      await invited.locator('button:text-is("Withdraw")').first().click()
      await invited.locator('dialog[open] button.danger').click()
      await invited.locator('.tag:text-is("Expired")').waitFor()
      expect(await invited.locator('button').count()).toBe(0)
      const role = page.locator('select[aria-label="Role of member@evaluation.example"]')
      for (const chosen of ['read_only', 'member']) {
        const answered = page.waitForResponse(answer => answer.request().method() === 'PATCH')
        await role.selectOption(chosen)
        expect(await (await answered).json()).toMatchObject({ member: { role: chosen } })
      }
    })

    test('notifications are read, and the ways they come by chosen', async () => {
      const { page, goTo } = member
      await goTo('/account/notifications')
      await page.click('button:has-text("Mark all")')
      await page.waitForSelector('button:has-text("Unread (0)")')
      const digest = page.locator('label:has-text("Weekly digest")')
      const answered = page.waitForResponse(answer => answer.request().method() === 'PATCH')
      await digest.click()
      expect((await answered).status()).toBe(200)
    })

    test('a source of prices is made and deleted', async () => {
      const { page, goTo } = member
      await goTo('/account/sources')
      await page.click('#new-source')
      await page.selectOption('details[aria-labelledby=new-source] select', 'webhook')
      await page.fill('input[name=name]', 'Berth 7')
      await page.fill(
        'details[aria-labelledby=new-source] input[name=secret]',
        'a secret of 23 characters',
      )
      await page.click('text=Create source')
      const row = page.locator('section[aria-labelledby=sources] tbody tr:has-text("Berth 7")')
      await row.locator('button:text-is("Log")').click()
      await page.waitForSelector('section[aria-labelledby=syncs]')
      await row.locator('button:text-is("Delete")').first().click()
      await row.locator('dialog[open] button.danger').click()
      await row.waitFor({ state: 'detached' })
    })

    test('sign-ins elsewhere are ended', async () => {
      const elsewhere = await stage.visitor('member')
      const { page, goTo } = member
      await goTo('/account/sign-ins')
      await page.click('button:has-text("End all others")')
      await page.click('dialog[open] button.danger')
      await page.waitForSelector('section[aria-labelledby=sign-ins] tbody:not(:has(tr + tr))')
      await elsewhere.goTo('/account')
      expect(await elsewhere.page.textContent('main')).toContain('Sign in to see this')
    })
  })

  describe('who may only read', () => {
    /** Controls that change what the account has. */
    const changes =
      'main form:not([aria-label="Check a signature"]), main button.danger, main a[href="/alerts/new"]'

    test('sees what the account has, and is offered nothing that is refused', async () => {
      const { page, goTo } = await stage.visitor('reader', { width: 390 })
      await goTo('/account/members')
      await page.waitForSelector('section[aria-labelledby=members] tr:has-text("reader@")')
      expect(
        await page.locator('form[aria-label=Invite], main select, dialog.danger').count(),
      ).toBe(0)
      await goTo('/series/WTI_USD')
      await page.waitForSelector('.chart canvas')
      for (const path of [
        '/alerts',
        '/webhooks',
        '/account',
        '/account/sources',
        '/account/plan',
      ]) {
        await goTo(path)
        expect(await page.locator(changes).count(), path).toBe(0)
      }
      await goTo('/alerts/new?code=WTI_USD&value=70')
      await page.waitForSelector('button:text-is("Run backtest")')
      expect(await page.locator('button:text-is("Create alert")').count()).toBe(0)
      await goTo('/series/formulas')
      expect(await page.locator('main button[type=submit]').count()).toBe(0)
      await goTo('/board')
      await page.click('button:text-is("Choose codes")')
      await page.waitForSelector('main button:text-is("Done")')
      expect(await page.locator('section[aria-labelledby=shared]').count()).toBe(0)
    })

    test('a member without more rights makes keys, and is offered nothing else', async () => {
      const { page, goTo } = await stage.visitor('colleague')
      await goTo('/account')
      await page.fill('section[aria-labelledby=keys] form input', 'own')
      await page.click('text=Create key')
      const key = (await page.textContent('.notice.good code'))!
      expect((await ask('/v1/users/me', key)).status).toBe(200)
      for (const path of ['/alerts', '/webhooks', '/account/sources', '/account/plan']) {
        await goTo(path)
        expect(await page.locator(changes).count(), path).toBe(0)
      }
      await goTo('/account/members')
      await page.waitForSelector('section[aria-labelledby=members] tr:has-text("reader@")')
      expect(await page.locator('form[aria-label=Invite], main select').count()).toBe(0)
    })
  })

  test('asks no other host for anything, and the browser complains about nothing', () => {
    stage.expectQuiet()
  })
})
