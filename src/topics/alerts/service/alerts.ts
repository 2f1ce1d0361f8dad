import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import type { LimitReached } from '../../../plans/limits.ts'
import { hasFeature } from '../../../plans/plans.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { AccountState, Keyring } from '../../keys/service/keyring.ts'
import { conditionText, evaluate, isCooling, watchesDay } from '../math/condition.ts'
import type { Alert, AlertSettings, AlertStore } from '../store/alerts.ts'
import type { AlertTrigger, AlertTriggerStore, NamedTrigger } from '../store/triggers.ts'
import type { AlertEvaluation } from './evaluation.ts'
import { featureOf } from './firing.ts'
import { type AlertMoments, answeredPrice, type Newest } from './moment.ts'

export type { Alert, AlertSettings } from '../store/alerts.ts'

/** The result of testing an alert with the newest price of its code. */
export interface AlertTest {
  alert: Alert
  condition: string
  /** Undefined while the code has no price. */
  price: { value: number; observedAt: number } | undefined
  inCooldown: boolean
  result: 'would_trigger' | 'not_triggered' | 'in_cooldown' | 'no_data'
  /** Why there is no result. */
  missing: string | undefined
}

export type Alerts = ReturnType<typeof createAlerts>

export interface AlertsDeps extends Pick<Runtime, 'db' | 'clock' | 'ids'> {
  store: AlertStore
  triggerStore: AlertTriggerStore
  moments: AlertMoments
  evaluation: AlertEvaluation
  catalogue: Pick<Catalogue, 'byId'>
  keys: Pick<Keyring, 'account' | 'entitlements'>
}

export function createAlerts(deps: AlertsDeps) {
  const { db, store, triggerStore, evaluation, catalogue, keys, clock, ids } = deps
  const codeOf = ({ seriesId }: Alert) => catalogue.byId(seriesId).code
  const inCooldown = (alert: Alert) =>
    isCooling(alert.coolingFrom, alert.cooldownMinutes, clock.now())

  return {
    evaluation,
    inCooldown,
    /** By code, then by creation. */
    list: (accountId: string): Alert[] =>
      store
        .ofAccount(accountId)
        .sort((a, b) => compared(codeOf(a), codeOf(b)) || a.number - b.number),
    /** The alerts of an account on one series. */
    watching: store.ofSeries,
    byId: store.byId,
    create(
      account: AccountState,
      settings: AlertSettings,
      { id = ids.uuid() }: { id?: string } = {},
    ): Alert | LimitReached {
      const { id: accountId } = account.account
      const limit = keys.entitlements(account).alerts
      return transact(db, () => {
        const count = store.count(accountId)
        if (limit !== null && count >= limit) return { refused: 'limit' as const, limit, count }
        const now = clock.now()
        store.add({
          ...settings,
          id,
          accountId,
          armedAt: now,
          coolingFrom: null,
          triggerCount: 0,
          lastTriggeredAt: null,
          createdAt: now,
          updatedAt: now,
        })
        return store.byId(id)!
      })
    },
    /** Another code or condition ends the cooldown, and only prices recorded from then on count. */
    change(alert: Alert, change: Partial<AlertSettings>): Alert {
      const now = clock.now()
      const next = { ...alert, ...change, updatedAt: now }
      const isOther =
        next.seriesId !== alert.seriesId ||
        JSON.stringify(next.condition) !== JSON.stringify(alert.condition)
      if (isOther) next.coolingFrom = null
      if (isOther || (next.enabled && !alert.enabled)) next.armedAt = now
      store.put(next)
      return next
    },
    remove: (alert: Alert) => store.remove(alert.number, clock.now()),
    /** Newest first. */
    history: (alert: Alert, limit: number): AlertTrigger[] =>
      triggerStore.newest(alert.number, limit),
    /** The triggers of one alert or of all alerts of the account, newest first. */
    triggers: (
      accountId: string,
      alert: Alert | undefined,
      limit: number,
      offset: number,
    ): { rows: NamedTrigger[]; total: number } =>
      alert
        ? {
            rows: triggerStore.pageOf(alert.number, limit, offset),
            total: triggerStore.countOf(alert.number),
          }
        : {
            rows: triggerStore.page(accountId, limit, offset),
            total: triggerStore.count(accountId),
          },
    /** Analytics alerts that have fired with their newest trigger, newest first. */
    firedAnalytics: (
      accountId: string,
      limit: number,
      offset: number,
    ): { rows: { alert: Alert; last: AlertTrigger | undefined }[]; total: number } => ({
      rows: store
        .firedAnalytics(accountId, limit, offset)
        .map(alert => ({ alert, last: triggerStore.newest(alert.number, 1)[0] })),
      total: store.countFiredAnalytics(accountId),
    }),
    /** Why an enabled alert is not evaluated. */
    suspendedReason(alert: Alert): 'plan' | null {
      const account = keys.account(alert.accountId)
      return account && hasFeature(keys.entitlements(account), featureOf(alert)) ? null : 'plan'
    },
    /** Judges alerts of one code by its newest price; sends nothing and changes nothing. */
    test: createAlertTesting(deps, inCooldown),
  }
}

/** Judges alerts of one code by its newest price. */
function createAlertTesting(
  { moments, catalogue }: Pick<AlertsDeps, 'moments' | 'catalogue'>,
  inCooldown: (alert: Alert) => boolean,
) {
  const testOf = (alert: Alert, newest: Newest | undefined): AlertTest => {
    const tested = {
      alert,
      condition: conditionText(alert.condition),
      inCooldown: inCooldown(alert),
    }
    const { code } = catalogue.byId(alert.seriesId)
    if (!newest) {
      const missing = `${code} has no price.`
      return { ...tested, price: undefined, result: 'no_data', missing }
    }
    const { series, value, observedAt } = newest
    const price = { value: answeredPrice(series, value), observedAt }
    const moment = watchesDay(alert.condition) ? moments.tomorrow(series) : newest.moment
    if (!moment) {
      const missing = `${code} does not have all prices of its next market day.`
      return { ...tested, price, result: 'no_data', missing }
    }
    const judged = evaluate(alert.condition, moment)
    if (!judged.enough) {
      const missing = `${code} has ${judged.have} daily closes of the ${judged.need} that this takes.`
      return { ...tested, price, result: 'no_data', missing }
    }
    const result = resultOf(judged.value.holds, tested.inCooldown)
    return { ...tested, price, result, missing: undefined }
  }
  return (alerts: readonly Alert[]): AlertTest[] => {
    const [first] = alerts
    const newest = first && moments.newest(catalogue.byId(first.seriesId))
    return alerts.map(alert => testOf(alert, newest))
  }
}

function resultOf(holds: boolean, isCoolingDown: boolean): AlertTest['result'] {
  if (!holds) return 'not_triggered'
  return isCoolingDown ? 'in_cooldown' : 'would_trigger'
}

const compared = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
