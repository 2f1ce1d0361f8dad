import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { loadavg } from 'node:os'
import { type Browser, chromium } from 'playwright-core'
import type { Wellhead } from '../../../clients/testkit/src/testkit.ts'
import type { Guides, GuideWords } from '../../../src/console/guides/guide.ts'
import { pageSources } from '../../../src/console/guides/sources.ts'
import { sharedInstance } from '../../support/interface/packages.ts'
import { needs } from '../../support/needs.ts'
import { chromiumPath } from '../../support/requirements.ts'

let instance: Wellhead
beforeAll(async () => {
  instance = await sharedInstance()
}, 600_000)

describe('the documentation in the binary', () => {
  test('the binary contains every page in precompressed form', async () => {
    const names = pageSources().map(({ name }) => name)
    for (const name of names) {
      const page = await fetch(`${instance.url}/docs/${name}`)
      expect(page.status, name).toBe(200)
      expect(page.headers.get('content-security-policy')).not.toContain('unsafe')
    }
    const html = await (await fetch(`${instance.url}/docs`)).text()
    const file = /\/console\/guides-[0-9a-f]+\.json/.exec(html)![0]
    for (const coding of ['br', 'gzip']) {
      const response = await fetch(`${instance.url}${file}`, {
        headers: { 'accept-encoding': coding },
      })
      expect(response.headers.get('content-encoding')).toBe(coding)
      expect(response.headers.get('cache-control')).toContain('immutable')
      const { pages } = (await response.json()) as Guides
      expect(pages.map(({ name }) => name)).toEqual(names)
      for (const { name, body } of pages) {
        const parts = await fetch(`${instance.url}${body}`, {
          headers: { 'accept-encoding': coding },
        })
        expect(parts.headers.get('content-encoding'), name).toBe(coding)
        expect(((await parts.json()) as unknown[]).length, name).toBeGreaterThan(0)
      }
    }
  })

  test('finds a word of every page with its search', async () => {
    const html = await (await fetch(`${instance.url}/docs`)).text()
    const file = /\/console\/guides-[0-9a-f]+\.json/.exec(html)![0]
    const guides = (await (await fetch(`${instance.url}${file}`)).json()) as Guides
    const response = await fetch(`${instance.url}${guides.words}`)
    const words = (await response.json()) as Record<string, GuideWords>
    const textOf = (name: string) => [words[name]!.first, ...words[name]!.headings].join('').trim()
    const empty = guides.pages.filter(({ section, name }) => section !== '' && textOf(name) === '')
    expect(guides.pages.length).toBe(pageSources().length)
    expect(empty.map(({ name }) => name)).toEqual([])
  })
})

needs('chromium').describe('the documentation in the binary, in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: chromiumPath,
      args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    })
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
  })

  const places = [
    { path: '/docs?operation=getLatestPrices', shown: '#operation' },
    { path: '/docs/quickstart', shown: '.guide h2' },
  ]
  for (const width of [1440, 390])
    for (const { path, shown } of places)
      test(`${path} at ${width} px`, async () => {
        const context = await browser.newContext({ viewport: { width, height: 844 } })
        const page = await context.newPage()
        const requested: string[] = []
        const complaints: string[] = []
        page.on('request', request => requested.push(request.url()))
        page.on('pageerror', error => complaints.push(error.message))
        page.on(
          'console',
          message =>
            ['error', 'warning'].includes(message.type()) && complaints.push(message.text()),
        )
        await page.goto(`${instance.url}${path}`, { waitUntil: 'commit' })
        await page.waitForSelector(shown)
        const [ms, bytes] = await page.evaluate<[number, number]>(
          `[performance.now(), performance.getEntriesByType('resource').reduce((sum, entry) => sum + entry.transferSize, 0)]`,
        )
        console.info(
          `${path} at ${width} px: there after ${Math.round(ms)} ms, ${Math.round(bytes / 1000)} kB, nothing kept; load ${loadavg()[0]!.toFixed(1)}`,
        )
        expect(
          await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'),
        ).toBe(0)
        // On a phone the requested operation is on the first screen, not below a list of calls.
        const box = await page.locator(shown).first().boundingBox()
        expect(box!.y).toBeLessThan(844)
        expect(
          requested.filter(url => !url.startsWith(instance.url) && !url.startsWith('data:')),
        ).toEqual([])
        expect(complaints).toEqual([])
        await context.close()
      }, 60_000)

  test('the search of the documentation lists the page first whose title is typed', async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 844 } })
    const page = await context.newPage()
    await page.goto(`${instance.url}/docs/index`, { waitUntil: 'commit' })
    const file = await page.locator('meta[name="boot"]').getAttribute('content')
    const { guides } = JSON.parse(file!) as { guides: string }
    const { pages } = (await (await fetch(`${instance.url}${guides}`)).json()) as Guides
    expect(pages.length).toBe(pageSources().length)
    const search = page.getByLabel('Search the documentation')
    const first = page.locator('ul[aria-label="Pages"] a').first()
    const found: string[] = []
    for (const { title } of pages) {
      await search.fill('')
      await first.waitFor({ state: 'detached' })
      await search.fill(title)
      found.push((await first.getAttribute('href')) ?? '')
    }
    expect(found).toEqual(pages.map(({ name }) => `/docs/${name}`))
    await context.close()
  }, 180_000)
})
