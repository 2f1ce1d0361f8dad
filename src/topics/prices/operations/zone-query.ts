import { wordOf } from '../../../http/input/query.ts'
import { textParameter, wordParameter } from '../../../http/input/typed.ts'
import { invalidParameter, refusedParameter } from '../../../http/problem/problem.ts'
import { isoDay, parseDay } from '../../../lib/time/instant.ts'
import { zoneName } from '../../../lib/time/zone.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { calendarDays, type DayTerms, dayOfDate } from '../../delivery/math/days.ts'
import type { SeriesCut } from '../service/reads/history.ts'

const barDayKinds = ['calendar', 'market'] as const

/** The time zone that bars and dates refer to. */
export const zoneQuery = {
  zone: textParameter(
    'IANA time zone of the days that dates name and bars are made of: hours, days, weeks, months, quarters and years begin at its midnights.',
    'Europe/Berlin',
    { default: 'UTC' },
  ),
  day: wordParameter(
    barDayKinds,
    '`market`: days of the market of each delivery series, such as gas days from 06:00; UTC days of other series. Must not be combined with `zone`.',
    'calendar',
    { default: 'calendar' },
  ),
}

/** The days of bars in a zone other than UTC. */
export interface BarDays {
  /** The name in the metadata, which is also the key of cached days. */
  name: string
  of(series: Series): DayTerms | undefined
}

/** Undefined: the days are those of UTC. */
export function barDaysOf(
  query: Readonly<Record<string, string | undefined>>,
): BarDays | undefined {
  const { zone } = query
  const day = wordOf('day', query.day, 'calendar', barDayKinds)
  const name = zone ? zoneName(zone) : 'UTC'
  if (name === undefined)
    throw invalidParameter('zone', zone!, 'UTC or an IANA time zone, such as Europe/Berlin')
  if (day === 'market') {
    if (zone) throw refusedParameter('zone', zone, 'zone must be absent with day=market.')
    return { name: 'market', of: ({ delivery }) => delivery }
  }
  if (name === 'UTC') return undefined
  const days = calendarDays(name)
  return { name, of: () => days }
}

/**
 * A moment of a range for one series: a date is the start or the end of the day of its zone. `text`
 * is known to be a moment.
 */
const edgeOf = (text: string, edge: 'start' | 'end', days: DayTerms): number | undefined => {
  const date = parseDay(text.trim())
  if (date === undefined) return undefined
  const day = dayOfDate(days, isoDay(date))
  return edge === 'start' ? day.from : day.to
}

/** The cut of each series, and the widest range of all. */
export interface CutRange {
  from: number
  to: number
  cutOf(seriesId: number): SeriesCut | undefined
}

/**
 * The range of a query by the days of each series; `range` is that of UTC days, which counts where no
 * date is named.
 */
export function cutRangeOf(
  barDays: BarDays,
  series: readonly Series[],
  query: Readonly<Record<string, string | undefined>>,
  range: { from: number; to: number; endOf?: (seriesId: number) => number },
): CutRange {
  const [start, end] = query.at ? [query.at, query.at] : [query.start_date, query.end_date]
  const cuts = new Map<number, SeriesCut>()
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const each of series) {
    const days = barDays.of(each)
    const edge = (text: string, side: 'start' | 'end') => days && edgeOf(text, side, days)
    const to = (end ? edge(end, 'end') : undefined) ?? range.endOf?.(each.id) ?? range.to
    const bounds = {
      from: start ? (edge(start, 'start') ?? range.from) : to - range.to + range.from,
      to,
    }
    cuts.set(each.id, { ...bounds, days: days ?? calendarDays('UTC'), delivery: each.delivery })
    first = Math.min(first, bounds.from)
    last = Math.max(last, bounds.to)
  }
  return series.length === 0
    ? { from: range.from, to: range.to, cutOf: () => undefined }
    : { from: first, to: last, cutOf: id => cuts.get(id) }
}
