import { dayMs, isoDay, startOfDay } from '../../../lib/time/instant.ts'
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
  const meansFrom = ({ averages, series: [leg] }: Averaged, from: number): Observation[] => {
    const start = from < earliest ? from : dayOfDate(averages, isoDay(from)).from
    return dailyMeans(averages, isClear(leg.id, readStored(leg.id, start)))
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

  return {
    rows: (seriesId: number): readonly Observation[] => inputOf(seriesId).rows,
    inputOf,
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
