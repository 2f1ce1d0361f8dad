import type { PointWriter } from '../../../src/topics/prices/files/import.ts'
import type { Point } from '../../../src/topics/prices/store/observations.ts'
import { codeOf } from '../topics/shipped-codes.ts'

/**
 * A writer that keeps current values in memory under `CODE ISO`, and remembers the size of each
 * batch.
 */
export function memory(
  batchMax = 100,
): Omit<PointWriter, 'compare'> & { values: Map<string, number>; batches: number[] } {
  const values = new Map<string, number>()
  const batches: number[] = []
  const write = (points: readonly Point[]) => {
    const counts = { inserted: 0, revised: 0, unchanged: 0 }
    batches.push(points.length)
    for (const { seriesId, observedAt, value } of points) {
      const key = `${codeOf(seriesId)} ${new Date(observedAt).toISOString()}`
      const count = values.get(key)
      counts[count === undefined ? 'inserted' : count === value ? 'unchanged' : 'revised'] += 1
      values.set(key, value)
    }
    return counts
  }
  return { batchMax, write, values, batches }
}

export async function* noInput(): AsyncGenerator<Uint8Array> {}
