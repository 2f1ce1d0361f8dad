import type { Runtime } from '../../runtime.ts'
import { createCloseStore } from '../../store/prices/closes.ts'
import { createObservationStore, type ObservationStore } from '../../store/prices/observations.ts'
import { createQuarantineStore } from '../../store/prices/quarantine.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { type Board, createBoard } from './board.ts'
import { type Closes, createCloses } from './closes.ts'
import { createFx, type Fx } from './fx.ts'
import { createHistory, type History } from './history.ts'
import { createIngest, type Ingest } from './ingest.ts'
import { createQuarantineList, type QuarantineList } from './quarantine.ts'

export interface PriceServices {
  observations: ObservationStore
  quarantine: QuarantineList
  board: Board
  history: History
  closes: Closes
  exchange: Fx
  ingest: Ingest
  /** Hears of every series whose readable values have changed, by a write or by its quarantine. */
  onSeriesChange(listener: (seriesId: number) => void): void
  /** Hears of every series of which days went into quarantine or came out of it. */
  onQuarantineChange(listener: (seriesId: number) => void): void
  /** Forgets what is kept in memory of a series: another thread has written to it. */
  forgetSeries(seriesId: number): void
}

export function openPrices({
  db,
  clock,
  catalogue,
  disk,
}: Pick<Runtime, 'db' | 'clock'> & {
  catalogue: Catalogue
  disk: { admit(): void }
}): PriceServices {
  const observations = createObservationStore(db)
  const listeners: ((seriesId: number) => void)[] = []
  const notifyChanged = (seriesId: number) => {
    for (const listener of listeners) listener(seriesId)
  }
  const quarantineListeners: ((seriesId: number) => void)[] = []
  const quarantine = createQuarantineList(createQuarantineStore(db), seriesId => {
    notifyChanged(seriesId)
    for (const listener of quarantineListeners) listener(seriesId)
  })
  const board = createBoard(observations, quarantine, clock)
  const history = createHistory(observations, quarantine)
  const closes = createCloses(createCloseStore(db), quarantine)
  listeners.push(board.forget, history.forget, closes.forget)
  const ingest = createIngest(observations, catalogue, clock, disk.admit)
  ingest.listen(changes => {
    for (const change of changes) notifyChanged(change.seriesId)
  })
  return {
    observations,
    quarantine,
    board,
    history,
    closes,
    exchange: createFx(catalogue, board),
    ingest,
    onSeriesChange: listener => listeners.push(listener),
    onQuarantineChange: listener => quarantineListeners.push(listener),
    forgetSeries: notifyChanged,
  }
}
