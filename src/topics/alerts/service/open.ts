import type { Runtime } from '../../../config/runtime.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { Closes } from '../../prices/service/days/closes.ts'
import type { QuarantineList } from '../../prices/service/quarantine.ts'
import type { LatestPrices } from '../../prices/service/reads/latest-prices.ts'
import type { PeriodValues } from '../../prices/service/reads/period-values.ts'
import type { PricesAt } from '../../prices/service/reads/vintage.ts'
import type { Arrivals } from '../../prices/service/writes/arrivals.ts'
import type { Ingest } from '../../prices/service/writes/ingest.ts'
import type { ObservationStore } from '../../prices/store/observations.ts'
import { createAlertStore } from '../store/alerts.ts'
import { createAlertPriceStore } from '../store/prices.ts'
import { createAlertTriggerStore } from '../store/triggers.ts'
import { createAlerts } from './alerts.ts'
import { createBacktests } from './backtest.ts'
import { createAlertEvaluation } from './evaluation.ts'
import { type AlertMessagesDeps, createNotifiers } from './messages.ts'
import { createAlertMoments } from './moment.ts'

/** Alerts, how they are judged by the prices that come in, and by those that came. */
export type AlertServices = ReturnType<typeof openAlerts>

export interface AlertServicesDeps
  extends Pick<Runtime, 'db' | 'ids' | 'log' | 'config' | 'clock'>,
    Omit<AlertMessagesDeps, 'serviceName'> {
  /** Measures how long work takes; real time without it. */
  stopwatch?: Clock
  keys: Keyring
  catalogue: Catalogue
  latestPrices: LatestPrices
  closes: Closes
  observations: ObservationStore
  pricesAt: PricesAt
  quarantine: QuarantineList
  periodValues: PeriodValues
  ingest: Pick<Ingest, 'listen' | 'listenInside'>
  arrivals: Pick<Arrivals, 'listen'>
}

/**
 * Creates the alert services and connects them to incoming prices. Latest-price caches must be
 * notified of a change before alerts are.
 */
export function openAlerts(deps: AlertServicesDeps) {
  const { db, clock } = deps
  const store = createAlertStore(db)
  const triggerStore = createAlertTriggerStore(db)
  const moments = createAlertMoments({ ...deps, now: clock.now })
  const evaluation = createAlertEvaluation({
    ...deps,
    alerts: store,
    triggers: triggerStore,
    prices: createAlertPriceStore(db),
    moments,
    notifier: createNotifiers({ ...deps, serviceName: deps.config.brand.serviceName }),
    intervalMs: deps.config.alerts.intervalMs,
  })
  deps.ingest.listenInside(evaluation.note)
  deps.arrivals.listen(evaluation.note)
  deps.ingest.listen(evaluation.follow)
  return {
    alerts: createAlerts({ ...deps, store, triggerStore, moments, evaluation }),
    backtests: createBacktests(deps),
  }
}
