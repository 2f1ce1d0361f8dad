/**
 * A key's requests of one day. `batchable`: requests for a single code that could have shared a
 * request with requests for other codes; `cacheable`: requests whose answer had not changed since
 * the key last had it. No request is counted as both.
 */
export interface DayUsage {
  requests: number
  distinctCodes: number
  batchable: number
  cacheable: number
}

export interface Reduction {
  action: string
  description: string
  /** Place in the documentation, to be put after the documentation's address. */
  anchor: string
}

/**
 * The efficiency of the day's requests. The score is 100 x (requests that would have been enough) /
 * (requests made), where a cacheable request would have been answered 304 and cost nothing, and
 * batchable ones would have gone `min(codesPerRequestMax, distinctCodes)` to a request. A day
 * without requests scores 100.
 */
export function efficiency(usage: DayUsage, codesPerRequestMax = 20) {
  const { requests, distinctCodes, batchable, cacheable } = usage
  const enough = Math.max(0, requests - cacheable - savedByBatching(usage, codesPerRequestMax))
  return {
    requestsToday: requests,
    distinctCodes,
    batchableRequests: batchable,
    cacheableRequests: cacheable,
    /** 0..100, one decimal. */
    score: requests > 0 ? Math.round((1000 * enough) / requests) / 10 : 100,
  }
}

function savedByBatching(
  { distinctCodes, batchable }: DayUsage,
  codesPerRequestMax: number,
): number {
  return batchable - Math.ceil(batchable / Math.max(1, Math.min(codesPerRequestMax, distinctCodes)))
}

/**
 * Suggestions to reduce usage, the largest saving first; general ones come last, so the list is
 * never empty.
 */
export function reduceUsage(usage: DayUsage, codesPerRequestMax = 20): Reduction[] {
  const batched = savedByBatching(usage, codesPerRequestMax)
  const suggestions = [
    {
      saved: batched,
      action: 'batch_codes',
      description: `Ask for up to ${codesPerRequestMax} codes at once: ${batched} of today's ${usage.requests} requests were not needed.`,
      anchor: 'batch',
    },
    {
      saved: usage.cacheable,
      action: 'conditional_requests',
      description: `Send If-None-Match with the last ETag: a 304 is free; ${usage.cacheable} of today's ${usage.requests} requests could be one.`,
      anchor: 'conditional-requests',
    },
  ]
  const useful = suggestions
    .filter(reduction => reduction.saved > 0)
    .sort((a, b) => b.saved - a.saved)
  return [
    ...useful.map(({ action, description, anchor }) => ({ action, description, anchor })),
    ...always,
  ]
}

const always: readonly Reduction[] = [
  {
    action: 'watch_events',
    description:
      'Watch prices with a subscription and read GET /v1/subscriptions/events, which does not count.',
    anchor: 'subscriptions',
  },
  {
    action: 'scheduled_deliveries',
    description: 'Have prices sent by e-mail on a schedule; deliveries do not count.',
    anchor: 'scheduled-deliveries',
  },
]
