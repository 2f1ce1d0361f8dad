import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createClockJob } from '../../../src/instance/jobs/clock.ts'
import type { Job } from '../../../src/instance/jobs/job.ts'
import { createRunner } from '../../../src/instance/jobs/runner.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import type { Clock } from '../../../src/lib/time/clock.ts'
import { createJumpWatch } from '../../../src/lib/time/clock-jumps.ts'
import { createDueTimes } from '../../../src/topics/operator/store/due-times.ts'
import { type DemoInstance, demoInstance } from '../../support/instance/demo-instance.ts'

const dayMs = 86_400_000
let instance: DemoInstance
beforeAll(() => {
  instance = demoInstance(undefined, {})
}, 120_000)
afterAll(() => instance.remove())

function guarded() {
  const { services } = instance.running
  const lines: string[] = []
  const drift = { ms: 0 }
  const clock: Clock = {
    now: () => services.clock.now() + drift.ms,
    monotonic: () => services.clock.monotonic(),
  }
  const log = createLog({
    level: 'info',
    format: 'json',
    write: line => void lines.push(line),
    clock,
  })
  const jumps = createJumpWatch(clock)
  const job = createClockJob({
    ...services,
    clock,
    jumps,
    log,
    dueTimes: createDueTimes(services.db),
  })
  return { job, jumps, clock, log, lines, drift }
}

/** Where what waits is scheduled, by table and column, with a condition on its rows. */
const moments: [string, string, string][] = [
  ['watches', 'next_run_at', 'next_run_at IS NOT NULL'],
  ['data_sources', 'next_sync_at', 'next_sync_at IS NOT NULL'],
  ['scheduled_deliveries', 'next_delivery_at', 'next_delivery_at IS NOT NULL'],
  ['outbox', 'due_at', "state IN ('pending', 'retry')"],
  ['alerts', 'armed_at', '1'],
  ['alert_counters', 'cooling_from', 'cooling_from IS NOT NULL'],
]
const latest = (table: string, column: string, where: string) =>
  instance.running.services.db
    .query<{ at: number | null }, []>(`SELECT max(${column}) AS at FROM ${table} WHERE ${where}`)
    .get()!.at

describe('after a clock that was wrong for seconds', () => {
  test.each(moments)('%s.%s is brought back from every future', (table, column, where) => {
    const { db } = instance.running.services
    if (table === 'outbox')
      db.run("UPDATE outbox SET state = 'retry', lease_token = NULL, lease_until = NULL")
    if (table === 'data_sources') db.run('UPDATE data_sources SET next_sync_at = 1')
    if (table === 'alert_counters') db.run('UPDATE alert_counters SET cooling_from = 1')
    for (const ahead of [400 * dayMs, 36_500 * dayMs]) {
      const { job, clock, lines } = guarded()
      expect(latest(table, column, where)).not.toBeNull()
      db.run(`UPDATE ${table} SET ${column} = ${clock.now() + ahead} WHERE ${where}`)
      job.pass()
      expect(latest(table, column, where)!).toBeLessThanOrEqual(clock.now() + 8 * dayMs)
      expect(lines.join()).toContain('due_times_corrected')
    }
  })

  test('valid future due times stay unchanged after a clock fault, and a never-due message stays so', () => {
    const { db } = instance.running.services
    guarded().job.pass()
    db.run(`UPDATE outbox SET due_at = ${Number.MAX_SAFE_INTEGER} WHERE number = 1`)
    const before = moments.map(([table, column, where]) => latest(table, column, where))
    const { job, lines } = guarded()
    job.pass()
    expect(moments.map(([table, column, where]) => latest(table, column, where))).toEqual(before)
    expect(lines.join()).not.toContain('due_times_corrected')
  })
})

test('the other jobs wait until the clock has been steady for a minute, and the jump is logged', async () => {
  const { job, jumps, clock, log, lines, drift } = guarded()
  const passes: number[] = []
  const other: Job = { name: 'other', pass: () => void passes.push(clock.now()) }
  const runner = createRunner([other], clock, log, {
    guard: { job, holdsOthers: jumps.isSettling },
  })
  await runner.tick()
  drift.ms = 400 * dayMs
  await runner.tick()
  instance.clock.advance(5_000)
  drift.ms = 0
  await runner.tick()
  instance.clock.advance(59_999)
  await runner.tick()
  expect(passes).toHaveLength(1)
  instance.clock.advance(1)
  await runner.tick()
  expect(passes).toHaveLength(2)
  expect(Math.max(...passes)).toBeLessThan(clock.now() + dayMs)
  expect(lines.filter(line => line.includes('clock_jumped'))).toHaveLength(2)
})
