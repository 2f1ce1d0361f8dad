import { dayMs } from '../../../../lib/time/instant.ts'
import type { Bar } from '../../math/bars.ts'
import type { ObservationStore } from '../../store/observations.ts'

/** Days of a block, which is read and forgotten as a whole. */
const blockDays = 256
const blockMs = blockDays * dayMs
/** A wider range is read rarely and is not cached. */
const blocksPerReadMax = 4
/**
 * Fourteen codes over twelve years, or more codes over fewer: when the blocks that are read do not fit,
 * each is dropped before it is read again, and nothing is saved. Some 120 bytes a bar: at most 8 MB.
 */
const blocksDefault = 256

/**
 * Reads bars like the store. Day bars are cached in blocks of a series that were read twice:
 * reading a hundred of them from the database takes twice as long as writing them into a response.
 */
export function createDayBars(
  observations: Pick<ObservationStore, 'bars'>,
  blocksMax = blocksDefault,
) {
  // A Map keeps the order of insertion, so the first entry is the least recently used.
  const blocks = new Map<string, { seriesId: number; end: number; bars: Bar[] }>()
  const askedOnce = new Set<string>()

  /** The bars of a block, newest first; undefined at the first time. */
  const blockOf = (seriesId: number, number: number): Bar[] | undefined => {
    const key = `${seriesId} ${number}`
    let block = blocks.get(key)
    if (block) blocks.delete(key)
    else if (askedOnce.delete(key)) {
      const end = (number + 1) * blockMs
      const bars = observations.bars(seriesId, 24, end - blockMs, end, blockDays)
      block = { seriesId, end, bars }
    } else {
      if (askedOnce.size >= blocksMax) askedOnce.clear()
      askedOnce.add(key)
      return undefined
    }
    blocks.set(key, block)
    if (blocks.size > blocksMax) blocks.delete(blocks.keys().next().value!)
    return block.bars
  }

  const bars: ObservationStore['bars'] = (seriesId, span, from, to, limit, bornBy) => {
    const stored = () => observations.bars(seriesId, span, from, to, limit, bornBy)
    const first = Math.floor(from / blockMs)
    const last = Math.ceil(to / blockMs) - 1
    if (span !== 24 || !(last - first < blocksPerReadMax)) return stored()
    const found: Bar[] = []
    for (let number = last; number >= first && found.length < limit; number -= 1) {
      const block = blockOf(seriesId, number)
      if (!block) return stored()
      for (const bar of block) {
        if (bar.startsAt < from || found.length === limit) break
        if (bar.startsAt < to && !(bar.bornAt > bornBy!)) found.push(bar)
      }
    }
    return found
  }

  return {
    bars,
    /** `from`: nothing that was observed earlier has changed. */
    forget(seriesId: number, from = Number.NEGATIVE_INFINITY) {
      for (const [key, block] of blocks)
        if (block.seriesId === seriesId && block.end > from) blocks.delete(key)
    },
  }
}
