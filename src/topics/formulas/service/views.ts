import { dayMs, hourMs, isoDay, startOfDay } from '../../../lib/time/instant.ts'
import { dailyMeans } from '../../delivery/math/daily-means.ts'
import { dayOfDate } from '../../delivery/math/days.ts'
import type { Observation } from '../../prices/math/bars.ts'
import { createInput, type Input } from '../math/input.ts'
import { computeSeries } from '../math/series.ts'
import type { Averaged, Definition } from './definitions.ts'

/** Reads the stored values of a series from a time on, oldest first. */
export type ReadStored = (seriesId: number, from: number) => Observation[]

interface Held {
  input: Input
  /** Values from here on are read or computed again. */
  validBefore: number
}

/** No value is as old, and no date. */
const earliest = Date.UTC(1000, 0, 1)

/** Values in memory, of all series of a view together: some 200 MB. */
const rowsMax = 3_000_000

/** The first range in which an edge of a formula is searched, and how much longer the next is. */
export const firstSpanMs = hourMs
const spanGrowth = 8
/** A range that is computed without the rest of the history. */
const shortMs = 40 * dayMs

export type View = ReturnType<typeof createView>

/** Values of series by formula and of their legs, in one state of knowledge. */
export function createView(
  definitionOf: (seriesId: number) => Definition | Averaged | undefined,
  isFormula: (seriesId: number) => boolean,
  readStored: ReadStored,
  isClear: (seriesId: number, rows: Observation[]) => Observation[],
) {
  const held = new Map<number, Held>()
  let rowsHeld = 0

  const read = (seriesId: number, from: number): Observation[] => {
    if (!isFormula(seriesId)) return readStored(seriesId, from)
    const definition = definitionOf(seriesId)
    if (!definition) return []
    if ('averages' in definition) {
      const own = readStored(seriesId, from)
      return withMeans(own, meansFrom(definition, from))
    }
    const { compiled, align, series, limitsMs } = definition
    const inputs = series.map(({ id }) => inputOf(id))
    return computeSeries(compiled, { align, inputs, limitsMs, from })
  }
  /** From the market day of a date on: a whole history is read day by day, and not kept. */
  const meansFrom = ({ averages, isCounted, series: [leg] }: Averaged, from: number) => {
    const start = from < earliest ? from : dayOfDate(averages, isoDay(from)).from
    return dailyMeans(averages, isClear(leg.id, readStored(leg.id, start)), isCounted)
  }
  const inputOf = (seriesId: number): Input => {
    const known = held.get(seriesId)
    if (known?.validBefore === Number.POSITIVE_INFINITY) return known.input
    const from = known?.validBefore ?? Number.MIN_SAFE_INTEGER
    const kept = known ? known.input.rows.slice(0, known.input.upTo(from - 1) + 1) : []
    const rows = isClear(seriesId, read(seriesId, from))
    const input = createInput(kept.length === 0 ? rows : kept.concat(rows))
    rowsHeld += input.rows.length - (known?.input.rows.length ?? 0)
    if (rowsHeld > rowsMax) {
      held.clear()
      rowsHeld = input.rows.length
    }
    held.set(seriesId, { input, validBefore: Number.POSITIVE_INFINITY })
    return input
  }

  /** The values of a formula in a range, which are not kept; undefined: it has no text to compute. */
  const rangeOf = (seriesId: number) => {
    const isHeld = held.get(seriesId)?.validBefore === Number.POSITIVE_INFINITY
    const definition = isHeld ? undefined : definitionOf(seriesId)
    if (!definition || 'averages' in definition) return undefined
    const { compiled, align, series, limitsMs } = definition
    const inputs = series.map(({ id }) => inputOf(id))
    const legs = inputs.filter((_, i) => compiled.legs.includes(compiled.codes[i]!))
    const ends = legs.flatMap(({ rows }) => (rows.length === 0 ? [] : [rows[0]!, rows.at(-1)!]))
    const times = ends.map(({ observedAt }) => observedAt)
    return {
      // Values at `same_day` are those of midnight.
      begin: startOfDay(Math.min(...times)),
      end: Math.max(...times) + 1,
      rows: (from: number, to: number) =>
        isClear(seriesId, computeSeries(compiled, { align, inputs, limitsMs, from, to })),
      edge: (edge: 'first' | 'last', from: number, to: number): Observation | undefined => {
        const accepts = (row: Observation) => isClear(seriesId, [row]).length > 0
        const only = { edge, accepts }
        return computeSeries(compiled, { align, inputs, limitsMs, from, to, only })[0]
      },
    }
  }

  return {
    rows: (seriesId: number): readonly Observation[] => inputOf(seriesId).rows,
    inputOf,
    /** At least the values of `[from, to)`; a short range of a formula that is not held is computed alone. */
    between(seriesId: number, from: number, to: number): readonly Observation[] {
      const range = to - from > shortMs ? undefined : rangeOf(seriesId)
      return range ? range.rows(from, to) : inputOf(seriesId).rows
    },
    /**
     * The newest value before a time. Where the values of a formula are not held, the ranges before
     * that time are computed until one has a value.
     */
    newest(seriesId: number, before: number): Observation | undefined {
      const range = rangeOf(seriesId)
      if (!range) {
        const { rows, upTo } = inputOf(seriesId)
        return rows[upTo(before - 1)]
      }
      let to = Math.min(range.end, before)
      for (let spanMs = firstSpanMs; to > range.begin; spanMs *= spanGrowth) {
        const found = range.edge('last', to - spanMs, to)
        if (found) return found
        to -= spanMs
      }
      return undefined
    },
    /** The oldest value, found in the same way. */
    oldest(seriesId: number): Observation | undefined {
      const range = rangeOf(seriesId)
      if (!range) return inputOf(seriesId).rows[0]
      let from = range.begin
      for (let spanMs = firstSpanMs; from < range.end; spanMs *= spanGrowth) {
        const found = range.edge('first', from, from + spanMs)
        if (found) return found
        from += spanMs
      }
      return undefined
    },
    /** Whether its values are there and nothing has changed them. */
    isValid: (seriesId: number) => held.get(seriesId)?.validBefore === Number.POSITIVE_INFINITY,
    /** Values that were observed on the day of `from` or later have changed. */
    forget(seriesId: number, from: number) {
      const known = held.get(seriesId)
      if (!known) return
      // A market day may end on the UTC day after its date.
      const definition = definitionOf(seriesId)
      const before = definition && 'averages' in definition ? dayMs : 0
      known.validBefore = Math.min(known.validBefore, startOfDay(from) - before)
    },
    clear() {
      held.clear()
      rowsHeld = 0
    },
  }
}

/** Means of the days on which there is no value, among the values. */
function withMeans(own: Observation[], means: Observation[]): Observation[] {
  const days = new Set(own.map(({ observedAt }) => startOfDay(observedAt)))
  return [...own, ...means.filter(({ observedAt }) => !days.has(observedAt))].sort(
    (a, b) => a.observedAt - b.observedAt,
  )
}
