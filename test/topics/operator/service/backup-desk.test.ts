import { expect, test } from 'bun:test'
import { createManualClock } from '../../../../src/lib/time/clock.ts'
import { hourMs, isoInstant } from '../../../../src/lib/time/instant.ts'
import { createBackupDesk } from '../../../../src/topics/operator/service/backup-desk.ts'
import { createBackupRecord } from '../../../../src/topics/operator/service/backup-record.ts'
import { settingsStore } from '../../../../src/topics/operator/store/settings.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

test('a backup that a person made by a command counts as the last one, and one of a wrong clock does not', async () => {
  const clock = createManualClock(Date.parse('2026-11-20T15:00:00Z'))
  const record = createBackupRecord(settingsStore(databaseInMemory()))
  let times: number[] = []
  const listed = () =>
    JSON.stringify(
      times.map(at => ({ name: `${at}.db`, made_at: isoInstant(at), bytes: 1, place: '/mnt' })),
    )
  const desk = createBackupDesk({
    command: async () => ({ code: 0, out: listed(), err: '' }),
    isConfigured: true,
    record,
    clock,
  })
  const now = clock.now()
  await desk.list()
  expect(record.get().madeAt).toBeUndefined()
  record.set({ madeAt: now - 3 * hourMs, checkedAt: now - 2 * hourMs })
  times = [now - 3 * hourMs, now - hourMs, now + hourMs]
  await desk.list()
  expect(record.get()).toEqual({
    madeAt: now - hourMs,
    checkedAt: now - 2 * hourMs,
    fault: undefined,
  })
  times = [now - 3 * hourMs]
  await desk.list()
  expect(record.get().madeAt).toBe(now - hourMs)
})
