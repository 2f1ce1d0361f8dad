import { revisionsKeptSince } from '../../../config/keys.ts'
import type { Runtime } from '../../../config/runtime.ts'
import { onUndone, transact, transactionNumber } from '../../../database/database.ts'
import { readsNow } from '../../../database/dataset-reads.ts'
import { createJournal } from '../../../database/undo/journal.ts'
import { createBatchRowStore } from '../../../database/undo/rows.ts'
import type { FedBy } from '../../catalogue/math/catalogue.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { createChangeLogStore } from '../../changes/store/log.ts'
import { createFormulas } from '../../formulas/service/formulas.ts'
import { createFuturesStore } from '../../futures/store/futures.ts'
import type { NamedFactor } from '../../units/math/mistaken.ts'
import type { Change } from '../store/bars.ts'
import { createBatchStore } from '../store/batches.ts'
import { createBoardLayoutStore } from '../store/board-layouts.ts'
import { createCloseStore } from '../store/closes.ts'
import { createDecisionStore } from '../store/decisions.ts'
import { createFlaggedValueStore } from '../store/flagged-values.ts'
import { createObservationStore } from '../store/observations.ts'
import { createQuarantineStore } from '../store/quarantine.ts'
import { createValueSourceStore, type ValueSource } from '../store/value-sources.ts'
import { createBatches } from './batches.ts'
import { createCloses } from './closes.ts'
import { createComparison } from './comparison.ts'
import { createDecisions } from './decisions.ts'
import { createFx, type Fx } from './fx.ts'
import { createGuards } from './guards.ts'
import { createHistory } from './history.ts'
import { createIngest } from './ingest.ts'
import { createLatestPrices, type FormulaOf } from './latest-prices.ts'
import { currentValues } from './period-values.ts'
import { createProvenance } from './provenance.ts'
import { createQuarantineList } from './quarantine.ts'
import { createCoverage, createPricesAt } from './vintage.ts'

export type PriceServices = ReturnType<typeof openPrices>

export function openPrices({
  db,
  config,
  clock,
  log,
  catalogue,
  disk,
  tally,
}: Pick<Runtime, 'db' | 'clock' | 'config' | 'log'> & {
  catalogue: Catalogue
  disk: { admit(): void }
  tally: { record(source: string, inserted: number, revised: number): void }
}) {
  const stored = createObservationStore(db)
  const changeLog = createChangeLogStore(db)
  const listeners: ((seriesId: number, from?: number) => void)[] = []
  /** `from`: nothing that was observed earlier has changed. */
  const notifyChanged = (
    seriesId: number,
    from?: number,
    dependents = formulas.forget(seriesId, from),
  ) => {
    // Ranks of futures have a newest price and nothing else.
    for (const id of formulas.heldBy(seriesId)) latestPrices.forget(id, from)
    if (from === undefined) for (const id of dependents) catalogue.measure(id)
    for (const id of [seriesId, ...dependents]) for (const listener of listeners) listener(id, from)
  }
  const quarantineListeners: ((seriesId: number) => void)[] = []
  const quarantine = createQuarantineList(
    createQuarantineStore(db),
    seriesId => {
      notifyChanged(seriesId)
      for (const listener of quarantineListeners) listener(seriesId)
    },
    (work, eventOf) =>
      transact(db, () => {
        const done = work()
        const noted = eventOf(done)
        if (noted) changeLog.addEvent(ingest.next(), noted.seriesId, noted.event)
        return done
      }),
  )
  const formulas = createFormulas({ stored, closes: createCloseStore(db), catalogue, quarantine })
  onUndone(db, formulas.forgetAll)
  const { observations, closes: closeStore } = formulas
  const valueSources = createValueSourceStore(db)
  const provenance = createProvenance({
    sources: valueSources,
    catalogue,
    quarantine,
    averagedFor: formulas.averagedFor,
  })
  const { attributed } = provenance
  const periodValues = currentValues(observations, quarantine)
  const flaggedValues = createFlaggedValueStore(db)
  const formulaOf: FormulaOf = (series, legs = formulas.legsOf(series.id)) => {
    const text = series.terms?.formula
    if (text === undefined) return undefined
    return {
      text,
      legs,
      newerUnused({ id }, at) {
        if (flaggedValues.waitingDays(id, at + 1, Number.MAX_SAFE_INTEGER).length > 0) return 'held'
        const newest = observations.newest(id, Number.MAX_SAFE_INTEGER)?.observedAt ?? at
        return newest > at && quarantine.clear(id, newest, newest + 1).length === 0
          ? 'quarantined'
          : undefined
      },
    }
  }
  const latestPrices = createLatestPrices(
    { ...observations, periodValues, formulaOf, averagedFor: formulas.averagedFor },
    quarantine,
    clock,
    attributed,
  )
  const history = createHistory(observations, quarantine)
  const { coverageSinceAt } = config.vintage
  const isAhead = (seriesId: number): boolean => {
    const { delivery, averageOf } = catalogue.byId(seriesId)
    return delivery !== undefined || averageOf !== undefined
  }
  const coverage = createCoverage(
    observations,
    { at: coverageSinceAt, isSet: coverageSinceAt !== revisionsKeptSince },
    isAhead,
  )
  const closes = createCloses({
    store: closeStore,
    quarantine,
    observations,
    endOf: seriesId => (isAhead(seriesId) ? undefined : clock.now() + 1),
  })
  listeners.push(latestPrices.forget, history.forget, closes.forget, coverage.forget)
  const ingest = createIngest(observations, catalogue, clock, {
    admit: disk.admit,
    transactionNumber: () => transactionNumber(db),
    prepare: formulas.prepare,
    derive: formulas.changesBy,
    lastWrittenAt: changeLog.newest() ?? Number.NEGATIVE_INFINITY,
  })
  const batchStore = createBatchStore(db)
  const exchange = createFx(catalogue, latestPrices)
  const guards = createGuards({
    catalogue,
    observations,
    flags: flaggedValues,
    settlements: createFuturesStore(readsNow(db)),
    rates: currency => ratesOf(currency, exchange, clock.now()),
    now: clock.now,
  })
  const decisions = createDecisions({
    store: createDecisionStore(db),
    flags: flaggedValues,
    observations,
    now: clock.now,
  })
  const batches = createBatches({
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
    now: clock.now,
    transact: work => transact(db, work),
  })
  let isNamed = false
  const attribute = (seriesId: number) => {
    provenance.forget(seriesId)
    if (isNamed) catalogue.attribute(seriesId, provenance.newestOf(seriesId))
  }
  ingest.listenInside((changes, { sourceId }) => {
    if (sourceId !== 0) for (const change of changes) provenance.forget(change.seriesId)
  })
  ingest.listen((changes, { sourceId, batchId }) => {
    for (const change of changes) {
      const { inserted, revised } = change
      // Listeners of a formula were notified when its leg changed.
      const { source, terms } = catalogue.byId(change.seriesId)
      if (terms?.formula !== undefined) continue
      tally.record(source ?? '', inserted.length, revised.length)
      if (batchId === 0) guards.forget(change.seriesId)
      // Inside the transaction, formulas have forgotten what it changed. A recorded value of a code
      // that has means changes that code itself.
      const { averageOf } = catalogue.byId(change.seriesId)
      const dependents =
        averageOf === undefined ? formulas.dependentsOf(change.seriesId) : undefined
      notifyChanged(change.seriesId, firstChanged(change), dependents)
      if (sourceId !== 0 || provenance.isSourced(change.seriesId)) attribute(change.seriesId)
    }
  })
  catalogue.onReload(latestPrices.renew)
  // The guards depend on the terms in the catalogue.
  catalogue.onReload(guards.forgetAll)
  ingest.onWithdraw(seriesId => {
    guards.forget(seriesId)
    catalogue.measure(seriesId)
    notifyChanged(seriesId)
    attribute(seriesId)
  })
  return {
    /** The changes of transactions, in order. */
    changeLog,
    formulas,
    observations,
    quarantine,
    latestPrices,
    /** Values by their time, in the future too. */
    periodValues,
    /** Which codes people want on their boards. */
    boardLayouts: createBoardLayoutStore(db),
    history,
    closes,
    exchange,
    coverage,
    /** The prices as they were known at a moment. */
    pricesAt: createPricesAt({
      observations,
      closeStore,
      closes,
      history,
      quarantine,
      coverage,
      catalogue,
      db,
      attributed,
      formulaOf,
      averagedFor: formulas.averagedFor,
      now: clock.now,
    }),
    ingest,
    valueSources,
    flaggedValues,
    decisions,
    batchStore,
    batches,
    /** Returns the changes that a write would make, without writing. */
    compare: createComparison({
      observations,
      catalogue,
      guards,
      decisions,
      sources: valueSources,
    }),
    /** Says how a feed is named with its values; from then on every series is named by its newest value. */
    nameSources(describe: (source: ValueSource) => FedBy | undefined) {
      provenance.describeFeeds(describe)
      isNamed = true
      for (const id of valueSources.everySeries()) attribute(id)
      for (const { id, averageOf } of catalogue.everything())
        if (averageOf !== undefined) attribute(id)
      latestPrices.forgetAll()
    },
    /** Names the source of a value. */
    sourceNameOf: provenance.nameOf,
    /** The series with the source of one of its values as its publisher. */
    attributed,
    /** Every name that a source of values of a series has. */
    sourceNamesOf: provenance.namesOf,
    /** The source of each row of a block. */
    sourcesOfBlock: provenance.ofBlock,
    /** The sources of the rows of a page. */
    sourcesOfRows: provenance.ofRows,
    /** Adds a listener for series whose readable values change, by a write or by quarantine. */
    onSeriesChange: (listener: (seriesId: number) => void) => listeners.push(listener),
    /** Adds a listener for series of which days enter or leave quarantine. */
    onQuarantineChange: (listener: (seriesId: number) => void) =>
      quarantineListeners.push(listener),
    /** Drops cached values of a series that another thread has written. */
    forgetSeries(seriesId: number) {
      notifyChanged(seriesId)
      attribute(seriesId)
    },
  }
}

/** The time of the earliest observation of a change. */
const firstChanged = ({ inserted, revised }: Change): number =>
  Math.min(
    inserted[0]?.observedAt ?? Number.POSITIVE_INFINITY,
    revised[0]?.observedAt ?? Number.POSITIVE_INFINITY,
  )

/** Currencies that energy is quoted in. */
const quotedCurrencies = [
  'USD',
  'EUR',
  'GBP',
  'BRL',
  'CNY',
  'DKK',
  'INR',
  'JPY',
  'KRW',
  'MXN',
  'NOK',
  'PLN',
  'RUB',
  'SEK',
  'TRY',
  'ZAR',
]

/** Factors between a currency and others, for values in a wrong currency; always above 1. */
function ratesOf(currency: string, exchange: Fx, now: number): NamedFactor[] {
  return quotedCurrencies.flatMap(other => {
    const rate = other === currency ? undefined : exchange.rate(currency, other, now)?.rate
    return rate === undefined
      ? []
      : [[rate > 1 ? rate : 1 / rate, `${currency} and ${other}`] as const]
  })
}
