import { expect, test } from 'bun:test'
import { createBackupJob } from '../../../src/instance/jobs/backups.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'
import { dayMs, hourMs } from '../../../src/lib/time/instant.ts'
import { createBackupRecord } from '../../../src/topics/operator/service/backup-record.ts'
import { settingsStore } from '../../../src/topics/operator/store/settings.ts'
import { databaseInMemory } from '../../support/instance/database.ts'

const startAt = Date.parse('2026-11-20T15:00:00Z')

function backupWorld() {
  const clock = createManualClock(startAt)
  const record = createBackupRecord(settingsStore(databaseInMemory()))
  const calls: [hours: number, command: string][] = []
  const outcome = { code: 0, out: 'made', err: '' }
  const lines: string[] = []
  const log = createLog({
    level: 'info',
    format: 'json',
    clock,
    write: line => void lines.push(line),
  })
  const job = createBackupJob({
    everyMs: dayMs,
    record,
    clock,
    log,
    async command(...args) {
      calls.push([(clock.now() - startAt) / hourMs, args.join(' ')])
      return outcome
    },
  })
  const pass = async (hours: number) => {
    for (let hour = 0; hour < hours; hour += 1) {
      job.pass()
      await job.settled!()
      clock.advance(hourMs)
    }
  }
  return { clock, record, calls, outcome, lines, pass }
}

test('a backup is made every day, and the newest is opened once a week', async () => {
  const { calls, pass, record } = backupWorld()
  await pass(10 * 24)
  expect(calls.filter(([, command]) => command === 'backup').map(([hours]) => hours)).toEqual(
    Array.from({ length: 10 }, (_, day) => day * 24),
  )
  expect(calls.filter(([, command]) => command === 'backup check').length).toBe(2)
  expect(record.get()).toMatchObject({ fault: undefined })
})

test('a failed backup is retried and reported, and the failure clears when a backup succeeds', async () => {
  const { calls, outcome, lines, pass, record } = backupWorld()
  Object.assign(outcome, { code: 1, err: 'first line\n/backups: no room\n' })
  await pass(3)
  expect(calls.length).toBe(3)
  expect(record.get()).toEqual({
    madeAt: undefined,
    checkedAt: undefined,
    fault: '/backups: no room',
  })
  expect(lines.filter(line => line.includes('backup_failed')).length).toBe(3)
  outcome.code = 0
  await pass(1)
  expect(record.get()).toMatchObject({ madeAt: startAt + 3 * hourMs, fault: undefined })
})

test('backups continue after the clock was a year ahead and is set back', async () => {
  const { clock, calls, pass } = backupWorld()
  await pass(1)
  clock.set(startAt + 365 * dayMs)
  await pass(1)
  clock.set(startAt + 2 * hourMs)
  await pass(26)
  expect(calls.filter(([, command]) => command === 'backup').map(([hours]) => hours)).toEqual([
    0,
    365 * 24,
    2,
    26,
  ])
})

test('a backup that was stopped with its server did not fail, and is due at the next start', async () => {
  const { outcome, lines, pass, record } = backupWorld()
  for (const code of [143, 130]) {
    Object.assign(outcome, { code, err: '' })
    await pass(1)
  }
  expect(record.get()).toEqual({ madeAt: undefined, checkedAt: undefined, fault: undefined })
  expect(lines.filter(line => line.includes('backup_stopped')).length).toBe(2)
  // The system ended it: that is a fault, and has a reason.
  outcome.code = 137
  await pass(1)
  expect(record.get().fault).toBe('exit code 137')
})
