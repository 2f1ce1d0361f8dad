import { type Close, dayAfter } from '../../src/topics/prices/math/window.ts'

/** Daily closes from a day on. */
export const closesOf = (values: readonly number[], first = '2024-01-01'): Close[] =>
  values.map((value, i) => ({ day: dayAfter(first, i), value }))
