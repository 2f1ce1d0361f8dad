import type { Entitlements } from '../../plan/plans.ts'
import type { QuotaWindow } from '../../plan/quota.ts'
import type { Account } from '../../store/keys/accounts.ts'
import type { Counter, UsageDay, UsageHour } from '../../store/keys/usage.ts'

/** How sparingly a key asked on one day. */
export interface Tally {
  dayOn: string
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
   * Of the shares at which its owner gets a notice, how many have been reached; and the requests of
   * the next one.
   */
  noticesGiven: number
  nextNoticeAt: number
}

/** What is in memory of a key. */
export interface Count {
  keyId: string
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
  /** What was written since, oldest first, and the change that it is in. */
  written: { used: number; change: number }[]
  /** Reserved requests whose answer is not there yet are part of `used`. */
  dirty: boolean
  /**
   * Counters of windows that ended, and days, that are not written yet; later ones replace earlier
   * ones.
   */
  past: Counter[]
  pastDays: UsageDay[]
  hours: Map<string, UsageHour>
  /** The one of them that was last added to: mostly it is the next one too. */
  hour: UsageHour | undefined
  lastUsedAt: number
  tally: Tally
  tallyDirty: boolean
}

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
  tally: { dayOn, batchable, cacheable, etags },
}: Count): UsageDay => ({
  keyId,
  dayOn,
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

/** The usage of a key that a request is added to. Mostly it is that of the request before. */
export function hourOf(
  count: Count,
  endpoint: string,
  hourAt: number,
  statusClass: number,
): UsageHour {
  const { hour: last } = count
  if (
    last &&
    last.endpoint === endpoint &&
    last.hourAt === hourAt &&
    last.statusClass === statusClass
  )
    return last
  const name = `${hourAt} ${statusClass} ${endpoint}`
  const hour = count.hours.get(name) ?? {
    keyId: count.keyId,
    hourAt,
    endpoint,
    statusClass,
    requests: 0,
    metered: 0,
    durationUs: 0,
  }
  count.hours.set(name, hour)
  count.hour = hour
  return hour
}

/**
 * Counts a request in the report of the day: an answer that the key already had could have been
 * left out, a request for one series could have gone with others.
 */
export function addToTally(tally: Tally, seriesIds: readonly number[], etag: string): void {
  const { etags } = tally
  const only = seriesIds.length === 1 ? seriesIds[0]! : undefined
  if (only !== undefined && etag !== '' && etags.get(only) === etag) {
    tally.cacheable += 1
    return
  }
  if (only !== undefined) tally.batchable += 1
  for (const id of seriesIds) etags.set(id, id === only ? etag : (etags.get(id) ?? ''))
}
