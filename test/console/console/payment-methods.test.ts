import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createManualClock } from '../../../src/lib/time/clock.ts'
import { needs } from '../../support/needs.ts'
import {
  type StripeServer,
  stripeServer,
  webhookSecret,
} from '../../support/servers/stripe-server.ts'
import { openStage, type Stage } from './stage.ts'

needs('chromium').describe('payment methods in the console', () => {
  let stage: Stage
  let processor: StripeServer
  beforeAll(async () => {
    processor = stripeServer(createManualClock(Date.UTC(2026, 10, 20)))
    stage = await openStage({
      'billing.provider': 'stripe',
      'billing.stripe_key': 'sk_test_stand_in',
      'billing.stripe_webhook_secret': webhookSecret,
      'billing.stripe_url': processor.url,
    })
  }, 120_000)
  afterAll(async () => {
    await stage?.close()
    processor?.close()
  })

  test('a card is added on the page of the processor, and another one chosen', async () => {
    const { page, goTo, violations } = await stage.visitor()
    await page.route('https://portal.example.com/**', async route => {
      const customer = new URL(route.request().url()).pathname.slice(1)
      processor.card(customer, 'pm_a')
      processor.card(customer, 'pm_b')
      const back = processor.writes.at(-1)!.fields.return_url
      await route.fulfill({ status: 302, headers: { location: back } })
    })
    await goTo('/account/plan')
    const cards = page.locator('section[aria-labelledby=payment-methods]')
    await cards.locator('text=No card yet').waitFor()
    await cards.locator('button:text-is("Add or change cards")').click()
    await cards.locator('tbody tr').nth(1).waitFor()
    expect(new URL(page.url()).pathname).toBe('/account/plan')
    await cards.locator('button:text-is("Use")').click()
    await page.locator('.notice.good:has-text("Payments are now charged to")').waitFor()
    expect(processor.writes.at(-1)).toMatchObject({
      fields: { invoice_settings: { default_payment_method: expect.stringMatching(/^pm_/) } },
    })
    expect(await violations()).toEqual([])
  })
})
