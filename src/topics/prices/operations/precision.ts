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

/** Whether a request asks for every stored digit. */
export function isFullOf(precision: string | undefined): boolean {
  if (precision === undefined || precision === '') return false
  if (precision === 'full' || precision === 'rounded') return precision === 'full'
  throw invalidParameter('precision', precision, precisions)
}

/** How prices are answered: with these decimals, or as they are stored. */
export const rounder =
  (isFull: boolean) =>
  (value: number, decimals: number): number =>
    isFull ? value : roundTo(value, decimals)
