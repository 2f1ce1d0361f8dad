import { wordOf } from '../../../http/input/query.ts'
import { wordParameter } from '../../../http/input/typed.ts'
import { roundTo } from '../math/format.ts'

const precisions = ['rounded', 'full'] as const

export const precisionQuery = {
  precision: wordParameter(
    precisions,
    '`full` returns prices and changes with every stored digit, `rounded` (default) with the decimals of the series. Percentages and texts are always rounded.',
    'full',
  ),
}

/** Whether a request wants every stored digit. */
export const isFullOf = (precision: string | undefined): boolean =>
  wordOf('precision', precision, 'rounded', precisions) === 'full'

/** The decimals of prices in responses: these, or as stored. */
export const rounder =
  (isFull: boolean) =>
  (value: number, decimals: number): number =>
    isFull ? value : roundTo(value, decimals)
