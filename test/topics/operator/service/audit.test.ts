import { expect, test } from 'bun:test'
import { createLog } from '../../../../src/lib/log/log.ts'
import { dayMs, hourMs } from '../../../../src/lib/time/instant.ts'
import { createAudit } from '../../../../src/topics/operator/service/audit.ts'
import { createAuditStore } from '../../../../src/topics/operator/store/audit.ts'
import { settingsStore } from '../../../../src/topics/operator/store/settings.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

const startAt = Date.parse('2026-03-20T15:00:00Z')

/** An audit trail with an entry a day, of a process whose clock can be wrong. */
function trail() {
  const db = databaseInMemory()
  let wall = startAt
  let mono = 0
  const clock = { now: () => wall, monotonic: () => mono }
  const log = createLog({ level: 'error', format: 'json', write: () => {}, clock })
  const open = () =>
    createAudit({
      store: createAuditStore(db),
      settings: settingsStore(db),
      clock,
      log,
      keepDays: 30,
    })
  let audit = open()
  const count = () => audit.total({})
  return {
    count,
    pass: () => audit.prune(),
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
      audit = open()
    },
  }
}

test('a clock that is a year ahead deletes nothing of the audit trail', () => {
  for (const isAtStart of [false, true]) {
    const { count, pass, note, run, jump, restart } = trail()
    for (let day = 0; day < 10; day += 1) {
      note()
      run(dayMs)
      pass()
    }
    jump(365 * dayMs)
    if (isAtStart) restart()
    note()
    for (let hour = 0; hour < 48; hour += 1) {
      run(hourMs)
      pass()
    }
    jump(-365 * dayMs)
    run(hourMs)
    pass()
    expect(count()).toBe(11)
  }
})

test('an instance that was stopped for long deletes old entries after a week', () => {
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
