import { afterAll, beforeAll, expect, test } from 'bun:test'
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
})
