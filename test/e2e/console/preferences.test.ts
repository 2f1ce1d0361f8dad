import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type BinaryStage, openBinaryStage } from '../../support/console/binary-stage.ts'
import type { Visitor } from '../../support/console/browser.ts'
import { needs } from '../../support/needs.ts'

const path = '/v1/display_preferences'
const hourly = '/series/WTI_USD?range=1w&interval=hour'

needs('chromium').describe('the display preferences of a person, in the binary', () => {
  let stage: BinaryStage
  let chooser: Visitor

  beforeAll(async () => {
    stage = await openBinaryStage()
    chooser = await stage.visitor('member', { isRefused: true })
  }, 600_000)
  afterAll(async () => {
    stage?.expectQuiet()
    await stage?.close()
  })

  const display = 'section[aria-labelledby=display]'
  /** Chooses in the section, and waits until the account has it. */
  const choose = async (status: number, work: () => Promise<void>) => {
    const answer = chooser.page.waitForResponse(
      response => response.url().endsWith(path) && response.request().method() === 'PATCH',
    )
    await work()
    expect((await answer).status()).toBe(status)
  }
  const colourOfRises = ({ page }: Visitor) =>
    page.evaluate<string>(
      `getComputedStyle(document.documentElement).getPropertyValue('--up').trim()`,
    )
  const lastSignIn = async ({ page, goTo }: Visitor): Promise<string> => {
    await goTo('/account/sign-ins')
    return (await page.locator('section[aria-labelledby=sign-ins] tbody th').first().textContent())!
  }

  test('apply at once where they are chosen', async () => {
    const { page, goTo } = chooser
    await goTo('/account/display')
    const before = await colourOfRises(chooser)
    await choose(200, () => page.click(`${display} button:text-is("1.234,5")`))
    await choose(200, () => page.click(`${display} button:text-is("Green up, red down")`))
    await choose(200, async () => {
      await page.fill('#zone', 'Asia/Kolkata')
      await page.keyboard.press('Tab')
    })
    expect(await page.textContent(`${display} output`)).toMatch(
      /^1\.234,50 \+1,25% −1,25% \d{4}-\d\d-\d\d \d\d:\d\d (IST|UTC\+5:30)$/,
    )
    expect(await colourOfRises(chooser)).not.toBe(before)
  })

  test('a time zone that does not exist is refused with the nearest one, and the old one stays', async () => {
    const { page } = chooser
    await choose(422, async () => {
      await page.fill('#zone', 'Europe/Berln')
      await page.keyboard.press('Tab')
    })
    await page.waitForSelector('[role=alert]:has-text("Did you mean Europe/Berlin?")')
    expect(await page.inputValue('#zone')).toBe('Asia/Kolkata')
  })

  test('are there in another browser from the first paint on, without a request', async () => {
    const elsewhere = await stage.visitor('member')
    const { page, goTo, requested } = elsewhere
    expect(await lastSignIn(elsewhere)).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d (IST|UTC\+5:30)/)
    expect(await colourOfRises(elsewhere)).toBe(await colourOfRises(chooser))
    await goTo(hourly)
    const legend = page.locator('section[aria-label=Chart] .legend')
    await legend.waitFor()
    expect(await legend.textContent()).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d (IST|UTC\+5:30).* \d+,\d\d/,
    )
    expect(requested.filter(url => url.includes(path))).toEqual([])
  })

  test('change neither files nor the order of tables nor days of data', async () => {
    const { page, goTo } = await stage.visitor('member')
    const section = 'section[aria-labelledby=WTI_USD]'
    const cells = (place: number) => page.locator(`${section} tbody tr > :nth-child(${place})`)
    await goTo(hourly)
    await page.waitForSelector(`${section} tbody tr`)
    expect(await cells(1).first().textContent()).toMatch(/^\S+ \d\d:\d\d (IST|UTC\+5:30)$/)
    await page.click(`${section} th button:text-is("Close")`)
    const down = (await cells(5).allTextContents()).map(text =>
      Number(text.replaceAll('.', '').replace(',', '.')),
    )
    expect(down.length).toBeGreaterThan(10)
    expect(down).toEqual(down.toSorted((a, b) => b - a))
    const saving = page.waitForEvent('download')
    await page.click(`${section} button:text-is("CSV")`)
    const lines = (await Bun.file(await (await saving).path()).text()).trim().split(/\r?\n/)
    for (const line of lines.slice(1))
      expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z,\d+(\.\d+)?,/)
    await goTo('/series/WTI_USD?range=1m&interval=day')
    await page.waitForSelector(`${section} tbody tr`)
    const shown = await cells(1).first().textContent()
    const { data } = (await (
      await page.request.get(`${stage.instance.url}/v1/prices/chart?code=WTI_USD&interval=day`)
    ).json()) as { data: { times: number[] } }
    expect(shown).toBe(new Date(data.times.at(-1)! * 1000).toISOString().slice(0, 10))
  })

  test('of one member leave another member of the organization as they were', async () => {
    const colleague = await stage.visitor('colleague')
    expect(await lastSignIn(colleague)).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC/)
    expect(await colourOfRises(colleague)).not.toBe(await colourOfRises(chooser))
    await colleague.goTo('/series/WTI_USD?range=1m&interval=day')
    await colleague.page.waitForSelector('section[aria-label=Now] .last b')
    expect(await colleague.page.textContent('section[aria-label=Now] .last b')).toMatch(
      /^\d+\.\d+$/,
    )
  })
})
