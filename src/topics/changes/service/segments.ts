import type { Viewer } from '../../catalogue/service/viewers.ts'
import { isComputed, type Series } from '../../catalogue/store/series.ts'
import type { Place } from '../math/cursor.ts'
import type { DatasetRow } from '../store/dataset-versions.ts'
import type { ChangeEvent, LoggedRange } from '../store/log.ts'

/** One record of the feed. */
export interface ChangeRecord {
  place: Place
  kind: 'added' | 'revised' | 'deleted'
  series: Series
  /** Undefined: every time of the series. */
  observedAt: number | undefined
  value: number | undefined
  previous: number | undefined
  sourceId: number
  /** Present for a recorded value of a series that has means on other days. */
  isRecorded?: true
  batchId: number
  recordedAt: number
  /** It holds for every `as_of`, not from `recordedAt` on. */
  isRetroactive: boolean
}

/** One record of a dataset other than prices. */
export interface RowRecord {
  place: Place
  kind: 'added' | 'revised' | 'deleted'
  dataset: string
  key: DatasetRow
  row: DatasetRow | undefined
  previous: DatasetRow | undefined
  batchId: number
  recordedAt: number
  isRetroactive: false
}

export type AnyRecord = ChangeRecord | RowRecord

export const isOfDataset = (record: AnyRecord): record is RowRecord => 'dataset' in record

/** Selects the records that a client may read. */
export interface ChangeReader {
  viewer: Viewer
  /** The tables of the datasets that it wants, other than prices. */
  tables: ReadonlySet<string>
  /** Whether it wants computed values of the series that it wants. */
  isDerived: boolean
  wants(series: Series): boolean
}

/** Whether a client reads the recorded values of a series by themselves, without computed ones. */
export const readsRecorded = ({ isDerived, wants }: ChangeReader, series: Series): boolean =>
  wants(series) && !(isDerived && isComputed(series))

/** The changes of a transaction to one series. */
export interface Segment {
  writtenAt: number
  rank: number
  series: Series
  work: { ranges: readonly LoggedRange[] } | { event: ChangeEvent }
}

/** All times that values can have. */
export const everywhere = { firstAt: -5e13, lastAt: 5e13 }

export const isOfFormula = (event: ChangeEvent): boolean =>
  event.kind === 'terms' && event.isFormula === true

/** Every time of a series is forgotten. */
export const forgotten = ({
  series,
  writtenAt,
  rank,
}: Pick<Segment, 'series' | 'writtenAt' | 'rank'>): ChangeRecord => ({
  place: { writtenAt, rank, observedAt: everywhere.firstAt, recordedAt: writtenAt },
  kind: 'deleted',
  series,
  observedAt: undefined,
  value: undefined,
  previous: undefined,
  sourceId: 0,
  batchId: 0,
  recordedAt: writtenAt,
  isRetroactive: true,
})
