import { readFileSync } from 'node:fs'
import statesFile from '../../../../fixtures/path-states.txt' with { type: 'file' }
import { dayMs } from '../../../lib/time/instant.ts'
import { checkpointDays, epochDay, type KnownStates, type Path } from './path.ts'

/**
 * A fresh copy asks for the first value of every code and for its newest ones: walking a thousand
 * paths from their epoch to there takes longer than everything else. So the states at those places
 * are shipped, for the seed that copies have unless they are told another. A path that is not among
 * them is walked.
 */

const checkpointAt = (at: number): number => Math.floor((at / dayMs - epochDay) / checkpointDays)

/** Where most codes begin, and every checkpoint from the first release on for some years. */
export const shippedCheckpoints: readonly number[] = [
  checkpointAt(Date.UTC(2020, 0, 1)),
  ...Array.from({ length: 7 }, (_, i) => checkpointAt(Date.UTC(2025, 6, 1)) + i),
]

/** The seed of an evaluation copy that is told none. */
export const shippedSeed = 1

const [betweenPaths, betweenNumbers] = ['\n', ' ']

/** One line a path: key, decay, then value and smoothed value of each shipped checkpoint. */
export const statesText = (paths: readonly Path[]): string =>
  paths
    .map(path =>
      [
        path.key,
        path.decay,
        ...shippedCheckpoints.flatMap(index => {
          const { value, smoothed } = path.stateAt(index)
          return [value, smoothed]
        }),
      ].join(betweenNumbers),
    )
    .join(betweenPaths)

/** Reads the shipped states at the first question, and keeps the lines that nobody asked for as text. */
export function shippedStates(): KnownStates {
  let lines: Map<string, string> | undefined
  const read = () =>
    new Map(
      readFileSync(statesFile, 'utf8')
        .split(betweenPaths)
        .map(line => [line.slice(0, line.indexOf(betweenNumbers)), line]),
    )
  return (key, decay) => {
    lines ??= read()
    const [, ownDecay, ...numbers] = (lines.get(String(key)) ?? '').split(betweenNumbers)
    // Powers differ between machines in the last digit, and then so does everything after them.
    if (Number(ownDecay) !== decay) return undefined
    return index => {
      const i = shippedCheckpoints.indexOf(index)
      return i < 0
        ? undefined
        : { value: Number(numbers[2 * i]), smoothed: Number(numbers[2 * i + 1]) }
    }
  }
}
