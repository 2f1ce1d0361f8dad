import type { Context } from '../../../http/operations/context.ts'
import { createPause } from '../../../lib/process/slices.ts'
import { createSystemClock } from '../../../lib/time/clock.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import { cursorText, isBefore, type Place } from '../math/cursor.ts'
import type { ChangeReader } from '../service/feed.ts'
import {
  blockOf,
  changeBlock,
  keepAlive,
  keepAliveMs,
  openFeedStream,
  openHeaders,
  type StreamRequest,
} from './feed-stream.ts'
import { textsOf } from './record.ts'

interface Following extends StreamRequest {
  turn: () => Promise<void>
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
/** How long records are read before other requests run. */
const sliceMs = 8

/** Sends the records after a place, and then each as it is committed. */
export function followChanges(
  deps: Context,
  { reader, since, turn, ...incoming }: Following,
): Response {
  const { changes, sourceNameOf } = deps
  const { monotonic } = createSystemClock()
  openHeaders(incoming.reply, 'text/event-stream', incoming.caller)
  if (incoming.request.method === 'HEAD') return new Response('')
  const stream = openFeedStream(deps, incoming)
  /** With its branch of the history: on another branch, the sent events do not exist. */
  let cursor = changes.cursorOf(since)
  let sent = 0
  /** A burst is followed by the cursor at its end. */
  let isBurst = true
  let [cursorSentAt, signAt] = [monotonic(), monotonic()]
  let isWanted = true

  /** The next page, a slice of it a turn; undefined: no one waits for it any more. */
  const nextPage = async () => {
    const steps = changes.pageInSteps(reader, cursor, recordsEach, rangesEach)
    const pause = createPause(sliceMs, { turn })
    while (isWanted && stream.ending() === undefined) {
      const step = steps.next()
      if (step.done) return step.value
      await pause()
    }
    return undefined
  }

  /** Makes the next block; undefined: there is nothing to send. */
  const next = async (): Promise<string | undefined> => {
    if (changes.goneSince(cursor)) {
      stream.end('lineage')
      return undefined
    }
    if (isBefore(cursor, changes.newest())) {
      const page = await nextPage()
      if (!page) return undefined
      cursor = changes.cursorOf(page.end)
      if (page.records.length > 0) {
        sent += page.records.length
        stream.pay(sent)
        if (stream.ending() !== undefined) return undefined
        isBurst = true
        cursorSentAt = monotonic()
        const cursorOf = changes.cursors()
        return textsOf(page.records, cursorOf, sourceNameOf)
          .map((row, i) => changeBlock(row, cursorText(cursorOf(page.records[i]!.place))))
          .join('')
      }
    }
    if (isBurst || monotonic() - cursorSentAt >= cursorEachMs) {
      isBurst = false
      cursorSentAt = monotonic()
      const text = cursorText(cursor)
      return blockOf('cursor', { cursor: text }, text)
    }
    if (monotonic() - signAt < keepAliveMs) return undefined
    signAt = monotonic()
    return keepAlive
  }

  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      while (isWanted) {
        if (isBefore(cursor, changes.newest())) await turn()
        const text = stream.ending() === undefined && isWanted ? await next() : undefined
        const reason = stream.ending()
        if (reason !== undefined) {
          stream.end(reason)
          const retry = reason === 'shutdown'
          controller.enqueue(encoder.encode(blockOf('end', { reason, retry })))
          return controller.close()
        }
        if (text !== undefined) return controller.enqueue(encoder.encode(text))
        if (!isBefore(cursor, changes.newest())) await stream.wait(followEachMs)
      }
    },
    cancel() {
      isWanted = false
      stream.end(undefined)
    },
  })
  return new Response(body)
}
