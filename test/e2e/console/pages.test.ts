import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  type BinaryStage,
  becomeOperator,
  openBinaryStage,
} from '../../support/console/binary-stage.ts'
import type { Visitor } from '../../support/console/browser.ts'
import { walkByTab } from '../../support/console/keyboard.ts'
import { pagesOf } from '../../support/console/pages.ts'
import { sharedInstance } from '../../support/interface/packages.ts'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/until.ts'

/** The page of e-mails is another one where there is an e-mail, whose links are in a frame. */
async function mailMessageInInbox({ instance, asOperator }: BinaryStage): Promise<void> {
  await fetch(`${instance.url}/sign-in/link`, {
    method: 'POST',
    headers: { origin: instance.url },
    body: new URLSearchParams({ email: 'eval@example.com' }),
  })
  await until('the message with a sign-in link is in the inbox', async () => {
    const { messages } = await asOperator<{ messages: { subject: string | null }[] }>(
      'GET',
      '/_dev/inbox',
    )
    return messages.at(-1)?.subject?.includes('ign in')
  })
}

const all = [...pagesOf.anyone, ...pagesOf.members, ...pagesOf.operators]

needs('chromium').describe('every page of the console, in the binary', () => {
  let stage: BinaryStage
  beforeAll(async () => {
    stage = await openBinaryStage({ instance: await sharedInstance() })
  }, 600_000)
  afterAll(async () => {
    await stage?.close()
  })

  describe('is accessible, light and dark, fits a screen and a phone, and is walked by Tab', () => {
    let member: Visitor
    let stops = 0
    beforeAll(async () => {
      member = await stage.visitor('member')
      await becomeOperator(member, stage.instance.adminToken)
      await mailMessageInInbox(stage)
    })
    afterAll(() => {
      console.info(`console: ${all.length} pages, ${stops} stops of the Tab key`)
    })

    test.each(all)(
      '%s',
      async path => {
        const { page } = member
        await page.setViewportSize({ width: 1440, height: 900 })
        await page.emulateMedia({ colorScheme: 'light' })
        await member.turnTo(path)
        expect(await member.violations(), 'light').toEqual([])
        expect(await member.overflow(), 'it is too wide at 1440 px').toBeLessThanOrEqual(0)
        expect(await member.spills(), 'a text is cut or covered at 1440 px').toEqual([])
        stops += await walkByTab(page, path)
        await page.emulateMedia({ colorScheme: 'dark' })
        await page.setViewportSize({ width: 390, height: 844 })
        expect(await member.violations(), 'dark, on a phone').toEqual([])
        await until(`${path} fits 390 px`, async () => (await member.overflow()) <= 0)
        expect(await member.spills(), 'a text is cut or covered at 390 px').toEqual([])
        await page.setViewportSize({ width: 320, height: 844 })
        // A chart follows the window in the next frame.
        await until(`${path} fits 320 px`, async () => (await member.overflow()) <= 0)
      },
      60_000,
    )
  })

  describe('to an anonymous visitor, on a phone', () => {
    let stranger: Visitor
    beforeAll(async () => {
      stranger = await stage.visitor('stranger', { width: 390 })
    })

    test('member pages ask an anonymous visitor to sign in and show no data of any account', async () => {
      const { page, goTo, follow, violations } = stranger
      await goTo(pagesOf.members[0])
      for (const path of pagesOf.members) {
        const next = `/sign-in?next=${encodeURIComponent(path)}`
        await follow(path, `main .button.main[href="${next}"]`)
        const text = await page.textContent('main')
        expect(text, path).toContain('Sign in to see this')
        expect(await page.textContent('main .head p'), path).toMatch(/^[A-Z].{40,}\.$/)
        expect(await page.locator('main table, main dl, main canvas').count(), path).toBe(0)
      }
      expect(await violations()).toEqual([])
    }, 60_000)

    test('operator pages ask an anonymous visitor for the token and show nothing else', async () => {
      const { page, goTo, violations } = stranger
      for (const path of pagesOf.operators) {
        await goTo(path)
        await page.waitForSelector('main input[name=token]')
        expect(await page.locator('main table, main dl').count(), path).toBe(0)
      }
      expect(await violations()).toEqual([])
    }, 60_000)
  })

  test('every page has its first view within 250 kB, compressed, with its scripts', async () => {
    const { context, page, goTo } = await stage.visitor('member')
    await becomeOperator({ context } as Visitor, stage.instance.adminToken)
    const network = await context.newCDPSession(page)
    await network.send('Network.enable')
    // Each page as the first one that a browser opens.
    await network.send('Network.setCacheDisabled', { cacheDisabled: true })
    let bytes = 0
    network.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    const weights: [path: string, kilobytes: number][] = []
    for (const path of all) {
      await page.goto('about:blank')
      bytes = 0
      await goTo(path)
      await page.waitForLoadState('networkidle')
      weights.push([path, Math.round(bytes / 1000)])
    }
    const heaviest = weights.toSorted(([, a], [, b]) => b - a)
    console.info(`console: heaviest pages in kB: ${heaviest.slice(0, 8).join('; ')}`)
    expect(heaviest.filter(([, kilobytes]) => kilobytes > 250)).toEqual([])
    expect(Math.min(...weights.map(([, kilobytes]) => kilobytes))).toBeGreaterThan(50)
    await context.close()
  }, 240_000)

  test('asks no other host for anything, and the browser complains about nothing', () => {
    stage.expectQuiet()
  })
})
