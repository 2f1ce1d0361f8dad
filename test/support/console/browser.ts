import { readFileSync } from 'node:fs'
import type axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { chromiumPath } from '../requirements.ts'

const axeScript = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })

export interface Violation {
  id: string
  nodes: string[]
}

/** A user of the console, with a separate browser profile. */
export interface Visitor {
  context: BrowserContext
  page: Page
  /** Errors and warnings that the browser wrote. */
  complaints: string[]
  /** Addresses of every request. */
  requested: string[]
  /** Goes to a page and waits until it has loaded what it shows. */
  goTo(path: string): Promise<void>
  /** The same by a tab of the page that is open, where it has one: without loading again. */
  turnTo(path: string): Promise<void>
  /** The same by a link in the page that is open, to whatever it shows: without loading again. */
  follow(path: string, shown: string): Promise<void>
  /** Barriers for assistive technology. */
  violations(): Promise<Violation[]>
  /** By how many pixels the page is wider than the window. */
  overflow(): Promise<number>
  /** Texts that are wider than their box, so that they cover the next one or are cut. */
  spills(): Promise<string[]>
}

export interface VisitorOptions {
  scheme?: 'light' | 'dark'
  width?: number
}

/**
 * A warning about preloaded files that are used only after some seconds: it means that the machine
 * is slow.
 */
const wasLate = /was preloaded using link preload but not used within a few seconds/

const loadMaxMs = 45_000

/** Waits until nothing is being loaded any more. */
const settled = 'main:has(h1):not(:has(.waiting))'

/** A new profile before the console at an address; `linkToken` signs someone in. */
export const openVisitor = async (
  browser: Browser,
  origin: string,
  options: VisitorOptions = {},
  linkToken?: string,
): Promise<Visitor> => openTab(await openProfile(browser, origin, options, linkToken), origin)

export async function openProfile(
  browser: Browser,
  origin: string,
  { scheme = 'light', width = 1440 }: VisitorOptions = {},
  linkToken?: string,
): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: scheme,
    reducedMotion: 'reduce',
  })
  if (linkToken !== undefined) await context.addCookies([await sessionOf(origin, linkToken)])
  return context
}

/** A new tab of a profile, which has the files of the console already where another had them. */
export async function openTab(context: BrowserContext, origin: string): Promise<Visitor> {
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  // A machine with much to do answers late, and a test that runs over ends the browser of them all.
  page.setDefaultNavigationTimeout(loadMaxMs)
  const complaints: string[] = []
  const requested: string[] = []
  page.on('request', request => requested.push(request.url()))
  page.on(
    'console',
    message =>
      ['error', 'warning'].includes(message.type()) &&
      !wasLate.test(message.text()) &&
      complaints.push(`${message.text()} ${message.location().url}`),
  )
  page.on('pageerror', error => complaints.push(error.message))
  const goTo = async (path: string) => {
    await page.goto(`${origin}${path}`)
    await page.waitForSelector(settled, { timeout: loadMaxMs })
  }
  return {
    context,
    page,
    complaints,
    requested,
    goTo,
    async turnTo(path) {
      const tab = `:is(nav.tabs, .rail nav) a[href="${path}"]:visible`
      if ((await page.locator(tab).count()) === 0) return goTo(path)
      await page.locator(tab).first().click()
      await page
        .locator(`:is(nav.tabs, .rail nav) a[aria-current=page][href="${path}"]`)
        .first()
        .waitFor({ state: 'attached' })
      await page.waitForSelector(settled, { timeout: loadMaxMs })
    },
    async follow(path, shown) {
      await page.evaluate(`(() => {
        const link = document.createElement('a')
        link.href = ${JSON.stringify(path)}
        document.body.append(link)
        link.click()
        link.remove()
      })()`)
      await page.waitForSelector(shown)
    },
    async violations() {
      if (!(await page.evaluate<boolean>('"axe" in self'))) await page.evaluate(axeScript)
      // A row that is scrolled below its headings would count as a target that they cover, and the
      // name of the service as one that the link to the content covers while it has the focus.
      await page.evaluate(`document.querySelectorAll('.tall').forEach(rows => rows.scrollTo(0, 0))`)
      await page.evaluate('document.activeElement?.blur()')
      // The size of targets is a rule of WCAG 2.2, which axe does not check by default.
      // Styles come from the host itself, so nothing must be fetched. Scripts cannot run in the
      // frame of an e-mail, so axe would wait for it forever.
      const findings = await page.evaluate<axe.AxeResults>(
        `axe.run(document, { rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'], preload: false, iframes: false })`,
      )
      return findings.violations.map(({ id, nodes }) => ({
        id,
        nodes: nodes.map(node => node.html.slice(0, 160)),
      }))
    },
    overflow: () =>
      page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth'),
    spills: () =>
      page.evaluate<string[]>(`[...document.querySelectorAll('body *')]
        .filter(element => {
          const { display, overflowX } = getComputedStyle(element)
          return (
            element.scrollWidth > element.clientWidth + 1 &&
            element.clientWidth > 1 &&
            display !== 'inline' &&
            overflowX === 'visible' &&
            element.checkVisibility({ visibilityProperty: true }) &&
            !element.closest('svg, .skip, .uplot, .market')
          )
        })
        .map(element => element.tagName + '.' + element.className + ' ' + element.textContent.slice(0, 60))`),
  }
}

/** The cookie of a sign-in with a mailed link. */
async function sessionOf(origin: string, token: string) {
  const answer = await fetch(`${origin}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ token }),
  })
  const cookie = answer.headers.get('set-cookie')
  if (cookie === null) throw new Error(`the link does not sign in: ${answer.status}`)
  const [name, value] = cookie.split(';')[0]!.split('=')
  return { name: name!, value: value!, url: origin, httpOnly: true, sameSite: 'Lax' as const }
}
