import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs } from '../../src/lib/time/instant.ts'
import { backupName, backupTimeOf, outlived } from '../../src/plans/backup-retention.ts'

const now = Date.parse('2026-11-22T20:15:00Z')
const retention = { keepAllMs: 2 * dayMs, keepDays: 14, keepWeeks: 8 }

test('the name of a backup states when the backup was made', () => {
  expect(backupName(now, false)).toBe('wellhead-20261122T201500Z.db')
  expect(backupTimeOf(backupName(now, true))).toBe(now)
  for (const name of ['wellhead.db', 'wellhead-20261122T201500Z.db.part', 'x'])
    expect(backupTimeOf(name)).toBeUndefined()
})

test('an hourly backup over a year comes to two days of hours, two weeks of days, eight of weeks', () => {
  let kept: number[] = []
  for (let at = now - 365 * dayMs; at <= now; at += hourMs) {
    kept.push(at)
    const over = new Set(outlived(kept, at, retention))
    kept = kept.filter(each => !over.has(each))
  }
  const ages = kept.map(at => (now - at) / dayMs).sort((a, b) => a - b)
  expect(ages.filter(age => age < 2).length).toBe(48)
  expect(ages.filter(age => age >= 2 && age < 14).length).toBe(11)
  expect(ages.filter(age => age >= 14).length).toBe(5)
  expect(Math.max(...ages)).toBeLessThan(8 * 7)
})

test('the newest always stays, however old it is, and nothing young goes', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 900 }), { minLength: 1 }), ages => {
      const times = ages.map(days => now - days * dayMs)
      const over = outlived(times, now, retention)
      return !over.includes(Math.max(...times)) && over.every(at => now - at >= retention.keepAllMs)
    }),
  )
})

test('a clock that was a year ahead makes no backup old, while it is ahead or once it is right', () => {
  const days = Array.from({ length: 10 }, (_, age) => now - age * dayMs)
  const ahead = now + 365 * dayMs
  expect(outlived([...days, ahead], ahead, retention)).toEqual([])
  expect(outlived([...days, ahead], now, retention)).toEqual([])
})

test('backups from the future take the place of no other', () => {
  const days = Array.from({ length: 14 }, (_, age) => now - age * dayMs)
  const future = Array.from({ length: 20 }, (_, days) => now + (300 + days) * dayMs)
  expect(outlived([...days, ...future], now, retention)).toEqual([])
})

test('the first backup after a long time off makes no earlier one old', () => {
  const before = Array.from({ length: 10 }, (_, age) => now - (200 + age) * dayMs)
  expect(outlived([...before, now], now, retention)).toEqual([])
})
