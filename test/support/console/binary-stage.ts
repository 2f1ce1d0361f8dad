import { expect } from 'bun:test'
import type { Browser } from 'playwright-core'
import type { Wellhead } from '../../../clients/testkit/src/testkit.ts'
import { startInstance } from '../interface/packages.ts'
import { launchBrowser, openVisitor, type Visitor, type VisitorOptions } from './browser.ts'

/** The people of a demo instance's organization. */
const addresses = {
  /** Runs the organization, and may change everything of the account. */
  member: 'eval@example.com',
  /** Makes keys, and changes nothing else. */
  colleague: 'member@evaluation.example',
  /** Reads. */
  reader: 'reader@evaluation.example',
} as const
export type Who = keyof typeof addresses | 'stranger' | 'operator'

/** A browser before the compiled program, with everybody who may come by. */
export interface BinaryStage {
  instance: Wellhead
  browser: Browser
  /** `isRefused`: something of it is refused on purpose, of which the browser writes an error. */
  visitor(who: Who, options?: VisitorOptions & { isRefused?: boolean }): Promise<Visitor>
  /** Asks the API as the operator. Throws where it refuses. */
  asOperator<T>(method: string, path: string, body?: unknown): Promise<T>
  /** Asserts that the browser logged no errors and contacted no other host. */
  expectQuiet(): void
  close(): Promise<void>
}

interface StageOptions {
  /** Used instead of a new instance. */
  instance?: Wellhead
  /** The size of the new instance: `small` starts sooner, and has neither permits nor rigs. */
  size?: 'whole' | 'small'
  settings?: Record<string, string>
  /** Where its clock is at first. */
  clock?: string
}

export async function openBinaryStage(options: StageOptions = {}): Promise<BinaryStage> {
  const { size = 'small', settings = {}, clock } = options
  const instance =
    options.instance ??
    (await startInstance({
      world: { size },
      settings,
      ...(clock !== undefined && { clock }),
    }))
  const browser: Browser = await launchBrowser()
  const visitors: { visitor: Visitor; isRefused: boolean }[] = []

  const asOperator = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(`${instance.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${instance.adminToken}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`)
    return JSON.parse(text) as T
  }

  /** The part of a mailed link that signs a user in. */
  const linkFor = async (email: string): Promise<string> => {
    const { data: found } = await asOperator<{ data: { accounts: { id: string }[] } }>(
      'GET',
      `/admin/v1/accounts?q=${encodeURIComponent(email)}`,
    )
    const { data } = await asOperator<{ data: { sign_in_url: string } }>(
      'POST',
      `/admin/v1/accounts/${found.accounts[0]!.id}/link`,
      {},
    )
    return new URL(data.sign_in_url, instance.url).searchParams.get('token')!
  }

  return {
    instance,
    browser,
    asOperator,
    async visitor(who, { isRefused = false, ...look } = {}) {
      const isPerson = who !== 'stranger' && who !== 'operator'
      const link = isPerson ? await linkFor(addresses[who]) : undefined
      const visitor = await openVisitor(browser, instance.url, look, link)
      if (who === 'operator') await becomeOperator(visitor, instance.adminToken)
      visitors.push({ visitor, isRefused })
      return visitor
    },
    expectQuiet() {
      const requested = visitors.flatMap(({ visitor }) => visitor.requested)
      expect(requested.length).toBeGreaterThan(20)
      expect(
        requested.filter(url => !url.startsWith(instance.url) && !/^(data|blob):/.test(url)),
      ).toEqual([])
      const quiet = visitors.filter(({ isRefused }) => !isRefused)
      expect(quiet.flatMap(({ visitor }) => visitor.complaints)).toEqual([])
    },
    async close() {
      await browser.close()
      if (instance !== options.instance) await instance.stop()
    },
  }
}

/**
 * Gives a tab the admin token, as if it had been typed in, unless the tab impersonates an account.
 */
export async function becomeOperator({ context }: Visitor, token: string): Promise<void> {
  await context.addInitScript(
    `self.origin !== 'null' && (sessionStorage.getItem('operator') ?? sessionStorage.setItem('operator', '${token}'))`,
  )
}
