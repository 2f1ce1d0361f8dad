import { loadConfig } from '../../../src/config/config.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { openServices, type Services } from '../../../src/instance/services/services.ts'
import { createSeededIds } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createManualClock, type ManualClock } from '../../../src/lib/time/clock.ts'
import type { AlertCondition } from '../../../src/topics/alerts/math/condition.ts'
import type { Alert, AlertSettings } from '../../../src/topics/alerts/service/alerts.ts'
import { shippedCatalogue } from '../../../src/topics/catalogue/files/shipped.ts'
import type { AccountState } from '../../../src/topics/keys/service/keyring.ts'

export const startAt = Date.parse('2026-11-20T15:00:00Z')

/**
 * Services over their own database with one account, and what a test of alerts needs of them.
 */
export interface AlertInstance {
  services: Services
  clock: ManualClock
  log: string[]
  account: AccountState
  open(plan: string): AccountState
  watch(
    code: string,
    condition: AlertCondition,
    more?: Partial<AlertSettings>,
    account?: AccountState,
  ): Alert
  /** Records a price as observed now, or at its own time. */
  price(code: string, value: number, observedAt?: number): void
  /** Prices at which an alert has fired, oldest first. */
  fired(alert: Alert): number[]
  messages(): { kind: string; event_type: string; lane: string; body: Record<string, unknown> }[]
  close(): void
}

export const above = (value: number): AlertCondition => ({
  kind: 'price',
  operator: 'greater_than',
  value,
})
export const below = (value: number): AlertCondition => ({
  kind: 'price',
  operator: 'less_than',
  value,
})

export function openAlertInstance({
  path = ':memory:',
  now = startAt,
  interval = '0s',
  flags = {},
}: {
  path?: string
  now?: number
  interval?: string
  flags?: Record<string, string>
} = {}): AlertInstance {
  const clock = createManualClock(now)
  const log: string[] = []
  const db = openDatabase(path)
  // Another start draws other ids.
  const ids = createSeededIds(
    (db.query('SELECT count(*) AS n FROM alerts').get() as { n: number }).n + 1,
  )
  const services = openServices({
    db,
    clock,
    ids,
    // However busy the machine is, a price is judged by everyone who watches it before it returns.
    stopwatch: { ...clock, monotonic: () => 0 },
    masterKey: 'a master key for tests',
    config: loadConfig({
      flags: {
        'alerts.interval': interval,
        'mail.provider': 'smtp',
        'mail.smtp_url': 'smtp://mail.example.com',
        ...flags,
      },
      env: {},
      files: { directory: '/' },
      readFile: () => 'client_profiles = []',
    }),
    log: createLog({ level: 'warn', format: 'json', write: line => void log.push(line), clock }),
  })
  const { keys, alerts, catalogue } = services
  const shipped = shippedCatalogue()
  services.series.put(shipped.series, shipped.aliases)
  catalogue.reload()
  let accounts = 0
  const open = (plan: string) => {
    accounts += 1
    return keys.putAccount({
      id: ids.uuid(),
      email: `person${accounts}@example.com`,
      plan,
      addOns: [],
      suspendedAt: null,
      createdAt: now,
      trialStartedAt: null,
      trialEndsAt: null,
      emailConfirmedAt: now,
    })
  }
  const seriesOf = (code: string) => catalogue.resolve(code, clock.now())!.series
  return {
    services,
    clock,
    log,
    open,
    account: keys.accountByEmail('person1@example.com') ?? open('enterprise'),
    watch(code, condition, more = {}, account) {
      const alert = alerts.create(account ?? keys.accountByEmail('person1@example.com')!, {
        name: 'an alert',
        seriesId: catalogue.named(code)!.id,
        condition,
        metadata: null,
        webhookUrl: null,
        cooldownMinutes: 0,
        enabled: true,
        ...more,
      })
      if ('refused' in alert) throw new Error(`refused: ${alert.refused}`)
      return alert
    },
    price(code, value, observedAt = clock.now()) {
      services.ingest.write([{ seriesId: seriesOf(code).id, observedAt, value }])
    },
    fired: alert =>
      alerts
        .history(alert, 10_000)
        .map(trigger => trigger.price)
        .reverse(),
    messages: () =>
      db
        .query<{ kind: string; event_type: string; lane: string; body: string }, []>(
          `SELECT l.kind, o.event_type, l.lane, b.body FROM outbox o JOIN outbox_lanes l ON l.id = o.lane_id JOIN outbox_bodies b ON b.id = o.body_id
           ORDER BY o.number`,
        )
        .all()
        .map(row => ({ ...row, body: JSON.parse(row.body) as Record<string, unknown> })),
    close: () => db.close(),
  }
}
