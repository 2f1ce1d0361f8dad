import { parseInstant } from '../time/instant.ts'

export type Cell = string | number | boolean | null

/** A column of a file for tables; the cells of an instant are Unix ms. */
export interface Column {
  name: string
  kind: 'text' | 'number' | 'count' | 'flag' | 'instant'
  cells: readonly Cell[]
}

type Row = Readonly<Record<string, unknown>>

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** The columns of rows as an answer has them: what is nested gets names with a full stop. */
export function columnsOf(rows: readonly Row[]): Column[] {
  const flat = rows.map(row => new Map(cellsOf(row, '')))
  const names = new Set(flat.flatMap(row => [...row.keys()]))
  return [...names].map(name => {
    const cells = flat.map(row => row.get(name) ?? null)
    return { name, ...typed(cells) }
  })
}

function cellsOf(row: Row, prefix: string): [string, Cell][] {
  return Object.entries(row).flatMap(([key, value]): [string, Cell][] => {
    const name = prefix + key
    if (Array.isArray(value)) return [[name, JSON.stringify(value)]]
    if (typeof value === 'object' && value !== null) return cellsOf(value as Row, `${name}.`)
    return [[name, (value ?? null) as Cell]]
  })
}

function typed(cells: readonly Cell[]): Omit<Column, 'name'> {
  const values = cells.filter(cell => cell !== null)
  const all = (type: string) => values.length > 0 && values.every(cell => typeof cell === type)
  if (all('number')) return { kind: 'number', cells }
  if (all('boolean')) return { kind: 'flag', cells }
  if (all('string') && values.every(cell => instant.test(cell as string)))
    return {
      kind: 'instant',
      cells: cells.map(cell => (cell === null ? null : parseInstant(cell as string)!)),
    }
  return { kind: 'text', cells: cells.map(cell => (cell === null ? null : String(cell))) }
}
