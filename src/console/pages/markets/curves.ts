import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import type { Curve as FuturesCurve } from '../../../topics/futures/operations/curve.ts'
import { ask, useAnswer, useLoaded, whereThere } from '../../parts/requests/ask.ts'
import { boot, now } from '../../parts/requests/boot.ts'

export interface Curve extends FuturesCurve {
  /** Present where the day has no quotes. */
  error?: string
}

/** Whether an answer is a curve: on a day without quotes the API returns a reason instead. */
export const hasCurve = (curve: Curve | undefined): curve is Curve =>
  curve !== undefined && curve.error === undefined

export const families = [
  { value: 'brent', text: 'Brent', code: 'BRENT_FUTURES' },
  { value: 'wti', text: 'WTI', code: 'WTI_FUTURES' },
  { value: 'gasoil', text: 'Gasoil', code: 'GASOIL_FUTURES' },
  { value: 'natural-gas', text: 'Henry Hub', code: 'NATURAL_GAS_FUTURES' },
  { value: 'ttf-gas', text: 'TTF', code: 'TTF_FUTURES' },
  { value: 'eu-carbon', text: 'EU carbon', code: 'EUA_FUTURES' },
] as const

/** The families that have quotes, in their order. */
export const quotedFamilies = families.filter(({ code }) => boot.futures.includes(code))

export const ages = [
  { text: 'Now', short: 'Now', days: 0, ink: '--ink-1' },
  { text: 'A day ago', short: '1 D', days: 1, ink: '--ink-4' },
  { text: 'A week ago', short: '1 W', days: 7, ink: '--ink-3' },
  { text: 'A month ago', short: '1 M', days: 30, ink: '--ink-2' },
  { text: 'A year ago', short: '1 Y', days: 365, ink: '--ink-6' },
] as const

/** A trading day at or before one: curves are of trading days. */
function tradingDay(ms: number): string {
  const weekday = new Date(ms).getUTCDay()
  return isoDay(ms - (weekday === 0 ? 2 : weekday === 6 ? 1 : 0) * dayMs)
}

/** The curve as it was; undefined where none is known of that day. */
const earlierCurve = (path: string, signal: AbortSignal): Promise<Curve | undefined> =>
  whereThere(ask<Curve>(path, { signal, isLater: true }))

/** The curve of a family now, and at each of the earlier ages, once the newest one is here. */
export function useCurves(family: string, { date = '', isLater = false } = {}) {
  const path = `/v1/futures/${family}/curve`
  const newest = useAnswer<Curve>(path, isLater)
  // Back from the newest quotes: on a Sunday, a day ago is the day before Friday.
  const quotedOn = newest.data?.analysis_date
  const newestMs = quotedOn === undefined ? now() : Date.parse(quotedOn)
  const earlier = useLoaded(newest.data && `${path} earlier ${quotedOn}`, signal =>
    Promise.all(
      ages
        .slice(1)
        .map(({ days }) =>
          earlierCurve(`${path}?date=${tradingDay(newestMs - days * dayMs)}`, signal),
        ),
    ),
  )
  const dated = date === '' ? undefined : `${path}?date=${tradingDay(Date.parse(date))}`
  const past = useLoaded(dated, signal => earlierCurve(dated!, signal))
  return { newest, earlier, past: dated === undefined ? undefined : past }
}
