import type { Column, FileColumn } from './dataset.ts'
import {
  boolIn,
  neededInstant,
  neededMonth,
  neededNumber,
  neededPastDay,
  neededText,
  numberIn,
  textIn,
} from './fields.ts'

type Options<Value> = Omit<Column<Value>, 'description' | 'read'>

/** A day up to today. */
export const day = (description: string, options: Options<string> = {}): Column<string> => ({
  required: true,
  ...options,
  description,
  read: (row, name, { now }) => neededPastDay(row, name, now),
})

/** A month up to the running one, `YYYY-MM`. */
export const month = (description: string): Column<string> => ({
  required: true,
  description,
  read: (row, name, { now }) => neededMonth(row, name, now),
})

/** An instant up to now, as Unix ms. */
export const instant = (description: string, options: Options<number> = {}): Column<number> => ({
  required: true,
  ...options,
  description,
  read: (row, name, { now }) => neededInstant(row, name, now),
})

/** A number of `[min, max]`. */
export const number = (
  description: string,
  [min, max]: readonly [number, number],
  options: Options<number> = {},
): Column<number> => ({
  required: true,
  ...options,
  description,
  read: (row, name) => neededNumber(row, name, min, max),
})

export const optionalNumber = (
  description: string,
  [min, max]: readonly [number, number],
  options: Options<number | null> = {},
): Column<number | null> => ({
  ...options,
  description,
  read: (row, name) => numberIn(row, name, min, max) ?? null,
})

/** One line of text; `right` is the correct form, for the message when it is missing. */
export const text = (
  description: string,
  right: string,
  charactersMax = 200,
  options: Options<string> = {},
): Column<string> => ({
  required: true,
  ...options,
  description,
  read: (row, name) => neededText(row, name, right, charactersMax),
})

/** Text that is `fallback` where it is absent, such as a source. */
export const textOr = (
  fallback: string,
  description: string,
  charactersMax = 40,
): Column<string> => ({
  description,
  read: (row, name) => textIn(row, name, charactersMax) ?? fallback,
})

export const flag = (
  description: string,
  fallback: boolean,
  options: Options<boolean> = {},
): Column<boolean> => ({
  ...options,
  description,
  isFlag: true,
  read: (row, name) => boolIn(row, name, fallback),
})

/** A field that no file has: it follows from others. */
export const derived = <Value>(options: Options<Value> = {}): Column<Value> => ({
  ...options,
  name: null,
})

/** A column of files that becomes part of other fields; `exported` is SQL, null where exports lack it. */
export const part = (
  description: string,
  exported: string | null,
  options: Pick<Column<undefined>, 'name' | 'required'> = {},
): FileColumn => ({ ...options, description, exported, stored: null, isPart: true })
