import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import type { Cadence } from '../../catalogue/math/catalogue.ts'
import type { Observation } from '../../prices/math/bars.ts'
import type { CompiledFormula } from './compile.ts'
import type { Input } from './input.ts'
import type { Scope } from './reads.ts'
import type { Alignment } from './syntax.ts'

/** The greatest age of a leg's newest value where the formula sets none. */
const limitDays: Readonly<Record<Cadence, number>> = {
  intraday_2_5m: 4,
  intraday_5m: 4,
  twice_daily: 4,
  daily: 7,
  weekly: 21,
  monthly: 93,
}

export const usualLimitMs = (cadence: Cadence): number => limitDays[cadence] * dayMs

export interface Computation {
  align: Alignment
  /** By the order of the formula's codes. */
  inputs: readonly Input[]
  limitsMs: readonly number[]
  /** Values of `[from, to)` alone; `to` defaults to the end. */
  from: number
  to?: number
  /** Called before each computation of a value. */
  onTry?(): void
  onZeroDivisor?: Scope['onZeroDivisor']
}

/** The first value, or the last, that is accepted, and no other is computed. */
export interface Only {
  edge: 'first' | 'last'
  accepts(row: Observation): boolean
}

/** The values of a formula, oldest first. A time at which a leg has none has no value. */
export function computeSeries(
  { codes, legs, evaluate }: CompiledFormula,
  {
    align,
    inputs,
    limitsMs,
    from,
    to = Number.MAX_SAFE_INTEGER,
    onTry,
    onZeroDivisor,
  }: Computation,
  { edge, accepts }: Partial<Only> = {},
): Observation[] {
  const ownInputs = legs.map(code => inputs[codes.indexOf(code)]!)
  const windows: Scope['windows'] = new Map()
  const rows: Observation[] = []
  const scope: Scope = { at: 0, recordedAt: 0, inputs, align, limitsMs, windows, onZeroDivisor }
  const timesIn = edge === 'last' ? backwards : timesOf
  for (const at of timesIn(ownInputs, align, from, to)) {
    onTry?.()
    scope.at = at
    scope.recordedAt = Number.NEGATIVE_INFINITY
    const value = evaluate(scope)
    if (value === undefined || !Number.isFinite(value)) continue
    const row = { observedAt: at, value, recordedAt: scope.recordedAt }
    if (accepts?.(row) === false) continue
    rows.push(row)
    if (edge) break
  }
  return rows
}

/** The time of a formula at which a value counts, and how long values count at it. */
const clockOf = (align: Alignment) =>
  align === 'same_day'
    ? { timeOf: startOfDay, lengthMs: dayMs }
    : { timeOf: (at: number) => at, lengthMs: 1 }

/** The times of a formula in `[from, to)`, the newest first, as they are needed. */
function* backwards(
  inputs: readonly Input[],
  align: Alignment,
  from: number,
  to: number,
): Generator<number> {
  const { timeOf, lengthMs } = clockOf(align)
  for (let end = timeOf(to - 1) + lengthMs; ; ) {
    const ends = inputs.map(input => input.newest(end - 1, from)?.observedAt ?? -Infinity)
    // At other alignments every code has to have a value, so none is newer than the oldest of them.
    const at = timeOf(align === 'last' ? Math.max(...ends) : Math.min(...ends))
    if (!(at >= from)) return
    const hasAll = ends.every(newest => timeOf(newest) === at)
    if (align === 'last' || hasAll) yield at
    end = align === 'last' || hasAll ? at : at + lengthMs
  }
}

/** The times of a formula in `[from, to)`, in their order. */
function timesOf(inputs: readonly Input[], align: Alignment, from: number, to: number): number[] {
  const { timeOf, lengthMs } = clockOf(align)
  const end = timeOf(to - 1) + lengthMs
  const lists = inputs.map(input => {
    const times: number[] = []
    for (const { observedAt } of input.between(from, end)) {
      const at = timeOf(observedAt)
      if (at >= from && at !== times.at(-1)) times.push(at)
    }
    return times
  })
  const [first = [], ...others] = lists
  if (others.length === 0) return first
  if (align === 'last') return others.reduce(merged, first)
  const rest = others.map(times => new Set(times))
  return first.filter(at => rest.every(times => times.has(at)))
}

/** Two lists of times as one, each time once. */
function merged(some: readonly number[], others: readonly number[]): number[] {
  const times: number[] = []
  for (let i = 0, j = 0; i < some.length || j < others.length; ) {
    const [a, b] = [some[i] ?? Number.POSITIVE_INFINITY, others[j] ?? Number.POSITIVE_INFINITY]
    times.push(Math.min(a, b))
    if (a <= b) i += 1
    if (b <= a) j += 1
  }
  return times
}
