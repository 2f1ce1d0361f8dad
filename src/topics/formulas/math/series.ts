import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import type { Cadence } from '../../catalogue/math/catalogue.ts'
import type { Observation } from '../../prices/math/bars.ts'
import type { Alignment, CompiledFormula, Scope } from './compile.ts'
import type { Input } from './input.ts'

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
  /** The first value, or the last, that is accepted, and no other is computed. */
  only?: { edge: 'first' | 'last'; accepts(row: Observation): boolean }
}

/** The values of a formula, oldest first. A time at which a leg has none has no value. */
export function computeSeries(
  { codes, legs, evaluate }: CompiledFormula,
  { align, inputs, limitsMs, from, to = Number.POSITIVE_INFINITY, only }: Computation,
): Observation[] {
  const ownInputs = legs.map(code => inputs[codes.indexOf(code)]!)
  const windows: Scope['windows'] = new Map()
  const rows: Observation[] = []
  const scope: Scope = { at: 0, recordedAt: 0, inputs, align, limitsMs, windows }
  const isLast = only?.edge === 'last'
  const times =
    isLast && align === 'last'
      ? backwards(ownInputs, from, to)
      : timesOf(ownInputs, align, from, to)
  if (isLast && Array.isArray(times)) times.reverse()
  for (const at of times) {
    scope.at = at
    scope.recordedAt = Number.NEGATIVE_INFINITY
    const value = evaluate(scope)
    if (value === undefined || !Number.isFinite(value)) continue
    const row = { observedAt: at, value, recordedAt: scope.recordedAt }
    if (only && !only.accepts(row)) continue
    rows.push(row)
    if (only) break
  }
  return rows
}

/** The times at which any input has a value in `[from, to)`, the newest first. */
function* backwards(inputs: readonly Input[], from: number, to: number): Generator<number> {
  const newestBefore = (end: number) =>
    Math.max(...inputs.map(({ rows, upTo }) => rows[upTo(end - 1)]?.observedAt ?? -Infinity))
  for (let at = newestBefore(to); at >= from; at = newestBefore(at)) yield at
}

/** The times of a formula in `[from, to)`, in their order. */
function timesOf(inputs: readonly Input[], align: Alignment, from: number, to: number): number[] {
  const timeOf = align === 'same_day' ? startOfDay : (at: number) => at
  const lists = inputs.map(({ rows, upTo }) => {
    const times: number[] = []
    for (let i = Math.max(0, upTo(from - 1) + 1); i < rows.length; i += 1) {
      const at = timeOf(rows[i]!.observedAt)
      if (at >= to) break
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
