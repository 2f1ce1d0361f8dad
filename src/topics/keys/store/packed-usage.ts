import type { Counter, UsageBatch, UsageHour } from './usage-batch.ts'

export type CountedUsage = Pick<UsageBatch, 'counters' | 'hours'>

/**
 * Usage of many keys in one row: repeated names are written once, and counts are numbers that refer
 * to them. As objects it would be four times as long, and it is written every second.
 */
interface PackedUsage {
  keys: string[]
  windows: [window: string, startsAt: number][]
  /** Hours of a route and a class of status. */
  routes: [hourAt: number, endpoint: string, statusClass: number][]
  /** Groups of four: key, window, used, time of the last request. */
  counters: number[]
  /** By fives: key, route, requests, metered, microseconds. */
  hours: number[]
}

const numbersEach = { counter: 4, hour: 5 } as const

/** Puts together what is written of many keys. */
export function createUsagePacking() {
  const keys: PackedUsage['keys'] = []
  const windows: PackedUsage['windows'] = []
  const routes: PackedUsage['routes'] = []
  const counters: number[] = []
  const hours: number[] = []
  // There are few windows and few routes, and most keys use the first, so a linear search is fast.
  const windowOf = ({ window, startsAt }: Counter): number => {
    const place = windows.findIndex(([name, at]) => at === startsAt && name === window)
    return place < 0 ? windows.push([window, startsAt]) - 1 : place
  }
  const routeOf = ({ hourAt, endpoint, statusClass }: UsageHour): number => {
    const place = routes.findIndex(
      ([at, name, status]) => at === hourAt && status === statusClass && name === endpoint,
    )
    return place < 0 ? routes.push([hourAt, endpoint, statusClass]) - 1 : place
  }
  return {
    /** Adds the usage of one key; call it once per key. */
    add(keyId: string, keyCounters: readonly Counter[], keyHours: readonly UsageHour[]) {
      if (keyCounters.length + keyHours.length === 0) return
      const key = keys.push(keyId) - 1
      for (const counter of keyCounters)
        counters.push(key, windowOf(counter), counter.used, counter.lastUsedAt)
      for (const hour of keyHours)
        hours.push(key, routeOf(hour), hour.requests, hour.metered, hour.durationUs)
    },
    /** Undefined where there is nothing. */
    text() {
      const packed: PackedUsage = { keys, windows, routes, counters, hours }
      return keys.length === 0 ? undefined : JSON.stringify(packed)
    },
  }
}

/** Restores the counts from their packed text. */
export function unpackUsage(text: string): CountedUsage {
  const { keys, windows, routes, counters, hours } = JSON.parse(text) as PackedUsage
  return {
    counters: inParts(counters, numbersEach.counter).map(([key, window, used, lastUsedAt]) => ({
      keyId: keys[key!]!,
      window: windows[window!]![0],
      startsAt: windows[window!]![1],
      used: used!,
      lastUsedAt: lastUsedAt!,
    })),
    hours: inParts(hours, numbersEach.hour).map(([key, route, requests, metered, durationUs]) => {
      const [hourAt, endpoint, statusClass] = routes[route!]!
      return {
        keyId: keys[key!]!,
        hourAt,
        endpoint,
        statusClass,
        requests: requests!,
        metered: metered!,
        durationUs: durationUs!,
      }
    }),
  }
}

const inParts = (numbers: readonly number[], size: number): number[][] =>
  Array.from({ length: numbers.length / size }, (_, n) => numbers.slice(n * size, (n + 1) * size))
