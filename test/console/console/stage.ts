import type { Server } from 'bun'
import type { Browser, BrowserContext } from 'playwright-core'
import { evaluationAccountId } from '../../../src/demo/open.ts'
import { connectionsOf, type SocketData, sockets } from '../../../src/http/cable.ts'
import { hourMs } from '../../../src/lib/time/instant.ts'
import {
  launchBrowser,
  openProfile,
  openTab,
  type Visitor,
  type VisitorOptions,
} from '../../support/console/browser.ts'
import {
  type DemoInstance,
  demoInstance,
  type InstanceOptions,
} from '../../support/instance/demo-instance.ts'

/** A browser before a running demo instance. */
export interface Stage {
  instance: DemoInstance
  origin: string
  browser: Browser
  /**
   * Opens a tab as a user: signed in with the demo account or another, or anonymous. All users of
   * the same kind share a browser profile, until a test closes it.
   */
  visitor(options?: VisitorOptions & { isSignedIn?: boolean; account?: string }): Promise<Visitor>
  close(): Promise<void>
}

export async function openStage(
  flags: Record<string, string> = {},
  options: InstanceOptions = {},
): Promise<Stage> {
  let server: Server<SocketData> | undefined
  const instance = demoInstance(
    undefined,
    {
      'limits.unauthenticated_per_minute': '100000',
      'demo.limit_per_hour': '100000',
      'demo.visitor': 'false',
      ...flags,
    },
    {
      controls: true,
      ...options,
      connections: connectionsOf(() => server, new WeakMap(), new WeakSet()),
    },
  )
  const { app, services } = instance.running
  server = Bun.serve<SocketData>({
    port: 0,
    hostname: '127.0.0.1',
    // The first page bundles the console, which takes a busy machine longer than the usual ten seconds.
    idleTimeout: 120,
    fetch: request => app.handle(request),
    websocket: sockets,
  })
  const origin = `http://127.0.0.1:${server.port}`
  const browser = await launchBrowser()
  const link = (account: string) => services.signIn.makeLink(services.keys.account(account)!)
  const profiles = new Map<string, Promise<BrowserContext>>()
  const profileOf = (look: VisitorOptions, account: string | undefined) => {
    // A session ends as the clock is moved on: behind that is another profile.
    const hour = Math.floor(instance.clock.now() / hourMs)
    const name = JSON.stringify([look, account, hour])
    const open = async () => {
      const context = await openProfile(browser, origin, look, account && link(account))
      context.on('close', () => profiles.delete(name))
      return context
    }
    const profile = profiles.get(name) ?? open()
    profiles.set(name, profile)
    return profile
  }

  return {
    instance,
    origin,
    browser,
    visitor: async ({ isSignedIn = true, account = evaluationAccountId, ...look } = {}) =>
      openTab(await profileOf(look, isSignedIn ? account : undefined), origin),
    async close() {
      await browser.close()
      await server?.stop(true)
      instance.remove()
    },
  }
}
