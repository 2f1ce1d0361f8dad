import { dayMs, isoDay, parseDay } from '../../../lib/time/instant.ts'
import type { Quarantine, QuarantineStore } from '../store/quarantine.ts'

/** A stretch of time that reads may use, half-open. */
export interface Stretch {
  from: number
  to: number
}

/** The quarantined days in memory: what every read leaves out. */
export type QuarantineList = ReturnType<typeof createQuarantineList>

interface Range extends Stretch {
  reason: string
}

/** Changes the list together with its entry in the feed of changes, in one transaction. */
export type NotesQuarantine = <T>(
  work: () => T,
  eventOf: (done: T) => { seriesId: number; event: QuarantineEvent } | undefined,
) => T

export type QuarantineEvent =
  | { kind: 'quarantined'; id: number; from: string; to: string }
  | { kind: 'released'; id: number }

export function createQuarantineList(
  store: QuarantineStore,
  changed: (seriesId: number) => void,
  noted: NotesQuarantine = work => work(),
) {
  let all: Quarantine[] = []
  let ranges = new Map<number, Range[]>()
  /** Reads the store again: another thread has changed it. */
  const reload = () => {
    all = store.all()
    ranges = new Map()
    for (const quarantine of all) {
      const range = {
        from: parseDay(quarantine.fromOn)!,
        to: parseDay(quarantine.toOn)! + dayMs,
        reason: quarantine.reason,
      }
      ranges.set(quarantine.seriesId, [...(ranges.get(quarantine.seriesId) ?? []), range])
    }
  }
  reload()
  return {
    reload,
    /** `[from, to)` without the quarantined days of the series, oldest first. */
    clear(seriesId: number, from: number, to: number) {
      const clear: Stretch[] = []
      let start = from
      // The store answers them by first day, so one pass is enough even where they overlap.
      for (const range of ranges.get(seriesId) ?? []) {
        if (range.to <= start || range.from >= to) continue
        if (range.from > start) clear.push({ from: start, to: range.from })
        start = range.to
      }
      if (start < to) clear.push({ from: start, to })
      return clear
    },
    /** The quarantined ranges of a series that touch `[from, to)`. */
    within(seriesId: number, from: number, to: number) {
      const touching = (ranges.get(seriesId) ?? []).filter(
        range => range.from < to && range.to > from,
      )
      const days = new Set<string>()
      for (const range of touching) {
        for (
          let day = Math.max(range.from, Math.floor(from / dayMs) * dayMs);
          day < Math.min(range.to, to);
          day += dayMs
        )
          days.add(isoDay(day))
      }
      return { days: [...days].sort(), reasons: [...new Set(touching.map(range => range.reason))] }
    },
    all: (): readonly Quarantine[] => all,
    add(range: Omit<Quarantine, 'id'>) {
      const added = noted(
        () => store.add(range),
        ({ id, seriesId, fromOn, toOn }) => ({
          seriesId,
          event: { kind: 'quarantined', id, from: fromOn, to: toOn },
        }),
      )
      reload()
      changed(range.seriesId)
      return added
    },
    remove(id: number) {
      const removed = all.find(quarantine => quarantine.id === id)
      if (!removed) return undefined
      const isRemoved = noted(
        () => store.remove(id),
        done =>
          done ? { seriesId: removed.seriesId, event: { kind: 'released', id } } : undefined,
      )
      if (!isRemoved) return undefined
      reload()
      changed(removed.seriesId)
      return removed
    },
  }
}
