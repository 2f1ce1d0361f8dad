import type { Runtime } from '../../../config/runtime.ts'
import { onUndone, transact } from '../../../database/database.ts'
import type { FedBy } from '../../catalogue/math/catalogue.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { isComputed } from '../../catalogue/store/series.ts'
import { createChangeLogStore } from '../../changes/store/log.ts'
import { createFormulas, type Formulas } from '../../formulas/service/formulas.ts'
import { createBoardLayoutStore } from '../store/board-layouts.ts'
import { createCloseStore } from '../store/closes.ts'
import { createFlaggedValueStore } from '../store/flagged-values.ts'
import { createObservationStore } from '../store/observations.ts'
import { createQuarantineStore } from '../store/quarantine.ts'
import {
  createValueSourceStore,
  type ValueSource,
  type ValueSourceStore,
} from '../store/value-sources.ts'
import type { Guards } from './checks/guards.ts'
import { createProvenance } from './provenance.ts'
import { createQuarantineList } from './quarantine.ts'
import type { LatestPrices } from './reads/latest-prices.ts'
import { openReads } from './reads/reads.ts'
import { createArrivals } from './writes/arrivals.ts'
import { firstChanged, type Ingest } from './writes/ingest.ts'
import { openWrites } from './writes/writes.ts'

export type PriceServices = ReturnType<typeof openPrices>

type SeriesListener = (seriesId: number) => void

export interface PricesDeps extends Pick<Runtime, 'db' | 'clock' | 'config' | 'log'> {
  catalogue: Catalogue
  disk: { admit(): void }
  tally: { record(source: string, inserted: number, revised: number): void }
}

/** Reads and writes of prices, joined so that a write reaches everything that is cached of it. */
export function openPrices(deps: PricesDeps) {
  const { db, catalogue } = deps
  const changeLog = createChangeLogStore(db)
  const flaggedValues = createFlaggedValueStore(db)
  const valueSources = createValueSourceStore(db)
  const quarantineListeners: SeriesListener[] = []

  const quarantine = createQuarantineList(
    createQuarantineStore(db),
    seriesId => {
      notices.changed(seriesId)
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
  const formulas = createFormulas({
    stored: createObservationStore(db),
    closes: createCloseStore(db),
    catalogue,
    quarantine,
  })
  onUndone(db, formulas.forgetAll)
  const provenance = createProvenance({
    sources: valueSources,
    catalogue,
    quarantine,
    averagedFor: formulas.averagedFor,
  })
  const { attributed } = provenance
  const { forget, ...reads } = openReads({
    ...deps,
    formulas,
    quarantine,
    flaggedValues,
    attributed,
  })
  const { latestPrices, exchange } = reads
  const { guards, ...writes } = openWrites({
    ...deps,
    changeLog,
    formulas,
    flaggedValues,
    valueSources,
    exchange,
  })
  const { ingest } = writes

  const notices = createNotices({
    ...deps,
    formulas,
    provenance,
    valueSources,
    latestPrices,
    forget,
  })
  joinWrites({ ...deps, formulas, provenance, ingest, guards, notices })
  catalogue.onReload(() => {
    latestPrices.renew()
    // What a formula is made of may be hidden, retired or another series now.
    for (const series of catalogue.everything()) if (isComputed(series)) forget(series.id)
  })
  // The guards depend on the terms in the catalogue.
  catalogue.onReload(guards.forgetAll)

  return {
    /** The changes of transactions, in order. */
    changeLog,
    formulas,
    quarantine,
    flaggedValues,
    ...reads,
    ...writes,
    arrivals: createArrivals({ ...deps, ...formulas, ingest, latestPrices }),
    /** Which codes people want on their boards. */
    boardLayouts: createBoardLayoutStore(db),
    valueSources,
    nameSources: notices.nameSources,
    /** Names the source of a value. */
    sourceNameOf: provenance.nameOf,
    /** The series with the source of one of its values as its publisher. */
    attributed,
    /** Every name that a source of values of a series has. */
    sourceNamesOf: provenance.namesOf,
    sourcesOfBlock: provenance.ofBlock,
    sourcesOfRows: provenance.ofRows,
    /** Adds a listener for series whose readable values change, by a write or by quarantine. */
    onSeriesChange: notices.listen,
    /** Adds a listener for series that a write gives another cadence. */
    onCadenceChange: notices.onCadence,
    /** Adds a listener for series of which days enter or leave quarantine. */
    onQuarantineChange: (listener: SeriesListener) => quarantineListeners.push(listener),
    /** Drops cached values of a series that another thread has written. */
    forgetSeries(seriesId: number) {
      notices.changed(seriesId)
      notices.attribute(seriesId, false)
    },
  }
}

interface NoticesDeps extends Pick<PricesDeps, 'catalogue'> {
  formulas: Formulas
  provenance: ReturnType<typeof createProvenance>
  valueSources: ValueSourceStore
  latestPrices: LatestPrices
  /** Drops what reads have cached of a series. */
  forget(seriesId: number, from?: number): void
}

/** Carries a change of a series to everything that caches its values or names their source. */
function createNotices({
  catalogue,
  formulas,
  provenance,
  valueSources,
  latestPrices,
  forget,
}: NoticesDeps) {
  const listeners: SeriesListener[] = []
  const cadenceListeners: SeriesListener[] = []
  let isNamed = false
  /** Names the publisher of a series by its newest value; returns whether its cadence changes. */
  const name = (seriesId: number): boolean => {
    provenance.forget(seriesId)
    return isNamed && catalogue.attribute(seriesId, provenance.newestOf(seriesId))
  }
  return {
    /** `from`: nothing that was observed earlier has changed. */
    changed(seriesId: number, from?: number, dependents = formulas.forget(seriesId, from)) {
      // Ranks of futures have a newest price and nothing else.
      for (const id of formulas.heldBy(seriesId)) latestPrices.forget(id, from)
      if (from === undefined) for (const id of dependents) catalogue.measure(id)
      for (const id of [seriesId, ...dependents]) {
        forget(id, from)
        for (const listener of listeners) listener(id)
      }
    },
    /** Names the publisher of a series by its newest value, which this process wrote or another. */
    attribute(seriesId: number, isWriter = true) {
      if (!name(seriesId)) return
      // Formulas use a value of a leg up to an age that depends on its cadence.
      catalogue.notifyReloaded()
      if (isWriter) for (const listener of cadenceListeners) listener(seriesId)
    },
    /** Says how a feed is named with its values; from then on every series is named by its newest value. */
    nameSources(describe: (source: ValueSource) => FedBy | undefined) {
      provenance.describeFeeds(describe)
      isNamed = true
      for (const id of valueSources.everySeries()) name(id)
      for (const { id, averageOf } of catalogue.everything()) if (averageOf !== undefined) name(id)
      catalogue.notifyReloaded()
      latestPrices.forgetAll()
    },
    listen: (listener: SeriesListener) => listeners.push(listener),
    onCadence: (listener: SeriesListener) => cadenceListeners.push(listener),
  }
}

interface WritesDeps
  extends Pick<PricesDeps, 'tally'>,
    Pick<NoticesDeps, 'catalogue' | 'formulas' | 'provenance'> {
  ingest: Ingest
  guards: Pick<Guards, 'forget'>
  notices: ReturnType<typeof createNotices>
}

/** Notifies of every write. */
function joinWrites({
  catalogue,
  tally,
  formulas,
  provenance,
  ingest,
  guards,
  notices,
}: WritesDeps): void {
  /** The formulas to notify of a change; undefined: they must forget it first. */
  const dependentsOf = (seriesId: number) =>
    // Inside the transaction, formulas have forgotten what it changed. A recorded value of a code
    // that has means changes that code itself.
    catalogue.byId(seriesId).averageOf === undefined ? formulas.dependentsOf(seriesId) : undefined

  ingest.listenInside((changes, { sourceId }) => {
    if (sourceId !== 0) for (const change of changes) provenance.forget(change.seriesId)
  })
  ingest.listen((changes, { sourceId, batchId }) => {
    for (const change of changes) {
      const { seriesId, inserted, revised } = change
      // Listeners of a formula were notified when its leg changed.
      const { source, terms } = catalogue.byId(seriesId)
      if (terms?.formula !== undefined) continue
      tally.record(source ?? '', inserted.length, revised.length)
      if (batchId === 0) guards.forget(seriesId)
      notices.changed(seriesId, firstChanged(change), dependentsOf(seriesId))
      if (sourceId !== 0 || provenance.isSourced(seriesId)) notices.attribute(seriesId)
    }
  })
  ingest.onWithdraw(seriesId => {
    guards.forget(seriesId)
    catalogue.measure(seriesId)
    notices.changed(seriesId)
    notices.attribute(seriesId)
  })
  // Reads as of an earlier moment have changed, those of formulas too, as has since when they are
  // exact. No value is current that was not before.
  ingest.onPast(seriesId => {
    provenance.forget(seriesId)
    notices.changed(seriesId, Number.POSITIVE_INFINITY)
  })
}
