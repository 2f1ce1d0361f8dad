import { afterAll, beforeAll, expect, test } from 'bun:test'
import { tabTo } from '../../support/console/keyboard.ts'
import { needs } from '../../support/needs.ts'
import { openStage, type Stage } from './stage.ts'

needs('chromium').describe('the focus of a page', () => {
  let stage: Stage

  beforeAll(async () => {
    stage = await openStage()
  }, 120_000)
  afterAll(async () => {
    await stage?.close()
  })

  test('stays on a button that its own press turns off', async () => {
    const { page, goTo } = await stage.visitor()
    page.setDefaultTimeout(45_000)
    const focused = () =>
      page.evaluate<string>(
        'document.activeElement.ariaLabel ?? document.activeElement.textContent',
      )
    await goTo('/alerts/new?code=WTI_USD')
    const backtest = page.locator('button:text-is("Run backtest"):not([aria-disabled=true])')
    await page.fill('label:has-text("Price") input', '60')
    await backtest.focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('.notice >> text=Would have fired')
    expect(await focused()).toBe('Run backtest')
    await goTo('/series/WTI_USD')
    await page.focus('#known')
    await page.keyboard.press('ArrowLeft')
    const today = page.locator('.known button:text-is("Today"):not([aria-disabled=true])')
    await today.focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('.known button[aria-disabled=true]')
    expect(await focused()).toBe('Today')
  })

  test('stays in a list whose button a press removes, and goes to a form that a press opens and back', async () => {
    const { page, goTo } = await stage.visitor()
    page.setDefaultTimeout(45_000)
    const keys = 'section[aria-labelledby=keys]'
    await goTo('/account')
    await tabTo(page, `${keys} button:text-is("Restrict")`)
    await page.keyboard.press('Enter')
    await page.waitForSelector('form[aria-labelledby=limits] input:focus')
    await tabTo(page, 'form[aria-labelledby=limits] button:text-is("Cancel")')
    await page.keyboard.press('Enter')
    await page.waitForSelector(`${keys} button:text-is("Restrict"):focus`)
    await tabTo(page, `${keys} button:text-is("Revoke")`)
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog[open] button:text-is("Cancel"):focus')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForSelector(`${keys} .tag:text-is("Ended")`)
    await page.waitForSelector(`${keys}:focus`)
    await tabTo(page, `${keys} button:text-is("Roll")`)
  })

  test('goes through the menu of a phone to the page that is chosen', async () => {
    const { page, goTo } = await stage.visitor({ width: 390 })
    page.setDefaultTimeout(45_000)
    await goTo('/account')
    await tabTo(page, '.rail .menu')
    await page.keyboard.press('Enter')
    await tabTo(page, '.rail nav a[href="/webhooks"]')
    await page.keyboard.press('Enter')
    await page.waitForSelector('main:focus h1:text-is("Webhooks")')
    await page.waitForSelector('.menu[aria-expanded=false]')
  })

  test('stays on the button of a purchase that is confirmed by keyboard', async () => {
    const { page, goTo } = await stage.visitor()
    page.setDefaultTimeout(45_000)
    await goTo('/account/plan')
    await tabTo(page, 'section[aria-labelledby=credits] button:text-is("Buy")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog[open] button:text-is("Cancel"):focus')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.notice >> text=10,000 requests')
    await page.waitForSelector('section[aria-labelledby=credits] button:text-is("Buy"):focus')
  })
})
