import type { Runtime } from '../../../../config/runtime.ts'
import { transact, transactionNumber } from '../../../../database/database.ts'
import { readsNow } from '../../../../database/dataset-reads.ts'
import { createJournal } from '../../../../database/undo/journal.ts'
import { createBatchRowStore } from '../../../../database/undo/rows.ts'
import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import type { ChangeLogStore } from '../../../changes/store/log.ts'
import type { Formulas } from '../../../formulas/service/formulas.ts'
import { createFuturesStore } from '../../../futures/store/futures.ts'
import type { NamedFactor } from '../../../units/math/mistaken.ts'
import { createBatchStore } from '../../store/batches.ts'
import { createDecisionStore } from '../../store/decisions.ts'
import type { FlaggedValueStore } from '../../store/flagged-values.ts'
import type { ValueSourceStore } from '../../store/value-sources.ts'
import { createComparison } from '../checks/comparison.ts'
import { createDecisions } from '../checks/decisions.ts'
import { createGuards } from '../checks/guards.ts'
import { anyAge, type Fx } from '../fx.ts'
import { createBatches } from './batches.ts'
import { createIngest } from './ingest.ts'

export interface WritesDeps extends Pick<Runtime, 'db' | 'clock' | 'config' | 'log'> {
  catalogue: Catalogue
  disk: { admit(): void }
  changeLog: ChangeLogStore
  formulas: Formulas
  flaggedValues: FlaggedValueStore
  valueSources: ValueSourceStore
  exchange: Fx
}

/** All ways to write prices: recorded as they are, or checked and within a batch. */
export function openWrites(deps: WritesDeps) {
  const { db, clock, config, log, catalogue, formulas, flaggedValues, valueSources } = deps
  const { observations } = formulas
  const { now } = clock
  const ingest = createIngest(observations, catalogue, clock, {
    admit: deps.disk.admit,
    transactionNumber: () => transactionNumber(db),
    prepare: formulas.prepare,
    derive: formulas.changesBy,
    lastWrittenAt: deps.changeLog.newest() ?? Number.NEGATIVE_INFINITY,
  })
  const newGuards = () =>
    createGuards({
      catalogue,
      observations,
      flags: flaggedValues,
      settlements: createFuturesStore(readsNow(db)),
      rates: currency => ratesOf(currency, deps.exchange, now()),
      now,
    })
  const guards = newGuards()
  const decisions = createDecisions({
    store: createDecisionStore(db),
    flags: flaggedValues,
    observations,
    now,
  })
  const batchStore = createBatchStore(db)
  return {
    ingest,
    guards,
    decisions,
    batchStore,
    batches: createBatches({
      guards,
      decisions,
      store: batchStore,
      rows: createBatchRowStore(db),
      journal: createJournal(db),
      undoDays: config.batches.undoDays,
      observations,
      sources: valueSources,
      ingest,
      catalogue,
      log,
      now,
      transact: work => transact(db, work),
    }),
    /** Returns the changes that a write would make, without writing. */
    compare: createComparison({
      observations,
      catalogue,
      newGuards,
      decisions,
      sources: valueSources,
      stopwatch: clock,
    }),
  }
}

/** Currencies that energy is quoted in. */
const quotedCurrencies = 'USD EUR GBP BRL CNY DKK INR JPY KRW MXN NOK PLN RUB SEK TRY ZAR'.split(
  ' ',
)

/** Factors between a currency and others, for values in a wrong currency; always above 1. */
function ratesOf(currency: string, exchange: Fx, now: number): NamedFactor[] {
  return quotedCurrencies.flatMap(other => {
    const rate = other === currency ? undefined : exchange.rate(currency, other, now, anyAge)?.rate
    return rate === undefined
      ? []
      : [[rate > 1 ? rate : 1 / rate, `between ${currency} and ${other}`] as const]
  })
}
