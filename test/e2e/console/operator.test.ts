import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BinaryStage, openBinaryStage } from '../../support/console/binary-stage.ts'
import { openVisitor, type Visitor } from '../../support/console/browser.ts'
import { tabTo } from '../../support/console/keyboard.ts'
import { remove, run, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/until.ts'

const header = 'date,code,price\n'

needs('chromium').describe('what the operator does in the console, in the binary', () => {
  const publisher = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response('gone', { status: 404 }),
  })
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response('noted'),
  })
  let stage: BinaryStage
  let operator: Visitor

  beforeAll(async () => {
    stage = await openBinaryStage()
    operator = await stage.visitor('operator')
  }, 600_000)
  afterAll(async () => {
    await stage?.close()
    await Promise.all([publisher.stop(true), receiver.stop(true)])
  })

  const choose = async (rows: string) => {
    await operator.page.setInputFiles('input[type=file]', {
      name: 'prices.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(header + rows),
    })
  }
  const latest = async (code: string) => {
    const answer = await stage.instance.get('/v1/prices/latest', { by_code: code })
    return ((await answer.json()) as { data: { price: number } }).data.price
  }

  test('a wrong token is refused in words, the right one opens, by keyboard', async () => {
    const { page, goTo } = await stage.visitor('stranger', { isRefused: true })
    await goTo('/operator')
    await tabTo(page, 'input[name=token]')
    await page.keyboard.type('0'.repeat(64))
    await page.keyboard.press('Enter')
    await page.waitForSelector('.notice.bad')
    await page.fill('input[name=token]', stage.instance.adminToken)
    await page.keyboard.press('Enter')
    await page.waitForSelector('h2:text-is("Service")')
    await page.click('button:text-is("Sign out of the operator view")')
    await page.waitForSelector('input[name=token]')
  })

  test('the overview has what runs and what waits, and leads to it', async () => {
    const { page, goTo } = operator
    await goTo('/operator')
    for (const label of [
      'State',
      'Last backup',
      'Newest observation',
      'Held values',
      'Held messages',
    ])
      await page.waitForSelector(`.figure span:text-is("${label}")`)
    await page.waitForSelector('h2:text-is("Late and frozen series")')
    await tabTo(page, 'button:text-is("Refresh")')
    const asked = page.waitForResponse('**/admin/v1/condition')
    await page.keyboard.press('Enter')
    expect((await asked).status()).toBe(200)
    for (const tab of [
      'Feeds',
      'Data',
      'Series',
      'Customers',
      'Outbox',
      'Backups',
      'Logs',
      'Audit',
    ]) {
      await tabTo(page, `.rail li li a:text-is("${tab}")`)
      await page.keyboard.press('Enter')
      await page.waitForSelector(`.rail a[aria-current=page]:text-is("${tab}")`)
    }
  })

  describe('data', () => {
    test('a file that is dropped is compared, recorded and taken back', async () => {
      const { page, goTo } = operator
      await goTo('/operator/data')
      const before = await latest('WTI_USD')
      const file = `${header}2026-11-20T14:59:00Z,WTI_USD,${before + 0.5}\n`
      const transfer = await page.evaluateHandle(
        `(() => { const transfer = new DataTransfer(); transfer.items.add(new File([${JSON.stringify(file)}], 'dropped.csv')); return transfer })()`,
      )
      await page.dispatchEvent('section[aria-labelledby=import]', 'drop', {
        dataTransfer: transfer,
      })
      await page.waitForSelector('section[aria-label="Preview"]')
      await page.click('button:text-is("Record 1 row")')
      await page.waitForSelector('.notice.good')
      const row = page.locator('section[aria-labelledby=batches] tbody tr').first()
      await row.locator('text=Undo').first().click()
      await row.locator('dialog[open] button.danger').click()
      await page.waitForSelector('section[aria-labelledby=batches] >> text=Undone')
      expect(await latest('WTI_USD')).toBe(before)
    })

    test('an imported file in European notation shows its wrong lines and records the others', async () => {
      const visitor = await stage.visitor('operator', { isRefused: true })
      await visitor.goTo('/operator/data')
      await visitor.page.setInputFiles('input[type=file]', {
        name: 'wrong.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(
          'date;code;price\n19.11.2026;NO_SUCH_CODE;5\n19.11.2026;WTI_USD;x\n18.11.2026;WTI_USD;71,5\n',
        ),
      })
      const rejected = visitor.page.locator('section[aria-labelledby=rejected] tbody tr')
      await rejected.nth(2).waitFor()
      await visitor.page.waitForSelector('text=Nothing is recorded. Check how the file writes days')
      await visitor.page.selectOption('label:has-text("Days are written as") select', 'DD.MM.YYYY')
      await visitor.page.check('label:has-text("Decimal comma") input')
      await visitor.page.waitForSelector('button:text-is("Record 1 row")')
      expect(await rejected.allTextContents()).toEqual([
        expect.stringContaining('NO_SUCH_CODE'),
        expect.stringContaining('price x'),
      ])
    })

    test('an imported file with local times is recorded at their instants, with its source', async () => {
      const { page, goTo } = operator
      await goTo('/operator/data')
      await page.selectOption('label:has-text("Days are written as") select', 'DD.MM.YYYY HH:mm')
      await page.check('label:has-text("Decimal comma") input')
      await page.fill('label:has-text("Time zone of times") input', 'Europe/Berlin')
      await page.fill('label:has-text("Source of the values") input', 'Desk')
      await page.setInputFiles('input[type=file]', {
        name: 'local.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from('date;code;price\n16.11.2026 02:30;WTI_USD;71,5\n'),
      })
      const preview = page.locator('section[aria-labelledby=preview] tbody tr')
      await preview.locator('text=2026-11-16T01:30:00Z').waitFor()
      await page.click('button:text-is("Record 1 row")')
      await page.waitForSelector('.notice.good')
      const answer = await fetch(new URL('/admin/v1/batches?per_page=1', page.url()), {
        headers: { authorization: `Bearer ${stage.instance.adminToken}` },
      })
      const { data } = (await answer.json()) as { data: { batches: object[] } }
      expect(data.batches[0]).toMatchObject({ file_name: 'local.csv', source: 'Desk', inserted: 1 })
    })

    test('a suspicious value is held, released, and another rejected', async () => {
      const { page, goTo } = operator
      await goTo('/operator/data')
      await choose('2026-11-18T12:00:00Z,WTI_USD,6.2\n2026-11-19T12:00:00Z,BRENT_CRUDE_USD,6.3\n')
      await page.waitForSelector(
        'section[aria-label="Preview"] .figure:has-text("Held for review") b:text-is("2")',
      )
      await page.click('text=Record 2 rows')
      const queue = page.locator('section[aria-labelledby=review]')
      for (const [code, word, done] of [
        ['WTI_USD', 'Release', '1 released.'],
        ['BRENT_CRUDE_USD', 'Reject', '1 rejected.'],
      ] as const) {
        const value = queue.locator(`tbody tr:has-text("${code}") input`).first()
        await value.focus()
        await page.keyboard.press('Space')
        await queue.locator(`header button:text-is("${word}")`).first().click()
        await queue.locator('dialog[open] button.danger').click()
        await page.waitForSelector(`.notice.good >> text=${done}`)
      }
    })

    test('a held value that would replace a later one is shown with it, and only released alone', async () => {
      const { page, goTo } = operator
      const record = async (count: number, lines: string) => {
        await goTo('/operator/data')
        await choose(lines)
        await page.click(`text=Record ${count} row`)
        await page.waitForSelector('.notice.good')
      }
      const at = '2026-11-17T13:00:00Z'
      await record(2, `${at},WTI_USD,6.1\n${at},BRENT_CRUDE_USD,6.4\n`)
      const right = await latest('WTI_USD')
      await record(1, `${at},WTI_USD,${right}\n`)
      await goTo('/operator/data')
      const queue = page.locator('section[aria-labelledby=review]')
      await queue.locator('header button:text-is("Select all")').click()
      const boxOf = (code: string) => queue.locator(`tbody tr:has-text("${code}") input`).first()
      expect(await boxOf('BRENT_CRUDE_USD').isChecked()).toBe(true)
      expect(await boxOf('WTI_USD').isChecked()).toBe(false)
      await boxOf('BRENT_CRUDE_USD').uncheck()
      await boxOf('WTI_USD').check()
      await queue.locator('header button:text-is("Release")').first().click()
      const dialog = queue.locator('dialog[open]')
      expect(await dialog.textContent()).toContain('It replaces what was recorded after the hold.')
      await dialog.locator('button.danger').click()
      await page.waitForSelector('.notice.good >> text=1 released.')
    })

    test('days are left out of reads and read again, by keyboard', async () => {
      const { page, goTo } = operator
      await goTo('/operator/data')
      const form = 'form[aria-label="Quarantine days"]'
      await tabTo(page, `${form} input[name=code]`)
      await page.keyboard.type('natural_gas_usd')
      await page.fill(`${form} input[name=from]`, '2026-11-10')
      await tabTo(page, `${form} input[name=reason]`)
      await page.keyboard.type('Repeated by the source')
      await page.keyboard.press('Enter')
      const row = page.locator('section[aria-labelledby=quarantine] tr:has-text("Repeated by")')
      await row.locator('td:text-is("2026-11-10 to 2026-11-10")').waitFor()
      await row.locator('button:text-is("Lift")').first().click()
      await row.locator('dialog[open] button.danger').click()
      await row.waitFor({ state: 'detached' })
    })

    test('a series is added, changed, retired and brought back', async () => {
      const { page, goTo } = operator
      await goTo('/operator/series')
      await tabTo(page, 'button:text-is("New series")')
      await page.keyboard.press('Enter')
      for (const [name, text] of [
        ['code', 'DESK_GASOIL_USD'],
        ['name', 'Desk gas oil'],
        ['category', 'refined_products'],
        ['unit', 'metric_ton'],
        ['currency', 'USD'],
      ] as const) {
        await tabTo(page, `form[aria-labelledby=terms] input[name=${name}]`)
        await page.keyboard.type(text)
      }
      await page.keyboard.press('Enter')
      await page.waitForSelector('.notice.good >> text=DESK_GASOIL_USD was added.')
      await page.click('button[aria-label="Edit DESK_GASOIL_USD"]')
      await page.fill('form[aria-labelledby=terms] input[name=name]', 'Gas oil of the desk')
      await page.click('text=Save series')
      const row = page.locator('section[aria-labelledby=series] tr:has-text("Gas oil of the desk")')
      for (const [word, tag] of [
        ['Retire', 'Retired'],
        ['Restore', 'Active'],
      ] as const) {
        await row.locator(`button:text-is("${word}")`).first().click()
        await row.locator('dialog[open] button.danger').click()
        await row.locator(`.tag:text-is("${tag}")`).waitFor()
      }
    })

    test('a feed is turned on, run, paused and resumed', async () => {
      const { page, goTo } = operator
      await goTo('/operator/feeds')
      await page.click(
        'button[aria-label^="Enable European Central Bank"], tr:has(.code:text-is("ecb")) button',
      )
      await page.fill(
        'form[aria-labelledby=feed] input[name=base_url]',
        `http://127.0.0.1:${publisher.port}`,
      )
      await page.click('form[aria-labelledby=feed] button.main')
      const row = page.locator('section[aria-labelledby=feeds] tr:has(.code:text-is("ecb"))')
      await row.locator('button:text-is("Run")').click()
      await row.locator('button:text-is("Pause")').click()
      await row.locator('.tag:text-is("Paused")').waitFor()
      await row.locator('button:text-is("Resume")').click()
      await row.locator('button:text-is("Pause")').waitFor()
    })
  })

  describe('people', () => {
    const account = () =>
      operator.page.locator('section[aria-labelledby=accounts] tr:has-text("ann@example.com")')

    test('an account is made by keyboard, gets another plan, and is found', async () => {
      const { page, goTo } = operator
      await goTo('/operator/people')
      await tabTo(page, 'summary:text-is("Add account")')
      await page.keyboard.press('Enter')
      await tabTo(page, 'details.card input[type=email]')
      await page.keyboard.type('ann@example.com')
      await page.keyboard.press('Enter')
      await page.waitForSelector('.notice.good >> text=The first key for ann@example.com')
      await page.selectOption('select[aria-label="Plan of ann@example.com"]', 'professional')
      const dialog = 'dialog.side[open]'
      await page.click(`${dialog} button:text-is("Leave billing as it is")`)
      await page.waitForSelector(`${dialog} dd:text-is("Nothing")`)
      await page.waitForSelector(`${dialog} dd:text-is("Nothing, until a price is agreed.")`)
      const answered = page.waitForResponse(answer => answer.request().method() === 'PATCH')
      await page.click(`${dialog} button:text-is("Change to Professional")`)
      expect((await answered).status()).toBe(200)
      await page.fill('section[aria-labelledby=accounts] input[type=search]', 'ann@')
      await page.waitForSelector('section[aria-labelledby=accounts] tbody:not(:has(tr + tr))')
    })

    test('its keys are made, rolled and revoked, and requests given', async () => {
      const { page } = operator
      await page.click('button[aria-label="Details of ann@example.com"]')
      await page.waitForSelector('dialog.side[open] section[aria-label=Usage]')
      await page.click('[aria-label=Activity] button:text-is("Keys")')
      const keys = page.locator('section[aria-labelledby=account-keys]')
      await keys.locator('form input').fill('desk')
      await keys.locator('text=Create key').click()
      const first = (await page.textContent('.notice.good:has-text("The new key") code'))!
      const row = keys.locator('tr:has-text("desk")').first()
      await row.locator('button:text-is("Roll")').first().click()
      await row.locator('dialog[open] button.danger').click()
      await page.waitForSelector(
        `.notice.good:has-text("The new key") code:not(:text-is("${first}"))`,
      )
      await row.locator('button:text-is("Revoke")').first().click()
      await row.locator('dialog[open] button.danger').click()
      await row.locator('text=Ended').waitFor()
      for (const part of ['Alerts', 'Webhooks', 'Deliveries', 'Invoices']) {
        await page.click(`[aria-label=Activity] button:text-is("${part}")`)
        await page.waitForSelector(`text=No ${part.toLowerCase()} yet.`)
      }
      await page.click('[aria-label=Activity] button:text-is("Credits")')
      const credits = page.locator('section[aria-labelledby=account-credits]')
      await credits.locator('input[name=requests]').fill('2500')
      await credits.locator('button:text-is("Grant credits")').click()
      await page.waitForSelector('.notice.good >> text=2,500 requests were granted')
    })

    test('it is suspended and released, and gets a link to sign in', async () => {
      const { page } = operator
      for (const [word, tag] of [
        ['Suspend', 'Suspended'],
        ['Restore', 'Active'],
      ] as const) {
        await page.click(`dialog.side button:text-is("${word}")`)
        await page.click(`dialog.side dialog[open] button.danger:text-is("${word}")`)
        await account().locator(`.tag:text-is("${tag}")`).waitFor()
      }
      await page.click('button[aria-label="Sign-in link for ann@example.com"]')
      await page.waitForSelector('.notice.good code:has-text("/sign-in?token=")')
    })

    test('an impersonation shows the account without changing it and is recorded in the audit trail', async () => {
      const { page, goTo } = await stage.visitor('operator', { isRefused: true })
      await goTo('/operator/people')
      const row = page.locator('section[aria-labelledby=accounts] tr:has-text("ann@example.com")')
      await row.locator('button:text-is("Details")').click()
      await page.click('dialog.side button:text-is("Impersonate")')
      await page.click('dialog.side dialog[open] button.danger')
      await page.waitForURL('**/board')
      await page.waitForSelector('.ribbon.look >> text=ann@example.com')
      await goTo('/account')
      await page.waitForSelector(
        'section[aria-labelledby=keys] tbody tr, section:has(#keys) .empty',
      )
      expect(await page.locator('main form, main button.danger').count()).toBe(0)
      const refused = await page.evaluate<string>(
        `fetch('/v1/api-keys', { method: 'POST', body: '{"name":"stolen"}', headers: {
          'content-type': 'application/json',
          authorization: 'Bearer ' + JSON.parse(sessionStorage.getItem('look')).token,
        } }).then(answer => answer.text())`,
      )
      expect(refused).toContain('This impersonation is read-only')
      await page.click('button:text-is("End impersonation")')
      await page.waitForURL('**/operator/people')
      await goTo('/operator/audit')
      await page.fill('section[aria-labelledby=audit] input[placeholder=WTI_USD]', '/look')
      await page.waitForSelector('section[aria-labelledby=audit] td:has-text("/look")')
    })

    test('what a change of plan bills is shown before it happens, and then invoiced', async () => {
      const { page, goTo, violations } = operator
      await goTo('/operator/people')
      const dialog = 'dialog.side[open]'
      const choose = (plan: string) =>
        page.selectOption('select[aria-label="Plan of ann@example.com"]', plan)
      await choose('scale')
      // Neither an invoice nor a plan without one is a click away: the operator says which.
      await page.waitForSelector(`${dialog} [aria-label=Billing]:not(:has([aria-pressed=true]))`)
      expect(await page.locator(`${dialog} button[type=submit]`).count()).toBe(0)
      await page.click(`${dialog} button:text-is("Bill the plan")`)
      await page.fill(`${dialog} input[type=number]`, '120.50')
      await page.waitForSelector(`${dialog} dd:text-is("USD 120.50")`)
      await page.waitForSelector(`${dialog} dd:text-is("USD 120.50 every month, from today.")`)
      expect(await violations()).toEqual([])
      await page.click(`${dialog} button:text-is("Change to Scale")`)
      await account().locator('.tag:text-is("Open"), .tag:text-is("Paid")').waitFor()
      const { data } = await stage.asOperator<{ data: { invoices: { amount: number }[] } }>(
        'GET',
        '/admin/v1/invoices?per_page=1',
      )
      expect(data.invoices[0]!.amount).toBe(12_050)
      await choose('free')
      await page.waitForSelector(`${dialog} dd:has-text("Scale at USD 120.50 ends on")`)
      await page.click(`${dialog} button:text-is("Cancel the subscription")`)
      await page.waitForSelector(dialog, { state: 'detached' })
    })

    test('organizations and who is in them are listed', async () => {
      const { page, goTo } = operator
      await goTo('/operator/people')
      await page.waitForSelector(
        'section[aria-labelledby=organizations] td:has-text("reader@evaluation.example")',
      )
    })
  })

  describe('the system', () => {
    test.each([
      ['E-mail', 'desk@example.com', 'The e-mail to desk@example.com was accepted'],
      ['Text message', '+15550100002', 'Text message:'],
      ['Webhook', '', 'Webhook:'],
    ])('the operator can test the delivery channel %s', async (title, address, said) => {
      const { page, goTo } = operator
      await goTo('/operator/system')
      const form = `form[aria-label="Test: ${title}"]`
      await tabTo(page, `${form} input`)
      await page.keyboard.type(address || `http://127.0.0.1:${receiver.port}/`)
      await page.keyboard.press('Enter')
      await page.waitForSelector(`.notice.good:has-text("${said}")`)
    })

    test('settings are found, with where each comes from', async () => {
      const { page } = operator
      await page.fill('section[aria-labelledby=settings] input[type=search]', 'limits.per_minute')
      const row = page.locator('section[aria-labelledby=settings] tr:has-text("limits.per_minute")')
      await row.locator('td:has-text("env WELLHEAD_LIMITS_PER_MINUTE")').waitFor()
      await page.click('button:text-is("Changed only")')
      await row.waitFor()
    })

    test('a read-only operator token can view everything and change nothing', async () => {
      const { page, goTo } = operator
      await goTo('/operator/system')
      await page.fill('section[aria-labelledby=tokens] form input', 'watcher')
      await page.click('text=Create token')
      const token = (await page.textContent('.notice.good code'))!
      const watcher = await stage.visitor('stranger', { isRefused: true })
      await watcher.goTo('/operator/data')
      await watcher.page.fill('input[name=token]', token)
      await watcher.page.keyboard.press('Enter')
      const form = watcher.page.locator('form[aria-label="Quarantine days"]')
      await form.locator('input[name=code]').fill('WTI_USD')
      await form.locator('input[name=from]').fill('2026-11-10')
      await form.locator('input[name=reason]').fill('not allowed')
      await form.locator('button').click()
      await watcher.page.waitForSelector('.notice.bad:has-text("read")')
      const row = page.locator('section[aria-labelledby=tokens] tr:has-text("watcher")')
      await row.locator('button:text-is("Revoke")').first().click()
      await row.locator('dialog[open] button.danger').click()
      await row.locator('text=Revoked').waitFor()
    })

    test('the log is live, and searched', async () => {
      const { page, goTo } = operator
      await goTo('/operator/logs')
      await page.waitForSelector('section[aria-labelledby=log] th:has-text("server_listening")')
      await page.fill('section[aria-labelledby=log] input', 'no line has these words')
      await page.waitForSelector('text=No matching lines.')
      await page.fill('section[aria-labelledby=log] input', '')
      await page.click('button:text-is("Live")')
      await page.waitForSelector('button:text-is("Live")[aria-pressed=false]')
    })

    test('what waits to be sent is chosen and dropped', async () => {
      const { page, goTo } = operator
      // Its receiver answers no one, so that it waits for its next try.
      const member = { authorization: `Token ${stage.instance.apiKey}` }
      const made = await fetch(`${stage.instance.url}/v1/webhooks`, {
        method: 'POST',
        headers: { ...member, 'content-type': 'application/json' },
        body: JSON.stringify({ url: `http://127.0.0.1:1/`, events: ['price.updated'] }),
      })
      expect(made.status).toBe(201)
      await stage.instance.record([{ code: 'WTI_USD', price: (await latest('WTI_USD')) + 0.1 }])
      await stage.instance.messages()
      await goTo('/operator/outbox')
      const queue = page.locator('section[aria-labelledby=outbox]')
      const chosen = queue.locator('tr:has-text("price.updated") input').first()
      await chosen.focus()
      await page.keyboard.press('Space')
      await queue.locator('header button:text-is("Drop")').first().click()
      await queue.locator('dialog[open] button.danger').click()
      await page.waitForSelector('.notice.good >> text=1 dropped.')
      await queue.locator('button:has-text("Abandoned")').click()
      await queue.locator('td:has-text("the operator dropped it")').first().waitFor()
    })

    test('the audit trail can be searched by keyboard', async () => {
      const { page, goTo } = operator
      await goTo('/operator/audit')
      await tabTo(page, 'section[aria-labelledby=audit] input[placeholder=WTI_USD]')
      await page.keyboard.type('/admin/v1/quarantine')
      await page.waitForSelector(
        'section[aria-labelledby=audit] tbody tr:has-text("/admin/v1/quarantine")',
      )
    })

    test('the audit trail keeps its words whole on a phone', async () => {
      const { page, goTo } = await stage.visitor('operator', { width: 390 })
      await goTo('/operator/audit')
      const heights = await page
        .locator('section[aria-labelledby=audit] tbody tr')
        .evaluateAll(rows => rows.map(row => row.getBoundingClientRect().height))
      expect(Math.max(...heights)).toBeLessThan(320)
    })
  })

  describe('on a copy that serves', () => {
    const dir = temporaryDir()
    const settings = join(dir, 'wellhead.toml')
    const backups = join(dir, 'backups')
    const heard: { isOpen: boolean; notices: string[]; hooks: string[] } = {
      isOpen: false,
      notices: [],
      hooks: [],
    }
    const ear = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const isNotice = new URL(request.url).pathname === '/notices'
        const text = await request.text()
        if (isNotice) heard.notices.push(text)
        else if (heard.isOpen) heard.hooks.push(request.headers.get('webhook-id')!)
        return new Response('', { status: isNotice || heard.isOpen ? 200 : 503 })
      },
    })
    let server: Server
    let visitor: Visitor

    const openAt = async (path: string) => {
      visitor = await openVisitor(stage.browser, server.url)
      await visitor.goTo(path)
      await visitor.page.fill('input[name=token]', server.adminToken)
      await visitor.page.keyboard.press('Enter')
    }

    beforeAll(async () => {
      writeFileSync(
        settings,
        [
          `backups = { directory = "${backups}" }`,
          `notices = { url = "http://127.0.0.1:${ear.port}/notices" }`,
          'egress = { allow = ["127.0.0.0/8"] }',
        ].join('\n'),
      )
      server = await start('serve', dir, '--config', settings)
    }, 60_000)
    afterAll(async () => {
      await server?.stop()
      await ear.stop(true)
      remove(dir)
    })

    test('a notice is tested, by keyboard', async () => {
      await openAt('/operator/system')
      const { page } = visitor
      await tabTo(page, 'form[aria-label="Test: Notices"] button')
      await page.keyboard.press('Enter')
      await page.waitForSelector('.notice.good:has-text("Notices:")')
      expect(heard.notices).toHaveLength(1)
    })

    test('a backup is made and checked', async () => {
      const { page, goTo, complaints } = visitor
      // Two messages wait in it: their receiver takes nothing yet.
      const post = async (path: string, authorization: string, body: object) => {
        const answer = await fetch(`${server.url}${path}`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
        expect(answer.ok, await answer.text()).toBe(true)
      }
      await post('/v1/webhooks', `Token ${server.apiKey}`, {
        url: `http://127.0.0.1:${ear.port}/hook`,
        events: ['price.updated'],
      })
      const observedAt = new Date().toISOString()
      await post('/admin/v1/observations', `Bearer ${server.adminToken}`, {
        observations: ['WTI_USD', 'BRENT_CRUDE_USD'].map(code => ({
          code,
          price: 61.5,
          observed_at: observedAt,
        })),
      })
      // The page shows how things stood when it was opened: perhaps before both were attempted.
      await until('both messages wait', async () => {
        await goTo('/operator/outbox')
        await page.waitForSelector('button:text-matches("^Waiting \\\\d")')
        return await page.isVisible('button:text-is("Waiting 2")')
      })
      await goTo('/operator/backups')
      for (const [word, said] of [
        ['Back up now', 'A backup finished'],
        ['Verify newest', 'Verification of the newest backup finished'],
      ] as const) {
        await tabTo(page, `button:text-is("${word}"):not([aria-disabled=true])`)
        await page.keyboard.press('Enter')
        await page.waitForSelector(`.notice.good:has-text("${said}")`, { timeout: 30_000 })
      }
      await page.waitForSelector('section[aria-labelledby=backups] tbody tr')
      // A production instance has no tools of a demo instance.
      await goTo('/desk')
      await page.waitForSelector('text=These controls exist only in a demo instance')
      expect(complaints).toEqual([])
    }, 60_000)

    test('what a restore held back is sent: one by itself, then the rest', async () => {
      await server.stop()
      const restored = await run(
        'restore',
        '--data',
        join(dir, 'data'),
        '--config',
        settings,
        '--from',
        'latest',
      )
      expect(restored.code, restored.err).toBe(0)
      heard.isOpen = true
      server = await start('serve', dir, '--config', settings)
      await openAt('/operator/outbox')
      const { page, complaints } = visitor
      const held = page.locator('section[aria-labelledby=held]')
      await held.locator('tbody tr').nth(1).waitFor()
      await held.locator('button[aria-label="Send price.updated"]').first().click()
      await page.waitForSelector('.notice.good:has-text("1 being sent")')
      await held.locator('button:text-is("Send all")').first().click()
      await held.locator('dialog[open]:has-text("Send 1 messages?") button.danger').click()
      await held.locator('text=No messages are held.').waitFor()
      await page.waitForFunction(
        `fetch('/admin/v1/outbox', { headers: { authorization: 'Bearer ${server.adminToken}' } })
          .then(answer => answer.json()).then(({ data }) => data.counts.waiting === 0)`,
      )
      expect(new Set(heard.hooks).size).toBe(2)
      expect(complaints).toEqual([])
    }, 60_000)
  })

  test('asks no other host for anything, and the browser complains about nothing', () => {
    stage.expectQuiet()
  })
})
