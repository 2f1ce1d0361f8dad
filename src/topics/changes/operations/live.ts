import type { Context } from '../../../http/operations/context.ts'
import { createSystemClock } from '../../../lib/time/clock.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import { cursorText, isBefore, type Place } from '../math/cursor.ts'
import type { ChangeReader } from '../service/feed.ts'
import {
  blockOf,
  changeBlocks,
  keepAlive,
  keepAliveMs,
  openFeedStream,
  type StreamRequest,
} from './feed-stream.ts'

interface Following extends StreamRequest {
  reader: ChangeReader
  since: Place
}

/** How often the feed is polled while nothing new is recorded. */
const followEachMs = 250
const cursorEachMs = 10 * secondMs
/** Records read at a time: the next are read when the client has taken these. */
const recordsEach = 500
/** Ranges of the log that are read at a time, for a client of few codes. */
const rangesEach = 5_000

/** Sends the records after a place, and then each as it is committed. */
export function followChanges(deps: Context, { reader, since, ...incoming }: Following): Response {
  const { changes, sourceNameOf } = deps
  const { monotonic } = createSystemClock()
  const stream = openFeedStream(deps, incoming, 'text/event-stream')
  if (!stream) return new Response('')
  /** With its branch of the history: on another branch, the sent events do not exist. */
  let cursor = changes.cursorOf(since)
  let sent = 0
  /** A burst is followed by the cursor at its end. */
  let isBurst = true
  let [cursorSentAt, signAt] = [monotonic(), monotonic()]
  const hasNew = () => isBefore(cursor, changes.newest())

  /** The next records; undefined: there are none for this reader, or the stream has ended. */
  const nextRecords = async (): Promise<string | undefined> => {
    const steps = changes.pageInSteps(reader, cursor, recordsEach, rangesEach)
    const page = (await stream.next(steps))?.value
    if (!page) return undefined
    cursor = changes.cursorOf(page.end)
    if (page.records.length === 0) return undefined
    sent += page.records.length
    stream.pay(sent)
    isBurst = true
    cursorSentAt = monotonic()
    return changeBlocks(page.records, changes.cursors(), sourceNameOf)
  }
  const next = async (): Promise<string | undefined> => {
    if (hasNew()) await incoming.turn()
    if (changes.goneSince(cursor)) stream.end('lineage')
    const records = stream.isOpen() && hasNew() ? await nextRecords() : undefined
    if (records !== undefined || !stream.isOpen()) return records
    if (isBurst || monotonic() - cursorSentAt >= cursorEachMs) {
      isBurst = false
      cursorSentAt = monotonic()
      const text = cursorText(cursor)
      return blockOf('cursor', { cursor: text }, text)
    }
    if (monotonic() - signAt >= keepAliveMs) {
      signAt = monotonic()
      return keepAlive
    }
    if (!hasNew()) await stream.wait(followEachMs)
    return undefined
  }
  return stream.send(next, reason => blockOf('end', { reason, retry: reason === 'shutdown' }))
}
