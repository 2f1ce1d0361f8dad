import type { Server } from 'bun'
import type { Browser } from 'playwright-core'
import { connectionsOf, type SocketData, sockets } from '../../../src/http/cable.ts'
import { evaluationAccountId } from '../../../src/world/open.ts'
import {
  launchBrowser,
  openVisitor,
  type Visitor,
  type VisitorOptions,
} from '../../support/console/browser.ts'
import {
  type CopyOptions,
  type EvaluationCopy,
  evaluationCopy,
} from '../../support/instance/evaluation-copy.ts'

/** A browser before a running evaluation copy. */
export interface Stage {
  copy: EvaluationCopy
  origin: string
  browser: Browser
  /** Whoever looks: signed in with the evaluation account or another, or a stranger. */
  visitor(options?: VisitorOptions & { isSignedIn?: boolean; account?: string }): Promise<Visitor>
  close(): Promise<void>
}

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
  const browser = await launchBrowser()
  const link = (account: string) => services.signIn.makeLink(services.keys.account(account)!)

  return {
    copy,
    origin,
    browser,
    visitor: ({ isSignedIn = true, account = evaluationAccountId, ...look } = {}) =>
      openVisitor(browser, origin, look, isSignedIn ? link(account) : undefined),
    async close() {
      await browser.close()
      await server?.stop(true)
      copy.remove()
    },
  }
}
