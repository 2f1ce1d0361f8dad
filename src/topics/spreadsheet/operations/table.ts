import { isObject } from '../../../lib/text/json.ts'
import { type Cell, inert } from './sheet.ts'

/** Rows and named columns from a response of this service. */
export type SheetTable = ReturnType<typeof sheetTable>

export const columnsMax = 12

type Fields = Record<string, unknown>

const isObjects = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && isObject(value[0])
const isScalar = (value: unknown): value is Cell => typeof value !== 'object' || value === null

/**
 * The first `rowsMax` rows of an answer: columns are the fields of its first row, at most twelve,
 * scalars before nested ones.
 */
export function sheetTable(body: unknown, rowsMax: number) {
  const source = rowsOf(body)
  const paths = source.length > 0 ? columnPaths(source[0]).slice(0, columnsMax) : []
  return {
    columns: paths.map(path => path.join('.') || 'value'),
    rows: source.slice(0, rowsMax).map(row => paths.map(path => cellOf(row, path))),
    /** Rows that the answer holds. */
    sourceRowCount: source.length,
  }
}

/**
 * The rows of a body: `data` (or the body, where there is none) when it is a list, else the list
 * that it begins with, else its first list of objects, else itself as the only row. A map whose
 * values are all objects counts as their list.
 */
function rowsOf(body: unknown): readonly unknown[] {
  const payload = isObject(body) && 'data' in body ? body.data : body
  const itself = listIn(payload)
  if (itself || !isObject(payload)) return itself ?? [payload]
  const values = Object.values(payload)
  return listIn(values[0]) ?? values.find(isObjects) ?? [payload]
}

function listIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return undefined
  const inner = Object.values(value)
  return inner.length > 0 && inner.every(isObject) ? inner : undefined
}

/**
 * Paths to every scalar of a row: its own fields first, then nested ones, each in the order of the
 * answer.
 */
function columnPaths(row: unknown): string[][] {
  if (isScalar(row)) return [[]]
  const paths = Object.entries(row as Fields).flatMap(([name, value]) =>
    columnPaths(value).map(path => [name, ...path]),
  )
  return [...paths.filter(path => path.length === 1), ...paths.filter(path => path.length > 1)]
}

function cellOf(row: unknown, path: readonly string[]): Cell {
  let value = row
  for (const name of path) {
    if (isScalar(value)) return null
    value = Object.hasOwn(value as Fields, name) ? (value as Fields)[name] : null
  }
  return isScalar(value) ? inert(value ?? null) : null
}
