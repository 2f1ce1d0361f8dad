import type { Database } from 'bun:sqlite'
import { loadConfig } from '../../../src/config/config.ts'
import { type App, createApp } from '../../../src/instance/app/app.ts'
import { createDeliveriesJob } from '../../../src/instance/jobs/deliveries.ts'
import { createOutboxJob, type OutboxJob } from '../../../src/instance/jobs/outbox.ts'
import { createRunner, type Runner } from '../../../src/instance/jobs/runner.ts'
import { openServices, type Services } from '../../../src/instance/services/services.ts'
import { createSeededIds } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createManualClock, type ManualClock } from '../../../src/lib/time/clock.ts'
import { hourMs } from '../../../src/lib/time/instant.ts'
import type { Captured } from '../../../src/outbox/store/inbox.ts'
import { shippedCatalogue } from '../../../src/topics/catalogue/files/shipped.ts'
import type { DeliverySettings } from '../../../src/topics/deliveries/service/deliveries.ts'
import type { AccountState } from '../../../src/topics/keys/service/keyring.ts'
import { databaseInMemory } from '../instance/database.ts'

/** A Friday. */
export const startAt = Date.parse('2026-11-20T15:00:00Z')

/**
 * An instance with prices whose mail is captured, with the jobs that make and send deliveries under
 * a stopped clock.
 */
export interface DeliveryWorld {
  services: Services
  app: App
  clock: ManualClock
  db: Database
  log: string[]
  jobs: Runner
  sending: OutboxJob
  account(plan?: string): AccountState
  token(account: AccountState): string
  create(account: AccountState, settings?: Partial<DeliverySettings>): string
  record(code: string, at: string, value: number): void
  /** Moves the clock, stopping where there is something to do. */
  advance(ms: number): Promise<void>
  /** One beat and everything that follows from it now. */
  beat(): Promise<void>
  mails(): Captured[]
  runs(): {
    id: string
    trigger: string
    local_on: string
    status: string
    error: string | null
    created_at: number
    sent_at: number | null
  }[]
  /** Another process over the same database; what this one has under way is lost. */
  restart(): DeliveryWorld
}

export interface DeliveryWorldOptions {
  now?: number
  flags?: Record<string, string>
  db?: Database
  clock?: ManualClock
  seed?: number
}

export const daily: DeliverySettings = {
  name: null,
  commodityCodes: ['BRENT_CRUDE_USD', 'WTI_USD'],
  cadence: 'daily',
  weekday: null,
  deliveryTime: '07:00',
  timeZone: 'UTC',
  recipientEmail: null,
  enabled: true,
}

export function deliveryWorld(options: DeliveryWorldOptions = {}): DeliveryWorld {
  const {
    flags = {},
    seed = 1,
    clock = createManualClock(options.now ?? startAt),
    db = databaseInMemory(),
  } = options
  const lines: string[] = []
  const log = createLog({
    level: 'info',
    format: 'json',
    write: line => void lines.push(line),
    clock,
  })
  const config = loadConfig({
    mode: 'dev',
    env: {},
    files: { directory: '/' },
    readFile: () => 'client_profiles = []',
    flags: { 'limits.per_minute': '100000', ...flags },
  })
  const services = openServices({
    db,
    clock,
    log,
    config,
    ids: createSeededIds(seed),
    masterKey: 'a master key for tests',
  })
  if (!options.db) {
    const shipped = shippedCatalogue()
    services.series.put(shipped.series, shipped.aliases)
    services.catalogue.reload()
  }
  const sending = createOutboxJob({
    outbox: services.outbox,
    clock,
    log,
    concurrency: 20,
    perLane: 4,
  })
  const mailing = createDeliveriesJob({
    ...services,
    intervalMs: config.deliveries.dispatchIntervalMs,
  })
  const jobs = createRunner([mailing, sending], clock, log)
  let app: App | undefined
  const world: DeliveryWorld = {
    services,
    clock,
    db,
    log: lines,
    jobs,
    sending,
    get app() {
      app ??= createApp(services)
      return app
    },
    account(plan = 'enterprise') {
      const [id, at] = [services.ids.uuid(), clock.now()]
      return services.keys.putAccount({
        id,
        email: `${id.slice(0, 8)}@example.com`,
        plan,
        addOns: [],
        trialStartedAt: null,
        trialEndsAt: null,
        emailConfirmedAt: at,
        suspendedAt: null,
        createdAt: at,
      })
    },
    token: account => services.keys.addKey(account).token,
    create(account, settings = {}) {
      const delivery = services.deliveries.create(
        account,
        { ...daily, ...settings },
        { source: 'api' },
      )
      if ('refused' in delivery) throw new Error('the plan allows no more deliveries')
      return delivery.id
    },
    record: (code, at, value) =>
      void services.ingest.write([
        { seriesId: services.catalogue.named(code)!.id, observedAt: Date.parse(at), value },
      ]),
    advance: ms => jobs.advance(clock, clock.now() + ms),
    async beat() {
      await jobs.tick()
      await sending.settled()
    },
    mails: () => services.inbox.list('email'),
    runs: () =>
      db.query('SELECT * FROM scheduled_delivery_runs ORDER BY number').all() as ReturnType<
        DeliveryWorld['runs']
      >,
    restart: () => deliveryWorld({ ...options, db, clock, seed: seed + 1 }),
  }
  if (!options.db) {
    for (const [code, value] of [
      ['BRENT_CRUDE_USD', 74.25],
      ['WTI_USD', 70.1],
    ] as const) {
      services.ingest.write([
        { seriesId: services.catalogue.named(code)!.id, observedAt: clock.now() - hourMs, value },
      ])
    }
  }
  return world
}
