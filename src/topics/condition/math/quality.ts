import { median } from 'simple-statistics'
import {
  dayMs,
  isoDay,
  isoInstant,
  parseDay,
  startOfDay,
  startOfMonth,
  startOfNextMonth,
  startOfWeek,
} from '../../../lib/time/instant.ts'
import { calendarOf, isTradingDay } from '../../calendars/math/calendar.ts'
import { type DataStatus, dataStatus, freshUntil } from '../../calendars/math/freshness.ts'
import { releaseSlot } from '../../calendars/math/releases.ts'
import type { Listing } from '../../calendars/math/schedule.ts'
import { yearOfWeeksDays } from '../../calendars/math/weeks.ts'
import type { Cadence } from '../../catalogue/math/catalogue.ts'
import type { Bar } from '../../prices/math/bars.ts'
import { type FrozenRun, type UnitBreak, unitBreakOf } from './faults.ts'
import type { IntradayGaps } from './intraday.ts'

/**
 * The facts about one UTC day of a series: its stored bar, and the bar computed from its
 * observations.
 */
export interface DayFacts extends Omit<Bar, 'hours' | 'recordedAt'> {
  /** Number, least and greatest of the observations; undefined when there is none. */
  observed: { count: number; low: number; high: number } | undefined
}

export interface QualityInput {
  listing: Listing
  decimals: number
  /** The days of the window that are not in quarantine, oldest first. */
  days: readonly DayFacts[]
  /** Days of the window in quarantine, `YYYY-MM-DD`. */
  quarantined: readonly string[]
  /** The time of the first observation of the whole series, Unix ms. */
  firstAt: number
  lastAt: number
  now: number
  /** The value that the series has stood at for too long. */
  frozen?: FrozenRun | undefined
  /** Missing values inside the newest sessions of a series that is quoted all day. */
  intraday?: IntradayGaps | undefined
}

export type Severity = 'critical' | 'warning' | 'info'

export interface QualityIssue {
  kind:
    | 'stale'
    | 'delayed'
    | 'frozen'
    | 'unit_break'
    | 'missing'
    | 'gap'
    | 'late'
    | 'anomaly'
    | 'inconsistent'
    | 'quarantined'
  severity: Severity
  description: string
  affectedPoints: number
  detectedAt: number
}

export type QualityStatus = 'healthy' | 'warning' | 'critical'

/** Scores from 0 to 100. */
export interface QualityScores {
  completeness: number
  timeliness: number
  accuracy: number
  consistency: number
}

export interface QualityReport extends QualityScores {
  score: number
  status: QualityStatus
  /** First and last day that were checked. */
  fromOn: string
  toOn: string
  expectedPoints: number
  missingPoints: number
  lateUpdates: number
  anomalies: number
  issues: QualityIssue[]
}

/** The weight of each score in the whole. */
export const qualityWeights: QualityScores = {
  completeness: 0.3,
  timeliness: 0.3,
  accuracy: 0.2,
  consistency: 0.2,
}
const healthyScore = 95
const warningScore = 75
const statusScores: Readonly<Record<DataStatus, number>> = { current: 100, delayed: 60, stale: 0 }
/** From this part of the expected points on, missing ones are critical. */
const criticalMissingShare = 0.1

/**
 * How far back a series is checked: about sixty points of a daily series, a year of weeks, three
 * years of months.
 */
export function windowDays(cadence: Cadence): number {
  if (cadence === 'monthly') return 1096
  return cadence === 'weekly' ? yearOfWeeksDays : 90
}

/**
 * A stretch of time in which a series must have an observation: a trading day, a week from Monday
 * or a month.
 */
export interface Slot {
  from: number
  to: number
}

/** The slots that begin in `[from, to)`, oldest first, for a cadence of several a day. */
function slotsBetween(listing: Listing, from: number, to: number): Slot[] {
  const { cadence } = listing
  const market = calendarOf(listing)
  const slots: Slot[] = []
  if (releasedSlot(listing, from))
    for (let slot = releasedSlot(listing, from)!; slot.from < to; ) {
      slots.push(slot)
      slot = releasedSlot(listing, slot.to)!
    }
  else if (cadence === 'monthly')
    for (let at = startOfMonth(from); at < to; at = startOfNextMonth(at))
      slots.push({ from: at, to: startOfNextMonth(at) })
  else if (cadence === 'weekly')
    for (let at = startOfWeek(from); at < to; at += 7 * dayMs)
      slots.push({ from: at, to: at + 7 * dayMs })
  else
    for (let at = startOfDay(from); at < to; at += dayMs)
      if (isTradingDay(market, at)) slots.push({ from: at, to: at + dayMs })
  return slots.filter(slot => slot.from >= from)
}

/**
 * The slot of one publication of a series that is published rarely by its own calendar. Where
 * values are daily, one publication brings several, and each day has a slot.
 */
const releasedSlot = (listing: Listing, at: number): Slot | undefined =>
  listing.cadence === 'weekly' || listing.cadence === 'monthly'
    ? releaseSlot(listing, at)
    : undefined

/** The beginning of the slot that a moment is in. */
export const slotStart = (listing: Listing, at: number): number => {
  const { cadence } = listing
  const released = releasedSlot(listing, at)
  if (released) return released.from
  if (cadence === 'monthly') return startOfMonth(at)
  return cadence === 'weekly' ? startOfWeek(at) : startOfDay(at)
}

/**
 * The report on a window of a series. Definitions are in the documentation of the endpoint; this
 * is what computes them.
 */
export function qualityOf(input: QualityInput): QualityReport {
  const { listing, days, firstAt, lastAt, now } = input
  const windowFrom = startOfDay(now - windowDays(listing.cadence) * dayMs)
  const from = Math.max(windowFrom, slotStart(listing, firstAt))
  const status = dataStatus(listing, lastAt, now)
  const gaps = missingSlots(input, from, status)
  const late = lateDays(listing, days)
  const odd = anomalousDays(days, input.decimals)
  const wrong = days.filter(day => !isConsistent(day))
  const unitBreak = unitBreakOf(days)
  const scores: QualityScores = {
    completeness:
      (percentOf(gaps.expected - gaps.missing.length, gaps.expected) *
        intradayPercent(input.intraday)) /
      100,
    // A frozen value carries no information, however often it is repeated.
    timeliness: input.frozen
      ? 0
      : (statusScores[status] * percentOf(late.judged - late.days.length, late.judged)) / 100,
    // Values on both sides of a change of unit cannot be compared.
    accuracy: unitBreak ? 0 : percentOf(days.length - odd.length, days.length),
    consistency: percentOf(days.length - wrong.length, days.length),
  }
  const score = weighted(scores)
  return {
    ...scores,
    score,
    status: statusOf(score),
    fromOn: isoDay(from),
    toOn: isoDay(now),
    expectedPoints: gaps.expected,
    missingPoints: gaps.missing.length,
    lateUpdates: late.days.length,
    anomalies: odd.length,
    issues: issuesOf(input, { status, gaps, late, odd, wrong, unitBreak }),
  }
}

const intradayPercent = (gaps: IntradayGaps | undefined): number =>
  gaps ? percentOf(gaps.expected - gaps.missing, gaps.expected) : 100

const percentOf = (good: number, all: number): number => (all === 0 ? 100 : (100 * good) / all)

export const weighted = (scores: QualityScores): number =>
  (Object.keys(qualityWeights) as (keyof QualityScores)[]).reduce(
    (sum, name) => sum + qualityWeights[name] * scores[name],
    0,
  )

function statusOf(score: number): QualityStatus {
  if (score >= healthyScore) return 'healthy'
  return score >= warningScore ? 'warning' : 'critical'
}

export interface Gaps {
  expected: number
  missing: Slot[]
}

/** From when on nothing need have been published yet: after the newest observation or later. */
function awaitedFrom(listing: Listing, lastAt: number, now: number): number {
  let from = lastAt + 1
  // A day after the newest value counts as missing once a value of that day would not be current
  // any more.
  for (let at = startOfDay(lastAt) + dayMs; at < now; at += dayMs)
    if (dataStatus(listing, at, now) !== 'current') from = at + 1
    else break
  return from
}

/**
 * Up to the newest observation, and after it what should have been published by now; once the
 * series is stale, up to now.
 */
export function missingSlots(
  {
    listing,
    days,
    quarantined,
    lastAt,
    now,
  }: Pick<QualityInput, 'listing' | 'quarantined' | 'lastAt' | 'now'> & {
    /** Oldest first. */
    days: readonly { startsAt: number }[]
  },
  from: number,
  status: DataStatus,
): Gaps {
  const to = status === 'stale' ? slotStart(listing, now) : awaitedFrom(listing, lastAt, now)
  const excused = new Set(quarantined.map(day => slotStart(listing, parseDay(day)!)))
  const filledFrom = days.map(day => slotStart(listing, day.startsAt))
  const gaps: Gaps = { expected: 0, missing: [] }
  // Both are in the order of time.
  let place = 0
  for (const slot of slotsBetween(listing, from, to)) {
    while (place < filledFrom.length && filledFrom[place]! < slot.from) place += 1
    const isFilled = filledFrom[place] === slot.from
    if (!isFilled && excused.has(slot.from)) continue
    gaps.expected += 1
    if (!isFilled) gaps.missing.push(slot)
  }
  return gaps
}

type Late = ReturnType<typeof lateDays>

/**
 * Days that were first recorded when they were no longer current. Those made before the first of
 * the window was recorded came as history and are not judged.
 */
function lateDays(listing: Listing, days: readonly DayFacts[]) {
  const since = days.reduce((first, day) => Math.min(first, day.bornAt), Number.POSITIVE_INFINITY)
  const judged = days.filter(day => day.closedAt >= since)
  return {
    /** How many days were judged. */
    judged: judged.length,
    days: judged.filter(day => dataStatus(listing, day.closedAt, day.bornAt) !== 'current'),
  }
}

/** A value is compared with the median of five, itself and two on each side. */
const halfWindow = 2
/**
 * In robust standard deviations of the changes from one day to the next. Of forty years of WTI this
 * leaves 2020-04-20 alone.
 */
const anomalyDeviations = 8
/** Makes a median absolute deviation estimate the standard deviation of a normal distribution. */
const madScale = 1.4826
/**
 * A series that hardly moves must not make every step an anomaly: the deviation counts at least
 * this part of the usual level.
 */
const deviationMin = 0.004

/**
 * Positions of outliers: far from the median of five around them, by the usual change from one to
 * the next. Both ends need two neighbours.
 */
export function isolated(values: readonly number[], decimals: number): number[] {
  if (values.length <= 2 * halfWindow) return []
  const changes = values.slice(1).map((value, i) => Math.abs(value - values[i]!))
  const level = median(values.map(Math.abs))
  const deviation = Math.max(madScale * median(changes), deviationMin * level, 10 ** -decimals)
  const distanceMax = anomalyDeviations * deviation
  const positions: number[] = []
  for (let i = halfWindow; i < values.length - halfWindow; i++) {
    // With the values before and after it so near, three of the five are, and their median with them.
    if (changes[i - 1]! <= distanceMax && changes[i]! <= distanceMax) continue
    const around = median(values.slice(i - halfWindow, i + halfWindow + 1))
    if (Math.abs(values[i]! - around) > distanceMax) positions.push(i)
  }
  return positions
}

/** Days whose close is an outlier, or whose high or low is one where a day has several values. */
function anomalousDays(days: readonly DayFacts[], decimals: number): number[] {
  const columns: ((day: DayFacts) => number)[] = [day => day.close]
  if (days.some(day => day.count > 1))
    columns.push(
      day => day.high,
      day => day.low,
    )
  return [...new Set(columns.flatMap(column => isolated(days.map(column), decimals)))].sort(
    (a, b) => a - b,
  )
}

/** Whether the bar of a day has its values in order and is that of its observations. */
function isConsistent({ open, high, low, close, sum, count, observed }: DayFacts): boolean {
  const slack = 1e-9 * Math.max(1, Math.abs(high), Math.abs(low))
  const inOrder = low <= open && low <= close && open <= high && close <= high && count > 0
  const mean = sum / count
  return (
    inOrder &&
    mean >= low - slack &&
    mean <= high + slack &&
    observed?.count === count &&
    observed.low === low &&
    observed.high === high
  )
}

/** The inputs of the issues. */
interface Findings {
  status: DataStatus
  gaps: Gaps
  late: Late
  /** Positions of anomalous days. */
  odd: readonly number[]
  wrong: readonly DayFacts[]
  unitBreak: UnitBreak | undefined
}

const slotNames: Readonly<Partial<Record<Cadence, string>>> = { weekly: 'weeks', monthly: 'months' }

/** The issues of a window; none is dated after now. */
function issuesOf(input: QualityInput, findings: Findings): QualityIssue[] {
  const { gaps, late, odd, wrong, status, unitBreak } = findings
  const issues = [
    freshnessIssue(input, status),
    input.frozen && frozenIssue(input.frozen, input.lastAt),
    unitBreak && unitBreakIssue(unitBreak),
    missingIssue(input, gaps),
    gapIssue(input),
    lateIssue(late),
    anomalyIssue(input, odd),
    inconsistencyIssue(input, wrong),
    quarantineIssue(input),
  ]
  return issues
    .filter(issue => issue !== undefined)
    .map(issue => ({ ...issue, detectedAt: Math.min(issue.detectedAt, input.now) }))
}

function freshnessIssue(
  { listing, lastAt }: QualityInput,
  status: DataStatus,
): QualityIssue | undefined {
  if (status === 'current') return undefined
  const until = freshUntil(listing, lastAt)
  const newest = `The newest observation is of ${isoDay(lastAt)}`
  return status === 'stale'
    ? {
        kind: 'stale',
        severity: 'critical',
        description: `${newest}: it is stale.`,
        affectedPoints: 1,
        detectedAt: until.delayedUntil,
      }
    : {
        kind: 'delayed',
        severity: 'warning',
        description: `${newest}: the next one is overdue.`,
        affectedPoints: 1,
        detectedAt: until.currentUntil,
      }
}

function frozenIssue({ value, days, sinceAt }: FrozenRun, lastAt: number): QualityIssue {
  return {
    kind: 'frozen',
    severity: 'critical',
    description: `Every value since ${isoDay(sinceAt)} is ${value}: ${days} of them.`,
    affectedPoints: days,
    detectedAt: lastAt,
  }
}

function unitBreakIssue({ startsAt, name, days }: UnitBreak): QualityIssue {
  return {
    kind: 'unit_break',
    severity: 'critical',
    description: `From ${isoDay(startsAt)} on the values seem to be in another unit, as ${name}.`,
    affectedPoints: days,
    detectedAt: startsAt,
  }
}

function missingIssue(
  { listing }: QualityInput,
  { expected, missing }: Gaps,
): QualityIssue | undefined {
  const last = missing.at(-1)
  if (!last) return undefined
  const among = `${missing.length} of ${expected} ${slotNames[listing.cadence] ?? 'trading days'}`
  return {
    kind: 'missing',
    severity: missing.length >= criticalMissingShare * expected ? 'critical' : 'warning',
    description: `No observation in ${among}, the last from ${isoDay(last.from)}.`,
    affectedPoints: missing.length,
    detectedAt: last.to,
  }
}

function gapIssue({ intraday }: QualityInput): QualityIssue | undefined {
  const last = intraday?.stretches.at(-1)
  if (!intraday || !last) return undefined
  const among = `${intraday.missing} of ${intraday.expected} values of its cadence`
  return {
    kind: 'gap',
    severity: intraday.missing >= criticalMissingShare * intraday.expected ? 'critical' : 'warning',
    description: `Missing in the sessions of the last days: ${among}, the last before ${isoInstant(last.to)}.`,
    affectedPoints: intraday.missing,
    detectedAt: last.to,
  }
}

function lateIssue({ days, judged }: Late): QualityIssue | undefined {
  const last = days.at(-1)
  if (!last) return undefined
  const among = `${days.length} of ${judged} days`
  return {
    kind: 'late',
    severity: 'warning',
    description: `Recorded when no longer current: ${among}, the last ${isoDay(last.startsAt)}.`,
    affectedPoints: days.length,
    detectedAt: last.bornAt,
  }
}

function anomalyIssue({ days }: QualityInput, odd: readonly number[]): QualityIssue | undefined {
  const last = odd.at(-1)
  if (last === undefined) return undefined
  const among = `${odd.length} of ${days.length} days`
  return {
    kind: 'anomaly',
    severity: 'warning',
    description: `Far from the days around them: ${among}, the last ${isoDay(days[last]!.startsAt)}.`,
    affectedPoints: odd.length,
    // A day is judged by the days after it, too.
    detectedAt: days[last + halfWindow]!.bornAt,
  }
}

function inconsistencyIssue(
  { days }: QualityInput,
  wrong: readonly DayFacts[],
): QualityIssue | undefined {
  const last = wrong.at(-1)
  if (!last) return undefined
  const among = `${wrong.length} of ${days.length} days`
  return {
    kind: 'inconsistent',
    severity: 'critical',
    description: `Bar and observations disagree: ${among}, the last ${isoDay(last.startsAt)}.`,
    affectedPoints: wrong.length,
    detectedAt: last.closedAt,
  }
}

function quarantineIssue({ quarantined }: QualityInput): QualityIssue | undefined {
  const last = quarantined.at(-1)
  if (!last) return undefined
  const days = quarantined.length === 1 ? '1 day' : `${quarantined.length} days`
  return {
    kind: 'quarantined',
    severity: 'info',
    description: `In quarantine and left out: ${days}, the last ${last}.`,
    affectedPoints: quarantined.length,
    detectedAt: parseDay(last)!,
  }
}

/** A recommendation for each kind of issue, as one sentence. */
export const recommendations: Readonly<Record<QualityIssue['kind'], string>> = {
  stale: 'Check whether the source still publishes this series, and start its feed again.',
  delayed: 'Check the feed of the source: its next publication is overdue.',
  frozen:
    'Compare the newest values with the source: a feed that repeats itself has often stopped. If the value is constant, switch the check off: wellhead series edit CODE --guards repeat=off.',
  unit_break:
    'Compare the values on both sides with the unit of the series, and correct or undo those in another unit.',
  missing:
    'Import the missing observations from the source, or put the days into quarantine if it has none.',
  gap: 'Find out from the log of the source why it published nothing, and import the missing values. If it publishes less often, correct the cadence of the series.',
  late: 'Fetch the source more often, or soon after its publications.',
  anomaly: 'Compare the named days with the source; correct them, or put them into quarantine.',
  inconsistent: 'Run the command verify and restore a backup if it finds faults.',
  quarantined: 'Correct the quarantined days and release them.',
}
