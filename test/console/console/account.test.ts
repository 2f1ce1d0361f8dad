import { afterAll, beforeAll, expect, test } from 'bun:test'
import { needs } from '../../support/needs.ts'
import { openStage, type Stage } from './stage.ts'

needs('chromium').describe('the account in the console', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage({})
  }, 120_000)
  afterAll(async () => {
    await stage?.close()
  })

  /** The newest text message that was captured. */
  const lastText = async (): Promise<string> => {
    const answer = await fetch(`${stage.origin}/_dev/inbox?channel=sms`, {
      headers: { authorization: `Bearer ${stage.instance.adminToken}` },
    })
    const { messages } = (await answer.json()) as { messages: { text: string }[] }
    return messages.at(-1)!.text
  }

  test('reads what happened, and marks it as read', async () => {
    const { page, goTo, complaints } = await stage.visitor({ width: 390 })
    await goTo('/account/notifications')
    const list = page.locator('section[aria-labelledby=notifications]')
    await list.locator('button:has-text("Unread (3)")').click()
    await list.locator('button[aria-label="Mark as read Welcome"]').click()
    await list.locator('button:has-text("Unread (2)")').waitFor()
    await list.locator('a:has-text("is paid")').first().waitFor()
    await list.locator('button:has-text("Mark all")').click()
    await list.locator('text=No unread notifications').waitFor()
    await page.reload()
    await list.locator('button:has-text("Unread (0)")').waitFor()
    expect(complaints).toEqual([])
  })

  test('a member can choose the notification channels of the account', async () => {
    const { page, goTo } = await stage.visitor()
    await goTo('/account/notifications')
    const before = page.waitForResponse(answer => answer.request().method() === 'PATCH')
    await page.click('label:has-text("Weekly digest")')
    expect(await (await before).json()).toMatchObject({ email: { weekly_digest: false } })
  })

  test('gives a phone, enters its code, agrees to messages and sends a test', async () => {
    const { page, goTo, violations } = await stage.visitor()
    await goTo('/account/notifications')
    const card = page.locator('section[aria-labelledby=texts]')
    await card.locator('button:has-text("Remove")').first().click()
    await card.locator('dialog[open] button.danger').click()
    await card.locator('input[name=phone]').fill('+1 555 010 0002')
    await page.keyboard.press('Enter')
    await card.locator('text=Not verified').waitFor()
    const code = /\d{6}/.exec(await lastText())![0]
    await card.locator('input[name=code]').fill('12')
    await page.keyboard.press('Enter')
    await card.locator('.notice.bad:has-text("six digits")').waitFor()
    await card.locator('input[name=code]').fill(code)
    await page.keyboard.press('Enter')
    await card.locator('button:has-text("I agree")').click()
    await card.locator('button:has-text("Send a test")').click()
    await card.locator('.notice.good:has-text("test message")').waitFor()
    expect(await lastText()).toContain('this is a test message')
    expect(await violations()).toEqual([])
  })

  test('makes a source that is pushed to, sees its log, tests one that cannot be read', async () => {
    const { page, goTo, violations, overflow } = await stage.visitor({ width: 390 })
    await goTo('/account/sources')
    await page.click('#new-source')
    await page.selectOption('details[aria-labelledby=new-source] select', 'webhook')
    await page.fill('input[name=name]', '<img src=x onerror=alert(1)>')
    const form = page.locator('details[aria-labelledby=new-source] form')
    await form.locator('input[name=secret]').fill('a secret of this source 1')
    await page.click('text=Create source')
    const row = page.locator('section[aria-labelledby=sources] tbody tr', { hasText: 'onerror' })
    await row.locator('button:text-is("Log")').click()
    await page.waitForSelector('section[aria-labelledby=syncs] >> text=No rows received yet')
    expect(await page.locator('main img').count()).toBe(0)
    expect(await violations()).toEqual([])
    expect(await overflow()).toBeLessThanOrEqual(0)

    await page.selectOption('details[aria-labelledby=new-source] select', 'api')
    await page.fill('input[name=name]', 'Terminal feed')
    await page.fill('input[name=url]', 'https://192.168.0.9/prices.json')
    await page.click('text=Create source')
    await page.waitForSelector('details[aria-labelledby=new-source] .notice.bad:has-text("url")')

    await row.locator('button:text-is("Delete")').first().click()
    await row.locator('dialog[open] button.danger').click()
    await row.waitFor({ state: 'detached' })
  })
})
