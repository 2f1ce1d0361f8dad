import { loadConfig, type Mode } from '../../../src/config/config.ts'
import { type App, createApp } from '../../../src/instance/app/app.ts'
import { createOutboxJob } from '../../../src/instance/jobs/outbox.ts'
import { openServices, type Services } from '../../../src/instance/services/services.ts'
import { createSeededIds } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createManualClock, type ManualClock } from '../../../src/lib/time/clock.ts'
import type { Channel, InboxMessage } from '../../../src/outbox/store/inbox.ts'
import { databaseInMemory } from '../instance/database.ts'

export const startAt = Date.parse('2026-11-20T15:00:00Z')

/**
 * An instance whose messages are captured, with a stopped clock and an outbox that sends on demand.
 */
export interface MessageInstance {
  services: Services
  app: App
  clock: ManualClock
  log: string[]
  /** Makes an account with one key. */
  account(
    plan?: string,
    options?: { addOns?: string[]; trial?: boolean },
  ): { id: string; token: string; email: string }
  ask(
    method: string,
    path: string,
    token?: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
  /** Sends what is due. */
  deliver(): Promise<void>
  captured(channel: Channel): InboxMessage[]
  /** The code in the last text message. */
  code(): string
  /** An account with a verified number that is opted in. */
  reachable(plan?: string, number?: string): Promise<{ id: string; token: string; email: string }>
}

export interface Answer {
  status: number
  headers: Headers
  body: Record<string, unknown>
}

export function openMessageInstance({
  flags = {},
  mode = 'dev',
}: {
  flags?: Record<string, string>
  mode?: Mode
} = {}): MessageInstance {
  const clock = createManualClock(startAt)
  const log: string[] = []
  const db = databaseInMemory()
  const services = openServices({
    db,
    clock,
    ids: createSeededIds(1),
    masterKey: 'a master key for tests',
    config: loadConfig({
      mode,
      flags: { 'limits.per_minute': '100000', ...flags },
      env: {},
      files: { directory: '/' },
      readFile: () => 'client_profiles = []',
    }),
    log: createLog({ level: 'debug', format: 'json', write: line => void log.push(line), clock }),
  })
  const app = createApp(services)
  const job = createOutboxJob({
    outbox: services.outbox,
    clock,
    log: services.log,
    concurrency: 20,
    perLane: 4,
  })
  let accounts = 0

  const instance: MessageInstance = {
    services,
    app,
    clock,
    log,
    account(plan = 'enterprise', { addOns = [], trial = false } = {}) {
      accounts += 1
      const at = clock.now()
      const email = `person${accounts}@example.com`
      const account = services.keys.putAccount({
        id: services.ids.uuid(),
        email,
        plan,
        addOns,
        emailConfirmedAt: at,
        suspendedAt: null,
        createdAt: at,
        trialStartedAt: trial ? at : null,
        trialEndsAt: trial ? at + 7 * 86_400_000 : null,
      })
      return { id: account.account.id, token: services.keys.addKey(account).token, email }
    },
    async ask(method, path, token, body, headers = {}) {
      const response = await app.handle(
        new Request(`http://localhost${path}`, {
          method,
          headers: {
            ...(token && { authorization: `Token ${token}` }),
            'content-type': 'application/json',
            ...headers,
          },
          ...(body !== undefined && {
            body: typeof body === 'string' ? body : JSON.stringify(body),
          }),
        }),
      )
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? {} : JSON.parse(text),
      }
    },
    async deliver() {
      await job.pass()
      await job.settled()
    },
    captured: channel => services.inbox.list(channel),
    code: () => /\d{6}/.exec(services.inbox.list('sms').at(-1)?.text ?? '')?.[0] ?? 'none',
    async reachable(plan = 'enterprise', number = '+15550100001') {
      const account = instance.account(plan)
      await instance.ask('POST', '/v1/phone', account.token, {
        phone_number: number,
        country_code: 'US',
      })
      await instance.deliver()
      await instance.ask('POST', '/v1/phone/verify', account.token, {
        verification_code: instance.code(),
      })
      services.phones.optIn(account.id)
      return account
    },
  }
  return instance
}
