/**
 * When the first value of a bar was recorded. The bar of one observation leaves out what follows
 * from its close: nine in ten bars of daily prices are such.
 */
export const bornAt = (bar: string): string => `coalesce(${bar}.born_at, ${bar}.recorded_at)`

/**
 * The columns of a bar, named as the code names them: a row comes out of the database as a bar.
 */
export const barColumns = `b.starts_at AS startsAt, coalesce(b.open, b.close) AS open, coalesce(b.high, b.close) AS high,
  coalesce(b.low, b.close) AS low, b.close, coalesce(b.sum, b.close) AS sum, coalesce(b.count, 1) AS count,
  coalesce(b.hours, 1) AS hours, b.closed_at AS closedAt, b.recorded_at AS recordedAt, ${bornAt('b')} AS bornAt`
