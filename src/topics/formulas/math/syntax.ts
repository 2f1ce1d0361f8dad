import type { Spot } from './fault.ts'

/** A length of time as formulas write it: `6 months`. */
export interface Span {
  count: number
  unit: 'hour' | 'day' | 'month'
}

export const alignments = ['last', 'same_day', 'drop'] as const
export type Alignment = (typeof alignments)[number]

export type Operator = '+' | '-' | '*' | '/'
export type Comparison = '<' | '<=' | '>' | '>=' | '=' | '!='

export interface Code extends Spot {
  kind: 'code'
  name: string
}

/** Mean of the closes of a window; `window` keeps the unit that was written. */
export interface Average extends Spot {
  kind: 'avg'
  code: Code
  window: Span & { isQuarter: boolean; isYear: boolean }
  lag: Span | undefined
  every: Span | undefined
}

export type Node = Spot &
  (
    | { kind: 'number'; value: number }
    | Code
    | { kind: 'negate'; inner: Node }
    | { kind: 'binary'; operator: Operator; left: Node; right: Node }
    | { kind: 'extreme'; name: 'min' | 'max'; items: Node[] }
    | { kind: 'abs' | 'plain'; inner: Node }
    | { kind: 'round'; inner: Node; digits: number }
    | { kind: 'if'; condition: Condition; then: Node; otherwise: Node }
    | { kind: 'fx'; inner: Node; currency: string; word: Spot }
    | { kind: 'unit'; inner: Node; unit: string; word: Spot }
    | Average
    | { kind: 'lag'; code: Code; by: number | Span }
    | { kind: 'around'; code: Code; day: number; before: number; after: number }
    | { kind: 'table'; inner: Node; bands: { from: number; to: number; value: number }[] }
  )

export type Condition = Spot &
  (
    | { kind: 'compare'; comparison: Comparison; left: Node; right: Node }
    | { kind: 'and' | 'or'; left: Condition; right: Condition }
    | { kind: 'not'; inner: Condition }
  )
