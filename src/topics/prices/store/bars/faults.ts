import type { Database } from 'bun:sqlite'
import { statements } from '../../../../database/statement.ts'
import { dayMs } from '../../../../lib/time/instant.ts'
import { barsOf } from '../../math/bars.ts'
import { anyTime, type BarReads } from './reads.ts'
import {
  byStart,
  createBirths,
  isSparse,
  type OldestFirst,
  setBirths,
  spans,
} from './recomputed.ts'

const rowsEach = 20_000
const faultsMax = 100

/**
 * Reports hour and day bars that differ from their observations, as sentences. Each series is read
 * in stretches that fit into memory.
 */
export function barFaults(
  db: Database,
  { bars, days }: BarReads,
  oldestFirst: OldestFirst,
): string[] {
  const sql = statements(db)
  const series = db
    .query<{ id: number; code: string }, []>('SELECT id, code FROM series ORDER BY code')
    .all()
  const birthsOf = createBirths(db)
  // Hours that are stored for a sparse day.
  const strays = sql<{ startsAt: number }, number[]>`
    SELECT h.starts_at AS startsAt FROM bars h WHERE h.series_id = ? AND h.span = 1 AND h.starts_at >= ? AND h.starts_at < ?
      AND NOT EXISTS (SELECT 1 FROM bars d WHERE d.series_id = h.series_id AND d.span = 24
        AND d.starts_at > h.starts_at - ${dayMs} AND d.starts_at <= h.starts_at AND NOT ${isSparse('d')})`
  const faults: string[] = []

  const compare = (id: number, code: string, from: number, to: number) => {
    const observations = oldestFirst(id, from, to)
    const births = birthsOf(id, from, to)
    for (const { span, interval } of spans) {
      const recomputed = barsOf(interval, observations)
      setBirths(interval, recomputed, births)
      const expected = byStart(recomputed)
      const stored = byStart(bars(id, span, from, to, anyTime))
      for (const startsAt of [...new Set([...expected.keys(), ...stored.keys()])].sort(
        (a, b) => a - b,
      )) {
        if (Bun.deepEquals(expected.get(startsAt), stored.get(startsAt))) continue
        faults.push(`${code}: the ${interval} bar at ${startsAt} does not follow its observations`)
      }
    }
    for (const { startsAt } of strays.all(id, from, to))
      faults.push(`${code}: the hour bar at ${startsAt} is in a day that needs none`)
  }
  for (const { id, code } of series) {
    if (faults.length >= faultsMax) break
    let from = Number.MIN_SAFE_INTEGER
    let rows = 0
    for (const day of days(id)) {
      rows += day.count
      if (rows < rowsEach) continue
      compare(id, code, from, day.startsAt + dayMs)
      from = day.startsAt + dayMs
      rows = 0
    }
    compare(id, code, from, Number.MAX_SAFE_INTEGER)
  }
  return faults.slice(0, faultsMax)
}
