import { startOfDay } from '../../../lib/time/instant.ts'
import type { Observation } from '../../prices/math/bars.ts'
import { createInput, type Input } from '../math/input.ts'
import { computeSeries } from '../math/series.ts'
import type { Definition } from './definitions.ts'

/** Reads the stored values of a series from a time on, oldest first. */
export type ReadStored = (seriesId: number, from: number) => Observation[]

interface Held {
  input: Input
  /** Values from here on are read or computed again. */
  validBefore: number
}

/** Values in memory, of all series of a view together: some 200 MB. */
const rowsMax = 3_000_000

export type View = ReturnType<typeof createView>

/** Values of series by formula and of their legs, in one state of knowledge. */
export function createView(
  definitionOf: (seriesId: number) => Definition | undefined,
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
    const { compiled, align, series, limitsMs } = definition
    const inputs = series.map(({ id }) => inputOf(id))
    return computeSeries(compiled, { align, inputs, limitsMs, from })
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
      if (known) known.validBefore = Math.min(known.validBefore, startOfDay(from))
    },
    clear() {
      held.clear()
      rowsHeld = 0
    },
  }
}
