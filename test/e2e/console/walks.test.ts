import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type BinaryStage, openBinaryStage } from '../../support/console/binary-stage.ts'
import { tabTo } from '../../support/console/keyboard.ts'
import { needs } from '../../support/needs.ts'

/** Goes to a page by the search: Control-K, its words, Enter. */
async function search(page: Page, words: string, path: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.waitForSelector('dialog[open] input')
  await page.keyboard.type(words)
  await page.waitForSelector(`dialog[open] a[href="${path}"]`)
  await page.keyboard.press('Enter')
  await page.waitForURL(`**${path}`)
}

const press = async (page: Page, selector: string, key = 'Enter'): Promise<void> => {
  await tabTo(page, selector)
  await page.keyboard.press(key)
}

needs('chromium').describe('a morning by keyboard alone, in the binary', () => {
  let stage: BinaryStage
  beforeAll(async () => {
    stage = await openBinaryStage({ size: 'whole', settings: { WELLHEAD_DEMO_VISITOR: 'true' } })
  }, 600_000)
  afterAll(async () => {
    await stage?.close()
  })

  test('a trader reads the movers, opens one, moves the cursor of its chart and reads the curve', async () => {
    const { page, goTo } = await stage.visitor('member')
    await goTo('/market')
    await page.waitForSelector('section[aria-labelledby=movers] tbody tr')
    const loads = await page.evaluate<number>(
      `performance.getEntriesByType('resource').filter(({ name }) => /\\.(js|css|woff2)$/.test(name.split('?')[0])).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
    )
    console.info(`console: /market loads ${loads} bytes of scripts, styles and fonts`)
    expect(loads).toBeLessThan(250_000)
    await press(page, 'section[aria-labelledby=movers] th button:text-is("7 days")')
    await page.waitForSelector('section[aria-labelledby=movers] th[aria-sort=descending]')
    await press(page, 'section[aria-labelledby=movers] tbody a[href="/series/WTI_USD"]')
    await page.waitForSelector('.market canvas')
    await tabTo(page, '.market .plot')
    await page.keyboard.press('ArrowLeft')
    await page.waitForSelector('.market [role=status]:has-text("WTI_USD")', { state: 'attached' })
    await search(page, 'curves', '/markets')
    await page.waitForSelector('section[aria-labelledby=contracts-brent] tbody tr')
    await goTo('/market')
    await press(page, 'section[aria-labelledby=spreads-now] a:text-is("WTI 3-2-1 Crack")')
    await page.waitForSelector('h2#spread:text-is("WTI 3-2-1 Crack")')
  })

  test('a product owner reads who pays and what one customer uses', async () => {
    const { page, goTo } = await stage.visitor('operator')
    await goTo('/operator')
    await search(page, 'customers', '/operator/people')
    await page.waitForSelector('.figure span:text-is("Monthly revenue")')
    await page.waitForSelector('.figure span:text-is("Near their limit")')
    await press(page, 'button[aria-label="Details of eval@example.com"]')
    await page.waitForSelector('dialog.side[open] section[aria-label=Usage]')
    await press(page, 'dialog.side [aria-label=Activity] button:text-is("Invoices")')
    await page.waitForSelector('dialog.side section[aria-labelledby=customer-activity]')
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog.side', { state: 'detached' })
  })

  test('an operator sees that there are no faults, and opens a feed and the log', async () => {
    const { page, goTo } = await stage.visitor('operator')
    await goTo('/operator')
    await page.waitForSelector('h2:text-is("Over time")')
    await search(page, 'feeds', '/operator/feeds')
    await page.waitForSelector('section[aria-labelledby=feeds] tbody tr')
    await search(page, 'logs', '/operator/logs')
    await page.waitForSelector('main h1')
  })

  test('a developer finds the request that was refused and why', async () => {
    const { page, goTo } = await stage.visitor('member')
    await fetch(`${stage.instance.url}/v1/prices/latest?by_code=NOT_A_CODE`, {
      headers: { authorization: `Bearer ${stage.instance.apiKey}` },
    })
    await goTo('/account')
    await search(page, 'requests', '/account/requests')
    await press(page, '[aria-label=Outcome] button:text-is("Refused")')
    await page.waitForSelector('section[aria-labelledby=requests] td:has-text("/v1/prices/latest")')
    await press(page, 'section[aria-labelledby=requests] tbody button')
    await page.waitForSelector('section[aria-labelledby=request] pre:has-text("NOT_A_CODE")')
    // The other requests of the list are not in between.
    await page.waitForSelector('section[aria-labelledby=request]:focus')
  })

  test('an evaluator moves an alert and plays a crash from the first page', async () => {
    const { page, goTo } = await stage.visitor('stranger')
    await goTo('/')
    await page.waitForSelector('section[aria-labelledby=backtest] >> text=It would have fired')
    await tabTo(page, 'section[aria-labelledby=backtest] input[type=range]')
    await page.keyboard.press('ArrowRight')
    await page.waitForSelector('section[aria-labelledby=backtest] >> text=It would have fired')
    await press(page, '.try button:text-is("Crash")')
    await page.waitForSelector('.notice.good a:text-is("See WTI")')
    // The market stays on one screen with the alert that has fired.
    await goTo('/market')
    await page.waitForSelector('.dates a:text-is("WTI far from its month")')
    const height = await page.evaluate<number>('document.documentElement.scrollHeight')
    expect(height).toBeLessThanOrEqual(900)
  })

  test('the browser complains about nothing', () => {
    stage.expectQuiet()
  })
})
