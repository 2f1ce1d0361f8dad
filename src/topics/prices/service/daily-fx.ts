import { firstNotBefore } from '../../../lib/sorted.ts'
import { dayMs, parseDay, startOfDay } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Close } from '../math/window.ts'
import type { Closes } from './days/closes.ts'
import { createFx, type Fx, type Rate } from './fx.ts'

/** Rates out of closes; each day is looked up once, so make one for each answer. */
export function createDailyFx(
  catalogue: Pick<Catalogue, 'resolve' | 'list'>,
  closes: Pick<Closes, 'of'>,
) {
  const rates = new Map<string, Rate | undefined>()
  const days = new Map<number, Fx>()
  const fxOf = (startsAt: number): Fx => {
    return days.getOrInsertComputed(startsAt, () =>
      createFx(catalogue, {
        quote(series) {
          const close = lastUpTo(closes.of(series.id), startsAt)
          return close && { observation: { value: close.value, observedAt: parseDay(close.day)! } }
        },
      }),
    )
  }
  return {
    /**
     * The rate at the end of the UTC day of a moment; undefined without a close on the day or in the
     * seven days before it.
     */
    on(from: string, to: string, at: number) {
      const startsAt = startOfDay(at)
      const key = `${from} ${to} ${startsAt}`
      if (!rates.has(key))
        rates.set(key, fxOf(startsAt).rate(from, to, startsAt + dayMs - 1, startsAt))
      return rates.get(key)
    },
  }
}

/** The newest close of a day or an earlier one. */
function lastUpTo(closes: readonly Close[], startsAt: number): Close | undefined {
  const later = firstNotBefore(closes, ({ day }) => parseDay(day)! <= startsAt)
  return closes[later - 1]
}
