import { describe, expect, test } from 'bun:test'
import { parseDay } from '../../../../src/lib/time/instant.ts'
import { createServedHistory } from '../../../../src/topics/changes/service/history.ts'
import type { ChangeEvent } from '../../../../src/topics/changes/store/log.ts'

const quarantined = (writtenAt: number, id: number, day: string): ChangeEvent => ({
  kind: 'quarantined',
  seriesId: 1,
  writtenAt,
  id,
  from: day,
  to: day,
})
const released = (writtenAt: number, id: number) =>
  ({ kind: 'released', seriesId: 1, writtenAt, id }) as const

describe('the days that an event releases', () => {
  const first = released(20, 7)
  const second = released(40, 7)
  const served = createServedHistory(() => [
    quarantined(10, 7, '2026-10-22'),
    first,
    quarantined(30, 7, '2026-10-09'),
    second,
  ])

  test('belong to the quarantine of the event, where a later one has the same number', () => {
    expect(served.released(first)?.from).toBe(parseDay('2026-10-22'))
  })

  test('belong to the quarantine of the event, where an earlier one had the same number', () => {
    expect(served.released(second)?.from).toBe(parseDay('2026-10-09'))
  })
})
