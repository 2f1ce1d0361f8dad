/** How far a value lies from the one that it replaces, or from the one before it in time. */
export interface BigChange {
  code: string
  observedAt: number
  before: number
  after: number
  /** Null if the previous value is 0. */
  percent: number | null
  /** The point had no value: `before` is the one before it in time. */
  isNew?: true
}

const listedMax = 10

const sizeOf = ({ before, after }: BigChange): number =>
  before === 0 ? (after === 0 ? 0 : Number.POSITIVE_INFINITY) : Math.abs(after / before - 1)

/** Collects the ten biggest changes, by percent. */
export function createBigChanges(): {
  add(code: string, observedAt: number, before: number, after: number, isNew?: boolean): void
  list(): BigChange[]
} {
  let all: BigChange[] = []
  /** The minimum of a change to be in the list. */
  let leastShare = 0
  return {
    add(code, observedAt, before, after, isNew = false) {
      // Nearly all changes are small: they cost this one comparison.
      if (Math.abs(after - before) <= leastShare * Math.abs(before)) return
      const percent = before === 0 ? null : (100 * (after - before)) / Math.abs(before)
      all.push({ code, observedAt, before, after, percent, ...(isNew && { isNew }) })
      if (all.length < 2 * listedMax) return
      all = all.sort((a, b) => sizeOf(b) - sizeOf(a)).slice(0, listedMax)
      leastShare = sizeOf(all.at(-1)!)
    },
    list: () =>
      all
        .sort((a, b) => sizeOf(b) - sizeOf(a) || a.observedAt - b.observedAt)
        .slice(0, listedMax)
        .map(change => ({
          ...change,
          percent: change.percent === null ? null : Number(change.percent.toPrecision(6)),
        })),
  }
}
