import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dayMs, hourMs, isoInstant, startOfDay } from '../../../src/lib/time/instant.ts'
import { needs } from '../../support/needs.ts'
import { openStage, type Stage } from './stage.ts'

needs('chromium').describe('power by delivery period', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  }, 120_000)
  afterAll(async () => {
    await stage?.close()
  })

  const operate = async (path: string, body: unknown) => {
    const answer = await fetch(`${stage.origin}/admin/v1${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${stage.instance.adminToken}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
    expect(answer.ok, await answer.text()).toBe(true)
  }

  test('is shown as steps with the present moment, by hour, by zone and with its cheapest hours', async () => {
    const { page, goTo, violations, overflow } = await stage.visitor()
    await goTo('/markets/power')
    await page.waitForSelector('main >> text=No series by delivery period yet.')
    const code = 'DESK_POWER_EUR'
    await operate('/series', {
      code,
      name: 'Desk power',
      category: 'power',
      unit: 'mwh',
      currency: 'EUR',
      time: 'delivery',
      zone: 'UTC',
      resolution: 'PT1H',
    })
    const today = startOfDay(stage.instance.running.services.clock.now())
    await operate('/observations', {
      observations: Array.from({ length: 48 }, (_, hour) => ({
        code,
        observed_at: isoInstant(today + hour * hourMs),
        price: Math.round(4000 + 2000 * Math.sin(hour / 4)) / 100,
      })),
    })
    await operate('/observations', {
      observations: Array.from({ length: 24 }, (_, hour) => ({
        code,
        observed_at: isoInstant(today - dayMs + hour * hourMs),
        price: -1,
      })),
    })
    await page.evaluate('sessionStorage.clear()')
    await goTo('/markets/power')
    await page.waitForSelector('.steps-chart .now-line', { state: 'attached' })
    await page.waitForSelector('section[aria-labelledby=heat] tbody tr:nth-child(3)')
    await page.waitForSelector('section[aria-labelledby=cheapest] b')
    await page.waitForSelector('section[aria-labelledby=zones] tbody th:has-text("Desk power")')
    expect(await violations()).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await overflow()).toBeLessThanOrEqual(0)
  }, 60_000)
})
