import { revisionsKeptSince } from '../../config-keys.ts'
import { type FedBy, sourceDescription, sourceOf } from '../../market/catalogue/catalogue.ts'
import type { NamedFactor } from '../../market/units/mistaken.ts'
import type { Runtime } from '../../runtime.ts'
import type { Series } from '../../store/catalogue/series.ts'
import { transact } from '../../store/database.ts'
import type { Change } from '../../store/prices/bars.ts'
import { type BatchStore, createBatchStore } from '../../store/prices/batches.ts'
import { type BoardLayoutStore, createBoardLayoutStore } from '../../store/prices/board-layouts.ts'
import { createCloseStore } from '../../store/prices/closes.ts'
import {
  createDoubtedValueStore,
  type DoubtedValueStore,
} from '../../store/prices/doubted-values.ts'
import {
  createObservationStore,
  type ObservationStore,
  type Point,
} from '../../store/prices/observations.ts'
import { createQuarantineStore } from '../../store/prices/quarantine.ts'
import {
  createValueSourceStore,
  type ValueSource,
  type ValueSourceStore,
} from '../../store/prices/value-sources.ts'
import { createJournal } from '../../store/undo/journal.ts'
import { createBatchRowStore } from '../../store/undo/rows.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { type Batches, createBatches } from './batches.ts'
import { type Board, createBoard } from './board.ts'
import { type Closes, createCloses } from './closes.ts'
import { type Comparison, createComparison } from './comparison.ts'
import { createFx, type Fx } from './fx.ts'
import { createGuards } from './guards.ts'
import { createHistory, type History } from './history.ts'
import { createIngest, type Ingest } from './ingest.ts'
import { createQuarantineList, type QuarantineList } from './quarantine.ts'
import { type Supply, suppliedCloses, suppliedObservations } from './supply.ts'
import { type Coverage, createCoverage, createPricesAt, type PricesAt } from './vintage.ts'

export interface PriceServices {
  observations: ObservationStore
  quarantine: QuarantineList
  board: Board
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
  doubtedValues: DoubtedValueStore
  batchStore: BatchStore
  batches: Batches
  /** What a write would do, without writing. */
  compare: (points: readonly Point[]) => Comparison
  /** Says how a feed is named with its values; from then on every series is named by its newest value. */
  nameSources(describeFeed: (source: ValueSource) => FedBy | undefined): void
  /** How the source of a value is named. */
  sourceNameOf(seriesId: number, sourceId: number): string
  /**
   * How the sources of values of a series are described: of those in `[from, to)`, of which each is
   * looked at, or of all that it ever had.
   */
  sourceTextsOf(seriesId: number, span?: { from: number; to: number }): string[]
  /** Hears of every series whose readable values have changed, by a write or by its quarantine. */
  onSeriesChange(listener: (seriesId: number) => void): void
  /** Hears of every series of which days went into quarantine or came out of it. */
  onQuarantineChange(listener: (seriesId: number) => void): void
  /** Forgets what is kept in memory of a series: another thread has written to it. */
  forgetSeries(seriesId: number): void
  /** Called before anything is read of a series; nothing outside an evaluation copy. */
  supply: Supply
  /** Names what writes the observations of an evaluation copy when they are asked for. */
  supplyFrom(source: Supply): void
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
  let source: Supply | undefined
  const supply: Supply = Object.assign(
    (seriesId: number, from: number) => source?.(seriesId, from),
    {
      quote: (seriesId: number) => source?.quote(seriesId),
      hasNewest: (seriesId: number, before: number) => source?.hasNewest(seriesId, before) ?? true,
    },
  )
  const isEvaluation = config.mode === 'dev'
  const stored = createObservationStore(db)
  const observations = isEvaluation ? suppliedObservations(stored, supply) : stored
  const listeners: ((seriesId: number, from?: number) => void)[] = []
  /** `from`: nothing that was observed earlier has changed. */
  const notifyChanged = (seriesId: number, from?: number) => {
    for (const listener of listeners) listener(seriesId, from)
  }
  const quarantineListeners: ((seriesId: number) => void)[] = []
  const quarantine = createQuarantineList(createQuarantineStore(db), seriesId => {
    notifyChanged(seriesId)
    for (const listener of quarantineListeners) listener(seriesId)
  })
  const board = createBoard(observations, quarantine, clock)
  const history = createHistory(observations, quarantine)
  const closeStore = createCloseStore(db)
  const suppliedStore = isEvaluation ? suppliedCloses(closeStore, supply) : closeStore
  const closes = createCloses(suppliedStore, quarantine)
  const { coverageSinceAt } = config.vintage
  const coverage = createCoverage(observations, {
    at: coverageSinceAt,
    isSet: coverageSinceAt !== revisionsKeptSince,
  })
  listeners.push(board.forget, history.forget, closes.forget, coverage.forget)
  const ingest = createIngest(observations, catalogue, clock, disk.admit)
  const valueSources = createValueSourceStore(db)
  const batchStore = createBatchStore(db)
  const doubtedValues = createDoubtedValueStore(db)
  const exchange = createFx(catalogue, board)
  const guards = createGuards({
    catalogue,
    observations,
    doubts: doubtedValues,
    rates: currency => ratesOf(currency, exchange, clock.now()),
    now: clock.now,
  })
  const batches = createBatches({
    guards,
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
  let describeFeed: ((source: ValueSource) => FedBy | undefined) | undefined
  /** Series that have values of a source; those of no other are not looked at. */
  const sourced = new Set<number>()
  const fedByOf = (source: ValueSource | undefined, seriesId: number): FedBy | undefined =>
    source?.kind === 'feed'
      ? describeFeed?.(source)
      : source && namedSource(source.name, catalogue.byId(seriesId))
  const attribute = (seriesId: number) =>
    catalogue.attribute(seriesId, fedByOf(valueSources.ofNewest(seriesId), seriesId))
  ingest.listen((changes, { sourceId, batchId }) => {
    for (const change of changes) {
      const { inserted, revised } = change
      const { source } = catalogue.byId(change.seriesId)
      tally.record(source ?? '', inserted.length, revised.length)
      if (batchId === 0) guards.forget(change.seriesId)
      notifyChanged(change.seriesId, firstChanged(change))
      if (sourceId !== 0) sourced.add(change.seriesId)
      if (describeFeed && sourced.has(change.seriesId)) attribute(change.seriesId)
    }
  })
  // The catalogue's terms say what guards do.
  catalogue.onReload(guards.forgetAll)
  ingest.onWithdraw(seriesId => {
    guards.forget(seriesId)
    catalogue.measure(seriesId)
    notifyChanged(seriesId)
    if (describeFeed) attribute(seriesId)
  })
  return {
    observations,
    quarantine,
    board,
    boardLayouts: createBoardLayoutStore(db),
    history,
    closes,
    exchange,
    coverage,
    pricesAt: createPricesAt({
      observations,
      closeStore: suppliedStore,
      closes,
      history,
      quarantine,
      coverage,
      catalogue,
      db,
      attributed(series, { observedAt, recordedAt }) {
        if (!sourced.has(series.id)) return series
        const { publisher: _newest, ...own } = series
        const fedBy = fedByOf(valueSources.ofValue(series.id, observedAt, recordedAt), series.id)
        return fedBy ? { ...own, publisher: fedBy.publisher } : own
      },
      now: clock.now,
    }),
    ingest,
    valueSources,
    doubtedValues,
    batchStore,
    batches,
    compare: createComparison({ observations, catalogue, guards }),
    nameSources(describe) {
      describeFeed = describe
      for (const id of valueSources.everySeries()) {
        sourced.add(id)
        attribute(id)
      }
    },
    sourceNameOf: (seriesId, sourceId) =>
      fedByOf(valueSources.byId(sourceId), seriesId)?.publisher.name ??
      catalogue.byId(seriesId).source,
    sourceTextsOf(seriesId, span) {
      const series = catalogue.byId(seriesId)
      const ids = valueSources.ofSeries(seriesId)
      if (ids.length === 0) return [sourceOf(series).description]
      const present = span ? valueSources.between(seriesId, span.from, span.to) : ids
      const texts = present.map(
        id =>
          fedByOf(valueSources.byId(id), seriesId)?.publisher.text ??
          sourceDescription(series.source, series.fixture),
      )
      if (span && texts.length > 0) return texts
      return [sourceOf(series).description, ...texts]
    },
    onSeriesChange: listener => listeners.push(listener),
    onQuarantineChange: listener => quarantineListeners.push(listener),
    forgetSeries(seriesId) {
      notifyChanged(seriesId)
      if (describeFeed) attribute(seriesId)
    },
    supply,
    supplyFrom(given) {
      source = given
      catalogue.supplyFrom(given.quote)
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

/** How a source is named that whoever brought its values called by name. */
const namedSource = (name: string, { terms }: Pick<Series, 'terms'>): FedBy => ({
  publisher: {
    name,
    text: terms?.attribution ?? sourceDescription(name, false),
    licenseClass: terms?.licenseClass ?? 'open',
  },
})
