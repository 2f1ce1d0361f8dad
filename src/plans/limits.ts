/** An account has as many of something as it may have. */
export interface LimitReached {
  refused: 'limit'
  limit: number
  count: number
}

/**
 * The limits that apply to everyone, whatever the plan; all of them are settings, and `GET
 * /v1/meta/limits` publishes them.
 */
export type Limits = Record<keyof typeof defaultLimits, number>

export const defaultLimits = {
  /** Requests of one key in any 60 s; a plan may have its own number. */
  perMinute: 60,
  /** Requests of one client address without a valid key in any 60 s. */
  unauthenticated: 10,
  /** Requests of one key in any 60 s while its quota is used up or it is suspended. */
  overQuota: 5,
  /** Marine requests of one key in any 60 s, alongside the general window. */
  marine: 30,
  /** Historical marine requests of one key in any 60 s, alongside the general window. */
  marineHistorical: 5,
  /** Demo requests of one client address in any 60 minutes. */
  demoPerHour: 20,
  /** Active API keys of an account. */
  keysMax: 5,
  /** Requests of the enterprise plan in a month. */
  enterprisePerMonth: 10_000_000,
  trialDays: 7,
  codesPerRequestMax: 20,
  deliveryCodesMax: 25,
  deliveryNameMax: 120,
  manualSendCooldownSeconds: 600,
  dispatchIntervalSeconds: 900,
  keyNameMax: 100,
  windowedPerPageMax: 100,
  alertsHistoryPerPageMax: 100,
  futuresMaxAgeHours: 96,
  futuresOhlcDaysMax: 1825,
  webhookRetries: 5,
  webhookDeactivateAfter: 10,
}

/**
 * Requests in the console are not charged to the account: up to so many of one sign-in in any 60 s,
 * and so many of one user in any 24 hours. Further requests count like those of any other client,
 * so that a copied cookie cannot bypass a quota.
 */
export const browsingLimits = { perMinute: 600, perDay: 5000 } as const

export type RateClass =
  | 'authenticated'
  | 'unauthenticated'
  | 'over_quota'
  | 'marine'
  | 'marine_historical'
  | 'demo'

export interface RateRule {
  class: RateClass
  limit: number
  windowSeconds: number
  keyedBy: 'api_key' | 'client_ip'
}

/** Every rate class with its limit in force, in the order in which they are published. */
export function rateRules(limits: Limits): readonly RateRule[] {
  return [
    { class: 'authenticated', limit: limits.perMinute, windowSeconds: 60, keyedBy: 'api_key' },
    {
      class: 'unauthenticated',
      limit: limits.unauthenticated,
      windowSeconds: 60,
      keyedBy: 'client_ip',
    },
    { class: 'over_quota', limit: limits.overQuota, windowSeconds: 60, keyedBy: 'api_key' },
    { class: 'marine', limit: limits.marine, windowSeconds: 60, keyedBy: 'api_key' },
    {
      class: 'marine_historical',
      limit: limits.marineHistorical,
      windowSeconds: 60,
      keyedBy: 'api_key',
    },
    { class: 'demo', limit: limits.demoPerHour, windowSeconds: 3600, keyedBy: 'client_ip' },
  ]
}
