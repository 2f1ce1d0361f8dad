import type { Database } from 'bun:sqlite'
import type { Config } from '../../config.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log/log.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { createAlertStore } from '../../store/alerts/alerts.ts'
import { createAlertPriceStore } from '../../store/alerts/prices.ts'
import { createAlertTriggerStore } from '../../store/alerts/triggers.ts'
import type { ObservationStore } from '../../store/prices/observations.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { Board } from '../prices/board.ts'
import type { Closes } from '../prices/closes.ts'
import type { Ingest } from '../prices/ingest.ts'
import type { QuarantineList } from '../prices/quarantine.ts'
import type { PricesAt } from '../prices/vintage.ts'
import { type Alerts, createAlerts } from './alerts.ts'
import { type Backtests, createBacktests } from './backtest.ts'
import { createAlertEvaluation } from './evaluation.ts'
import { type AlertMessagesDeps, createNotifiers } from './messages.ts'
import { createAlertMoments } from './moment.ts'

/** Alerts, how they are judged by the prices that come in, and by those that came. */
export interface AlertServices {
  alerts: Alerts
  backtests: Backtests
}

export interface AlertServicesDeps extends Omit<AlertMessagesDeps, 'serviceName'> {
  db: Database
  clock: Clock
  /** Measures how long work takes; real time without it. */
  stopwatch?: Clock
  ids: Ids
  log: Log
  keys: Keyring
  catalogue: Catalogue
  board: Board
  closes: Closes
  observations: ObservationStore
  pricesAt: PricesAt
  quarantine: QuarantineList
  ingest: Pick<Ingest, 'listen' | 'listenInside'>
  config: Config
}

/**
 * Puts alerts together and ties them to what comes in. The readers of prices must hear of a change
 * before they do.
 */
export function openAlerts(deps: AlertServicesDeps): AlertServices {
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
  deps.ingest.listen(evaluation.follow)
  return {
    alerts: createAlerts({ ...deps, store, triggerStore, moments, evaluation }),
    backtests: createBacktests(deps),
  }
}
