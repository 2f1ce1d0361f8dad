import type { Position } from './history.ts'

/** Where someone is who walks through the pages of a question asked at one moment. */
export interface Walk {
  /** The moment of its first page: later rows are not part of it. */
  startedAt: number
  from: number
  to: number
  total: number
  /** Where each following page begins; only the newest few are kept. */
  starts: Map<number, Position>
}

/**
 * Page numbers alone can not be walked while data comes in: each new row pushes the others on. So the first page of a question is
 * remembered for a while, and the pages after it continue from where the one before ended, over the rows of that moment.
 * Someone who asks for a page out of order, or after a restart, gets it by counting.
 */
export interface Walks {
  begin(question: string, walk: Omit<Walk, 'starts'>): Walk
  find(question: string, now: number): Walk | undefined
}

const keptMs = 15 * 60_000
const walksMax = 10_000
export const startsMax = 8

export function walks(): Walks {
  // A Map keeps the order of insertion, so the first is the oldest.
  const held = new Map<string, Walk>()
  return {
    begin(question, walk) {
      held.delete(question)
      if (held.size >= walksMax) held.delete(held.keys().next().value!)
      const begun = { ...walk, starts: new Map<number, Position>() }
      held.set(question, begun)
      return begun
    },
    find(question, now) {
      const found = held.get(question)
      if (!found) return undefined
      if (now - found.startedAt < keptMs && now >= found.startedAt) return found
      held.delete(question)
      return undefined
    },
  }
}

/** Remembers where the page after `page` begins, and forgets the oldest beyond a few: a retry of a page must still be possible. */
export function remember(walk: Walk, page: number, position: Position): void {
  walk.starts.set(page + 1, position)
  if (walk.starts.size > startsMax) walk.starts.delete(walk.starts.keys().next().value!)
}
