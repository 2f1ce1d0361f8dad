/** `bun run test:full` runs sweeps at their size; every other run takes a part of each. */
export const isFull = process.env.TEST_SCOPE === 'full'

/** How many random cases a property is tried on. */
export const runs = (full: number): number => (isFull ? full : Math.min(full, 100))
