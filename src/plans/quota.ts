import { dayMs, hourMs, startOfDay, startOfMonth, startOfNextMonth } from '../lib/time/instant.ts'
import type { Entitlements } from './plans.ts'
import type { QuotaKind } from './tiers.ts'

export interface QuotaAccount {
  trialStartedAt: number | null
  trialEndsAt: number | null
  emailConfirmedAt: number | null
}

/** A span [startsAt, endsAt) in which requests are counted; without a quota `limit` is null. */
export interface QuotaWindow {
  kind: QuotaKind
  startsAt: number
  endsAt: number
  limit: number | null
  /** The account's e-mail is unconfirmed, so the free quota applies instead of the plan's. */
  capped: boolean
}

export const isSameWindow = (a: QuotaWindow, b: QuotaWindow): boolean =>
  a.kind === b.kind && a.startsAt === b.startsAt

export type QuotaState =
  | 'paid_active'
  | 'trial_active'
  | 'free'
  | 'exhausted'
  | 'unconfirmed_capped'

export interface QuotaRefusal {
  status: 402 | 429
  code: 'PAYMENT_REQUIRED' | 'MONTHLY_QUOTA_EXCEEDED' | 'TRIAL_LIMIT_EXCEEDED'
  /** The code instead of `code` on a futures path. */
  futuresCode: 'FREE_TIER_LIMIT_EXCEEDED' | 'MONTHLY_QUOTA_EXCEEDED' | 'TRIAL_LIMIT_EXCEEDED'
}

/**
 * The refusal of a request beyond the quota; it follows from the window in force, so an unconfirmed
 * paid account gets the refusal of Free.
 */
export const quotaRefusals: Readonly<Record<QuotaKind, QuotaRefusal>> = {
  daily_counter: { status: 402, code: 'PAYMENT_REQUIRED', futuresCode: 'FREE_TIER_LIMIT_EXCEEDED' },
  monthly_counter: {
    status: 429,
    code: 'MONTHLY_QUOTA_EXCEEDED',
    futuresCode: 'MONTHLY_QUOTA_EXCEEDED',
  },
  trial_counter: { status: 429, code: 'TRIAL_LIMIT_EXCEEDED', futuresCode: 'TRIAL_LIMIT_EXCEEDED' },
}

/** The window that counts at `now`, the same `now` that gave `entitled`. */
export function quotaWindow(
  entitled: Entitlements,
  account: QuotaAccount,
  now: number,
): QuotaWindow {
  if (account.emailConfirmedAt === null && entitled.unconfirmedQuota !== null)
    return dayWindow(now, entitled.unconfirmedQuota, true)
  const limit = entitled.requestQuota
  if (entitled.quotaKind === 'daily_counter') return dayWindow(now, limit, false)
  if (entitled.quotaKind === 'monthly_counter') {
    return {
      kind: 'monthly_counter',
      startsAt: startOfMonth(now),
      endsAt: startOfNextMonth(now),
      limit,
      capped: false,
    }
  }
  const { trialStartedAt, trialEndsAt } = account
  if (trialStartedAt === null || trialEndsAt === null)
    throw new Error('account.trialEndsAt must be set: a trial has a start and an end')
  return {
    kind: 'trial_counter',
    startsAt: trialStartedAt,
    endsAt: trialEndsAt,
    limit,
    capped: false,
  }
}

function dayWindow(now: number, limit: number | null, capped: boolean): QuotaWindow {
  const startsAt = startOfDay(now)
  return { kind: 'daily_counter', startsAt, endsAt: startsAt + dayMs, limit, capped }
}

/**
 * Requests left: what the quota leaves plus `extra` bought ones still unused; null without a quota.
 * `used` may have passed the limit.
 */
export function quotaRemaining(window: QuotaWindow, used: number, extra = 0): number | null {
  return window.limit === null ? null : Math.max(0, window.limit - used) + Math.max(0, extra)
}

/** What the next request is charged to: the quota first, then bought requests. */
export function quotaSource(
  window: QuotaWindow,
  used: number,
  extra = 0,
): 'quota' | 'extra' | 'exhausted' {
  if (window.limit === null || used < window.limit) return 'quota'
  return extra > 0 ? 'extra' : 'exhausted'
}

export function quotaState(
  entitled: Entitlements,
  window: QuotaWindow,
  used: number,
  extra = 0,
): QuotaState {
  if (quotaSource(window, used, extra) === 'exhausted') return 'exhausted'
  return window.capped ? 'unconfirmed_capped' : entitled.state
}

/** Percent of the quota used, two decimals, at most 100; 0 without a quota, 100 of a quota of 0. */
export function percentUsed(window: Pick<QuotaWindow, 'limit'>, used: number): number {
  if (window.limit === null) return 0
  return window.limit === 0 ? 100 : Math.min(100, Math.round((10_000 * used) / window.limit) / 100)
}

/**
 * The first requests of a window would extrapolate to absurd rates: less than this counts as this.
 */
const elapsedMinMs = hourMs

/** A straight line from the start of the window through what is used by `now` to its end. */
export function forecast(used: number, window: QuotaWindow, now: number, extra = 0) {
  const perMs = used / Math.max(elapsedMinMs, now - window.startsAt)
  return {
    burnRatePerDay: Math.round(perMs * dayMs * 100) / 100,
    /** The projected count at the end of the window at this rate, if nothing were refused. */
    usedAtReset: Math.round(used + perMs * Math.max(0, window.endsAt - now)),
    /**
     * When the quota and the bought requests run out at this rate; `now` when they have; null when
     * they last to the reset.
     */
    exhaustedAt: exhaustion(quotaRemaining(window, used, extra), perMs, window.endsAt, now),
  }
}

function exhaustion(
  left: number | null,
  perMs: number,
  endsAt: number,
  now: number,
): number | null {
  if (left === null) return null
  if (left === 0) return now
  const at = perMs > 0 ? Math.ceil(now + left / perMs) : endsAt
  return at < endsAt ? at : null
}
