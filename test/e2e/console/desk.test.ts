import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type BinaryStage, openBinaryStage } from '../../support/console/binary-stage.ts'
import { hasBrowser, type Visitor } from '../../support/console/browser.ts'
import { tabTo } from '../../support/console/keyboard.ts'

describe.skipIf(!hasBrowser)('the desk of an evaluation copy, in the binary', () => {
  let stage: BinaryStage
  let operator: Visitor

  beforeAll(async () => {
    stage = await openBinaryStage()
    operator = await stage.visitor('operator')
  }, 600_000)
  afterAll(async () => {
    await stage?.close()
  })

  const latest = () => stage.copy.get('/v1/prices/latest', { by_code: 'WTI_USD' })

  test('a snapshot is taken first, to go back to', async () => {
    const { page, goTo } = operator
    await goTo('/desk')
    await tabTo(page, 'button:text-is("Take a snapshot")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.notice.good >> text=Kept as before, at 2026-11-20 15:00 UTC')
  })

  test('the clock goes on by steps, runs, is frozen, and runs on to a day, by keyboard', async () => {
    const { page, goTo } = operator
    await goTo('/desk')
    await page.waitForSelector('.now:text-is("2026-11-20 15:00 UTC")')
    for (const [step, now] of [
      ['+ 1 minute', '2026-11-20 15:01 UTC'],
      ['+ 1 hour', '2026-11-20 16:01 UTC'],
    ] as const) {
      await tabTo(page, `button:text-is("${step}")`)
      await page.keyboard.press('Enter')
      await page.waitForSelector(`.now:text-is("${now}")`)
    }
    await tabTo(page, 'button:text-is("Let it run")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('section[aria-labelledby=clock] .tag:text-is("Runs")')
    await page.click('button:text-is("Freeze")')
    await page.waitForSelector('section[aria-labelledby=clock] .tag:text-is("Stands still")')
    await page.fill('section[aria-labelledby=clock] input[type=date]', '2026-11-22')
    await page.click('section[aria-labelledby=clock] button:text-is("Run on")')
    await page.waitForSelector('.now:has-text("2026-11-22 12:0")')
    expect((await stage.copy.now()).toISOString()).toStartWith('2026-11-22T12:0')
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
    await page.waitForSelector('text=Every route works.')
    expect((await latest()).status).toBe(200)
  })

  test('the log of requests says why one was refused, filtered and live', async () => {
    const { page, goTo } = operator
    await goTo('/desk/requests')
    await stage.copy.get('/v1/prices/latest', { by_code: 'WTI_USDD' })
    const line = page.locator('details.told:has-text("WTI_USDD")').first()
    await line.waitFor()
    await page.check('text=Refused only')
    await page.fill('input[aria-label="Part of the path"]', '/v1/prices/latest')
    await line.locator('summary').click()
    await line.locator('text=A commodity code is not in the catalogue.').waitFor()
    await line.locator('text=with the key evaluation').waitFor()
    await page.click('button:text-is("Forget them")')
    await page.waitForSelector('text=Nothing of the kind was asked yet.')
  })

  test.each([
    ['negative-wti', 'Negative WTI', 'WTI'],
    ['crash', 'Crash', ''],
    ['late-release', 'Late release', ''],
    ['outage', 'Outage', ''],
    ['receiver-failing', 'Receiver failing', 'was refused'],
  ])('the scenario %s is played', async (name, title, said) => {
    const { page, goTo } = operator
    await goTo('/desk')
    await page.click(`button[aria-label="Play ${name}"]`)
    const outcome = page.locator(`.notice.good:has(strong:has-text("${title}"))`)
    await outcome.waitFor({ timeout: 30_000 })
    expect(await outcome.textContent()).toContain(said)
    await outcome.locator('summary').click()
    expect(await outcome.locator('pre').textContent()).toContain('{')
  })

  test('what was sent by webhook is there, with what the receiver said', async () => {
    const { page, goTo } = operator
    await goTo('/desk/deliveries')
    const line = page.locator('details.told:has-text("does-not-answer")').first()
    await line.locator('summary').click()
    await line.locator('dt:text-is("Attempts")').waitFor()
    await line.locator('pre').first().waitFor()
  })

  test('letters are read as their readers see them', async () => {
    const { page, goTo } = operator
    await fetch(`${stage.copy.url}/sign-in/link`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ email: 'eval@example.com' }),
    })
    await stage.copy.mail.next(message => message.text.includes('/sign-in?token='))
    await goTo('/desk/inbox')
    await page.fill('input[aria-label="Words or an address"]', 'sign-in?token=')
    await tabTo(page, '.mailbox ul button')
    await page.keyboard.press('Enter')
    const reader = page.locator('article[aria-label=Message]')
    const views = reader.locator('button:text-is("Letter")')
    if ((await views.count()) > 0) {
      await page.frameLocator('iframe.letter').locator('a[href*="token="]').first().waitFor()
      await reader.locator('button:text-is("Source")').click()
      await reader.locator('pre').waitFor()
      await reader.locator('button:text-is("Text")').click()
    }
    await reader.locator('.paper a[href*="token="]').waitFor()
  })

  test('the state goes back to the snapshot, and to the beginning', async () => {
    const { page, goTo } = operator
    await goTo('/desk')
    await page.click('button:text-is("Go back to it")')
    await page.waitForSelector('.notice.good >> text=Back at before, 2026-11-20 15:00 UTC')
    expect((await stage.copy.now()).toISOString()).toBe('2026-11-20T15:00:00.000Z')
    await page.click('section[aria-labelledby=snapshots] button:text-is("Begin anew")')
    await page.click('dialog[open] button.danger')
    await page.waitForSelector('.notice.good >> text=Begun anew')
  })

  test('a snapshot that is none is refused in the words of the interface', async () => {
    const { page, goTo } = await stage.visitor('operator', { isRefused: true })
    await goTo('/desk')
    await page.fill('section[aria-labelledby=snapshots] input', 'never-taken')
    await page.click('button:text-is("Go back to it")')
    await page.waitForSelector(
      'section[aria-labelledby=snapshots] .notice.bad:has-text("never-taken")',
    )
  })

  test('asks no other host for anything, and the browser complains about nothing', () => {
    stage.expectQuiet()
  })
})
