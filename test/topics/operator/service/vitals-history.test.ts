import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../../../../src/lib/log/log.ts'
import { createManualClock } from '../../../../src/lib/time/clock.ts'
import { createTally } from '../../../../src/topics/operator/service/tally.ts'
import { createVitalsHistory } from '../../../../src/topics/operator/service/vitals-history.ts'

const minuteMs = 60_000
const dir = mkdtempSync(join(tmpdir(), 'vitals-'))
afterAll(() => rmSync(dir, { recursive: true }))

const now = { memoryBytes: 100, loopWaitMs: 1, freeBytes: 5, outboxPending: 0 }
const log = createLog({ level: 'error', write: () => {} } as never)

describe('the history of the vitals', () => {
  let clock = createManualClock(Date.parse('2026-11-20T15:00:30Z'))
  let tally = createTally()
  let history = createVitalsHistory({ tally, clock, log })
  beforeEach(() => {
    clock = createManualClock(Date.parse('2026-11-20T15:00:30Z'))
    tally = createTally()
    history = createVitalsHistory({ tally, clock, log })
  })
  const pass = (minutes: number, each: (minute: number) => void = () => {}) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      each(minute)
      history.take(now)
      clock.advance(minuteMs)
    }
  }

  test('a minute counts its own requests, its errors and the latency of 95 of 100', () => {
    for (let i = 0; i < 95; i += 1) tally.count('/v1/a', 200, 'free', 2)
    for (let i = 0; i < 5; i += 1) tally.count('/v1/a', 500, 'free', 700)
    history.take(now)
    history.take(now)
    const [first, second] = history.minutes()
    expect(first).toMatchObject({ requests: 100, serverErrors: 5, p95: 0.0025 })
    expect(second).toMatchObject({ requests: 0, serverErrors: 0, p95: null })
  })

  test('it holds a day of minutes and a month of hours, and no more', () => {
    pass(26 * 60)
    expect(history.minutes()).toHaveLength(24 * 60)
    expect(history.hours()).toHaveLength(25)
    pass(30 * 24 * 60)
    expect(history.hours()).toHaveLength(30 * 24)
  })

  test('an hour counts its requests and has the worst of its minutes', () => {
    pass(61, minute => tally.count('/v1/a', 200, '', minute === 7 ? 3000 : 2))
    expect(history.hours()).toHaveLength(1)
    expect(history.hours()[0]).toMatchObject({ requests: 60, p95: 5 })
  })

  test('its hours outlast a restart, and a damaged file costs the past alone', () => {
    const file = join(dir, 'history.json')
    history.attach(file)
    pass(61)
    const restarted = createVitalsHistory({ tally: createTally(), clock, log })
    restarted.attach(file)
    expect(restarted.hours()).toEqual(history.hours())
    writeFileSync(file, '{"torn')
    const damaged = createVitalsHistory({ tally: createTally(), clock, log })
    damaged.attach(file)
    expect(damaged.hours()).toEqual([])
  })
})
