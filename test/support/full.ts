/** `bun run test:full` runs sweeps at their size; every other run takes a part of each. */
export const isFull = process.env.TEST_SCOPE === 'full'

/** How many random cases a property is tried on: twenty but in a full run. */
export const runs = (full: number): number => (isFull ? full : Math.min(full, 20))

/** All of a long list in a full run, and every fourth of it in every other. */
export const part = <T>(list: readonly T[]): T[] => list.filter((_, i) => isFull || i % 4 === 0)
