import { isoInstant } from '../../lib/time/instant.ts'
import { createBigChanges } from '../../topics/prices/math/big-changes.ts'
import type { Comparison, SeriesComparison } from '../../topics/prices/service/checks/comparison.ts'

/** A file with at most a third of the stored number of values in its range counts as coarser. */
const coarserShare = 3
/** The share of a series' values that a file may correct without confirmation. */
const revisedShare = 0.1
/** Fewer revised values do not count as a replacement. */
const revisedMin = 10

/** The effects that an import would have, collected from its parts. */
export type ImportCheck = ReturnType<typeof createImportCheck>

export function createImportCheck() {
  const changes = createBigChanges()
  const byCode = new Map<string, SeriesComparison>()
  return {
    add(part: Comparison) {
      for (const { code, observedAt, before, after, isNew } of part.biggest)
        changes.add(code, observedAt, before, after, isNew)
      for (const next of part.series) {
        const before = byCode.get(next.code)
        byCode.set(
          next.code,
          before
            ? {
                ...next,
                points: before.points + next.points,
                revised: before.revised + next.revised,
                reverted: before.reverted + next.reverted,
                firstAt: Math.min(before.firstAt, next.firstAt),
                lastAt: Math.max(before.lastAt, next.lastAt),
                recordedBetween: before.recordedBetween + next.recordedBetween,
              }
            : next,
        )
      }
    },
    biggest: changes.list,
    series: () => [...byCode.values()],
    /**
     * How many revised values become one that they had before; undefined: the server is of a version
     * that does not count them.
     */
    reverted() {
      const count = [...byCode.values()].reduce((sum, { reverted }) => sum + reverted, 0)
      return Number.isNaN(count) ? undefined : count
    },
    /** Sentences about values that become one that they had before. */
    revertedNotes: () =>
      [...byCode.values()].flatMap(({ code, reverted }) =>
        reverted > 0 ? revertedNote(code, reverted) : [],
      ),
    /** Sentences about what should not happen unasked. */
    warnings: () => [...byCode.values()].flatMap(warningOf),
  }
}

function warningOf({
  code,
  points,
  revised,
  recordedBetween,
  recorded,
}: SeriesComparison): string[] {
  if (revised < revisedMin) return []
  if (recordedBetween >= coarserShare * points) {
    return [
      `${code}: the file has ${points} values where ${recordedBetween} are recorded: a coarser file would replace ${revised} values of a finer one`,
    ]
  }
  if (revised > revisedShare * recorded)
    return [`${code}: ${revised} of its ${recorded} recorded values would be revised`]
  return []
}

const revertedNote = (code: string, count: number): string =>
  `${code}: ${count === 1 ? '1 revised value goes' : `${count} revised values go`} back to an earlier value, as after an old file. If that is wrong, undo the batch`

/** Lines of a dry run in addition to its counts. */
export const checkLines = (check: ImportCheck): string[] => [
  ...check
    .series()
    .map(
      ({ code, points, firstAt, lastAt }) =>
        `${code}: ${points} values from ${isoInstant(firstAt)} to ${isoInstant(lastAt)}`,
    ),
  ...check
    .biggest()
    .map(
      ({ code, observedAt, before, after, percent, isNew }) =>
        `${code} ${isoInstant(observedAt)}: ${isNew ? `new ${after}, after ${before}` : `revised ${before} -> ${after}`}${percent === null ? '' : ` (${percent > 0 ? '+' : ''}${percent.toFixed(1)}%)`}`,
    ),
]
