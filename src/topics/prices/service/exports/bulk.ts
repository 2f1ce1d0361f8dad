import { dayMs, startOfDay } from '../../../../lib/time/instant.ts'
import { sourceOf } from '../../../catalogue/math/catalogue.ts'
import type { Series } from '../../../catalogue/store/series.ts'
import { type Bar, type BarInterval, mergeBars } from '../../math/bars.ts'
import type { BlockBars, BlockSeries, PriceBlock } from '../../math/block.ts'
import type { ObservationColumns, ObservationStore } from '../../store/observations.ts'
import type { Withheld } from '../../store/withheld.ts'
import type { PriceServices } from '../open.ts'
import type { QuarantineList } from '../quarantine.ts'
import { foldedBars as foldedRows, type History, type SeriesCut } from '../reads/history.ts'
import { blocksOf, emptyColumns, rowsOf } from '../reads/series-rows.ts'
import type { Coverage } from '../reads/vintage.ts'

export interface BulkSeries extends BlockSeries {
  id: number
}

/** `sources`: every name that a source of its values has. */
export const bulkSeriesOf = (series: Series, sources: readonly string[]): BulkSeries => ({
  id: series.id,
  code: series.code,
  name: series.name,
  currency: series.currency,
  unit: series.unit,
  source: sourceOf(series).name,
  sources,
  delivery: series.delivery,
})

export interface BulkQuestion {
  /** In the order of their codes. */
  series: readonly BulkSeries[]
  interval: 'raw' | BarInterval
  from: number
  to: number
  /** The exclusive end of a series, where it comes before that of the range. */
  endOf?: ((seriesId: number) => number) | undefined
  /** Reads the values known at that moment; undefined: those known now. */
  asOf: number | undefined
  /** The days that bars refer to, and the cut of each series; undefined: UTC. */
  days?: string
  cutOf?: (seriesId: number) => SeriesCut | undefined
  /** Values recorded later are not included, however long the response takes to send. */
  snapshotAt: number
}

/** Reads many rows of many series. */
export type Bulk = ReturnType<typeof createBulk>

export interface BulkDeps {
  observations: ObservationStore
  history: Pick<History, 'count' | 'countAsOf' | 'newestRecordedAt'>
  quarantine: QuarantineList
  coverage: Coverage
  withheld: Withheld
  sourcesOfBlock: PriceServices['sourcesOfBlock']
}

/** Hours are read a stretch at a time: a year of them is one block. */
const hoursStretchMs = 366 * dayMs

/** Reads the values of one series, as they are now or were at the moment of a question. */
function createValueReads({ observations, history, quarantine, coverage, withheld }: BulkDeps) {
  const endOf = (seriesId: number, { to, asOf }: BulkQuestion): number =>
    asOf === undefined ? to : Math.min(to, coverage.endOf(seriesId, asOf))

  /** Reads the values of a series: the current ones, or those of a moment. */
  const pointOf = (seriesId: number, { asOf, snapshotAt }: BulkQuestion) => {
    if (asOf !== undefined) return { asOf, isCovered: asOf >= coverage.since(seriesId, asOf) }
    return history.newestRecordedAt([seriesId]) > snapshotAt
      ? { asOf: snapshotAt, isCovered: true }
      : undefined
  }

  /** By the source that a value has now, or had at the moment. */
  const withheldOf = (seriesId: number, question: BulkQuestion) => {
    const point = pointOf(seriesId, question)
    return withheld(seriesId, point?.isCovered ? point.asOf : undefined)
  }

  const filled = function* (
    question: BulkQuestion,
    seriesId: number,
    into: ObservationColumns,
  ): Generator<number> {
    const left = withheldOf(seriesId, question)
    const range = { from: question.from, to: endOf(seriesId, question) }
    const pointNow = () => pointOf(seriesId, question)
    for (const count of blocksOf({ observations, quarantine }, seriesId, range, into, pointNow)) {
      const kept = left ? without(left, into, count) : count
      if (kept > 0) yield kept
    }
  }

  return { endOf, pointOf, withheldOf, filled }
}

/** Reads the rows of a question block by block. */
function createBlocks(
  { observations, quarantine, withheld, sourcesOfBlock }: BulkDeps,
  { pointOf, filled }: ReturnType<typeof createValueReads>,
) {
  /** Adds the source of each value, where those of a series have more than one. */
  const withSources = (
    question: BulkQuestion,
    block: Omit<PriceBlock, 'sources'> & { series: BulkSeries },
  ): PriceBlock => {
    const { series } = block
    const isPast = pointOf(series.id, question) !== undefined
    const sources = series.sources.length > 1 ? sourcesOfBlock(series.id, block, isPast) : undefined
    return { ...block, sources }
  }

  const rawBlocks = function* (question: BulkQuestion): Generator<PriceBlock> {
    const columns = emptyColumns()
    for (const series of question.series) {
      for (const length of filled(ownRange(question, series.id), series.id, columns))
        yield withSources(question, { series, length, ...columns, bars: undefined })
    }
  }

  const foldedBars = (question: BulkQuestion, seriesId: number, interval: BarInterval): Bar[] => {
    const columns = emptyColumns()
    const rows = rowsOf(columns, filled(question, seriesId, columns))
    return foldedRows(interval, question.cutOf?.(seriesId), rows)
  }

  const storedBars = (question: BulkQuestion, seriesId: number, interval: BarInterval): Bar[] => {
    const span = interval === 'hour' ? 1 : 24
    const { from, to } = question
    const all = Number.MAX_SAFE_INTEGER
    const parts = quarantine
      .clear(seriesId, from, to)
      .flatMap(stretch =>
        observations.bars(seriesId, span, stretch.from, stretch.to, all).reverse(),
      )
    return span === 1 || interval === 'day' ? parts : mergeBars(interval, parts)
  }

  const barBlocks = function* (
    question: BulkQuestion,
    interval: BarInterval,
  ): Generator<PriceBlock> {
    for (const series of question.series)
      for (const stretch of stretchesOf(ownRange(question, series.id), interval)) {
        const asIs =
          !question.cutOf && pointOf(series.id, question) === undefined && !withheld(series.id)
        const bars = (asIs ? storedBars : foldedBars)(stretch, series.id, interval)
        if (bars.length > 0) yield withSources(question, blockOf(series, bars))
      }
  }

  return (question: BulkQuestion) =>
    question.interval === 'raw' ? rawBlocks(question) : barBlocks(question, question.interval)
}

export function createBulk(deps: BulkDeps) {
  const { history, quarantine, coverage } = deps
  const values = createValueReads(deps)
  const blocks = createBlocks(deps, values)

  /**
   * A key of the requested rows that includes their number: it is the same for two moments without
   * a row between them, because requests for the last year have a new range each time.
   */
  const windowOf = (question: BulkQuestion): string => {
    const { series, interval, from, to, endOf, asOf } = question
    if (asOf !== undefined) return `${from} ${to}`
    if (interval !== 'raw' && !question.cutOf) return wholeDays(question).join(' ')
    // Among ranges that end with the same rows, a later start has fewer rows.
    const later = { interval, to: Number.MAX_SAFE_INTEGER }
    return series
      .map(({ id }) => history.count({ seriesIds: [id], from: endOf?.(id) ?? to, ...later }))
      .join(' ')
  }

  return {
    /** The rows by code and time, without quarantined days and withheld values. */
    blocks,
    count(question: BulkQuestion) {
      const { series, interval, from, to, asOf } = question
      const seriesIds = series.map(({ id }) => id)
      const isPlain = !seriesIds.some(id => values.withheldOf(id, question))
      if (isPlain && interval === 'raw' && !question.cutOf) {
        const range = { seriesIds, interval, from, to, endOf: question.endOf }
        return asOf === undefined
          ? history.count(range)
          : history.countAsOf(
              { ...range, endOf: id => values.endOf(id, ownRange(question, id)) },
              asOf,
              id => coverage.since(id, asOf),
            )
      }
      let rows = 0
      for (const block of blocks(question)) rows += block.length
      return rows
    },
    /** When the newest of the rows was recorded; undefined without rows. */
    modifiedAt: ({ series, asOf = Number.POSITIVE_INFINITY }: BulkQuestion) => {
      const newest = history.newestRecordedAt(series.map(({ id }) => id))
      return Number.isFinite(newest) ? Math.min(newest, asOf) : undefined
    },
    /**
     * A text that differs when the rows of the query differ, provided that their number is the
     * same.
     */
    state: (question: BulkQuestion) =>
      [
        windowOf(question),
        ...question.series.map(({ id }) => history.newestRecordedAt([id])),
        ...question.series.map(({ id }) =>
          quarantine.within(id, question.from, question.to).days.join(' '),
        ),
      ].join(','),
  }
}

/** Leaves out the rows of some times; returns how many are left. */
function without(
  times: Pick<ReadonlySet<number>, 'has'>,
  { observedAt, value, recordedAt }: ObservationColumns,
  count: number,
): number {
  let keptCount = 0
  for (let i = 0; i < count; i += 1) {
    if (times.has(observedAt[i]!)) continue
    observedAt[keptCount] = observedAt[i]!
    value[keptCount] = value[i]!
    recordedAt[keptCount] = recordedAt[i]!
    keptCount += 1
  }
  return keptCount
}

/** The whole days that contain a range. */
const wholeDays = ({ from, to }: Pick<BulkQuestion, 'from' | 'to'>): [number, number] => [
  startOfDay(from),
  Math.ceil(to / dayMs) * dayMs,
]

/** The query with the range of one series: its days may begin and end at other times. */
function ownRange(question: BulkQuestion, seriesId: number): BulkQuestion {
  const { from, to } = question.cutOf?.(seriesId) ?? {
    from: question.from,
    to: question.endOf?.(seriesId) ?? question.to,
  }
  return { ...question, from, to }
}

/** Splits a query into pieces that no bucket crosses; its ends are those of whole days. */
function stretchesOf(question: BulkQuestion, interval: BarInterval): BulkQuestion[] {
  if (question.cutOf) return [question]
  const [start, end] = wholeDays(question)
  if (interval !== 'hour') return [{ ...question, from: start, to: end }]
  const stretches: BulkQuestion[] = []
  for (let from = start; from < end; from += hoursStretchMs)
    stretches.push({ ...question, from, to: Math.min(end, from + hoursStretchMs) })
  return stretches
}

function blockOf(
  series: BulkSeries,
  bars: readonly Bar[],
): Omit<PriceBlock, 'sources'> & { series: BulkSeries } {
  const column = (of: (bar: Bar) => number) => Float64Array.from(bars, of)
  const blockBars: BlockBars = {
    startsAt: column(bar => bar.startsAt),
    open: column(bar => bar.open),
    high: column(bar => bar.high),
    low: column(bar => bar.low),
    average: column(bar => bar.sum / bar.count),
    count: column(bar => bar.count),
  }
  return {
    series,
    length: bars.length,
    observedAt: column(bar => bar.closedAt),
    value: column(bar => bar.close),
    recordedAt: column(bar => bar.recordedAt),
    bars: blockBars,
  }
}
