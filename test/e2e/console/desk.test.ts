import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type BinaryStage, openBinaryStage } from '../../support/console/binary-stage.ts'
import type { Visitor } from '../../support/console/browser.ts'
import { tabTo } from '../../support/console/keyboard.ts'
import { needs } from '../../support/needs.ts'

needs('chromium').describe('the tools of a demo instance, in the binary', () => {
  let stage: BinaryStage
  let operator: Visitor

  beforeAll(async () => {
    // Two days before clocks change in New York.
    stage = await openBinaryStage({ clock: '2026-10-30T15:00:00Z' })
    operator = await stage.visitor('operator')
  }, 600_000)
  afterAll(async () => {
    await stage?.close()
  })

  const latest = () => stage.instance.get('/v1/prices/latest', { by_code: 'WTI_USD' })

  test('a snapshot is taken first, to go back to', async () => {
    const { page, goTo } = operator
    await goTo('/desk')
    await tabTo(page, 'button:text-is("Take a snapshot")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.notice.good >> text=Saved as before, at 2026-10-30 15:00 UTC')
  })

  test('the demo clock can be stepped, run, frozen and moved to a day by keyboard', async () => {
    const { page, goTo } = operator
    await goTo('/desk')
    await page.waitForSelector('.now:text-is("2026-10-30 15:00 UTC")')
    for (const [step, now] of [
      ['+ 1 minute', '2026-10-30 15:01 UTC'],
      ['+ 1 hour', '2026-10-30 16:01 UTC'],
    ] as const) {
      await tabTo(page, `button:text-is("${step}")`)
      await page.keyboard.press('Enter')
      await page.waitForSelector(`.now:text-is("${now}")`)
    }
    await tabTo(page, 'button:text-is("Unfreeze")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('section[aria-labelledby=clock] .tag:text-is("Running")')
    await page.click('button:text-is("Freeze")')
    await page.waitForSelector('section[aria-labelledby=clock] .tag:text-is("Frozen")')
    await page.fill('section[aria-labelledby=clock] input[type=date]', '2026-10-31')
    await page.click('section[aria-labelledby=clock] button:text-is("Run")')
    await page.waitForSelector('.now:has-text("2026-10-31 12:0")')
    expect((await stage.instance.now()).toISOString()).toStartWith('2026-10-31T12:0')
  })

  test('a route is made to fail, and works again', async () => {
    const { page, goTo } = operator
    await goTo('/desk')
    const form = page.locator('section[aria-labelledby=add-fault] form')
    await form.locator('select').selectOption('PAYMENT_REQUIRED')
    await form.locator('button').click()
    await page.waitForSelector('section[aria-labelledby=faults] td:text-is("PAYMENT_REQUIRED")')
    expect((await latest()).status).toBe(402)
    await page.click('button:text-is("End all faults")')
    await page.waitForSelector('text=No faults are active.')
    expect((await latest()).status).toBe(200)
  })

  test('the live request log can be filtered and says why a request was refused', async () => {
    const { page, goTo } = operator
    await goTo('/desk/requests')
    await stage.instance.get('/v1/prices/latest', { by_code: 'WTI_USDD' })
    const line = page.locator('details.told:has-text("WTI_USDD")').first()
    await line.waitFor()
    await page.check('text=Refused only')
    await page.fill('input[aria-label="Part of the path"]', '/v1/prices/latest')
    await line.locator('summary').click()
    await line.locator('text=A commodity code is not in the catalogue.').waitFor()
    await line.locator('text=with the key evaluation').waitFor()
    await page.click('button:text-is("Clear the list")')
    await page.waitForSelector('text=No matching requests yet.')
  })

  /** Scenarios move the clock over weeks: their time is that of the machine, and decides nothing. */
  const playMs = 240_000
  /** Plays a scenario from the page; returns the page's text about it, and its subject. */
  const play = async (name: string, title: string, options: Record<string, string> = {}) => {
    const { page, goTo } = operator
    await goTo('/desk')
    const form = page.locator(`form:has(button[aria-label="Play ${name}"])`)
    for (const [option, value] of Object.entries(options))
      await form.locator(`input[name=${option}]`).fill(value)
    await form.locator('button').click()
    const outcome = page.locator(`.notice.good:has(strong:text-is("${title}:"))`)
    await outcome.waitFor({ timeout: playMs })
    await outcome.locator('summary').click()
    const details = (await outcome.locator('pre').textContent())!
    return { said: (await outcome.textContent())!, details: JSON.parse(details) as unknown }
  }

  test(
    'the dst scenario sets the clock to one hour before the change in the entered time zone',
    async () => {
      const { page } = operator
      const { details } = await play('dst', 'Hour before a clock change', {
        zone: 'America/New_York',
      })
      const { changes_at: changesAt } = details as { changes_at: string }
      const before = Date.parse(changesAt) - 3_600_000
      expect((await stage.instance.now()).getTime()).toBe(before)
      const shown = new Date(before).toISOString().slice(0, 16).replace('T', ' ')
      await page.waitForSelector(`.now:text-is("${shown} UTC")`)
    },
    playMs,
  )

  test.each([
    ['negative-wti', 'Negative WTI', 'WTI'],
    ['crash', 'Crash', ''],
    ['late-release', 'Late release', ''],
    ['outage', 'Outage', ''],
    ['receiver-failing', 'Receiver failing', 'was refused'],
  ])(
    'the scenario %s is played',
    async (name, title, said) => {
      expect((await play(name, title)).said).toContain(said)
    },
    playMs,
  )

  test('the demo delivery log shows each webhook message with the response of the receiver', async () => {
    const { page, goTo } = operator
    await goTo('/desk/deliveries')
    const line = page.locator('details.told:has-text("does-not-answer")').first()
    await line.locator('summary').click()
    await line.locator('dt:text-is("Attempts")').waitFor()
    await line.locator('pre').first().waitFor()
  })

  test('the demo inbox shows e-mails as their recipients see them', async () => {
    const { page, goTo } = operator
    await fetch(`${stage.instance.url}/sign-in/link`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ email: 'eval@example.com' }),
    })
    await stage.instance.mail.next(message => message.text.includes('/sign-in?token='))
    await goTo('/desk/inbox')
    await page.fill('input[aria-label="Words or an address"]', 'sign-in?token=')
    await tabTo(page, '.mailbox ul button')
    await page.keyboard.press('Enter')
    const reader = page.locator('article[aria-label=Message]')
    const views = reader.locator('button:text-is("E-mail")')
    if ((await views.count()) > 0) {
      await page.frameLocator('iframe.letter').locator('a[href*="token="]').first().waitFor()
      await reader.locator('button:text-is("Source")').click()
      await reader.locator('pre').waitFor()
      await reader.locator('button:text-is("Text")').click()
    }
    await reader.locator('.paper a[href*="token="]').waitFor()
  })

  test(
    'a revised value keeps its former price for as_of requests',
    async () => {
      const { said, details } = await play('revision', 'Revision', { code: 'WTI_USD' })
      const { before, after, as_of: stoodAt } = details as Record<string, string>
      expect(said).toContain(`was corrected from ${before} to ${after}.`)
      const priceAt = async (query: Record<string, string>) => {
        const answer = await stage.instance.get('/v1/prices/latest', {
          by_code: 'WTI_USD',
          ...query,
        })
        return ((await answer.json()) as { data: { price: unknown } }).data.price
      }
      expect(await priceAt({})).toBe(after)
      expect(await priceAt({ as_of: stoodAt! })).toBe(before)
    },
    playMs,
  )

  interface Customer {
    account: { email: string }
    api_key: string
  }

  test(
    'a quota is used up, to the number of requests that is typed',
    async () => {
      const { said, details } = await play('quota-edge', 'Quota almost used up', { remaining: '2' })
      expect(said).toContain('has 2 of ')
      const { api_key: key } = details as Customer
      const statuses: number[] = []
      for (let asked = 0; asked < 3; asked += 1) {
        const answer = await fetch(`${stage.instance.url}/v1/prices/latest?by_code=WTI_USD`, {
          headers: { authorization: `Token ${key}` },
        })
        statuses.push(answer.status)
      }
      expect(statuses).toEqual([200, 200, 402])
    },
    playMs,
  )

  test(
    'a declined card puts a payment e-mail in the demo inbox',
    async () => {
      const { page, goTo } = operator
      const { details } = await play('payment-failing', 'Payment failing')
      const { account } = details as Customer
      await goTo('/desk/inbox')
      await page.fill('input[aria-label="Words or an address"]', account.email)
      await page.click('.mailbox ul button:has-text("is not paid")', { timeout: 120_000 })
      await page.waitForSelector('article[aria-label=Message] >> text=is not paid')
    },
    playMs,
  )

  test('the state goes back to the snapshot, and to the beginning', async () => {
    const { page, goTo } = operator
    await goTo('/desk')
    await page.click('button:text-is("Restore")')
    await page.waitForSelector('.notice.good >> text=Restored before, at 2026-10-30 15:00 UTC')
    await page.waitForSelector('.now:text-is("2026-10-30 15:00 UTC")')
    expect((await stage.instance.now()).toISOString()).toBe('2026-10-30T15:00:00.000Z')
    await page.click('section[aria-labelledby=snapshots] button:text-is("Reset")')
    await page.click('dialog[open] button.danger')
    await page.waitForSelector('.notice.good >> text=Reset, at ')
  })

  test('an unknown snapshot is refused with the message of the API', async () => {
    const { page, goTo } = await stage.visitor('operator', { isRefused: true })
    await goTo('/desk')
    await page.fill('section[aria-labelledby=snapshots] input', 'never-taken')
    await page.click('button:text-is("Restore")')
    await page.waitForSelector(
      'section[aria-labelledby=snapshots] .notice.bad:has-text("never-taken")',
    )
  })

  test('asks no other host for anything, and the browser complains about nothing', () => {
    stage.expectQuiet()
  })
})
