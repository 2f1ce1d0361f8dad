import { existsSync, readFileSync } from 'node:fs'
import type axe from 'axe-core'
import type { Server } from 'bun'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { connectionsOf, type SocketData, sockets } from '../../../src/http/cable.ts'
import { evaluationAccountId } from '../../../src/world/open.ts'
import {
  type CopyOptions,
  type EvaluationCopy,
  evaluationCopy,
} from '../../support/instance/evaluation-copy.ts'

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
export const hasBrowser = existsSync(executablePath)
if (!hasBrowser)
  console.warn(`No Chromium at ${executablePath}: the console is not tried in a browser.`)

const axeScript = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

export interface Violation {
  id: string
  nodes: string[]
}

/** A browser before a running evaluation copy. */
export interface Stage {
  copy: EvaluationCopy
  origin: string
  browser: Browser
  /** Whoever looks: signed in with the evaluation account, or a stranger. */
  visitor(options?: {
    isSignedIn?: boolean
    scheme?: 'light' | 'dark'
    width?: number
  }): Promise<Visitor>
  close(): Promise<void>
}

export interface Visitor {
  context: BrowserContext
  page: Page
  /** Errors and warnings that the browser wrote. */
  complaints: string[]
  /** Addresses of every request. */
  requested: string[]
  /** Goes to a page and waits until it has loaded what it shows. */
  goTo(path: string): Promise<void>
  /** What assistive technology would stumble over. */
  violations(): Promise<Violation[]>
  /** By how many pixels the page is wider than the window. */
  overflow(): Promise<number>
}

/** Waits until nothing is being loaded any more. */
const settled = 'main:has(h1):not(:has(.waiting))'

export async function openStage(
  flags: Record<string, string> = {},
  options: CopyOptions = {},
): Promise<Stage> {
  let server: Server<SocketData> | undefined
  const copy = evaluationCopy(
    undefined,
    {
      'limits.unauthenticated_per_minute': '100000',
      'demo.limit_per_hour': '100000',
      ...flags,
    },
    {
      controls: true,
      ...options,
      connections: connectionsOf(() => server, new WeakMap(), new WeakSet()),
    },
  )
  const { app, services } = copy.running
  server = Bun.serve<SocketData>({
    port: 0,
    hostname: '127.0.0.1',
    fetch: request => app.handle(request),
    websocket: sockets,
  })
  const origin = `http://127.0.0.1:${server.port}`
  const browser = await chromium.launch({
    executablePath,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })

  const signIn = async (context: BrowserContext) => {
    const account = services.keys.account(evaluationAccountId)!
    const token = services.signIn.makeLink(account)
    const answer = await fetch(`${origin}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ token }),
    })
    const [name, value] = answer.headers.get('set-cookie')!.split(';')[0]!.split('=')
    await context.addCookies([
      { name: name!, value: value!, url: origin, httpOnly: true, sameSite: 'Lax' },
    ])
  }

  return {
    copy,
    origin,
    browser,
    async visitor({ isSignedIn = true, scheme = 'light', width = 1440 } = {}) {
      const context = await browser.newContext({
        viewport: { width, height: 900 },
        colorScheme: scheme,
        reducedMotion: 'reduce',
      })
      if (isSignedIn) await signIn(context)
      const page = await context.newPage()
      page.setDefaultTimeout(15_000)
      const complaints: string[] = []
      const requested: string[] = []
      page.on('request', request => requested.push(request.url()))
      page.on(
        'console',
        message =>
          ['error', 'warning'].includes(message.type()) &&
          complaints.push(`${message.text()} ${message.location().url}`),
      )
      page.on('pageerror', error => complaints.push(error.message))
      return {
        context,
        page,
        complaints,
        requested,
        async goTo(path) {
          await page.goto(`${origin}${path}`)
          await page.waitForSelector(settled)
        },
        async violations() {
          await page.evaluate(axeScript)
          const findings = await page.evaluate<axe.AxeResults>(
            `axe.run(document, { resultTypes: ['violations'] })`,
          )
          return findings.violations.map(({ id, nodes }) => ({
            id,
            nodes: nodes.map(node => node.html.slice(0, 160)),
          }))
        },
        overflow: () =>
          page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth'),
      }
    },
    async close() {
      await browser.close()
      await server?.stop(true)
      copy.remove()
    },
  }
}
