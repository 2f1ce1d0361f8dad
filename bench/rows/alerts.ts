import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/config/config.ts'
import { transact } from '../../src/database/database.ts'
import { type Instance, openInstance } from '../../src/instance/instance.ts'
import { createRandomIds } from '../../src/lib/ids.ts'
import { createLog } from '../../src/lib/log/log.ts'
import { createSystemClock, sleep } from '../../src/lib/time/clock.ts'
import { firstPreferences } from '../../src/topics/messages/store/preferences.ts'
import type { BenchOptions, Line } from '../row.ts'

const code = 'WTI_USD'
const accountCount = 1000
const alertsEach = 100
const alertCount = accountCount * alertsEach
const price = 70
const withinMs = 1000
const pauseMaxMs = 50
const quiet = { ...firstPreferences, email: { ...firstPreferences.email, priceAlerts: false } }

interface Round {
  name: string
  /** A share of the alerts, in a hundred, whose threshold the price passes. */
  firingPercent: number
  /** Whether e-mails are sent in addition to webhooks. */
  mail: boolean
  demanded: boolean
}

/**
 * A moving price fires some of its alerts. All hundred thousand at once is the worst case, shown
 * without a bar.
 */
const rounds: readonly Round[] = [
  { name: 'none fires', firingPercent: 0, mail: true, demanded: true },
  { name: 'one in a hundred fires', firingPercent: 1, mail: true, demanded: true },
  { name: 'one in ten fires', firingPercent: 10, mail: true, demanded: true },
  { name: 'one in four fires, webhooks', firingPercent: 25, mail: false, demanded: true },
  { name: 'every alert fires, webhooks', firingPercent: 100, mail: false, demanded: false },
  {
    name: 'every alert fires, webhooks and e-mail',
    firingPercent: 100,
    mail: true,
    demanded: false,
  },
]

/**
 * A hundred thousand enabled alerts on one code when its price moves: until all are evaluated and
 * their messages are in the outbox.
 */
export async function alerts(options: BenchOptions): Promise<Line[]> {
  const lines: Line[] = []
  for (const round of rounds) {
    options.say(`${alertCount} alerts: ${round.name}`)
    const dir = join(options.dir, 'alerts')
    rmSync(dir, { recursive: true, force: true })
    mkdirSync(dir, { recursive: true })
    // As in production: another thread checkpoints, and the outbox sends at the same time.
    const instance = openInstance({ dir, runtime: runtime(dir), serving: true })
    try {
      fill(instance, round)
      lines.push(...(await measured(instance, round)))
    } finally {
      instance.close()
      rmSync(dir, { recursive: true, force: true })
    }
  }
  return lines
}

function runtime(dir: string) {
  const clock = createSystemClock()
  return {
    config: loadConfig({ flags: {}, env: {}, files: { directory: dir } }),
    clock,
    ids: createRandomIds(),
    log: createLog({
      level: 'error',
      format: 'text',
      write: line => process.stderr.write(line),
      clock,
    }),
  }
}

function fill({ services }: Instance, { firingPercent, mail }: Round) {
  const { db, keys, ids, clock, alerts: book, catalogue, preferences } = services
  const series = catalogue.named(code)!
  services.ingest.write([
    { seriesId: series.id, observedAt: clock.now() - 60_000, value: price - 20 },
  ])
  for (let i = 0; i < accountCount; i += 1) {
    transact(db, () => {
      const at = clock.now()
      const account = keys.putAccount({
        id: ids.uuid(),
        email: `desk${i}@example.com`,
        plan: 'enterprise',
        addOns: [],
        suspendedAt: null,
        createdAt: at,
        trialStartedAt: null,
        trialEndsAt: null,
        emailConfirmedAt: at,
      })
      if (!mail) preferences.put(account.account.id, quiet)
      for (let n = 0; n < alertsEach; n += 1) {
        const fires = (n * 61) % 100 < firingPercent
        book.create(account, {
          name: `alert ${n}`,
          seriesId: series.id,
          metadata: null,
          cooldownMinutes: 60,
          enabled: true,
          condition: {
            kind: 'price',
            operator: 'greater_than',
            value: fires ? price - (n % 10) - 1 : price + n + 1,
          },
          webhookUrl: `https://desk${i}.example.com/alerts`,
        })
      }
    })
  }
}

/** From the price to the last row, and the longest time for which nothing else had a turn. */
async function measured(
  { services }: Instance,
  { name, firingPercent, mail, demanded }: Round,
): Promise<Line[]> {
  const { db, alerts: book, catalogue, ingest, clock } = services
  Bun.gc(true)
  let longestMs = 0
  let isOver = false
  const watch = (async () => {
    for (let lastMs = performance.now(); !isOver; ) {
      await sleep(0)
      const now = performance.now()
      longestMs = Math.max(longestMs, now - lastMs)
      lastMs = now
    }
  })()
  await sleep(20)
  longestMs = 0
  const startedMs = performance.now()
  ingest.write([{ seriesId: catalogue.named(code)!.id, observedAt: clock.now(), value: price }])
  await book.evaluation.pass()
  const tookMs = performance.now() - startedMs
  isOver = true
  await watch
  const { n } = db.query('SELECT count(*) AS n FROM outbox').get() as { n: number }
  const expected = (alertCount * firingPercent * (mail ? 2 : 1)) / 100
  if (n !== expected) throw new Error(`${name}: ${n} rows in the outbox, not ${expected}`)
  const count = alertCount.toLocaleString('en-US')
  const line = (what: string, ms: number, barMs: number): Line => ({
    row: `${count} alerts: ${name}, ${what}`,
    ours: `${Math.round(ms)} ms`,
    yardstick: '-',
    ratio: undefined,
    atLeast: demanded ? `${barMs} ms` : '-',
    met: demanded ? ms <= barMs : undefined,
  })
  return [
    line('until all is written', tookMs, withinMs),
    line('longest pause', longestMs, pauseMaxMs),
  ]
}
