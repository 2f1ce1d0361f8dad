import { afterAll, beforeAll, expect, test } from 'bun:test'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/until.ts'
import { openStage, type Stage } from './stage.ts'

needs('chromium').describe('power by delivery period', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  }, 120_000)
  afterAll(async () => {
    await stage?.close()
  })

  test('is shown as steps with the present moment, by hour, by zone and with its cheapest hours', async () => {
    const { page, goTo, violations, overflow } = await stage.visitor()
    await goTo('/markets/power')
    const steps = page.locator('section[aria-labelledby=steps] .chart')
    await steps.locator('canvas').waitFor()
    await steps.locator('figcaption:has-text("Europe/Berlin")').waitFor({ state: 'attached' })
    // The axis names hours, which the legend says of the newest period too.
    await steps.locator('.u-legend td:text-matches("00:00$")').waitFor()
    await page.waitForSelector('section[aria-labelledby=heat] tbody tr:nth-child(3)')
    await page.waitForSelector('section[aria-labelledby=cheapest] b')
    // The rest of the page is loaded when a reader scrolls to it.
    await page.locator('.below').scrollIntoViewIfNeeded()
    await page.waitForSelector('section[aria-labelledby=zones] tbody tr:nth-child(2)')
    const spreads = 'section[aria-labelledby=spreads]'
    await page.waitForSelector(`${spreads} .zone-map li:nth-child(3)`)
    await page.waitForSelector('section[aria-labelledby=supply] .columns > div:nth-child(3) canvas')
    await page.waitForSelector('section[aria-labelledby=gas-storage] tbody tr:nth-child(5)')
    expect(await violations()).toEqual([])
    // A zone of the map is the one to compare with, and the one that is shown.
    await page.click(`${spreads} button:has-text("FR")`)
    await page.waitForSelector(`${spreads} h2:has-text("Spread to France")`)
    expect(await page.locator('select').first().inputValue()).toBe('POWER_DA_FR_EUR')
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await overflow()).toBeLessThanOrEqual(0)
  }, 60_000)

  test('prints the parts of its page that were never scrolled to', async () => {
    const { page, goTo } = await stage.visitor()
    await goTo('/markets/power')
    await page.waitForSelector('.below', { state: 'attached' })
    await page.evaluate(
      `self.print = () => { self.printed = document.querySelectorAll('section[aria-labelledby=gas-storage] tbody tr').length }`,
    )
    await page.keyboard.press('Control+p')
    const printed = () => page.evaluate<number>('self.printed ?? 0')
    await until('the page is printed', async () => (await printed()) > 0)
    expect(await printed()).toBeGreaterThan(4)
  }, 60_000)
})
