import { isoDay } from '../../../lib/time/instant.ts'
import type { Entitlements } from '../../../plans/plans.ts'
import type { QuotaWindow } from '../../../plans/quota.ts'
import type { Account } from '../store/accounts.ts'
import type { Counter, UsageDay, UsageHour } from '../store/usage-batch.ts'

/** Counts of a key's requests on one day, for the efficiency report. */
export interface Tally {
  /** When the day begins. */
  dayAt: number
  batchable: number
  cacheable: number
  /** By series, the entity tag last answered. */
  etags: Map<number, string>
}

/** A quota window as one account has it, for as long as nothing of it can change by itself. */
export interface Period {
  window: QuotaWindow
  entitled: Entitlements
  account: Account
  /** Half-open: the window or the trial, whichever begins last and ends first. */
  from: number
  to: number
  /**
   * The number of notice thresholds that were reached, and the requests at which the next one is.
   */
  noticesGiven: number
  nextNoticeAt: number
}

/** The counts of a key in memory. */
export interface Count {
  keyId: string
  /** It has changed since it was last written. */
  waits: boolean
  /** Which keys it is written with. */
  slice: number
  /** Undefined until the key is first counted. */
  period: Period | undefined
  used: number
  /** Written beforehand as used, so that a crash forgets nothing; 0: nothing is. */
  ahead: number
  /** How much of it at once, and when last (monotonic, ms). */
  aheadStep: number
  aheadAt: number
  /** Requests of the window that the stream of changes is known to have; where one is followed. */
  streamed: number
  /** Counts written since, oldest first, with the change that contains each. */
  written: { used: number; change: number }[]
  /** Reserved requests whose answer is not there yet are part of `used`. */
  dirty: boolean
  /**
   * Counters of windows that ended, and days, that are not written yet; later ones replace earlier
   * ones.
   */
  past: Counter[]
  pastDays: UsageDay[]
  /** Counts to add to the usage of hours; a key has few endpoints and classes of status. */
  hours: UsageHour[]
  /**
   * The one of them that was last added to: mostly it is the next one too. It stays when it has been
   * written, empty.
   */
  hour: UsageHour | undefined
  lastUsedAt: number
  tally: Tally
  tallyDirty: boolean
}

/**
 * Slices keys by the first characters of their ids: keys of a slice are neighbours in the tables,
 * so that writing a slice touches few pages.
 */
export const sliceCount = 64

/** The number of a key's slice. */
export const sliceOf = (keyId: string): number =>
  (Number.parseInt(keyId.slice(0, 2), 16) || 0) % sliceCount

export type RunningCount = Count & { period: Period }

export const counterOf = (
  keyId: string,
  { kind, startsAt }: QuotaWindow,
  used: number,
  lastUsedAt = 0,
): Counter => ({
  keyId,
  window: kind,
  startsAt,
  used,
  lastUsedAt,
})

export const dayOf = ({
  keyId,
  tally: { dayAt, batchable, cacheable, etags },
}: Count): UsageDay => ({
  keyId,
  dayOn: isoDay(dayAt),
  batchable,
  cacheable,
  seriesIds: [...etags.keys()],
})

/** The stretch around `now` in which an unchanged account keeps its entitlements and its window. */
export function stablePeriod(
  { trialStartedAt, trialEndsAt }: Account,
  { startsAt, endsAt }: QuotaWindow,
  now: number,
): { from: number; to: number } {
  const turns = [startsAt, endsAt, trialStartedAt ?? startsAt, trialEndsAt ?? endsAt]
  return {
    from: Math.max(...turns.filter(at => at <= now)),
    to: Math.min(...turns.filter(at => at > now)),
  }
}

/** Percent of the quota at which its owner gets a notice. */
export const noticePercents = [80, 100] as const

/** Infinity when all notices have been given, and without a quota to have a share of. */
export function nextNoticeAt({ limit }: QuotaWindow, noticesGiven: number): number {
  const percent = noticePercents[noticesGiven]
  return percent === undefined || !limit
    ? Number.POSITIVE_INFINITY
    : Math.ceil((limit * percent) / 100)
}

/** Which usage of a key a request is added to. */
export type HourName = Pick<UsageHour, 'endpoint' | 'hourAt' | 'statusClass'>

export const isHourOf = (hour: HourName, { endpoint, hourAt, statusClass }: HourName): boolean =>
  hour.endpoint === endpoint && hour.hourAt === hourAt && hour.statusClass === statusClass

/** Usage that nothing was added to yet. */
export const newHour = (keyId: string, name: HourName): UsageHour => ({
  keyId,
  ...name,
  requests: 0,
  metered: 0,
  durationUs: 0,
})

/** The usage of a key that a request is added to. Mostly it is that of the request before. */
export function hourOf(count: Count, name: HourName): UsageHour {
  const { hour: last, hours } = count
  if (last && isHourOf(last, name)) return last
  let hour = hours.find(other => isHourOf(other, name))
  if (!hour) {
    hour = newHour(count.keyId, name)
    hours.push(hour)
  }
  count.hour = hour
  return hour
}

/** The usage hours that must be written. */
export const hoursToWrite = ({ hours }: Count): UsageHour[] =>
  hours.filter(({ requests }) => requests > 0)

/** They have been written: of the last one more is to come. */
export function emptyHours(count: Count): void {
  const { hour, hours } = count
  hours.length = 0
  if (!hour) return
  hour.requests = 0
  hour.metered = 0
  hour.durationUs = 0
  hours.push(hour)
}

/**
 * Counts a request in the report of the day: an answer that the key already had could have been
 * left out, a request for one series could have gone with others.
 */
export function addToTally(tally: Tally, seriesIds: readonly number[], etag: string): void {
  const { etags } = tally
  const only = seriesIds.length === 1 ? seriesIds[0]! : undefined
  if (only !== undefined) {
    if (etag !== '' && etags.get(only) === etag) {
      tally.cacheable += 1
      return
    }
    tally.batchable += 1
  }
  for (const id of seriesIds) etags.set(id, id === only ? etag : (etags.get(id) ?? ''))
}
