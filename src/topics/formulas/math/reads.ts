import { dayMs } from '../../../lib/time/instant.ts'
import type { Observation } from '../../prices/math/bars.ts'
import { dayNumber, type Input, type Mean, meanOf } from './input.ts'
import type { Alignment, Average, Node } from './syntax.ts'
import { averagedDays } from './windows.ts'

/** The inputs of a value, and the legs that it was computed from. */
export interface Scope {
  at: number
  /** When the latest of the values that went into it was recorded. */
  recordedAt: number
  /** By the order of `codes`. */
  inputs: readonly Input[]
  align: Alignment
  /** How old the newest value of a code may be, by the order of `codes`. */
  limitsMs: readonly number[]
  windows: Map<object, { key: string; mean: Mean | undefined }>
  /** Called where a value is divided by zero. */
  onZeroDivisor?: (() => void) | undefined
}

export type Evaluated<T> = (scope: Scope) => T | undefined
export type Evaluate = Evaluated<number>

export function taken(scope: Scope, row: Observation | undefined): number | undefined {
  if (row && row.recordedAt > scope.recordedAt) scope.recordedAt = row.recordedAt
  return row?.value
}

/** The newest value at or before a time that is not older than its limit, or one before it. */
export const newestAt = ({ inputs, limitsMs }: Scope, index: number, at: number, before = 0) =>
  inputs[index]!.newest(at, at - limitsMs[index]!, before)

export function aligned(scope: Scope, index: number): Observation | undefined {
  const { at, align, inputs } = scope
  if (align === 'last') return newestAt(scope, index, at)
  return inputs[index]!.newest(align === 'drop' ? at : at + dayMs - 1, at)
}

/** Computes a mean once for all times that share its window. */
function shared(scope: Scope, node: object, key: string, compute: () => Mean | undefined) {
  const known = scope.windows.get(node)
  const window = known?.key === key ? known : { key, mean: compute() }
  if (window !== known) scope.windows.set(node, window)
  if (window.mean && window.mean.recordedAt > scope.recordedAt)
    scope.recordedAt = window.mean.recordedAt
  return window.mean?.value
}

export function average(scope: Scope, node: Average, index: number): number | undefined {
  const { from, to } = averagedDays(node, scope.at)
  return shared(scope, node, `${from} ${to}`, () => scope.inputs[index]!.mean(from, to))
}

export function around(
  scope: Scope,
  node: Extract<Node, { kind: 'around' }>,
  index: number,
): number | undefined {
  const day = dayNumber(node.day)
  const closes = scope.inputs[index]!.around(day, node.before, node.after)
  // Nothing is known of the window before the day that completes it.
  if (!closes || dayNumber(closes.at(-1)!.observedAt) > dayNumber(scope.at)) return undefined
  return shared(scope, node, '', () => meanOf(closes, 0, closes.length))
}
