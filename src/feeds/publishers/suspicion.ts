import { dayMs, isoDay, parseDay } from '../../lib/time/instant.ts'
import { FeedFault } from '../reading/fault.ts'
import { firstOf, isPeriod, spanOf } from '../reading/periods.ts'
import { sameUnit } from '../reading/units.ts'
import type { SentSeries } from './publisher.ts'

/** What the last finished run received of a series, to compare the next response with. */
export interface SentBefore {
  /** Rows with a value. */
  rows: number
  /** The first day from which that answer had everything; undefined: from the beginning. */
  covers: string | undefined
  /** Its newest period with a value. */
  newest: string | undefined
}

/** With fewer rows the expected number is not known. */
const judgedRowsMin = 4

/** Publishers are ahead of the clock of this machine, and days begin earlier in the east. */
const graceMs = dayMs
/** Auctions and forecasts are of the next day. */
const deliveryAheadMs = 3 * dayMs
const graceOf = (kind: SentSeries['entry']['kind']): number =>
  kind === 'instant' ? deliveryAheadMs : graceMs

/**
 * Throws a suspicious `FeedFault` for an implausible answer: another unit, no rows where there were
 * some, a newest period before the previous one, only zeros, less than half of the rows, or a
 * period that has not begun. `forecasts` permits future periods.
 */
export function judge(
  sent: SentSeries,
  before: SentBefore | undefined,
  now: number,
  forecasts = false,
): void {
  const { entry, unit, rows } = sent
  const id = entry.sourceId
  if (unit !== undefined && entry.unit !== '' && !sameUnit(unit, entry.unit)) {
    throw new FeedFault(
      'unexpected_unit',
      `${id} came in ${unit || 'no unit'} instead of ${entry.unit}`,
    )
  }
  for (const { period } of rows) {
    if (!isPeriod(period, entry.kind)) {
      throw new FeedFault('unreadable', `${id} has ${period}, which is not a ${entry.kind}`)
    }
    if (!forecasts && beginsAt(period, entry.kind) > now + graceOf(entry.kind)) {
      throw new FeedFault('future_period', `${id} has a value of ${period}, which has not begun`)
    }
  }
  const newest = newestOf(sent)
  if (before?.newest !== undefined && isWithin(before.newest, sent)) {
    if (newest === undefined) {
      throw new FeedFault(
        'series_empty',
        `${id} had values up to ${before.newest} and has none now`,
      )
    }
    if (newest < before.newest) {
      throw new FeedFault(
        'went_backwards',
        `${id} ends at ${newest}, and ended at ${before.newest}`,
      )
    }
  }
  if (isPriced(sent) && rows.length > 0 && isZero(sent)) {
    throw new FeedFault('all_zero', `all ${rows.length} values of ${id} are zero`)
  }
  if (before) judgeCount(sent, before)
}

/** The newest period that has a value. */
export const newestOf = ({ rows }: Pick<SentSeries, 'rows'>): string | undefined =>
  rows.reduce<string | undefined>(
    (newest, { period }) => (newest === undefined || period > newest ? period : newest),
    undefined,
  )

function judgeCount(sent: SentSeries, before: SentBefore): void {
  const count = new Set(sent.rows.map(row => row.period)).size
  const expected = expectedRows(sent, before)
  if (expected >= judgedRowsMin && 2 * count < expected) {
    const about = Math.round(expected)
    throw new FeedFault(
      'rows_fell',
      `${sent.entry.sourceId} has ${count} values where about ${about} were expected`,
    )
  }
}

/** Prices, rates and stocks are never 0 on all days; counts may be 0 for years. */
const isPriced = ({ entry }: SentSeries): boolean => 'code' in entry.target

const isZero = ({ rows }: SentSeries): boolean => rows.every(row => Number(row.text) === 0)

/** Checks that need the whole answer: all of its values are zero. */
export function judgeAll(sent: readonly SentSeries[]): void {
  const withRows = sent.filter(series => series.rows.length > 0)
  if (withRows.length > 0 && withRows.every(isZero)) {
    throw new FeedFault('all_zero', 'all values of all series are zero')
  }
}

/**
 * Expects as many rows as before if the answer covers as much; otherwise in proportion to the time
 * that it covers.
 */
function expectedRows({ entry, covers, rows }: SentSeries, before: SentBefore): number {
  if (before.newest === undefined) return 0
  if (covers === undefined || (before.covers !== undefined && covers <= before.covers))
    return before.rows
  const last = spanOf(before.newest, entry.kind).to
  // From the beginning: as far back as a series like this one may reach is not known here.
  if (before.covers === undefined) return 0
  const share = (last - parseDay(covers)!) / (last - parseDay(before.covers)!)
  return rows.length > before.rows ? 0 : before.rows * Math.max(0, share)
}

const beginsAt = (period: string, kind: SentSeries['entry']['kind']): number =>
  kind === 'week' ? firstOf(period, kind) : spanOf(period, kind).from

/** Whether the answer covers a period. */
const isWithin = (period: string, { entry, covers }: SentSeries): boolean =>
  covers === undefined || isoDay(spanOf(period, entry.kind).to - dayMs) >= covers
