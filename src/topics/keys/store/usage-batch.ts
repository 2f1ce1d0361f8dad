export interface Counter {
  keyId: string
  window: string
  startsAt: number
  used: number
  /** 0: not since it was last written. */
  lastUsedAt: number
}

/** Requests of one key, hour, route and class of status (2 for 200..299). */
export interface UsageHour {
  keyId: string
  hourAt: number
  /** The route; of what a page of the console requested, as `consoleEndpoint` names it. */
  endpoint: string
  statusClass: number
  requests: number
  metered: number
  durationUs: number
}

export interface UsageDay {
  keyId: string
  dayOn: string
  batchable: number
  cacheable: number
  seriesIds: number[]
}

export interface UsageBatch {
  counters: Counter[]
  hours: UsageHour[]
  days: UsageDay[]
}
