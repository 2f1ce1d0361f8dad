import { earliestAt, latestAt } from '../../../datasets/cell.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { CodeLookup } from '../../catalogue/math/lookup.ts'
import { boundsOf } from '../../catalogue/math/terms.ts'
import { periodReader } from '../../delivery/math/moments.ts'
import type { Point } from '../store/observations.ts'
import { checkRow, type RawRow } from './rows.ts'

/**
 * Points as numbers: how an import reaches a running server. The settings of a block are those of
 * the JSON of a push.
 */
export interface BlockEnvelope {
  batch?: number
  source?: string | undefined
  replace?: boolean
}

interface BlockHead {
  envelope: BlockEnvelope
  /** The points that follow one another of each code. */
  parts: [code: string, count: number][]
  /** Names that points have by number. */
  sources: string[]
  /** Numbers of a point: time and value, or with time of recording and `extra` behind them. */
  width: 2 | 4
}

const lineFeed = 10
const numberBytes = Float64Array.BYTES_PER_ELEMENT

/**
 * A line of JSON, filled up with spaces to a multiple of eight bytes, and the numbers of the points.
 * `extra` is twice the number of the source, from 1, and one more for a point that is deleted.
 */
export function encodePoints(
  points: readonly Point[],
  codeOf: (seriesId: number) => string,
  envelope: BlockEnvelope,
): Uint8Array {
  const saysMore = points.some(({ recordedAt, source, deleted }) => recordedAt ?? source ?? deleted)
  const head: BlockHead = { envelope, parts: [], sources: [], width: saysMore ? 4 : 2 }
  const numbers = new Float64Array(points.length * head.width)
  let seriesId: number | undefined
  for (const [i, point] of points.entries()) {
    if (point.seriesId !== seriesId) head.parts.push([codeOf(point.seriesId), 0])
    seriesId = point.seriesId
    head.parts.at(-1)![1] += 1
    const at = i * head.width
    numbers[at] = point.observedAt
    numbers[at + 1] = point.value
    if (!saysMore) continue
    numbers[at + 2] = point.recordedAt ?? Number.NaN
    numbers[at + 3] = 2 * numberOfSource(head.sources, point.source) + (point.deleted ? 1 : 0)
  }
  const json = Buffer.from(JSON.stringify(head))
  const start = Math.ceil((json.length + 1) / numberBytes) * numberBytes
  const block = Buffer.alloc(start + numbers.byteLength, ' ')
  block.set(json)
  block[start - 1] = lineFeed
  block.set(new Uint8Array(numbers.buffer), start)
  return block
}

function numberOfSource(sources: string[], source: string | undefined): number {
  if (source === undefined) return 0
  const known = sources.indexOf(source)
  return known < 0 ? sources.push(source) : known + 1
}

export interface PointBlock {
  envelope: BlockEnvelope
  count: number
  /** The points, each checked as a row is; `fault` is notified of those that cannot go in. */
  points(
    catalogue: CodeLookup,
    now: number,
    asRecorded: boolean,
    fault: (row: number, field: string, reason: string) => void,
  ): Point[]
}

/** Undefined where the bytes are none. */
export function decodePoints(bytes: Uint8Array): PointBlock | undefined {
  const start = bytes.indexOf(lineFeed) + 1
  const head = headOf(bytes.subarray(0, start))
  if (!head || (bytes.length - start) % (head.width * numberBytes) !== 0) return undefined
  // A copy begins where numbers may begin. `from` would take the bytes one at a time.
  const numbers = new Float64Array(new Uint8Array(bytes.subarray(start)).buffer)
  const count = numbers.length / head.width
  if (head.parts.reduce((sum, [, points]) => sum + points, 0) !== count) return undefined
  return {
    envelope: head.envelope,
    count,
    points(catalogue, now, asRecorded, fault) {
      const points: Point[] = []
      let i = 0
      for (const [code, partCount] of head.parts) {
        const series = catalogue.find(code)
        const isTaken = series !== undefined && series.terms?.active !== false
        const { min, max } = series ? boundsOf(series) : { min: 0, max: 0 }
        const reader = series?.delivery && periodReader(series.delivery)
        const latest = reader ? reader.latest(now) : latestAt(now)
        for (const end = i + partCount; i < end; i += 1) {
          const observedAt = numbers[i * head.width]!
          const value = numbers[i * head.width + 1]!
          const isUsual =
            isTaken &&
            head.width === 2 &&
            Number.isSafeInteger(observedAt) &&
            observedAt >= earliestAt &&
            observedAt <= latest &&
            (reader === undefined || reader.isStart(observedAt)) &&
            value >= min &&
            value <= max
          if (isUsual) {
            points.push({ seriesId: series.id, observedAt, value })
            continue
          }
          const checked = checkRow(rowOf(head, code, numbers, i), catalogue, now, 1, asRecorded)
          if (checked.kind === 'point') points.push(checked.point)
          else if (checked.kind === 'blank') fault(i, 'price', 'price: is missing')
          else fault(i, checked.field, checked.reason)
        }
      }
      return points
    },
  }
}

function headOf(line: Uint8Array): BlockHead | undefined {
  try {
    const head = JSON.parse(Buffer.from(line).toString()) as Partial<BlockHead>
    const isHead =
      (head.width === 2 || head.width === 4) &&
      typeof head.envelope === 'object' &&
      Array.isArray(head.sources) &&
      Array.isArray(head.parts) &&
      head.parts.every(part => typeof part?.[0] === 'string' && part[1] >= 0)
    return isHead ? (head as BlockHead) : undefined
  } catch {
    return undefined
  }
}

/** A point as a row, for the checks of everything that is not usual. */
function rowOf(
  { width, sources }: BlockHead,
  code: string,
  numbers: Float64Array,
  i: number,
): RawRow {
  const at = i * width
  const instantOf = (ms: number) =>
    Number.isSafeInteger(ms) && Math.abs(ms) <= 8.64e15 ? isoInstant(ms) : String(ms)
  const row: RawRow = { code, observedAt: instantOf(numbers[at]!), price: numbers[at + 1]! }
  if (width === 2) return row
  const [recordedAt, extra] = [numbers[at + 2]!, numbers[at + 3]!]
  if (!Number.isNaN(recordedAt)) row.recordedAt = instantOf(recordedAt)
  if (extra >= 2) row.source = sources[Math.floor(extra / 2) - 1]
  if (extra % 2 === 1) row.deleted = true
  return row
}
