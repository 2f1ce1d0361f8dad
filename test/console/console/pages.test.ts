import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { transact } from '../../../src/database/database.ts'
import { dayMs } from '../../../src/lib/time/instant.ts'
import type { Visitor } from '../../support/console/browser.ts'
import { needs } from '../../support/needs.ts'
import type { Need } from '../../support/requirements.ts'
import { until } from '../../support/until.ts'
import { openStage, type Stage } from './stage.ts'

needs('chromium').describe('every page of the console', () => {
  let stage: Stage
  const visitors: Visitor[] = []
  const visitor = async (...options: Parameters<Stage['visitor']>) => {
    const who = await stage.visitor(...options)
    visitors.push(who)
    return who
  }

  beforeAll(async () => {
    stage = await openStage()
  }, 120_000)
  afterAll(async () => {
    await stage?.close()
  })

  test('the status page shows incidents and source freshness to an anonymous visitor', async () => {
    const { incidents } = stage.instance.running.services
    incidents.note([{ name: 'sms', status: 'degraded', message: 'Texts wait for <their> sender.' }])
    const { page, goTo, violations } = await visitor({ isSignedIn: false, width: 390 })
    await goTo('/status')
    await page.waitForSelector('section[aria-labelledby=incidents] tbody th:has-text("<their>")')
    expect(await page.textContent('section[aria-labelledby=sources] tbody')).toContain('EIA')
    expect(await violations()).toEqual([])
    incidents.note([{ name: 'sms', status: 'operational' }])
  })

  test('the command palette finds a documented operation by name and suggests the nearest match', async () => {
    const { page, goTo } = await visitor()
    await goTo('/board')
    await page.keyboard.press('/')
    await page.keyboard.type('correlation')
    await page.waitForSelector('#found a:has-text("/v1/analytics/correlation")')
    await page.keyboard.press('Control+A')
    await page.keyboard.type('brnnntxx')
    await page.waitForSelector('dialog >> text=Did you mean')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/series\/\w+$/)
  })

  test('tests the delivery channels, and shows and drops messages that wait', async () => {
    // The unknown address is refused, which the browser logs as an error.
    const { page, goTo } = await stage.visitor({ isSignedIn: false })
    await page.addInitScript(`sessionStorage.setItem('operator', '${stage.instance.adminToken}')`)
    await goTo('/operator/system')
    await page.fill('form[aria-label="Test: E-mail"] input', 'nobody')
    await page.click('form[aria-label="Test: E-mail"] button')
    await page.waitForSelector('.notice.bad >> text=must be an e-mail address')
    await page.fill('form[aria-label="Test: E-mail"] input', 'desk@example.com')
    await page.click('form[aria-label="Test: E-mail"] button')
    await page.waitForSelector('.notice.good >> text=The e-mail to desk@example.com was accepted')
    const { db, outbox, clock } = stage.instance.running.services
    // Due tomorrow: whatever sends in the meantime leaves it alone.
    transact(db, () =>
      outbox.put({
        kind: 'email',
        lane: 'email',
        accountId: null,
        eventId: 'evt_waits',
        eventType: 'mail.waits',
        body: '{}',
        dueAt: clock.now() + dayMs,
      }),
    )
    await goTo('/operator/outbox')
    const queue = page.locator('section[aria-labelledby=outbox]')
    await queue.locator('tr:has-text("mail.waits") input').check()
    await queue.locator('header button:text-is("Drop")').first().click()
    await queue.locator('dialog[open] button.danger').click()
    await page.waitForSelector('.notice.good >> text=1 dropped.')
    await queue.locator('button:has-text("Abandoned")').click()
    await queue.locator('td:has-text("the operator dropped it")').waitFor()
  })

  test('lets the operator give requests, which the account sees under its plan', async () => {
    const { page, goTo } = await visitor()
    await page.addInitScript(`sessionStorage.setItem('operator', '${stage.instance.adminToken}')`)
    await goTo('/operator/people')
    await page.click('button[aria-label="Details of eval@example.com"]')
    await page.click('[aria-label=Activity] button:text-is("Credits")')
    const credits = page.locator('section[aria-labelledby=account-credits]')
    await credits.locator('input[name=requests]').fill('2500')
    await credits.locator('input[name=until]').fill('2027-03-01')
    await credits.locator('input[name=reason]').fill('<b>For the outage</b>')
    await credits.locator('button:text-is("Grant credits")').click()
    await page.waitForSelector('.notice.good >> text=2,500 requests were granted')
    expect(await credits.locator('tbody tr').textContent()).toContain('2027-03-01')
    await goTo('/account/plan')
    await page.waitForSelector('section[aria-labelledby=credits] >> text=2,500 requests left')
    await goTo('/account/notifications')
    await page.waitForSelector('main >> text=<b>For the outage</b>')
  })

  test('shows the log as it is written, with nothing in it that runs', async () => {
    const { page, goTo } = await visitor({ isSignedIn: false })
    await page.addInitScript(`sessionStorage.setItem('operator', '${stage.instance.adminToken}')`)
    await goTo('/operator/logs')
    const { log } = stage.instance.running.services
    log.error('made_for_the_page', { message: '<img src=x onerror="document.title=1">' })
    await page.waitForSelector('section[aria-labelledby=log] td:has-text("<img src=x")')
    expect(await page.locator('main img').count()).toBe(0)
  })

  test('makes a watch and a schedule of deliveries, and pauses them', async () => {
    // The browser logs refused requests as errors: this one is expected.
    const { page, goTo } = await stage.visitor()
    await goTo('/webhooks')
    await page.click('summary:text-is("Watch codes on a schedule")')
    const watch = page.locator('form[aria-label="New watch"]')
    await watch.locator('[name=codes]').fill('WTI_USDD')
    await watch.locator('[name=name]').fill('Hourly oil')
    await watch.locator('button').click()
    await page.waitForSelector('.notice.bad >> text=WTI_USDD')
    await watch.locator('[name=codes]').fill('WTI_USD, BRENT_CRUDE_USD')
    await watch.locator('button').click()
    await page.click('button[aria-label="Pause Hourly oil"]')
    await page.waitForSelector('button[aria-label="Resume Hourly oil"]')
    await page.click('summary:text-is("Send prices on a schedule")')
    const delivery = page.locator('form[aria-label="New delivery"]')
    await delivery.locator('[name=codes]').fill('WTI_USD')
    await delivery.locator('[name=days]').selectOption('5')
    await delivery.locator('[name=zone]').fill('Europe/Berlin')
    await delivery.locator('[name=name]').fill('Friday prices')
    await delivery.locator('button').click()
    await page.waitForSelector('tr:has-text("Friday prices"):has-text("Weekly, 07:00")')
    await page.click('button[aria-label="Pause Friday prices"]')
    await page.click('button[aria-label="Resume Friday prices"]')
    await page.waitForSelector('button[aria-label="Pause Friday prices"]')
  })

  test('a console section offers its valid pages when its address is unknown', async () => {
    const { page, goTo, violations } = await visitor({ isSignedIn: false })
    await page.addInitScript(`sessionStorage.setItem('operator', '${stage.instance.adminToken}')`)
    await goTo('/desk/faults')
    await page.waitForSelector(
      'text=Desk has no section called faults. Choose another one in the navigation.',
    )
    expect(await violations()).toEqual([])
    await page.click('.rail a:text-is("Deliveries")')
    await page.waitForSelector('.rail a[aria-current=page]:text-is("Deliveries")')
  })

  test('a captured e-mail is shown as its recipient would see it, and no script in it runs', async () => {
    // The browser logs scripts that it did not run as errors: these are expected.
    const { page, goTo } = await stage.visitor({ isSignedIn: false })
    const blocked = page.waitForEvent('requestfailed', request => request.url().includes('tracker'))
    await page.addInitScript(
      `self.origin !== 'null' && sessionStorage.setItem('operator', '${stage.instance.adminToken}')`,
    )
    stage.instance.running.services.mail.post({
      to: 'reader@example.com',
      subject: '<i>Prices</i> of today',
      text: `See ${stage.origin}/board.`,
      html: '<p id="said">As written</p><script>said.textContent = "ran"</script><img src="https://tracker.example/1.png"><form action="/v1/alerts" method="post"></form>',
      attachments: [
        { filename: 'prices.csv', contentType: 'text/html', content: 'a,b', encoding: 'utf8' },
      ],
      accountId: null,
      dedupe: 'desk e-mail',
    })
    await goTo('/desk/inbox')
    await page.click('.mailbox button:has-text("<i>Prices</i> of today")')
    const mailMessage = page.frameLocator('iframe.letter')
    expect(await mailMessage.locator('#said').textContent()).toBe('As written')
    await page.click('.mailbox button:text-is("Source")')
    await page.waitForSelector('.mailbox pre:has-text("tracker.example")')
    await page.click('.mailbox button:text-is("Text")')
    expect(await page.getAttribute('.paper a', 'href')).toBe(`${stage.origin}/board`)
    const saved = page.waitForEvent('download')
    await page.click('button:text-is("prices.csv")')
    expect(readFileSync(await (await saved).path(), 'utf8')).toBe('a,b')
    expect((await blocked).failure()?.errorText).toBe('csp')
  })

  test('tries a call with its headers on a phone: once, and only what has changed', async () => {
    const { page, goTo, complaints, overflow } = await visitor({ width: 390 })
    const form = page.locator('form[aria-label="Try it"]')
    const status = form.locator('[role=status]')
    await goTo('/docs?operation=createAlert')
    await page.fill('#parameter-idempotency-key', 'once-only')
    for (const isRepeat of [false, true]) {
      await form.locator('button:has-text("Send")').click()
      await status.locator('text=201').waitFor()
      const replayed = form.locator('dt:has-text("idempotent-replayed")')
      await (isRepeat ? replayed : form.locator('dt:has-text("x-request-id")')).waitFor({
        state: 'attached',
      })
      expect(await replayed.count()).toBe(isRepeat ? 1 : 0)
    }
    await page.locator('label:has-text("Body") textarea').fill('{"price_alert": ')
    await form.locator('button:has-text("Send")').click()
    await status.locator('text=400').waitFor()

    await goTo('/docs?operation=getLatestPrices')
    await page.fill('#parameter-by_code', 'WTI_USD,NO_SUCH')
    await page
      .locator('label:has-text("Additional headers") textarea')
      .fill('Prefer: handling=lenient')
    await form.locator('button:has-text("Send")').click()
    await form.locator('pre', { hasText: 'NO_SUCH' }).waitFor()
    await status.locator('text=200').waitFor()
    await form.locator('button:has-text("Use as If-None-Match in the next request")').click()
    expect(await page.locator('.sample pre, .stack > pre').first().textContent()).toContain(
      "-H 'Prefer: handling=lenient'",
    )
    await form.locator('button:has-text("Send")').first().click()
    await status.locator('text=304').waitFor()
    expect(await overflow()).toBeLessThanOrEqual(0)
    complaints.splice(0, complaints.length, ...complaints.filter(text => !text.includes('400')))
    expect(complaints).toEqual([])
  })

  test('the guides link to one another, can be searched by section and show the API key of the visitor', async () => {
    const { page, goTo } = await visitor({ isSignedIn: false, width: 390 })
    await goTo('/docs')
    await page.fill('.reference input[type=search]', 'constant time')
    await page.click('.reference nav [aria-label="Pages"] a >> text=Verify each event')
    await page.waitForURL('**/docs/webhooks#2-verify-each-event')
    // The place that was looked for is what the window shows.
    // Asked from here: the policy lets the page evaluate no text, so it cannot poll by itself.
    await until('the section is in the window', () =>
      page.evaluate<boolean>(
        'Math.abs(document.getElementById("2-verify-each-event")?.getBoundingClientRect().top ?? 9999) < 200',
      ),
    )
    await page.fill('.reference input[type=password]', 'feed'.repeat(16))
    const sample = page.locator('.sample pre').first()
    await sample.locator(`text=Authorization: Token ${'feed'.repeat(16)}`).waitFor()
    expect(await sample.textContent()).toContain(`${stage.origin}/v1/webhooks`)
    await page.click('.sample button:text-is("Go")')
    await page.locator('.sample pre >> text=hmac.Equal').waitFor()
    await page.click('a[rel=next]')
    await page.waitForSelector('h1:text-is("Schedule price e-mails")')
    await page.goBack()
    await page.waitForSelector('h1:text-is("Receive webhooks")')
    // The key stays with the tab, and the reference has it too.
    await goTo('/docs?operation=getLatestPrices')
    await page.locator(`pre >> text=Authorization: Token ${'feed'.repeat(16)}`).waitFor()
    await goTo('/docs/no-such-guide')
    await page.waitForSelector('text=This page does not exist.')
  })

  const sampled = [
    'getLatestPrices',
    'createAlert',
    'getDemoPrices',
    'getCushingStorage',
    'getIncidentFeed',
    'listFeeds',
  ]
  const alert =
    '{"name":"if true","commodity_code":"WTI_USD","condition_operator":"greater_than","condition_value":90,"enabled":true}'
  const languages: [language: string, needed: Need[], command: (text: string) => string[]][] = [
    [
      'curl',
      ['bash', 'curl'],
      text => ['bash', '-c', `curl() { command curl -sS --fail-with-body "$@"; }\n${text}`],
    ],
    ['Python', ['requests'], text => ['python3', '-c', text]],
    ['TypeScript', [], text => [process.execPath, '-e', text]],
  ]
  let samplesShown: Promise<Map<string, string[]>> | undefined
  /** The samples of these operations by language; each page is opened once for all languages. */
  const readSamples = async () => {
    const { page, goTo } = await visitor()
    await goTo('/docs')
    await page.fill('.reference input[type=password]', stage.instance.apiKey)
    const samples = new Map(languages.map(([language]) => [language, [] as string[]]))
    for (const operation of sampled) {
      const body = operation === 'createAlert' ? `&body=${encodeURIComponent(alert)}` : ''
      await goTo(`/docs?operation=${operation}${body}`)
      if ((await page.locator('#operation').count()) === 0) throw new Error(`no ${operation}`)
      for (const [language, texts] of samples) {
        await page.click(`[aria-label="Language of the sample"] button:text-is("${language}")`)
        const shown = (await page.textContent('[aria-labelledby="call"] pre'))!
        texts.push(shown.replace('YOUR_ADMIN_TOKEN', stage.instance.adminToken))
      }
    }
    return samples
  }
  for (const [language, needed, command] of languages)
    needs(...needed).test(
      `shows samples in ${language} that run as they are copied, with the key of the visitor`,
      async () => {
        samplesShown ??= readSamples()
        for (const [i, text] of (await samplesShown).get(language)!.entries()) {
          const operation = sampled[i]
          const child = Bun.spawn(command(text), { stdout: 'pipe', stderr: 'pipe' })
          const [out, err, code] = await Promise.all([
            new Response(child.stdout).text(),
            new Response(child.stderr).text(),
            child.exited,
          ])
          expect(code, `${operation} in ${language}: ${text}\n${out}${err}`).toBe(0)
          expect(out.length, `${operation} in ${language}`).toBeGreaterThan(50)
          if (operation === 'createAlert') expect(out).toContain('if true')
        }
      },
    )

  test('shows a sample for Excel whose address answers with XML', async () => {
    const { page, goTo } = await visitor()
    await goTo('/docs')
    await page.fill('.reference input[type=password]', stage.instance.apiKey)
    await goTo('/docs?operation=getLatestPrices')
    await page.click('[aria-label="Language of the sample"] button:text-is("Excel")')
    const formula = (await page.textContent('[aria-labelledby="call"] pre'))!
    const [, address, path, rest] =
      /^=WEBSERVICE\("([^"]+)" & ENCODEURL\("([^"]+)"\) & "([^"]+)"\)$/.exec(formula)!
    const sheet = await fetch(`${address}${encodeURIComponent(path!)}${rest}`)
    expect(sheet.status).toBe(200)
    expect(await sheet.text()).toMatch(/^<\?xml[\s\S]*BRENT_CRUDE_USD/)
  })

  test('sends a test to an endpoint and shows in the log what became of it', async () => {
    const { page, goTo } = await visitor()
    await goTo('/webhooks/00000000-0000-4000-8000-000000000402')
    await page.click('text=Send a test')
    await page.waitForSelector('.notice.bad >> text=The test failed')
    await page.waitForSelector('.entry >> text=webhook.test')
  })

  test('a sign-in continues to the page that requested it and never to another site', async () => {
    const forms = await Promise.all(
      ['/series/WTI_USD?range=1m', '//evil.example', '/\\evil.example', 'https://evil.example'].map(
        async next =>
          await (await fetch(`${stage.origin}/sign-in?next=${encodeURIComponent(next)}`)).text(),
      ),
    )
    expect(forms.map(form => /name="next" value="([^"]*)"/.exec(form)?.[1])).toEqual([
      '/series/WTI_USD?range=1m',
      undefined,
      undefined,
      undefined,
    ])
  })

  test('is in no frame, and a page of another site changes nothing', async () => {
    const { page, context, goTo } = await visitor()
    await goTo('/account')
    const [cookie] = await context.cookies()
    const answer = await fetch(`${stage.origin}/v1/api-keys`, {
      method: 'POST',
      headers: {
        cookie: `${cookie!.name}=${cookie!.value}`,
        'sec-fetch-site': 'cross-site',
        'content-type': 'application/json',
      },
      body: '{"name":"stolen"}',
    })
    expect(answer.status).toBe(401)
    const shell = await fetch(`${stage.origin}/board`)
    expect(shell.headers.get('x-frame-options')).toBe('DENY')
    const policy = shell.headers.get('content-security-policy')
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(await page.evaluate('document.cookie')).toBe('')
  })

  test('asks no other host for anything, and the browser complains about nothing', () => {
    const requested = visitors.flatMap(who => who.requested)
    expect(requested.length).toBeGreaterThan(30)
    expect(
      requested.filter(url => !url.startsWith(stage.origin) && !url.startsWith('data:')),
    ).toEqual([])
    // Pages that are not there were opened on purpose.
    const wanted = /404 .*\/(desk\/faults|docs\/no-such-guide)$/
    expect(
      visitors.flatMap(who => who.complaints).filter(complaint => !wanted.test(complaint)),
    ).toEqual([])
  })
})
