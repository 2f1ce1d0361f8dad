import { dayMs, isoDay, parseDay } from '../../../lib/time/instant.ts'
import { momentAt, wallTime } from '../../../lib/time/zone.ts'
import type { ReleaseTerms } from '../../catalogue/math/terms.ts'
import { calendarOf, isTradingDay } from './calendar.ts'
import { weekdayOfDay } from './holidays.ts'
import type { Listing } from './schedule.ts'

/** One publication of a series; days are counted from 1970-01-01 in the zone of its calendar. */
export interface Release {
  /** The day that it is published on. */
  day: number
  /** The day that values may be dated up to and still be of this one. */
  closesOn: number
  at: number
}

/** Further apart than any two publications of a calendar of weekdays or days of the month. */
const horizonDays = 200
/** No market closes for longer. */
const holidaysMax = 14

function isNamed({ weekdays, monthDays }: ReleaseTerms, day: number): boolean {
  if (weekdays.length > 0) return weekdays.includes(weekdayOfDay(day))
  const date = new Date(day * dayMs)
  const lastOfMonth = new Date(
    Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0),
  ).getUTCDate()
  // The 31st is the last day of a shorter month.
  return monthDays.some(monthDay => Math.min(monthDay, lastOfMonth) === date.getUTCDate())
}

/** The day on which what is planned for a day comes out; undefined: it is left out. */
function publishedOn(listing: Listing, terms: ReleaseTerms, planned: number): number | undefined {
  const market = calendarOf(listing)
  if (isTradingDay(market, planned * dayMs)) return planned
  if (terms.onHoliday === 'skip') return undefined
  const step = terms.onHoliday === 'before' ? -1 : 1
  let day = planned + step
  while (!isTradingDay(market, day * dayMs)) day += step
  return day
}

/** Without a time of day a publication may come until its day is over. */
const publishedAt = (day: number, { minute, zone }: ReleaseTerms): number =>
  minute === undefined
    ? momentAt(isoDay((day + 1) * dayMs), 0, zone)
    : momentAt(isoDay(day * dayMs), minute, zone)

/** The first publication whose values may be dated on a day or later; undefined: there is none. */
function releaseFrom(listing: Listing, terms: ReleaseTerms, from: number): Release | undefined {
  for (let planned = from - holidaysMax; planned <= from + horizonDays; planned++) {
    if (!isNamed(terms, planned)) continue
    const day = publishedOn(listing, terms, planned)
    if (day === undefined) continue
    const closesOn = Math.max(planned, day)
    if (closesOn >= from) return { day, closesOn, at: publishedAt(day, terms) }
  }
  return undefined
}

function releaseBefore(listing: Listing, terms: ReleaseTerms, release: Release): Release {
  let before = release
  for (let from = release.closesOn - 1; before.closesOn === release.closesOn; from--) {
    if (from < release.closesOn - horizonDays) return { ...release, closesOn: from }
    before = releaseFrom(listing, terms, from) ?? release
  }
  return before
}

/** The day that a value is dated with: in its own zone where it has a time of day there. */
const datedOn = ({ valueAt }: Listing, observedAt: number): number =>
  valueAt
    ? parseDay(wallTime(observedAt, valueAt.zone).day)! / dayMs
    : Math.floor(observedAt / dayMs)

/**
 * The publication that brings the value of a moment and those after it, `count` in all; undefined
 * where the operator has given no calendar, or one that never comes to pass.
 */
export function releasesOf(
  listing: Listing,
  observedAt: number,
  count: number,
): readonly Release[] | undefined {
  const { releases, releaseLagDays = 0 } = listing
  if (!releases) return undefined
  const all: Release[] = []
  let from = datedOn(listing, observedAt) + releaseLagDays
  for (let i = 0; i < count; i++) {
    const release = releaseFrom(listing, releases, from)
    if (!release) return undefined
    all.push(release)
    from = release.closesOn + 1
  }
  return all
}

/** The next publication of a series after a moment, Unix ms; undefined where no schedule is set. */
export function nextReleaseAt(listing: Listing, now: number): number | undefined {
  const { releases } = listing
  if (!releases) return undefined
  let from = parseDay(wallTime(now, releases.zone).day)! / dayMs - holidaysMax
  for (;;) {
    const release = releaseFrom(listing, releases, from)
    if (!release || release.at > now) return release?.at
    from = release.closesOn + 1
  }
}

/** The days of the values that one publication brings, midnights UTC, half-open. */
export function releaseSlot(
  listing: Listing,
  observedAt: number,
): { from: number; to: number } | undefined {
  const { releases, releaseLagDays = 0 } = listing
  const release = releasesOf(listing, observedAt, 1)?.[0]
  if (!releases || !release) return undefined
  const before = releaseBefore(listing, releases, release)
  return {
    from: (before.closesOn + 1 - releaseLagDays) * dayMs,
    to: (release.closesOn + 1 - releaseLagDays) * dayMs,
  }
}
