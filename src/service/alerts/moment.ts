import { isoDay } from '../../lib/time/instant.ts'
import { type AlertMoment, alertMoment } from '../../market/alerts/condition.ts'
import { roundTo } from '../../market/prices/format.ts'
import type { Close } from '../../market/prices/window.ts'
import type { Series } from '../../store/catalogue/series.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Board } from '../prices/board.ts'
import type { Closes } from '../prices/closes.ts'

/** A price of a series, as it was observed. */
export interface Priced {
  series: Series
  observedAt: number
  value: number
}

/** The newest price of the code that an alert watches. */
export interface Newest extends Priced {
  moment: AlertMoment
}

/** Prices as alerts see them: rounded as they are answered, with the closes of their day. */
export interface AlertMoments {
  of(price: Priced): AlertMoment
  /** Undefined while the code has no price. */
  newest(watched: Series): Newest | undefined
}

export function createAlertMoments(deps: {
  board: Pick<Board, 'quote'>
  closes: Pick<Closes, 'of'>
  catalogue: Pick<Catalogue, 'resolve'>
  now(): number
}): AlertMoments {
  const { board, closes, catalogue, now } = deps
  const of = ({ series, observedAt, value }: Priced): AlertMoment =>
    alertMoment(answeredPrice(series, value), () =>
      closesAt(closes.of(series.id), observedAt, value),
    )
  return {
    of,
    newest(watched) {
      const quote = board.quote(catalogue.resolve(watched.code, now())?.series ?? watched)
      if (!quote) return undefined
      const price = {
        series: quote.series,
        observedAt: quote.observation.observedAt,
        value: quote.observation.value,
      }
      return { ...price, moment: of(price) }
    },
  }
}

/** What a client is answered is what an alert is judged by. */
export const answeredPrice = (series: Series, value: number): number =>
  roundTo(value, series.decimals)

/**
 * The closes as they were when the price was the newest: what came later, on its day or after, is
 * not there yet.
 */
function closesAt(allCloses: readonly Close[], observedAt: number, value: number): Close[] {
  const day = isoDay(observedAt)
  let end = allCloses.length
  while (end > 0 && allCloses[end - 1]!.day >= day) end -= 1
  return [...allCloses.slice(0, end), { day, value }]
}
