import { dayMs, parseDay } from '../../../lib/time/instant.ts'
import type { Viewer } from '../../catalogue/service/viewers.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { Audience, ChangeEvent } from '../store/log.ts'

/** Times that are not served, half-open. */
export interface Hidden {
  from: number
  to: number
}

/** Which values of a series were served when, and to which accounts: from the events of the log. */
export type ServedHistory = ReturnType<typeof createServedHistory>

/** The audience of a series that does not exist. */
export const noAudience: Audience = { isServed: false, visibleTo: [] }

/** The accounts that may see a series. */
export const visibilityOf = ({ unavailableReason, terms }: Series): Audience => ({
  isServed: unavailableReason === null,
  visibleTo: terms?.visibleTo ?? null,
})

/** Whether the operator or the catalogue declares that the values of a series may be displayed only. */
export const isViewOnly = ({ terms, shippedTerms }: Series): boolean =>
  (terms?.licenseClass ?? shippedTerms?.licenseClass) === 'view'

/** The accounts that the feed sends the values of a series to: none that may be displayed only. */
export function audienceOf(series: Series): Audience {
  const { isServed, visibleTo } = visibilityOf(series)
  return { isServed: isServed && !isViewOnly(series), visibleTo }
}

export const isSeen = ({ isServed, visibleTo }: Audience, viewer: Viewer): boolean =>
  isServed &&
  (viewer === 'everything' ||
    visibleTo === null ||
    viewer.accounts.some(account => visibleTo.includes(account)))

export const daysOf = ({ from, to }: { from: string; to: string }): Hidden => ({
  from: parseDay(from)!,
  to: parseDay(to)! + dayMs,
})

export const isHidden = (hidden: readonly Hidden[], at: number): boolean =>
  hidden.some(({ from, to }) => from <= at && at < to)

/** `eventsOf` returns the events of a series, oldest first. */
export function createServedHistory(eventsOf: (seriesId: number) => readonly ChangeEvent[]) {
  const known = new Map<number, readonly ChangeEvent[]>()
  const ofSeries = (seriesId: number) => known.getOrInsertComputed(seriesId, eventsOf)
  return {
    /** The days that an event releases: those of the newest quarantine of its number, which numbers may have had before. */
    released: ({ seriesId, id, writtenAt }: Extract<ChangeEvent, { kind: 'released' }>) => {
      const found = ofSeries(seriesId).findLast(
        event => event.kind === 'quarantined' && event.id === id && event.writtenAt <= writtenAt,
      )
      return found?.kind === 'quarantined' ? daysOf(found) : undefined
    },
    /** Days in quarantine after the events up to an instant; `isBefore` leaves out those of it. */
    hidden(seriesId: number, writtenAt: number, isBefore = false): Hidden[] {
      const open = new Map<number, Hidden>()
      for (const event of ofSeries(seriesId)) {
        if (event.writtenAt > writtenAt || (isBefore && event.writtenAt === writtenAt)) break
        if (event.kind === 'quarantined') open.set(event.id, daysOf(event))
        if (event.kind === 'released') open.delete(event.id)
      }
      return [...open.values()]
    },
    /** The accounts that were served a series after the events up to an instant. */
    audience(series: Series, writtenAt: number): Audience {
      let audience: Audience | undefined
      for (const event of ofSeries(series.id)) {
        if (event.kind !== 'terms') continue
        if (event.writtenAt > writtenAt) return audience ?? event.before
        audience = event.after
      }
      return audience ?? audienceOf(series)
    },
  }
}
