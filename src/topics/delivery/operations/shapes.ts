import { t } from '../../../http/answer/schema.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { Period } from '../math/days.ts'
import type { DayFigures, KnownPeriod, PricedPeriod } from '../math/figures.ts'

export const KnownPeriodShape = t.Object({
  price: t.Number({ examples: [84.31] }),
  start: t.String({ format: 'date-time' }),
  end: t.String({ format: 'date-time' }),
})

export const seriesFields = {
  code: t.String({ examples: ['POWER_DA_DE_LU_EUR'] }),
  currency: t.orNull(t.String({ examples: ['EUR'] })),
  unit: t.String({ examples: ['mwh'] }),
}

export const dayFields = {
  date: t.date('Day of delivery in `zone`.', '2026-11-14'),
  start: t.instant('Start of the day.'),
  end: t.instant('End of the day.'),
}

const mean = (description: string) => t.numberOrNull(description, 84.31)

export const figureFields = {
  expected: t.integer('Periods of the day: more or fewer when the clocks change.', 96),
  count: t.integer('Periods that have a price.', 96),
  complete: t.boolean('Whether every period has a price.'),
  base: mean('Mean over the day, weighted by time.'),
  peak: mean('Mean over the peak hours of the market.'),
  off_peak: mean('Mean over the other hours.'),
  negative_periods: t.integer('Periods with a negative price.', 0),
}

export const extremeFields = {
  min: t.orNull(KnownPeriodShape, 'The cheapest period; the earliest of equals.'),
  max: t.orNull(KnownPeriodShape, 'The most expensive period; the earliest of equals.'),
}

export const zoneField = t.string('IANA time zone of the day.', 'Europe/Berlin')

export const PeriodShape = t.Object({
  start: t.String({ format: 'date-time' }),
  end: t.String({ format: 'date-time' }),
  price: t.orNull(t.number('With every stored digit; null if there is no price.', 84.31)),
})

export const periodRow = ({ start, end }: Period) => ({
  start: isoInstant(start),
  end: isoInstant(end),
})
export const pricedRow = ({ price, ...period }: PricedPeriod) => ({ ...periodRow(period), price })
export const knownRow = (period: KnownPeriod) => ({ price: period.price, ...periodRow(period) })

export const figureRow = (figures: DayFigures, expected: number) => ({
  expected,
  count: figures.count,
  complete: figures.complete,
  base: figures.base,
  peak: figures.peak,
  off_peak: figures.offPeak,
  negative_periods: figures.negativePeriods,
})
