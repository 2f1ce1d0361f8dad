import { wordParameter } from '../../../http/input/typed.ts'
import { invalidParameter } from '../../../http/problem/problem.ts'
import { roundTo } from '../math/format.ts'

const precisions = ['rounded', 'full'] as const

export const precisionQuery = {
  precision: wordParameter(
    precisions,
    '`full` returns prices with every stored digit, `rounded` (default) with the decimals of the series. Texts and changes are always rounded.',
    'full',
  ),
}

/** Whether a request wants every stored digit. */
export function isFullOf(precision: string | undefined): boolean {
  if (precision === undefined || precision === '') return false
  if (precision === 'full' || precision === 'rounded') return precision === 'full'
  throw invalidParameter('precision', precision, precisions)
}

/** The decimals of prices in responses: these, or as stored. */
export const rounder =
  (isFull: boolean) =>
  (value: number, decimals: number): number =>
    isFull ? value : roundTo(value, decimals)
