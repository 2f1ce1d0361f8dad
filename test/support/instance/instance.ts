import { type Config, loadConfig } from '../../../src/config/config.ts'
import { type App, createApp } from '../../../src/instance/app/app.ts'
import { openServices, type Services } from '../../../src/instance/services/services.ts'
import { createSeededIds } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createManualClock, type ManualClock } from '../../../src/lib/time/clock.ts'
import { catalogueInMemory } from './database.ts'

/**
 * A whole instance over a database in memory, with a stopped clock: every test has a separate one.
 */
export interface TestInstance {
  services: Services
  app: App
  clock: ManualClock
  log: string[]
  /** The waits for publishers that were skipped, in milliseconds. */
  waited: number[]
  /** The length of a wait for a publisher that begins now; undefined: it ends at once. */
  holdUp: Promise<void> | undefined
  /** Makes an account with one key and returns the token. */
  key(
    plan?: string,
    options?: { email?: string; addOns?: string[]; trial?: boolean; confirmed?: boolean },
  ): string
  /** A request with a key in the Authorization header. */
  get(path: string, token?: string, headers?: Record<string, string>): Promise<Response>
  send(
    method: string,
    path: string,
    body: unknown,
    token?: string,
    headers?: Record<string, string>,
  ): Promise<Response>
  /** Records a series of values, `stepMs` apart, the last of them at `lastAt`. */
  record(code: string, values: readonly number[], lastAt: number, stepMs: number): void
}

export const startAt = Date.parse('2026-11-20T15:00:00Z')

/** Read once for each set of flags: thousands of instances are opened with the same ones. */
const configs = new Map<string, Config>()
function configOf(flags: Record<string, string>): Config {
  const name = JSON.stringify(flags)
  const known = configs.get(name)
  if (known) return known
  const config = loadConfig({
    flags,
    env: {},
    files: { directory: '/' },
    readFile: () => 'client_profiles = []',
  })
  configs.set(name, config)
  return config
}

export function openTestInstance(flags: Record<string, string> = {}, now = startAt): TestInstance {
  const clock = createManualClock(now)
  const log: string[] = []
  const waited: number[] = []
  const config = configOf(flags)
  const services = openServices({
    db: catalogueInMemory(config.brand.exchangeWords),
    config,
    clock,
    async wait(ms) {
      waited.push(ms)
      await instance.holdUp
    },
    masterKey: 'a master key for tests',
    ids: createSeededIds(1),
    log: createLog({ level: 'debug', format: 'json', write: line => void log.push(line), clock }),
  })
  const app = createApp(services)
  let accounts = 0
  const call = (
    method: string,
    path: string,
    token: string | undefined,
    headers: Record<string, string>,
    body?: string | Uint8Array,
  ) =>
    app.handle(
      new Request(`http://localhost${path}`, {
        method,
        headers: { ...(token && { authorization: `Token ${token}` }), ...headers },
        ...(body !== undefined && { body }),
      }),
    )
  const instance: TestInstance = {
    services,
    app,
    clock,
    log,
    waited,
    holdUp: undefined,
    key(plan = 'enterprise', options = {}) {
      accounts += 1
      const at = clock.now()
      const account = services.keys.putAccount({
        id: services.ids.uuid(),
        email: options.email ?? `person${accounts}@example.com`,
        plan,
        addOns: options.addOns ?? [],
        trialStartedAt: options.trial ? at : null,
        trialEndsAt: options.trial ? at + 7 * 86_400_000 : null,
        emailConfirmedAt: options.confirmed === false ? null : at,
        suspendedAt: null,
        createdAt: at,
      })
      return services.keys.addKey(account).token
    },
    get: (path, token, headers = {}) => call('GET', path, token, headers),
    send: (method, path, body, token, headers = {}) =>
      call(
        method,
        path,
        token,
        { 'content-type': 'application/json', ...headers },
        typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      ),
    record(code, values, lastAt, stepMs) {
      const series = services.catalogue.resolve(code, clock.now())!.series
      services.ingest.write(
        values.map((value, i) => ({
          seriesId: series.id,
          observedAt: lastAt - (values.length - 1 - i) * stepMs,
          value,
        })),
      )
    },
  }
  return instance
}
