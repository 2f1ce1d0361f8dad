import { parseInstant } from '../time/instant.ts'

export type Cell = string | number | boolean | null
export type Kind = 'text' | 'number' | 'count' | 'flag' | 'instant'
/** The kind of each column, in their order. */
export type Kinds = Readonly<Record<string, Kind>>
export type CellRow = Readonly<Record<string, Cell | undefined>>

/** The content of a file for tables. */
export interface Table {
  kinds: Kinds
  rows: readonly CellRow[]
}

type Row = Readonly<Record<string, unknown>>

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** Rows as an answer has them: what is nested gets names with a full stop. */
export function tableOf(answered: readonly Row[]): Table {
  const rows = answered.map((row): CellRow => Object.fromEntries(cellsOf(row, '')))
  const names = [...new Set(rows.flatMap(row => Object.keys(row)))]
  return {
    kinds: Object.fromEntries(names.map(name => [name, kindOf(rows.map(row => row[name]))])),
    rows,
  }
}

function cellsOf(row: Row, prefix: string): [string, Cell][] {
  return Object.entries(row).flatMap(([key, value]): [string, Cell][] => {
    const name = prefix + key
    if (Array.isArray(value)) return [[name, JSON.stringify(value)]]
    if (typeof value === 'object' && value !== null) return cellsOf(value as Row, `${name}.`)
    return [[name, (value ?? null) as Cell]]
  })
}

function kindOf(cells: readonly (Cell | undefined)[]): Kind {
  const values = cells.filter(cell => (cell ?? null) !== null)
  const all = (type: string) => values.length > 0 && values.every(cell => typeof cell === type)
  if (all('number')) return 'number'
  if (all('boolean')) return 'flag'
  return all('string') && values.every(cell => instant.test(cell as string)) ? 'instant' : 'text'
}

/** A cell as its column has it: an instant in Unix ms, whether it was text or not. */
export function cellOf(kind: Kind, cell: Cell = null): Cell {
  if (cell === null) return null
  if (kind === 'instant' && typeof cell === 'string') return parseInstant(cell)!
  return kind === 'text' ? String(cell) : cell
}
