import type { SpoolFile, SpoolFolder } from '../../../feeds/files/spool-folder.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import type { Point } from '../store/observations.ts'

/**
 * Called for each point that a later line of the file repeats, with whether the values are the
 * same.
 */
export type OnRepeated = (line: number, isSame: boolean) => void

export interface SpooledPoints {
  /** The points to write, so many at a time. They can be requested again. */
  batches(max: number, onRepeated: OnRepeated): Generator<Point[]>
}

/** Points that are sorted in memory at once: some 15 MB with the sorted copy. */
const runPointsMax = 2 ** 18
/** Points of one run that a merge holds at a time. */
const windowPoints = 4096

/**
 * Numbers of a record: `at, value, line`, then `recordedAt, extra` for values with more than a
 * number.
 */
const [shortRecord, longRecord] = [3, 5] as const
const numberBytes = Float64Array.BYTES_PER_ELEMENT

/** Records of one run, by series and time, in memory or in the file of the spool. */
interface Run {
  records: Float64Array | undefined
  /** Where the run begins in the file, in records. */
  fileStart: number
  segments: Map<number, { from: number; count: number }>
}

/**
 * The points of one file between its reading and its writing: by series in the order in which the
 * file names them, oldest first. Of a point that a file has more than once only the last one is
 * written, so importing the file again changes nothing even if it contradicts itself. Memory does
 * not grow with the file: sorted runs of points wait on the disk.
 *
 * `saysMore`: points may have a time of recording or a source, or be deleted.
 */
export function createPointSpool({
  saysMore,
  folder,
  runMax = runPointsMax,
}: {
  saysMore: boolean
  folder: Pick<SpoolFolder, 'openUnnamed'>
  runMax?: number
}) {
  const width = saysMore ? longRecord : shortRecord
  let records = new Float64Array(width * Math.min(runMax, 2 ** 12))
  let slots = new Uint32Array(records.length / width)
  let count = 0
  const seriesIds: number[] = []
  const slotOf = new Map<number, number>()
  let previous = { seriesId: Number.NaN, slot: 0 }
  const sources: string[] = []
  const sourceNumbers = new Map<string, number>()
  const runs: Run[] = []
  let file: SpoolFile | undefined
  let filed = 0

  const slotFor = (seriesId: number): number => {
    if (previous.seriesId === seriesId) return previous.slot
    let slot = slotOf.get(seriesId)
    if (slot === undefined) {
      slot = seriesIds.push(seriesId) - 1
      slotOf.set(seriesId, slot)
    }
    previous = { seriesId, slot }
    return slot
  }

  /** 1 for a deleted point, plus twice the number of its source from 1. */
  const extraOf = ({ deleted, source }: Point): number => {
    let number = 0
    if (source !== undefined) {
      number = sourceNumbers.get(source) ?? sources.push(source)
      sourceNumbers.set(source, number)
    }
    return number * 2 + (deleted ? 1 : 0)
  }

  /** Room for one more record: the arrays double up to a run, and a full run goes to the disk. */
  const makeRoom = () => {
    if (count < slots.length) return
    if (count < runMax) {
      const size = Math.min(runMax, count * 2)
      const [before, slotsBefore] = [records, slots]
      records = new Float64Array(width * size)
      slots = new Uint32Array(size)
      records.set(before)
      slots.set(slotsBefore)
      return
    }
    const run = sortedRun()
    file ??= folder.openUnnamed()
    file.append(bytesOf(run.records!))
    runs.push({ ...run, records: undefined, fileStart: filed })
    filed += count
    count = 0
  }

  const sortedRun = (): Run => {
    const { order, segments } = bySlot(slots.subarray(0, count), seriesIds.length)
    for (const { from, count: points } of segments.values())
      sortByTime(order.subarray(from, from + points), records, width)
    const sorted = new Float64Array(count * width)
    for (let i = 0; i < count; i += 1) {
      const at = order[i]! * width
      for (let k = 0; k < width; k += 1) sorted[i * width + k] = records[at + k]!
    }
    return { records: sorted, fileStart: 0, segments }
  }

  const pointOf = (seriesId: number, record: Float64Array, at: number): Point => {
    const point: Point = { seriesId, observedAt: record[at]!, value: record[at + 1]! }
    if (width === shortRecord) return point
    const recordedAt = record[at + 3]!
    const extra = record[at + 4]!
    if (recordedAt !== Number.POSITIVE_INFINITY) point.recordedAt = recordedAt
    if (extra >= 2) point.source = sources[Math.floor(extra / 2) - 1]!
    if (extra % 2 === 1) point.deleted = true
    return point
  }

  const spooled: SpooledPoints = {
    *batches(max, onRepeated) {
      let batch: Point[] = []
      const read = (run: Run, from: number, to: number): Float64Array => {
        if (run.records) return run.records.subarray(from * width, to * width)
        const window = new Float64Array((to - from) * width)
        file!.read(bytesOf(window), (run.fileStart + from) * width * numberBytes)
        return window
      }
      for (const [slot, seriesId] of seriesIds.entries()) {
        const unique = createUnique(width, onRepeated)
        for (const { records, from, to } of merged(runs, slot, width, read))
          for (let at = from; at < to; at += width) {
            const last = unique.next(records, at)
            if (!last) continue
            batch.push(pointOf(seriesId, last.records, last.at))
            if (batch.length < max) continue
            yield batch
            batch = []
          }
        const last = unique.end()
        if (last) batch.push(pointOf(seriesId, last.records, last.at))
        if (batch.length < max) continue
        yield batch
        batch = []
      }
      if (batch.length > 0) yield batch
    },
  }

  const add = (seriesId: number, observedAt: number, value: number, line: number) => {
    makeRoom()
    const at = count * width
    records[at] = observedAt
    records[at + 1] = value
    records[at + 2] = line
    if (saysMore) {
      records[at + 3] = Number.POSITIVE_INFINITY
      records[at + 4] = 0
    }
    slots[count] = slotFor(seriesId)
    count += 1
  }

  return {
    /** A point that has nothing but its value. */
    add,
    addPoint(point: Point, line: number) {
      add(point.seriesId, point.observedAt, point.value, line)
      if (!saysMore) return
      const at = (count - 1) * width
      records[at + 3] = point.recordedAt ?? Number.POSITIVE_INFINITY
      records[at + 4] = extraOf(point)
    },
    /** Everything was added. */
    finish(): SpooledPoints {
      if (count > 0) runs.push(sortedRun())
      records = new Float64Array(0)
      slots = new Uint32Array(0)
      count = 0
      return spooled
    },
  }
}

const bytesOf = (numbers: Float64Array): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)

/** The records of each series in the order in which they came, and where each series has them. */
function bySlot(slots: Uint32Array, slotCount: number) {
  const ends = new Uint32Array(slotCount)
  for (const slot of slots) ends[slot]! += 1
  const segments: Run['segments'] = new Map()
  let from = 0
  for (let slot = 0; slot < slotCount; slot += 1) {
    const count = ends[slot]!
    ends[slot] = from
    if (count > 0) segments.set(slot, { from, count })
    from += count
  }
  const order = new Uint32Array(slots.length)
  for (let i = 0; i < slots.length; i += 1) {
    const slot = slots[i]!
    order[ends[slot]!] = i
    ends[slot]! += 1
  }
  return { order, segments }
}

/** Sorts by the time, those of one moment by the time of recording, and keeps the order of equals. */
function sortByTime(order: Uint32Array, records: Float64Array, width: number): void {
  const saysMore = width === longRecord
  const compare = (a: number, b: number): number => {
    const [left, right] = [a * width, b * width]
    const difference = records[left]! - records[right]!
    if (difference !== 0 || !saysMore) return difference
    const [before, after] = [records[left + 3]!, records[right + 3]!]
    return before === after ? 0 : before - after
  }
  for (let i = 1; i < order.length; i += 1)
    if (compare(order[i - 1]!, order[i]!) > 0) {
      if (saysMore || !sortBySecond(order, records, width)) order.sort(compare)
      return
    }
}

/**
 * The same for whole seconds, several times as fast: a number holds the second and the place of a
 * record, and numbers are sorted without a comparison in between. Returns whether it could.
 */
function sortBySecond(order: Uint32Array, records: Float64Array, width: number): boolean {
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (const place of order) {
    const at = records[place * width]!
    if (at % secondMs !== 0) return false
    if (at < first) first = at
    if (at > last) last = at
  }
  const { length } = order
  if (((last - first) / secondMs + 1) * length > Number.MAX_SAFE_INTEGER) return false
  const keys = new Float64Array(length)
  for (let i = 0; i < length; i += 1)
    keys[i] = ((records[order[i]! * width]! - first) / secondMs) * length + i
  keys.sort()
  const before = order.slice()
  for (let i = 0; i < length; i += 1) order[i] = before[keys[i]! % length]!
  return true
}

/** Sorted records of one series: from `from` to `to` of `records`, in numbers. */
interface Stretch {
  records: Float64Array
  from: number
  to: number
}

/** The records of a series of all runs in one order; of equal ones the earlier run is first. */
function* merged(
  runs: readonly Run[],
  slot: number,
  width: number,
  read: (run: Run, from: number, to: number) => Float64Array,
): Generator<Stretch> {
  let cursors = runs.flatMap(run => {
    const segment = run.segments.get(slot)
    return segment
      ? [{ run, left: segment, records: new Float64Array(0) as Float64Array, at: 0 }]
      : []
  })
  const fill = (cursor: (typeof cursors)[number]) => {
    const { from, count } = cursor.left
    const size = Math.min(count, windowPoints)
    cursor.records = read(cursor.run, from, from + size)
    cursor.left = { from: from + size, count: count - size }
    cursor.at = 0
  }
  for (const cursor of cursors) fill(cursor)
  const isBefore = (
    a: Float64Array,
    i: number,
    b: Float64Array,
    j: number,
    isEarlierRun: boolean,
  ) => {
    let difference = a[i]! - b[j]!
    if (difference === 0 && width === longRecord && a[i + 3] !== b[j + 3])
      difference = a[i + 3]! - b[j + 3]!
    return difference < 0 || (difference === 0 && isEarlierRun)
  }
  while (cursors.length > 0) {
    let first = 0
    let second = -1
    for (let i = 1; i < cursors.length; i += 1) {
      const [cursor, least] = [cursors[i]!, cursors[first]!]
      if (isBefore(cursor.records, cursor.at, least.records, least.at, false)) {
        second = first
        first = i
      } else if (second < 0) second = i
      else {
        const next = cursors[second]!
        if (isBefore(cursor.records, cursor.at, next.records, next.at, i < second)) second = i
      }
    }
    const cursor = cursors[first]!
    const other = second < 0 ? undefined : cursors[second]!
    const { records, at: from } = cursor
    let to = from + width
    while (
      to < records.length &&
      (!other || isBefore(records, to, other.records, other.at, first < second))
    )
      to += width
    cursor.at = to
    yield { records, from, to }
    if (to < records.length) continue
    if (cursor.left.count > 0) fill(cursor)
    else cursors = cursors.filter(other => other !== cursor)
  }
}

/**
 * Returns the last record of each key. The key is the time; for values with more than a number also
 * the time of recording and whether the point is deleted.
 */
function createUnique(width: number, onRepeated: OnRepeated) {
  let waiting: { records: Float64Array; at: number } | undefined
  /** Earlier lines with the same key as the pending one. */
  let earlier: { line: number; value: number }[] = []
  const isSameKey = (a: Float64Array, i: number, b: Float64Array, j: number) =>
    a[i] === b[j] &&
    (width === shortRecord || (a[i + 3] === b[j + 3] && a[i + 4]! % 2 === b[j + 4]! % 2))
  const passed = () => {
    const last = waiting
    if (last && earlier.length > 0) {
      for (const { line, value } of earlier) onRepeated(line, value === last.records[last.at + 1])
      earlier = []
    }
    return last
  }
  return {
    /** Takes a record; returns the one before it where that was the last of its key. */
    next(records: Float64Array, at: number) {
      if (waiting && isSameKey(waiting.records, waiting.at, records, at)) {
        const before = waiting
        earlier.push({
          line: before.records[before.at + 2]!,
          value: before.records[before.at + 1]!,
        })
        waiting = { records, at }
        return undefined
      }
      const last = passed()
      waiting = { records, at }
      return last
    },
    end: passed,
  }
}
