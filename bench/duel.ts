/**
 * Measures two implementations of the same work in alternation, so that other load affects both
 * alike.
 */
export interface Duel {
  ours: number
  theirs: number
  /**
   * Median of the ratios of the rounds, not the ratio of the medians: each round was measured
   * within seconds.
   */
  ratio: number
}

/** Each contestant answers its speed; A B A B …, after one run of each that does not count. */
export async function duel(
  rounds: number,
  ours: () => Promise<number>,
  theirs: () => Promise<number>,
): Promise<Duel> {
  await ours()
  await theirs()
  const pairs: [number, number][] = []
  for (let round = 0; round < rounds; round += 1) pairs.push([await ours(), await theirs()])
  return {
    ours: median(pairs.map(([a]) => a)),
    theirs: median(pairs.map(([, b]) => b)),
    ratio: median(pairs.map(([a, b]) => a / b)),
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
