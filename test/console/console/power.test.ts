import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
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
    // The newest period is named by its start, not by its end, which is another day.
    await steps.locator('.u-legend td:text-matches("23:[0-9]+ CET$")').waitFor()
    expect(await inkedColumns(page, '--bad')).toBeGreaterThan(0)
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
    // Charts are drawn again a moment after the window has changed.
    await until('the page fits a phone', async () => (await overflow()) <= 0)
  }, 60_000)

  test('a moment is in the period that began before it, and a period without a price has no line', async () => {
    const { page, goTo } = await stage.visitor()
    await goTo('/markets/power')
    const steps = page.locator('section[aria-labelledby=steps] .chart')
    await steps.locator('canvas').waitFor()
    const { x, y, width, height } = (await steps.locator('.u-over').boundingBox())!
    const caption = await steps.locator('figcaption').textContent()
    const periods = Number(/(\d+) points/.exec(caption!)![1]) - 1
    const at = async (period: number) => {
      await page.mouse.move(x + (width * period) / periods, y + height / 2)
      return await steps.locator('.u-legend').textContent()
    }
    expect(await at(20.8)).toBe(await at(20.2))
    expect(await at(21.2)).not.toBe(await at(20.8))
    const whole = await inkedColumns(page, '--ink-1')
    const ofDay = /\/v1\/delivery\/POWER_\w+\?date=/
    await page.route(ofDay, async route => {
      const response = await route.fetch()
      const answer = (await response.json()) as { data: { periods: { price: number | null }[] } }
      const day = answer.data.periods
      for (const period of day.slice(day.length / 4, day.length / 2)) period.price = null
      await route.fulfill({ response, json: answer })
    })
    await goTo('/markets/power')
    await steps.locator('canvas').waitFor()
    expect(await inkedColumns(page, '--ink-1')).toBeLessThan(whole - 0.15)
    await page.unroute(ofDay)
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

/** The share of the columns of the prices' chart that have a dot of an ink colour. */
const inkedColumns = (page: Page, ink: string): Promise<number> =>
  page.evaluate<number>(`(() => {
    const { width } = document.querySelector('section[aria-labelledby=steps] canvas')
    const dots = of => of.getContext('2d').getImageData(0, 0, of.width, of.height).data
    const sample = new OffscreenCanvas(1, 1)
    sample.getContext('2d').fillStyle = getComputedStyle(document.documentElement).getPropertyValue('${ink}')
    sample.getContext('2d').fillRect(0, 0, 1, 1)
    const wanted = dots(sample)
    const drawn = dots(document.querySelector('section[aria-labelledby=steps] canvas'))
    const columns = new Set()
    for (let at = 0; at < drawn.length; at += 4)
      if (drawn[at + 3] > 200 && [0, 1, 2].every(part => Math.abs(drawn[at + part] - wanted[part]) < 40))
        columns.add((at / 4) % width)
    return columns.size / width
  })()`)
