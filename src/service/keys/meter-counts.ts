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
  seen: Map<number, string>
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
   * Of the shares at which its owner is told, how many have been; and the requests of the next one.
   */
  told: number
  tellAt: number
}

/** What is known of a key in memory. */
export interface Count {
  keyId: string
  /** Undefined until the key is first counted. */
  period: Period | undefined
  used: number
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

export const dayOf = ({ keyId, tally: { seen, ...tally } }: Count): UsageDay => ({
  keyId,
  ...tally,
  seriesIds: [...seen.keys()],
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

/** Percent of the quota at which its owner is told. */
export const noticePercents = [80, 100] as const

/** Infinity when all has been told, and without a quota to have a share of. */
export function nextNoticeAt({ limit }: QuotaWindow, told: number): number {
  const percent = noticePercents[told]
  return percent === undefined || !limit
    ? Number.POSITIVE_INFINITY
    : Math.ceil((limit * percent) / 100)
}

export const isSameWindow = (a: QuotaWindow, b: QuotaWindow): boolean =>
  a.kind === b.kind && a.startsAt === b.startsAt
