import type { Bar } from '../topics/prices/math/bars.ts'

/**
 * The SQL of the time when the first value of a bar was recorded. The bar of a single observation
 * leaves out all columns that follow from its close; nine in ten bars of daily prices are such
 * bars.
 */
export const bornAt = (bar: string): string => `coalesce(${bar}.born_at, ${bar}.recorded_at)`

const columns: Readonly<Record<keyof Bar, string>> = {
  startsAt: 'b.starts_at',
  open: 'coalesce(b.open, b.close)',
  high: 'coalesce(b.high, b.close)',
  low: 'coalesce(b.low, b.close)',
  close: 'b.close',
  sum: 'coalesce(b.sum, b.close)',
  count: 'coalesce(b.count, 1)',
  hours: 'coalesce(b.hours, 1)',
  closedAt: 'b.closed_at',
  recordedAt: 'b.recorded_at',
  bornAt: bornAt('b'),
}

/**
 * Columns of a bar, named as the code names them: a row comes out of the database as a bar, or as a
 * part of one.
 */
export const barColumnsOf = (names: readonly (keyof Bar)[]): string =>
  names.map(name => `${columns[name]} AS ${name}`).join(', ')

export const barColumns = barColumnsOf(Object.keys(columns) as (keyof Bar)[])
