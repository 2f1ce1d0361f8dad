import type { PageChecksums } from '../../../database/page-checksums.ts'
import type { Log } from '../../../lib/log/log.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { dayMs, isDueAgain } from '../../../lib/time/instant.ts'
import type { Settings } from '../store/settings.ts'

/** The status of the page checks; instants are Unix ms. */
export interface ScrubStatus {
  /** When every page was last compared with its checksum. */
  finishedAt: number | undefined
  /** Where the next pass continues, while a scrub is under way. */
  nextPage: number | undefined
  /** Pages that are not as they were written. */
  damaged: readonly number[]
  /** Damaged pages that were written over since: values read from them before may be wrong. */
  rewritten: readonly number[]
  /** When that was last seen. */
  rewrittenAt: number | undefined
}

export interface ScrubDeps {
  /** Undefined where the database has none. */
  checksums: PageChecksums | undefined
  settings: Settings
  clock: Pick<Clock, 'now' | 'monotonic'>
  log: Log
}

const name = 'scrub'
const everyMs = 7 * dayMs
/** A megabyte of usual pages. */
const slicePages = 256
const passMs = 10
/** Damage that was overwritten cannot be checked again: it is reported for so long. */
const rewrittenForMs = 30 * dayMs
/** More page numbers would add no information. */
const notifiedMax = 1000

/**
 * Compares the pages of the database with their checksums, all of them once a week, and reports
 * pages that something other than this service has changed.
 */
export function createScrub({ checksums, settings, clock, log }: ScrubDeps) {
  let status: ScrubStatus | undefined
  let wasNotified = false

  const get = (): ScrubStatus => {
    status ??= readFrom(settings)
    // The last scrub was of another file, as after a restore: pages get their checksums at once.
    if (checksums?.takeBegun())
      status = { ...status, finishedAt: undefined, nextPage: undefined, damaged: [] }
    return status
  }
  const put = (next: ScrubStatus) => {
    settings.set(name, JSON.stringify(next))
    status = next
  }
  const notify = (pages: readonly number[], message: string) => {
    if (pages.length > 0)
      log.error('page_damaged', { count: pages.length, pages: pages.slice(0, 20), message })
  }
  const isKept = () => {
    const error = checksums?.fault()
    if (error !== undefined && !wasNotified)
      log.error('checksums_stopped', {
        error,
        message:
          'The page checksums could not be written. They are rebuilt when a full disk has space again, and otherwise at the next start.',
      })
    wasNotified = error !== undefined
    return error === undefined
  }
  /** Records damage that was found while pages were written over. */
  const note = () => {
    const pages = checksums?.takeRewritten() ?? []
    if (pages.length === 0) return
    notify(
      pages,
      'Pages of the database were damaged when they were about to be written over: what was read from them may be wrong. Run verify, and compare with a backup.',
    )
    const { damaged, rewritten } = get()
    put({
      ...get(),
      damaged: damaged.filter(page => !pages.includes(page)),
      rewritten: [...new Set([...rewritten, ...pages])].slice(-notifiedMax),
      rewrittenAt: clock.now(),
    })
  }
  /** Compares from a page on while there is time. */
  const compare = (compared: PageChecksums, from: number) => {
    const until = clock.monotonic() + passMs
    const pages: number[] = []
    let next: number | undefined = from
    do {
      const slice = compared.check(next, slicePages)
      pages.push(...slice.damaged)
      next = slice.next
    } while (next !== undefined && clock.monotonic() < until)
    return { pages, next }
  }
  return {
    status: get,
    note,
    /** Compares for some milliseconds, where a scrub is due or under way. */
    pass() {
      if (!checksums || !isKept()) return
      note()
      const { finishedAt, nextPage } = get()
      if (nextPage === undefined && !isDueAgain(finishedAt, everyMs, clock.now())) return
      const from = nextPage ?? 1
      const { pages, next } = compare(checksums, from)
      if (!isKept()) return
      notify(
        pages,
        'Pages of the database are not as they were written: the disk or another program changed them. Run verify, and restore a backup.',
      )
      const { damaged, rewritten, rewrittenAt } = get()
      const elsewhere = damaged.filter(page => page < from || (next !== undefined && page >= next))
      const isOver = rewrittenAt === undefined || clock.now() - rewrittenAt > rewrittenForMs
      put({
        finishedAt: next === undefined ? clock.now() : get().finishedAt,
        nextPage: next,
        damaged: [...elsewhere, ...pages].slice(0, notifiedMax),
        rewritten: isOver ? [] : rewritten,
        rewrittenAt: isOver ? undefined : rewrittenAt,
      })
    },
  }
}

function readFrom(settings: Settings): ScrubStatus {
  const kept = JSON.parse(settings.get(name) ?? '{}') as Partial<ScrubStatus>
  return {
    finishedAt: kept.finishedAt,
    nextPage: kept.nextPage,
    damaged: kept.damaged ?? [],
    rewritten: kept.rewritten ?? [],
    rewrittenAt: kept.rewrittenAt,
  }
}

/** The damage of the database, as a sentence; undefined where none is known. */
export function damageText({ damaged, rewritten }: ScrubStatus): string | undefined {
  const count = damaged.length + rewritten.length
  if (count === 0) return undefined
  return `${count === 1 ? 'A page' : `${count} pages`} of the database ${count === 1 ? 'was' : 'were'} damaged on the disk.`
}
