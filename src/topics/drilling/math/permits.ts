import type { PermitState } from '../../geography/math/us-states.ts'
import { daysBetween } from '../../prices/math/window.ts'

/** A list whose newest permit is older than this has fallen behind. */
const staleAfterDays = 30

export interface PermitFreshness {
  /** Days from the newest stored permit to today. */
  dataAgeDays: number
  stale: boolean
}

export function permitFreshness(newestOn: string, today: string): PermitFreshness {
  const dataAgeDays = Math.max(0, daysBetween(newestOn, today))
  return { dataAgeDays, stale: dataAgeDays > staleAfterDays }
}

export type ActivityStatus = 'active' | 'slow' | 'inactive' | 'unknown'

export interface Activity {
  status: ActivityStatus
  /** Whether a page about the state has enough content to be indexed by search engines. */
  indexing: 'index' | 'noindex'
  reason: string
}

export interface StateActivity {
  state: Pick<PermitState, 'name'>
  /** Undefined: no permit is stored. */
  newestOn: string | undefined
  /** When the state's list was last read, whether or not it had anything new. */
  readOn: string | undefined
  /** Dated in the last 30 days. */
  permits30d: number
  /** Dated in the last 365 days. */
  permits365d: number
  today: string
}

/** From so many permits in 30 days a state is active whatever is usual there. */
const activePermits = 10
const monthsInYear = 365 / 30

const permitsText = (n: number) => (n === 1 ? '1 permit' : `${n} permits`)

/**
 * The current drilling activity of a state. Only a current list can show inactivity: without
 * permits for 30 days the state is inactive when its list was read since, and unknown otherwise.
 */
export function activityOf({
  state,
  newestOn,
  readOn,
  permits30d,
  permits365d,
  today,
}: StateActivity): Activity {
  if (newestOn === undefined)
    return { status: 'unknown', indexing: 'noindex', reason: `No permit of ${state.name} is held.` }
  const { dataAgeDays, stale } = permitFreshness(newestOn, today)
  if (stale) {
    const since = `The newest permit of ${state.name} is of ${newestOn}, ${dataAgeDays} days ago`
    if (readOn !== undefined && daysBetween(readOn, today) <= staleAfterDays) {
      return {
        status: 'inactive',
        indexing: 'noindex',
        reason: `${since}; its list was read on ${readOn} and has nothing newer.`,
      }
    }
    return {
      status: 'unknown',
      indexing: 'noindex',
      reason: `${since}, and its list was last read on ${readOn ?? 'an unknown day'}: current drilling is unknown.`,
    }
  }
  const usual = permits365d / monthsInYear
  const last = `${permitsText(permits30d)} in the last 30 days`
  const against = `where the last 365 days had ${Math.round(usual * 10) / 10} in 30 days on average.`
  if (permits30d >= activePermits || permits30d >= usual / 2)
    return { status: 'active', indexing: 'index', reason: `${last}, ${against}` }
  return { status: 'slow', indexing: 'index', reason: `Only ${last}, ${against}` }
}

/** Legal forms: they name the kind of company, not the company. */
const companyWords = /^(?:INC|INCORPORATED|LLC|LP|LLP|LTD|LIMITED|CO|COMPANY|CORP|CORPORATION|PLC)$/

/**
 * One spelling of a name for everything that is compared: upper case, single spaces, no punctuation
 * but what parts words.
 */
const plainName = (text: string): string =>
  text
    .normalize('NFKC')
    .toUpperCase()
    .replace(/(?<=\b[A-Z])\.(?=[A-Z]\b)/g, '')
    .replace(/[.,'"()]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

/**
 * `EXAMPLE OPERATING` for `Example Operating, L.L.C.`: all spellings of a company have the same
 * key.
 */
export function operatorKey(raw: string): string {
  const words = plainName(raw).split(' ')
  while (words.length > 1 && companyWords.test(words.at(-1)!)) words.pop()
  return words.join(' ')
}

/** `REAGAN` of `Reagan County`. */
export const countyKey = (raw: string): string =>
  plainName(raw).replace(/ (?:COUNTY|CO|PARISH|BOROUGH|CENSUS AREA)$/, '')

/** `WOLFCAMP A` of `Wolfcamp A Fm.`. */
export const formationKey = (raw: string): string =>
  plainName(raw).replace(/ (?:FORMATION|FM|SHALE|FIELD)$/, '')

/** `new_drill` of `New Drill`. */
export const wordKey = (raw: string): string =>
  raw
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')

/** `Wolfcamp A` of `WOLFCAMP A`; words with a digit stay as they are. */
export const titled = (key: string): string =>
  key.toLowerCase().replace(/(?<![a-z0-9])[a-z]+/g, word => word[0]!.toUpperCase() + word.slice(1))

/** The reference that identifies a permit within a state: its number, or the well and the day. */
export const permitReference = (
  permitNumber: string | null,
  apiNumber: string,
  permitOn: string,
): string => permitNumber ?? `${apiNumber}/${permitOn}`
