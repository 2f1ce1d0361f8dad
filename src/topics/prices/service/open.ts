import { revisionsKeptSince } from '../../../config/keys.ts'
import type { Runtime } from '../../../config/runtime.ts'
import { transact, transactionNumber } from '../../../database/database.ts'
import { readsNow } from '../../../database/dataset-reads.ts'
import { createJournal } from '../../../database/undo/journal.ts'
import { createBatchRowStore } from '../../../database/undo/rows.ts'
import type { FedBy } from '../../catalogue/math/catalogue.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { type ChangeLogStore, createChangeLogStore } from '../../changes/store/log.ts'
import { createFuturesStore } from '../../futures/store/futures.ts'
import type { NamedFactor } from '../../units/math/mistaken.ts'
import type { Observation } from '../math/bars.ts'
import type { Change } from '../store/bars.ts'
import { type BatchStore, createBatchStore } from '../store/batches.ts'
import { type BoardLayoutStore, createBoardLayoutStore } from '../store/board-layouts.ts'
import { createCloseStore } from '../store/closes.ts'
import { createDecisionStore } from '../store/decisions.ts'
import { createFlaggedValueStore, type FlaggedValueStore } from '../store/flagged-values.ts'
import { createObservationStore, type ObservationStore } from '../store/observations.ts'
import { createQuarantineStore } from '../store/quarantine.ts'
import {
  createValueSourceStore,
  type ValueSource,
  type ValueSourceStore,
} from '../store/value-sources.ts'
import { type Batches, createBatches } from './batches.ts'
import { type Closes, createCloses } from './closes.ts'
import { type Compare, createComparison } from './comparison.ts'
import { createDecisions, type Decisions } from './decisions.ts'
import { createFx, type Fx } from './fx.ts'
import { createGuards } from './guards.ts'
import { createHistory, type History } from './history.ts'
import { createIngest, type Ingest } from './ingest.ts'
import { createLatestPrices, type LatestPrices } from './latest-prices.ts'
import { currentValues, type PeriodValues } from './period-values.ts'
import { createProvenance, type Provenance } from './provenance.ts'
import { createQuarantineList, type QuarantineList } from './quarantine.ts'
import { type Coverage, createCoverage, createPricesAt, type PricesAt } from './vintage.ts'

export interface PriceServices {
  /** What transactions changed, in their order. */
  changeLog: ChangeLogStore
  observations: ObservationStore
  quarantine: QuarantineList
  latestPrices: LatestPrices
  /** Values by their time, in the future too. */
  periodValues: PeriodValues
  /** Which codes people want on their boards. */
  boardLayouts: BoardLayoutStore
  history: History
  closes: Closes
  exchange: Fx
  coverage: Coverage
  /** The prices as they were known at a moment. */
  pricesAt: PricesAt
  ingest: Ingest
  valueSources: ValueSourceStore
  flaggedValues: FlaggedValueStore
  decisions: Decisions
  batchStore: BatchStore
  batches: Batches
  /** What a write would do, without writing. */
  compare: Compare
  /** Says how a feed is named with its values; from then on every series is named by its newest value. */
  nameSources(describeFeed: (source: ValueSource) => FedBy | undefined): void
  /** How the source of a value is named. */
  sourceNameOf(seriesId: number, sourceId: number): string
  /** The series with whoever one of its values is of as its publisher. */
  attributed(series: Series, value: Observation): Series
  /** Every name that a source of values of a series has. */
  sourceNamesOf: Provenance['namesOf']
  /** Whose each row of a block is. */
  sourcesOfBlock: Provenance['ofBlock']
  /** Whose the rows of a page are. */
  sourcesOfRows: Provenance['ofRows']
  /** Hears of every series whose readable values have changed, by a write or by its quarantine. */
  onSeriesChange(listener: (seriesId: number) => void): void
  /** Hears of every series of which days went into quarantine or came out of it. */
  onQuarantineChange(listener: (seriesId: number) => void): void
  /** Forgets what is kept in memory of a series: another thread has written to it. */
  forgetSeries(seriesId: number): void
}

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
}): PriceServices {
  const observations = createObservationStore(db)
  const changeLog = createChangeLogStore(db)
  const listeners: ((seriesId: number, from?: number) => void)[] = []
  /** `from`: nothing that was observed earlier has changed. */
  const notifyChanged = (seriesId: number, from?: number) => {
    for (const listener of listeners) listener(seriesId, from)
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
  const valueSources = createValueSourceStore(db)
  const provenance = createProvenance({ sources: valueSources, catalogue, quarantine })
  const { attributed } = provenance
  const periodValues = currentValues(observations, quarantine)
  const latestPrices = createLatestPrices(
    { ...observations, periodValues },
    quarantine,
    clock,
    attributed,
  )
  const history = createHistory(observations, quarantine)
  const closeStore = createCloseStore(db)
  const closes = createCloses(closeStore, quarantine)
  const { coverageSinceAt } = config.vintage
  const coverage = createCoverage(observations, {
    at: coverageSinceAt,
    isSet: coverageSinceAt !== revisionsKeptSince,
  })
  listeners.push(latestPrices.forget, history.forget, closes.forget, coverage.forget)
  const ingest = createIngest(observations, catalogue, clock, {
    admit: disk.admit,
    transactionNumber: () => transactionNumber(db),
    lastWrittenAt: changeLog.newest() ?? Number.NEGATIVE_INFINITY,
  })
  const batchStore = createBatchStore(db)
  const flaggedValues = createFlaggedValueStore(db)
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
      const { source } = catalogue.byId(change.seriesId)
      tally.record(source ?? '', inserted.length, revised.length)
      if (batchId === 0) guards.forget(change.seriesId)
      notifyChanged(change.seriesId, firstChanged(change))
      if (sourceId !== 0 || provenance.isSourced(change.seriesId)) attribute(change.seriesId)
    }
  })
  catalogue.onReload(latestPrices.renew)
  // The catalogue's terms say what guards do.
  catalogue.onReload(guards.forgetAll)
  ingest.onWithdraw(seriesId => {
    guards.forget(seriesId)
    catalogue.measure(seriesId)
    notifyChanged(seriesId)
    attribute(seriesId)
  })
  return {
    changeLog,
    observations,
    quarantine,
    latestPrices,
    periodValues,
    boardLayouts: createBoardLayoutStore(db),
    history,
    closes,
    exchange,
    coverage,
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
      now: clock.now,
    }),
    ingest,
    valueSources,
    flaggedValues,
    decisions,
    batchStore,
    batches,
    compare: createComparison({
      observations,
      catalogue,
      guards,
      decisions,
      sources: valueSources,
    }),
    nameSources(describe) {
      provenance.describeFeeds(describe)
      isNamed = true
      for (const id of valueSources.everySeries()) attribute(id)
      latestPrices.forgetAll()
    },
    sourceNameOf: provenance.nameOf,
    attributed,
    sourceNamesOf: provenance.namesOf,
    sourcesOfBlock: provenance.ofBlock,
    sourcesOfRows: provenance.ofRows,
    onSeriesChange: listener => listeners.push(listener),
    onQuarantineChange: listener => quarantineListeners.push(listener),
    forgetSeries(seriesId) {
      notifyChanged(seriesId)
      attribute(seriesId)
    },
  }
}

/** When the earliest of what has changed was observed. */
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

/** What one of a currency is in others, as somebody may have mistaken them; both ways above 1. */
function ratesOf(currency: string, exchange: Fx, now: number): NamedFactor[] {
  return quotedCurrencies.flatMap(other => {
    const rate = other === currency ? undefined : exchange.rate(currency, other, now)?.rate
    return rate === undefined
      ? []
      : [[rate > 1 ? rate : 1 / rate, `${currency} and ${other}`] as const]
  })
}
