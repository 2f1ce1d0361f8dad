import type { Ids } from '../../../lib/ids.ts'
import { startOfDay } from '../../../lib/time/instant.ts'
import { type Entitlements, hasFeature } from '../../../plans/plans.ts'
import type { Feature } from '../../../plans/tiers.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { entitledNow, type Keyring } from '../../keys/service/keyring.ts'
import { type AlertMoment, conditionText, evaluate, watchesDay } from '../math/condition.ts'
import type { Alert, AlertStore, WatchingAlert } from '../store/alerts.ts'
import type { PendingPrice } from '../store/prices.ts'
import type { AlertTrigger, AlertTriggerStore } from '../store/triggers.ts'
import { deliveryRow, type FiredAlert, measuredRow, type Notifier } from './messages.ts'

/** The most triggers that are stored of an alert; checked at every hundredth. */
const triggersKept = 10_000
const trimEach = 100

/** The feature that an alert's kind needs. */
export const featureOf = ({ condition }: Pick<Alert, 'condition'>): Feature =>
  condition.kind === 'price' ? 'standard_alerts' : 'analytics_alerts'

/** The observation that an alert fires on once: its own, or the day whose value it is. */
const firedOn = ({ condition }: Pick<Alert, 'condition'>, observedAt: number): number =>
  condition.kind === 'price' ? observedAt : startOfDay(observedAt)

/** The alerts of one price in one transaction. */
export interface Judging {
  price: PendingPrice
  series: Series
  moment: AlertMoment
  notifier: Notifier
  isEntitled(alert: WatchingAlert): boolean
}

/** Whether accounts may have their alerts now: each is looked up once. */
export function createEntitlement(
  keys: Pick<Keyring, 'account' | 'entitlements'>,
): (alert: WatchingAlert) => boolean {
  const byAccount = new Map<string, Entitlements | undefined>()
  const read = (accountId: string): Entitlements | undefined => {
    const entitled = entitledNow(keys, accountId)
    byAccount.set(accountId, entitled)
    return entitled
  }
  return alert => {
    const { accountId } = alert
    const entitled = byAccount.has(accountId) ? byAccount.get(accountId) : read(accountId)
    return entitled !== undefined && hasFeature(entitled, featureOf(alert))
  }
}

/**
 * Fires the alerts whose condition holds and whose plan includes them: writes their triggers,
 * counters and messages in the caller's transaction. Returns whether any fired.
 */
export function createFiring(deps: {
  alerts: AlertStore
  triggers: AlertTriggerStore
  catalogue: Catalogue
  ids: Ids
  /** Called for each fired alert, before it is committed. */
  note(fired: FiredAlert): void
}) {
  const { alerts, triggers, catalogue, ids, note } = deps
  const firedOf = (
    alert: WatchingAlert,
    { price, series, moment, isEntitled }: Judging,
  ): FiredAlert | undefined => {
    if (!isEntitled(alert)) return undefined
    if (watchesDay(alert.condition) !== (moment.day !== undefined)) return undefined
    const judged = evaluate(alert.condition, moment)
    if (!judged.enough || !judged.value.holds) return undefined
    const { condition: rule } = alert
    return {
      alert,
      series,
      verdict: judged.value,
      watched: catalogue.byId(alert.seriesId),
      condition: conditionText(rule),
      price: rule.kind === 'price' ? judged.value.value : moment.price,
      metadata:
        rule.kind === 'price'
          ? deliveryRow(moment, judged.value)
          : measuredRow(judged.value, moment.price),
      triggerCount: alert.triggerCount + 1,
      triggeredAt: price.at,
      observedAt: firedOn(alert, price.observedAt),
    }
  }
  const triggerOf = (fired: FiredAlert, channels: readonly string[]): AlertTrigger => {
    const { alert, verdict, price, condition, metadata, triggeredAt, observedAt } = fired
    const { number, accountId, seriesId } = alert
    return {
      id: ids.uuid(),
      alert: number,
      accountId,
      seriesId,
      observedAt,
      triggeredAt,
      price,
      condition,
      channels,
      metadata,
      value: verdict.value,
      threshold: verdict.threshold,
    }
  }
  return (candidates: readonly WatchingAlert[], judging: Judging): boolean => {
    const fired: FiredAlert[] = []
    for (const alert of candidates) {
      const firedAlert = firedOf(alert, judging)
      if (firedAlert) fired.push(firedAlert)
    }
    if (fired.length === 0) return false
    const channels = judging.notifier.notify(fired)
    triggers.addAll(fired.map((firedAlert, place) => triggerOf(firedAlert, channels[place]!)))
    alerts.fired(
      fired.map(firedAlert => firedAlert.alert.number),
      judging.price.at,
    )
    for (const firedAlert of fired) note(firedAlert)
    for (const { alert, triggerCount } of fired)
      if (triggerCount % trimEach === 0) triggers.trim(alert.number, triggersKept, 2 * trimEach)
    return true
  }
}
