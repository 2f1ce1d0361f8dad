import { loadConfig } from '../../../src/config/config.ts'
import { type App, createApp } from '../../../src/instance/app/app.ts'
import { createBillingJob } from '../../../src/instance/jobs/billing.ts'
import type { Job } from '../../../src/instance/jobs/job.ts'
import { createRunner } from '../../../src/instance/jobs/runner.ts'
import { openServices, type Services } from '../../../src/instance/services/services.ts'
import { createSeededIds } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createManualClock, type ManualClock } from '../../../src/lib/time/clock.ts'
import type { Changed } from '../../../src/topics/billing/service/terms.ts'
import type { AccountState } from '../../../src/topics/keys/service/keyring.ts'
import { databaseInMemory } from '../instance/database.ts'

export const startAt = Date.parse('2026-11-20T15:00:00Z')

export interface Buyer {
  account: AccountState
  id: string
  token: string
}

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into field by field, and what is not there fails the comparison
  body: any
  headers: Headers
}

/** An instance in which things are bought. */
export interface BillingHouse {
  services: Services
  app: App
  clock: ManualClock
  log: string[]
  adminToken: string
  buyer(plan?: string, options?: { addOns?: string[]; trial?: boolean; confirmed?: boolean }): Buyer
  ask(
    method: string,
    path: string,
    token?: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
  operator(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
  /**
   * Moves the clock and runs everything that falls due, each at its moment; `also` is called at
   * each of them.
   */
  advance(ms: number, also?: () => void): Promise<void>
  /** Events of an account, oldest first. */
  events(account: AccountState): { type: string; data: Record<string, unknown> }[]
  mailMessages(): { to: string; subject: string; text: string }[]
  plan(buyer: Buyer): string
  change(buyer: Buyer, plan: string): Promise<Changed>
}

/** `dev`: manual invoices pay themselves. */
export function billingHouse(
  mode: 'dev' | 'serve' = 'dev',
  flags: Record<string, string> = {},
  from: number | ManualClock = startAt,
): BillingHouse {
  const clock = typeof from === 'number' ? createManualClock(from) : from
  const log: string[] = []
  const db = databaseInMemory()
  const config = loadConfig({
    mode,
    env: {},
    files: { directory: '/' },
    readFile: () => 'client_profiles = []',
    flags: { 'limits.per_minute': '100000', ...flags },
  })
  const services = openServices({
    db,
    config,
    clock,
    masterKey: 'a master key for tests',
    ids: createSeededIds(1),
    log: createLog({ level: 'debug', format: 'json', write: line => void log.push(line), clock }),
  })
  const app = createApp(services)
  const adminToken = services.adminTokens.rotate()
  let buyers = 0
  const ask: BillingHouse['ask'] = async (method, path, token, body, headers = {}) => {
    const response = await app.handle(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          ...(token && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    )
    const text = response.headers.get('content-type')?.includes('pdf') ? '' : await response.text()
    return {
      status: response.status,
      body: text.startsWith('{') ? JSON.parse(text) : { text },
      headers: response.headers,
    }
  }
  return {
    services,
    app,
    clock,
    log,
    adminToken,
    ask,
    operator: (method, path, body, headers) => ask(method, path, adminToken, body, headers),
    buyer(plan = 'free', { addOns = [], trial = false, confirmed = true } = {}) {
      buyers += 1
      const at = clock.now()
      const account = services.keys.putAccount({
        id: services.ids.uuid(),
        email: `buyer${buyers}@example.com`,
        plan,
        addOns,
        suspendedAt: null,
        createdAt: at,
        trialStartedAt: trial ? at : null,
        trialEndsAt: trial ? at + 7 * 86_400_000 : null,
        emailConfirmedAt: confirmed ? at : null,
      })
      return { account, id: account.account.id, token: services.keys.addKey(account).token }
    },
    async advance(ms, also) {
      const watch: Job[] = also ? [{ name: 'watch', pass: also }] : []
      await createRunner([createBillingJob(services), ...watch], clock, services.log).advance(
        clock,
        clock.now() + ms,
      )
    },
    events({ account }) {
      const rows = services.db
        .query(
          "SELECT body FROM outbox JOIN outbox_bodies b ON b.id = body_id WHERE account_id = ? AND event_type <> 'email' ORDER BY number",
        )
        .all(account.id) as { body: string }[]
      return rows.map(
        ({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> },
      )
    },
    mailMessages() {
      const rows = services.db
        .query(
          "SELECT body FROM outbox JOIN outbox_bodies b ON b.id = body_id WHERE event_type = 'email' ORDER BY number",
        )
        .all() as { body: string }[]
      return rows.map(
        ({ body }) => JSON.parse(body) as { to: string; subject: string; text: string },
      )
    },
    plan: ({ account }) => services.keys.entitlements(account).planId,
    async change({ account }, plan) {
      const changed = (
        await services.billing.subscriptions.changePlan(account, plan, services.ids.uuid())
      )()
      if ('refused' in changed) throw new Error(changed.refused)
      return changed
    },
  }
}

/** Answers of one code after another. */
export const codeOf = ({ body }: Answer): unknown => body.code ?? body.error?.code
