import type { ComponentChildren } from 'preact'
import type { Action } from '../../../plans/roles/roles.ts'

export type Cell = string | number | null | undefined

export interface Column<T> {
  /** The heading, and the heading of the file. */
  name: string
  /** The content of the cell; without it, the value itself. */
  show?: (row: T, index: number) => ComponentChildren
  /** Writes the value for the screen, where the cell is nothing else. */
  write?: (value: never) => string
  /** The value in a file and in a copied table; a column without one is on the screen only. */
  value?: (row: T, index: number) => Cell
  /** The heading in the file, where it should be more specific: `price_usd`. */
  fileName?: string
  isNumber?: boolean
  /** Left out for users whose role does not allow this action. */
  needs?: Action
  /** It is in the file alone. */
  isFileOnly?: boolean
  /** Left out where the window is narrow. */
  isWide?: boolean
  /** The heading is for screen readers only, as over buttons. */
  isHeadingHidden?: boolean
  className?: string
}

/** The fields of a row that a cell may have. */
type Field<T> = { [K in keyof T]: T[K] extends Cell ? K : never }[keyof T]

type Value<T> = NoInfer<Field<T>> | ((row: T, index: number) => Cell)

type More<T> = Omit<Column<T>, 'name' | 'value' | 'isNumber'> | Column<T>['show']

/**
 * A column of a field of each row, or of a value made from it, by which rows are sorted and which
 * files have. It is shown as it is, or as `show` draws it.
 */
export const column = <T,>(name: string, of: Value<T>, more: More<T> = {}): Column<T> => ({
  name,
  // A `Field` is one whose value is a cell, which the compiler does not see of an unknown row.
  value: typeof of === 'function' ? of : row => row[of] as Cell,
  ...(typeof more === 'function' ? { show: more } : more),
})

/** The same of numbers, which stand below each other at the right. */
export const numeric = <T,>(name: string, of: Value<T>, more: More<T> = {}): Column<T> => ({
  ...column(name, of, more),
  isNumber: true,
})

/** The same for the rows of one table, whose fields the compiler knows. */
export interface Columns<T> {
  column: (...of: Parameters<typeof column<T>>) => Column<T>
  numeric: (...of: Parameters<typeof column<T>>) => Column<T>
}

/** A column of moments and other things that a narrow window has no room for. */
export const aside = { isWide: true, className: 'quiet nowrap' } as const

/** The column of the buttons of each row. */
export const actions = { name: 'Actions', isHeadingHidden: true } as const

export const seriesLink = (code: string, text: ComponentChildren = code) => (
  <a href={`/series/${code}`}>{text}</a>
)
