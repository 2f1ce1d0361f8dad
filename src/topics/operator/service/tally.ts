/** Seconds, the upper ends of the buckets of a latency; the last one has no end. */
export const latencyBounds: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

export interface RouteTally {
  /** Responses by status and plan; without a key the plan is empty. */
  answers: Map<number, Map<string, number>>
  /** Responses within each bucket of `latencyBounds`, and beyond the last. */
  buckets: Float64Array
  seconds: number
}

/** Counts of responses since the start, in memory. Every request passes through it. */
export type Tally = ReturnType<typeof createTally>

export interface SourceTally {
  inserted: number
  revised: number
}

const second = 1000

export function createTally() {
  const routes = new Map<string, RouteTally>()
  const refusals = new Map<string, number>()
  const sources = new Map<string, SourceTally>()
  const tallyOf = (route: string): RouteTally => {
    const count = routes.get(route)
    if (count) return count
    const tally = {
      answers: new Map(),
      buckets: new Float64Array(latencyBounds.length + 1),
      seconds: 0,
    }
    routes.set(route, tally)
    return tally
  }
  return {
    count(route: string, status: number, plan: string, durationMs: number) {
      const tally = tallyOf(route)
      let plans = tally.answers.get(status)
      if (!plans) {
        plans = new Map()
        tally.answers.set(status, plans)
      }
      plans.set(plan, (plans.get(plan) ?? 0) + 1)
      const seconds = durationMs / second
      let bucket = 0
      while (bucket < latencyBounds.length && seconds > latencyBounds[bucket]!) bucket += 1
      tally.buckets[bucket]! += 1
      tally.seconds += seconds
    },
    /** An error that was answered, by its code. */
    refuse: (code: string) => void refusals.set(code, (refusals.get(code) ?? 0) + 1),
    /** Observations that were recorded of series of a source. */
    record(source: string, inserted: number, revised: number) {
      const sum = sources.get(source) ?? { inserted: 0, revised: 0 }
      sum.inserted += inserted
      sum.revised += revised
      sources.set(source, sum)
    },
    routes: () => routes,
    refusals: () => refusals,
    sources: () => sources,
  }
}
