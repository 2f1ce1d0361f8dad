import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type BinaryStage, openBinaryStage } from '../../support/console/binary-stage.ts'
import type { Visitor } from '../../support/console/browser.ts'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/until.ts'

interface Condition {
  webhooks: { host: string; state: string }[]
  deliveries: { name: string | null; error: string }[]
  feeds: { name: string }[]
}

needs('chromium').describe('the Overview shows what fails, in the binary', () => {
  const broken = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response('gone', { status: 404 }),
  })
  let stage: BinaryStage
  let operator: Visitor

  beforeAll(async () => {
    stage = await openBinaryStage()
    operator = await stage.visitor('operator')
  }, 600_000)
  afterAll(async () => {
    await stage?.close()
    await broken.stop(true)
  })

  const post = async (path: string, body: unknown) => {
    const answer = await fetch(`${stage.instance.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Token ${stage.instance.apiKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
    expect({ path, status: answer.status }).toEqual({ path, status: 201 })
  }
  const advance = (period: string) => stage.asOperator('POST', '/_dev/clock', { advance: period })
  const condition = async () =>
    (await stage.asOperator<{ data: Condition }>('GET', '/admin/v1/condition')).data
  const notice = (text: string) => operator.page.locator('.notice', { hasText: text }).first()

  test('a scheduled delivery that did not go out is named with the reason', async () => {
    await stage.asOperator('POST', '/admin/v1/series', {
      code: 'SILENT_USD',
      name: 'Silent mark',
      category: 'crude_oil',
      unit: 'barrel',
      currency: 'USD',
    })
    await post('/v1/scheduled-deliveries', {
      name: 'Morning prices',
      commodity_codes: ['SILENT_USD'],
      cadence: 'daily',
      delivery_time: '07:00',
      time_zone: 'UTC',
    })
    await advance('P1D')
    await until('the delivery did not go out', async () => (await condition()).deliveries[0])
    await operator.goTo('/operator')
    const shown = notice('Morning prices')
    await shown.waitFor()
    expect(await shown.textContent()).toMatch(/eval@example\.com.*SILENT_USD/)
  }, 120_000)

  test('an endpoint of a customer is named while it fails, and once it was switched off', async () => {
    await stage.asOperator('POST', '/_dev/feed', { paused: true })
    await post('/v1/webhooks', {
      url: `http://127.0.0.1:${broken.port}/hook`,
      events: ['price.updated'],
      max_retries: 0,
    })
    let price = 70
    const pushPrice = async () => {
      price += 0.01
      await advance('PT1M')
      const { now } = await stage.asOperator<{ now: string }>('GET', '/_dev/clock')
      const observations = [{ code: 'WTI_USD', observed_at: now, price }]
      await stage.asOperator('POST', '/admin/v1/observations', { observations })
    }
    const shownAs = async (state: string, words: string) => {
      await until(`the endpoint is ${state}`, async () => {
        const { webhooks } = await condition()
        if (webhooks.find(({ host }) => host.startsWith('127.0.0.1'))?.state === state) return true
        await pushPrice()
        return undefined
      })
      await operator.goTo('/operator')
      const shown = notice(words)
      await shown.waitFor()
      expect(await shown.textContent()).toMatch(/127\.0\.0\.1.*eval@example\.com.*404/)
    }
    await shownAs('failing', 'eval@example.com is failing')
    await shownAs('switched_off', 'eval@example.com was disabled')
  }, 120_000)

  test('a feed whose publisher answers an error is named with its cause', async () => {
    const base_url = `http://127.0.0.1:${broken.port}`
    await stage.asOperator('PUT', '/admin/v1/feeds/ecb', { base_url })
    await stage.asOperator('POST', '/admin/v1/feeds/ecb/run', {})
    await until('the feed fails', async () => (await condition()).feeds[0])
    await operator.goTo('/operator')
    const shown = notice('is failing')
    await shown.waitFor()
    expect(await shown.textContent()).toMatch(/Euro foreign exchange reference rates.*404/)
  }, 120_000)
})
