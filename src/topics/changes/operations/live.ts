import type { Caller, RequestContext } from '../../../http/gate/gate.ts'
import type { Answering } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { after, createSystemClock } from '../../../lib/time/clock.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import { noPlace } from '../../streams/operations/access.ts'
import type { Ending, OpenStream, Streams } from '../../streams/service/streams.ts'
import { cursorText, type Place } from '../math/cursor.ts'
import type { ChangeReader } from '../service/feed.ts'
import { rowsOf } from './record.ts'
import { rowsOfPrice } from './request.ts'

export interface LiveDeps {
  /** How often the feed is read while nothing new is recorded; 250 ms. */
  followEachMs?: number
}

interface Following {
  reader: ChangeReader
  since: Place
  caller: Caller
  request: Request
  requestContext: RequestContext | undefined
  reply: Answering
}

const followEachDefaultMs = 250
const keepAliveMs = 15 * secondMs
const cursorEachMs = 10 * secondMs
/** Records read at a time: the next are read when the client has taken these. */
const recordsEach = 500
/** What a client that reads nothing has left when its stream has ended. */
export const partingSeconds = 10

type EndReason = 'shutdown' | 'revoked' | 'quota' | 'lineage'

export const reasonOf = (ending: Ending): EndReason =>
  ending.by === 'refusal' ? 'revoked' : 'shutdown'

export const blockOf = (event: string, data: unknown, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** Charges a stream for its records beyond the first that its opening has paid for; false: the quota has no more. */
export function createToll(meter: Context['meter'], caller: Caller): (sent: number) => boolean {
  let paid = rowsOfPrice
  return sent => {
    for (; sent > paid; paid += rowsOfPrice)
      for (let i = 0; i < caller.entitled.exportRequestsPer10kRows; i += 1)
        if (!meter.reserve(caller.key)) return false
    return true
  }
}

/** Sends the records after a place, and then each as it is committed. */
export function followChanges(
  deps: Context & LiveDeps,
  { reader, since, caller, request, requestContext, reply }: Following,
): Response {
  const { changes, sourceNameOf, gate, peer, streams, connections, meter } = deps
  const { followEachMs = followEachDefaultMs } = deps
  const { monotonic } = createSystemClock()
  const price = caller.entitled.exportRequestsPer10kRows
  Object.assign(reply.headers, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // The header keeps proxies from collecting the response before they pass it on.
    'x-accel-buffering': 'no',
    'x-quota-requests': String(Math.max(1, price)),
  })
  if (request.method === 'HEAD') return new Response('')
  let place = since
  let sent = 0
  const pay = createToll(meter, caller)
  /** A burst is followed by the cursor that it ended at. */
  let isBurst = true
  let [cursorSentAt, signAt] = [monotonic(), monotonic()]
  let ending: EndReason | undefined
  let isWanted = true
  let wake = () => {}

  const cursorBlock = () => {
    cursorSentAt = monotonic()
    const cursor = cursorText(changes.cursorOf(place))
    return blockOf('cursor', { cursor }, cursor)
  }
  /** Makes the next block; undefined: there is nothing to send. */
  const next = (): string | undefined => {
    if (changes.goneSince(changes.cursorOf(place)) || isReset()) {
      ending = 'lineage'
      return undefined
    }
    const page = changes.page(reader, place, recordsEach)
    place = page.end
    if (page.records.length > 0) {
      sent += page.records.length
      if (!pay(sent)) {
        ending = 'quota'
        return undefined
      }
      isBurst = true
      cursorSentAt = monotonic()
      return rowsOf(page.records, changes.cursors(), sourceNameOf)
        .map(row => blockOf('change', row, row.cursor))
        .join('')
    }
    if (isBurst || monotonic() - cursorSentAt >= cursorEachMs) {
      isBurst = false
      return cursorBlock()
    }
    if (monotonic() - signAt < keepAliveMs) return undefined
    signAt = monotonic()
    return ': keep-alive\n\n'
  }
  /** The instance has another database than the one that the stream began with. */
  const isReset = () => changes.newest().writtenAt < place.writtenAt

  const stays = gate.stay(requestContext!, request, peer)
  const opened = openPlace(streams, caller.key.key.id, {
    refusal: () => stays()?.code.toLowerCase(),
    end(why) {
      ending = reasonOf(why)
      release()
      wake()
      connections.idle(request, partingSeconds)
    },
  })
  const release = opened
  connections.idle(request, 0)
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const text = ending === undefined ? next() : undefined
        if (!isWanted) return
        if (ending !== undefined) {
          release()
          const retry = ending === 'shutdown'
          controller.enqueue(encoder.encode(blockOf('end', { reason: ending, retry })))
          return controller.close()
        }
        if (text !== undefined) return controller.enqueue(encoder.encode(text))
        await new Promise<void>(resolve => {
          const stop = after(followEachMs, resolve)
          wake = () => {
            stop()
            resolve()
          }
        })
      }
    },
    cancel() {
      isWanted = false
      release()
      wake()
    },
  })
  return new Response(body)
}

/** A place among the streams of a key; a refusal if there is none. */
export function openPlace(streams: Streams, keyId: string, stream: OpenStream): () => void {
  const opened = streams.open('changes', keyId, stream)
  if (typeof opened === 'string') throw noPlace(opened, streams)
  return opened
}
