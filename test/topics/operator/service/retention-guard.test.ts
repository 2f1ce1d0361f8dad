import { expect, test } from 'bun:test'
import { retentionJob } from '../../../../src/instance/background-jobs.ts'
import { createLog } from '../../../../src/lib/log/log.ts'
import { dayMs, hourMs } from '../../../../src/lib/time/instant.ts'
import { createAudit } from '../../../../src/topics/operator/service/audit.ts'
import { createRetentionGuard } from '../../../../src/topics/operator/service/retention-guard.ts'
import { createAuditStore } from '../../../../src/topics/operator/store/audit.ts'
import { settingsStore } from '../../../../src/topics/operator/store/settings.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

const startAt = Date.parse('2026-03-20T15:00:00Z')

/** An audit trail that is retained for 30 days, in a process whose clock can be wrong. */
function trail() {
  const db = databaseInMemory()
  let wall = startAt
  let mono = 0
  let forgotten = 0
  const clock = { now: () => wall, monotonic: () => mono }
  const log = createLog({ level: 'error', format: 'json', write: () => {}, clock })
  const batches = {
    prune() {
      forgotten += 1
    },
  }
  const open = () => {
    const audit = createAudit({ store: createAuditStore(db), clock, log, keepDays: 30 })
    const retention = createRetentionGuard({ settings: settingsStore(db), clock })
    return { audit, job: retentionJob({ audit, batches, retention }) }
  }
  let { audit, job } = open()
  return {
    count: () => audit.total({}),
    /** How often the data for undoing batches was looked through. */
    forgotten: () => forgotten,
    pass: () => job.pass(),
    note: () => audit.note({ actor: 'operator', action: 'a', thing: 'b', outcome: 'done' }),
    run(ms: number) {
      wall += ms
      mono += ms
    },
    jump(ms: number) {
      wall += ms
    },
    restart() {
      mono = 0
      ;({ audit, job } = open())
    },
  }
}

test.each([
  ['while the server runs', false],
  ['before it starts', true],
])(
  'a clock that is a year ahead %s deletes no audit entries and no data for undoing',
  (_, isAtStart) => {
    const { count, forgotten, pass, note, run, jump, restart } = trail()
    for (let day = 0; day < 10; day += 1) {
      note()
      run(dayMs)
      pass()
    }
    const before = forgotten()
    expect(before).toBe(10)
    jump(365 * dayMs)
    if (isAtStart) restart()
    note()
    for (let hour = 0; hour < 48; hour += 1) {
      run(hourMs)
      pass()
    }
    expect(forgotten()).toBe(before)
    jump(-365 * dayMs)
    run(hourMs)
    pass()
    expect({ count: count(), forgotten: forgotten() }).toEqual({ count: 11, forgotten: before + 1 })
  },
)

test('a server that was stopped for long deletes old entries after a week', () => {
  const { count, pass, note, run, jump, restart } = trail()
  note()
  pass()
  jump(60 * dayMs)
  restart()
  pass()
  expect(count()).toBe(1)
  run(7 * dayMs)
  pass()
  expect(count()).toBe(0)
})

test('a server that was stopped for long and is restarted every day deletes old entries after a week', () => {
  const { count, pass, note, run, jump, restart } = trail()
  note()
  pass()
  jump(60 * dayMs)
  for (let day = 0; day <= 7; day += 1) {
    restart()
    pass()
    expect(count()).toBe(day < 7 ? 1 : 0)
    run(dayMs)
  }
})

test('a clock that jumps again while it is ahead begins another week', () => {
  const { count, pass, note, run, jump } = trail()
  note()
  pass()
  jump(365 * dayMs)
  run(dayMs)
  pass()
  jump(365 * dayMs)
  run(dayMs)
  pass()
  expect(count()).toBe(1)
})
