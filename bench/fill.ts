import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../src/config/config.ts'
import { openInstance } from '../src/instance/instance.ts'
import { createRandomIds } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log/log.ts'
import { createSystemClock } from '../src/lib/time/clock.ts'
import { dayMs } from '../src/lib/time/instant.ts'
import type { Series } from '../src/topics/catalogue/store/series.ts'
import type { Filled } from './database.ts'

const leadingCode = 'WTI_USD'
const batchMax = 100_000
const keysEach = 5

const dir = process.argv[2]!
const [points, keys, codeCount, stepMinutes] = process.argv.slice(3).map(Number) as [
  number,
  number,
  number,
  number,
]
const stepMs = stepMinutes * 60_000
const clock = createSystemClock()
const instance = openInstance({
  dir,
  runtime: {
    config: loadConfig({ flags: {}, env: {}, files: { directory: dir } }),
    clock,
    ids: createRandomIds(),
    log: createLog({
      level: 'warn',
      format: 'text',
      write: line => process.stderr.write(line),
      clock,
    }),
  },
})
const { catalogue, ingest, keys: keyring, adminTokens, ids } = instance.services

/** The leading code and others that publish within the day. */
function seriesToFill(): Series[] {
  const leading = catalogue.resolve(leadingCode, clock.now())!.series
  const others = catalogue
    .list()
    .filter(series => series !== leading && series.unavailableReason === null)
  const intraday = others.filter(other => other.cadence.startsWith('intraday'))
  return [leading, ...intraday, ...others.filter(other => !intraday.includes(other))].slice(
    0,
    codeCount,
  )
}

/** A random walk around the code's level, the same in every run. */
function values(seed: number, level: number): () => number {
  let state = seed
  let drift = 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    drift = drift * 0.999 + (state / 2 ** 32 - 0.5) * 0.004
    return Math.round(level * (1 + drift) * 1e4) / 1e4
  }
}

const lastAt = Math.floor(clock.now() / stepMs) * stepMs
const each = Math.ceil(points / codeCount)
const firstAt = lastAt - (each - 1) * stepMs
const filledSeries = seriesToFill()
for (const series of filledSeries) {
  const next = values(series.id, series.level)
  for (let from = 0; from < each; from += batchMax) {
    const count = Math.min(batchMax, each - from)
    ingest.write(
      Array.from({ length: count }, (_, i) => ({
        seriesId: series.id,
        observedAt: firstAt + (from + i) * stepMs,
        value: next(),
      })),
    )
  }
}

const tokens: string[] = []
while (tokens.length < keys) {
  const at = clock.now() - dayMs
  const account = keyring.putAccount({
    id: ids.uuid(),
    email: `desk${tokens.length}@example.com`,
    plan: 'enterprise',
    addOns: [],
    trialStartedAt: null,
    trialEndsAt: null,
    emailConfirmedAt: at,
    suspendedAt: null,
    createdAt: at,
  })
  for (let i = 0; i < keysEach && tokens.length < keys; i += 1)
    tokens.push(keyring.addKey(account, { name: `key ${i + 1}` }).token)
}
adminTokens.rotate()
instance.close()
const codes = filledSeries.map(({ code }) => code)
const note: Omit<Filled, 'dir'> = { tokens, code: leadingCode, codes, firstAt, lastAt, stepMs }
writeFileSync(join(dir, 'filled.json'), JSON.stringify(note))
