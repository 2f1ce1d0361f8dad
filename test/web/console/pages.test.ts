import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hasBrowser, openStage, type Stage, type Visitor } from './stage.ts'

/** Pages that anybody may see, and those of members. */
const open = ['/']
const members = ['/board', '/series', '/series/WTI_USD?type=candles&indicator=bollinger']

describe.skipIf(!hasBrowser)('every page of the console', () => {
  let stage: Stage
  const visitors: Visitor[] = []
  const visitor = async (...options: Parameters<Stage['visitor']>) => {
    const who = await stage.visitor(...options)
    visitors.push(who)
    return who
  }

  beforeAll(async () => {
    stage = await openStage()
  }, 120_000)
  afterAll(async () => {
    await stage?.close()
  })

  for (const [scheme, width] of [
    ['light', 1440],
    ['dark', 390],
  ] as const)
    test(`is accessible and fits, ${scheme} at ${width} px`, async () => {
      const member = await visitor({ scheme, width })
      for (const path of [...open, ...members]) {
        await member.goTo(path)
        expect(await member.violations(), path).toEqual([])
        expect(await member.overflow(), `${path} is too wide`).toBeLessThanOrEqual(0)
      }
    })

  test('tells a stranger to sign in, and asks the interface for nothing that is refused', async () => {
    const stranger = await visitor({ isSignedIn: false, width: 390 })
    for (const path of [...open, ...members]) {
      await stranger.goTo(path)
      expect(await stranger.violations(), path).toEqual([])
      if (members.includes(path))
        expect(await stranger.page.textContent('main')).toContain('Sign in to see this')
    }
    expect(await stranger.page.getAttribute('main .button.main', 'href')).toBe(
      `/sign-in?next=${encodeURIComponent(members.at(-1)!)}`,
    )
  })

  test('is worked with the keyboard alone: search, choose, open', async () => {
    const { page, goTo } = await visitor()
    await goTo('/board')
    await page.keyboard.press('/')
    await page.keyboard.type('hnery hub')
    await page.waitForSelector('#found-0', { timeout: 5000 })
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/series\/\w+$/, { timeout: 5000 })
    await page.waitForSelector('.chart canvas')
    expect(await page.textContent('h1')).toContain('Henry Hub')
    expect(await page.evaluate('document.activeElement.id')).toBe('content')
  })

  test('draws a series as it was known on an earlier day', async () => {
    const { page, goTo } = await visitor()
    await goTo('/series/WTI_USD?range=3m')
    await page.waitForSelector('.chart canvas')
    await page.focus('#known')
    const answered = page.waitForResponse(response => response.url().includes('as_of='))
    await page.keyboard.press('ArrowLeft')
    const answer = (await (await answered).json()) as { data: { as_of: string } }
    expect(answer.data.as_of).toBe('2026-11-19T23:59:59Z')
    await page.waitForSelector('.known [role=status]')
    expect(page.url()).toContain('as_of=2026-11-19')
  })

  test('keeps the codes that somebody chooses for the board', async () => {
    const { page, goTo } = await visitor()
    await goTo('/board')
    await page.click('text=Choose codes')
    await page.fill('[aria-label="Codes of the board"] input', 'urals')
    await page.click('[aria-label="Codes of the board"] button:has-text("Urals")')
    await page.waitForSelector('table.board >> text=Urals Crude Oil')
    await page.reload()
    await page.waitForSelector('table.board >> text=Urals Crude Oil')
  })

  test('weighs less than 200 kB of scripts at first sight, compressed, and is quickly there', async () => {
    const { page, goTo } = await visitor()
    await goTo('/board')
    const [scripts, paint] = await page.evaluate<[number, number]>(`[
      performance.getEntriesByType('resource')
        .filter(entry => entry.name.endsWith('.js'))
        .reduce((sum, entry) => sum + entry.encodedBodySize, 0),
      performance.getEntriesByName('first-contentful-paint')[0].startTime,
    ]`)
    console.info(`console: ${scripts} bytes of scripts, first paint after ${Math.round(paint)} ms`)
    expect(scripts).toBeGreaterThan(10_000)
    expect(scripts).toBeLessThan(200_000)
  })

  test('asks no other host for anything, and the browser complains about nothing', () => {
    const requested = visitors.flatMap(who => who.requested)
    expect(requested.length).toBeGreaterThan(30)
    expect(
      requested.filter(url => !url.startsWith(stage.origin) && !url.startsWith('data:')),
    ).toEqual([])
    expect(visitors.flatMap(who => who.complaints)).toEqual([])
  })
})
