import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type BinaryStage, openBinaryStage } from '../../support/console/binary-stage.ts'
import type { Visitor } from '../../support/console/browser.ts'
import { tabTo } from '../../support/console/keyboard.ts'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/until.ts'

needs('chromium').describe(
  'a user who opens a demo instance on this machine, in the binary',
  () => {
    let stage: BinaryStage
    let visitor: Visitor

    beforeAll(async () => {
      stage = await openBinaryStage({ size: 'whole', settings: { WELLHEAD_DEMO_VISITOR: 'true' } })
      visitor = await stage.visitor('stranger')
    }, 600_000)
    afterAll(async () => {
      await stage?.close()
    })

    test('sees a live price, a curve, stocks and an alert at the printed address, without a step', async () => {
      const { page, goTo, violations, overflow } = visitor
      await goTo('/')
      await page.waitForSelector('.market canvas')
      await page.waitForSelector('section[aria-labelledby=live-prices] tbody .strong')
      await page.waitForSelector('section[aria-labelledby=demo-curve] .mini')
      await page.waitForSelector('section[aria-labelledby=stocks] tbody tr')
      await page.waitForSelector('section[aria-labelledby=backtest] >> text=It would have fired')
      const bottoms = await page.evaluate<number[]>(
        `[...document.querySelectorAll('.morning > *')].map(part => part.getBoundingClientRect().top)`,
      )
      expect(bottoms.every(top => top < 900)).toBe(true)
      expect(await violations()).toEqual([])
      await page.setViewportSize({ width: 390, height: 844 })
      await until('the page fits a phone', async () => (await overflow()) <= 0)
      await page.setViewportSize({ width: 1440, height: 900 })
    })

    test('has the market on one screen, and every page of the operator, without the token', async () => {
      const { page, goTo } = visitor
      await goTo('/market')
      for (const part of ['movers', 'curves', 'stocks', 'spreads-now', 'releases'])
        await page.waitForSelector(`section[aria-labelledby=${part}]`)
      await page.waitForSelector('section[aria-labelledby=spreads-now] tbody tr')
      const height = await page.evaluate<number>('document.querySelector("main").scrollHeight')
      expect(height).toBeLessThanOrEqual(900)
      await goTo('/operator')
      await page.waitForSelector('h2:text-is("Service")')
      expect(await page.locator('input[name=token]').count()).toBe(0)
    })

    test('plays a crash by keyboard and is led to what it changed', async () => {
      const { page, goTo } = visitor
      await goTo('/')
      await tabTo(page, '.try button:text-is("Crash")')
      await page.keyboard.press('Enter')
      await page.click('.notice.good a:text-is("See WTI")')
      await page.waitForURL('**/series/WTI_USD?range=1w')
      await page.waitForSelector('.quote .down')
    })

    describe('is not signed in where the request could come from another page', () => {
      const opens = async (headers: Record<string, string>) =>
        (
          await fetch(`${stage.instance.url}/`, {
            headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none', ...headers },
          })
        ).headers.get('set-cookie')

      test('an address typed in at this machine opens a session', async () => {
        expect(await opens({})).toMatch(/^session=/)
      })

      test.each([
        ['a page of another site leads there', { 'sec-fetch-site': 'cross-site' }],
        ['a program asks', { 'sec-fetch-mode': 'cors' }],
        ['another name is resolved to this machine', { host: 'prices.example.com' }],
        ['a proxy passes the request on', { 'x-forwarded-for': '203.0.113.9' }],
      ])('not where %s', async (_, headers) => {
        expect(await opens(headers)).toBeNull()
      })

      test('a request of another site is not the operator’s, whatever cookie it brings', async () => {
        const cookie = (await opens({}))!.split(';')[0]!
        const asked = async (headers: Record<string, string>) =>
          (await fetch(`${stage.instance.url}/admin/v1/feeds`, { headers: { cookie, ...headers } }))
            .status
        expect(await asked({ 'sec-fetch-site': 'same-origin' })).toBe(200)
        expect(await asked({ 'sec-fetch-site': 'cross-site' })).toBe(401)
        expect(await asked({ 'sec-fetch-site': 'none' })).toBe(401)
        expect(await asked({})).toBe(401)
      })
    })

    test('asks no other host for anything, and the browser complains about nothing', () => {
      stage.expectQuiet()
    })
  },
)
