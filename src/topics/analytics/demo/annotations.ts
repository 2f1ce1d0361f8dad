import { type DemoData, writtenAtOnce } from '../../../demo/demo-data.ts'
import { dayMs, isoDay, startOfMonth, startOfNextMonth } from '../../../lib/time/instant.ts'
import { monthNames } from '../../../lib/time/month-names.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { changePercent } from '../../prices/math/change.ts'
import type { Close } from '../../prices/math/window.ts'
import type { Annotation } from '../dataset/annotations.ts'
import type { AnnotationStore } from '../store/annotations.ts'

/** A series with its daily closes. */
export interface NotedSeries {
  name: string
  currency: string | null
  unit: string
  decimals: number
  closes: readonly Close[]
}

/** Series of which each month's largest move is noted. */
const watchedCodes: readonly { code: string; kind: 'price' | 'stocks' }[] = [
  { code: 'BRENT_CRUDE_USD', kind: 'price' },
  { code: 'WTI_USD', kind: 'price' },
  { code: 'NATURAL_GAS_USD', kind: 'price' },
  { code: 'GASOLINE_USD', kind: 'price' },
  { code: 'US_CRUDE_STORAGE', kind: 'stocks' },
]

const months = 24
/** The last survey of a month is published in the first days of the next. */
const settledMs = 7 * dayMs

interface Move {
  before: Close
  after: Close
  percent: number
}

/** The largest move between two closes whose later one is in `[from, to)`. */
function largestMove(closes: readonly Close[], from: string, to: string): Move | undefined {
  let largest: Move | undefined
  for (let i = 1; i < closes.length; i++) {
    const [before, after] = [closes[i - 1]!, closes[i]!]
    if (after.day < from || after.day >= to) continue
    const percent = changePercent(before.value, after.value)
    if (percent !== undefined && Math.abs(percent) > Math.abs(largest?.percent ?? 0))
      largest = { before, after, percent }
  }
  return largest
}

type Watched = (typeof watchedCodes)[number]

const idOf = ({ code, kind }: Watched, monthAt: number): string =>
  `${kind}-${code.toLowerCase()}-${isoDay(monthAt).slice(0, 7)}`

function noteOf(
  watched: Watched,
  { name, currency, unit, decimals, closes }: NotedSeries,
  monthAt: number,
): Annotation | undefined {
  const { code, kind } = watched
  const [from, to] = [isoDay(monthAt), isoDay(startOfNextMonth(monthAt))]
  const move = largestMove(closes, from, to)
  if (!move) return undefined
  const { before, after, percent } = move
  const month = `${monthNames[Number(from.slice(5, 7)) - 1]} ${from.slice(0, 4)}`
  const textOf = (close: Close) => close.value.toFixed(decimals)
  const measure =
    currency === null ? unit.replaceAll('_', ' ') : `${currency} per ${unit.replaceAll('_', ' ')}`
  const size = `${percent > 0 ? 'up' : 'down'} ${Math.abs(percent).toFixed(2)}%`
  return {
    id: idOf(watched, monthAt),
    on: after.day,
    title:
      kind === 'price'
        ? `${name}: largest daily move of ${month}`
        : `${name}: largest weekly change of ${month}`,
    description: `${name} ${kind === 'price' ? 'closed' : 'stood'} at ${textOf(after)} ${measure}, ${size} from ${textOf(before)} on ${before.day}.`,
    category: kind === 'price' ? 'price_move' : 'inventory',
    commodity: code,
    source: generatedSource,
  }
}

/** Notes on the days with the largest generated moves, published at the end of each month. */
export function createAnnotationData(deps: {
  annotations: AnnotationStore
  /** Undefined where there is no such code. */
  seriesOf(code: string, now: number): NotedSeries | undefined
}): DemoData {
  const { annotations, seriesOf } = deps
  /** Notes that someone has changed stay as they are. */
  const publish = (from: number, to: number): number => {
    const due = monthsBefore(to).filter(monthAt => publishedAt(monthAt) >= from)
    const notes = watchedCodes.flatMap(watched => {
      const missing = due.filter(monthAt => !annotations.has(idOf(watched, monthAt)))
      const series = missing.length === 0 ? undefined : seriesOf(watched.code, to)
      return series ? missing.flatMap(monthAt => noteOf(watched, series, monthAt) ?? []) : []
    })
    if (notes.length > 0) annotations.write(notes, to)
    return notes.length
  }
  return {
    percent: 1,
    generate: now => writtenAtOnce(() => publish(Number.NEGATIVE_INFINITY, now)),
    publish,
  }
}

const publishedAt = (monthAt: number): number => startOfNextMonth(monthAt) + settledMs

/** The first moments of the last months whose notes are published before `to`. */
function monthsBefore(to: number): number[] {
  const newest = startOfMonth(startOfMonth(to - settledMs - 1) - 1)
  const [year, month] = [Number(isoDay(newest).slice(0, 4)), Number(isoDay(newest).slice(5, 7))]
  return Array.from({ length: months }, (_, i) => Date.UTC(year, month - months + i, 1))
}
