import type { Caller, RequestContext } from '../../../http/gate/request-context.ts'
import type { Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { createPause } from '../../../lib/process/slices.ts'
import { after } from '../../../lib/time/clock.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import { noPlace } from '../../streams/operations/access.ts'
import { cursorText } from '../math/cursor.ts'
import type { AnyRecord } from '../service/feed.ts'
import type { Changes } from '../service/open.ts'
import { textsOf } from './record.ts'
import { rowsOfPrice } from './request.ts'

/** A request with a response that continues. */
export interface StreamRequest {
  caller: Caller
  request: Request
  requestContext: RequestContext | undefined
  reply: Reply
  /** Waits until other requests have run. */
  turn: () => Promise<void>
}

type EndReason = 'shutdown' | 'revoked' | 'quota' | 'lineage' | 'done'

/** How long a client that does not read has left when its stream has ended. */
const partingSeconds = 10

/** How long records are read before other requests run. */
const sliceMs = 8

/** How often a stream without records sends a comment. */
export const keepAliveMs = 15 * secondMs
export const keepAlive = ': keep-alive\n\n'

export const blockOf = (event: string, data: unknown, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** Records as events of a stream. */
export const changeBlocks = (
  records: readonly AnyRecord[],
  cursorOf: ReturnType<Changes['cursors']>,
  sourceNameOf: Context['sourceNameOf'],
): string =>
  textsOf(records, cursorOf, sourceNameOf)
    .map((row, i) => {
      const id = cursorText(cursorOf(records[i]!.place))
      return `id: ${id}\nevent: change\ndata: ${row}\n\n`
    })
    .join('')

/**
 * A place among the streams of a key, until either side ends it; throws a refusal where there is none.
 * Its opening has paid for the first records. Undefined: only the headers are wanted.
 */
export function openFeedStream(
  { gate, streams, connections, meter }: Context,
  { caller, request, requestContext, reply, turn }: StreamRequest,
  type: string,
) {
  const { exportRequestsPer10kRows } = caller.entitled
  Object.assign(reply.headers, {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'no-store',
    // The header keeps proxies from collecting the response before they pass it on.
    'x-accel-buffering': 'no',
    'x-quota-requests': String(Math.max(1, exportRequestsPer10kRows)),
  })
  if (request.method === 'HEAD') return undefined
  const pause = createPause(sliceMs, { turn })
  let ending: EndReason | undefined
  let isWanted = true
  let paid = rowsOfPrice
  let wake = () => {}
  const stays = gate.stay(requestContext!)
  const end = (reason: EndReason | undefined) => {
    ending ??= reason
    release()
    wake()
  }
  const opened = streams.open('changes', caller.key.key.id, {
    refusal: () => stays()?.code.toLowerCase(),
    end({ by }) {
      end(by === 'refusal' ? 'revoked' : 'shutdown')
      connections.idle(request, partingSeconds)
    },
  })
  if (typeof opened === 'string') throw noPlace(opened, streams)
  const release = opened
  connections.idle(request, 0)
  const isOpen = () => isWanted && ending === undefined
  return {
    /** Whether neither side has ended it. */
    isOpen,
    end,
    /** The next result of steps between which others run; undefined: it has ended before. */
    async next<T, R>(steps: Iterator<T | undefined, R>) {
      while (isOpen()) {
        const step = steps.next()
        if (step.done || step.value !== undefined) return step
        await pause()
      }
      return undefined
    },
    /** Sends texts as they are made (undefined: there is none yet), and at the end what its reason says. */
    send(next: () => Promise<string | undefined>, last: (reason: EndReason) => string): Response {
      const encoder = new TextEncoder()
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          while (isWanted) {
            const text = ending === undefined ? await next() : undefined
            if (ending !== undefined) {
              release()
              controller.enqueue(encoder.encode(last(ending)))
              return controller.close()
            }
            if (text !== undefined && isWanted) return controller.enqueue(encoder.encode(text))
          }
        },
        cancel() {
          isWanted = false
          end(undefined)
        },
      })
      return new Response(body)
    },
    /** Charges for the records that were sent in all; one that the quota does not have ends it. */
    pay(sent: number): void {
      for (; sent > paid; paid += rowsOfPrice)
        for (let i = 0; i < exportRequestsPer10kRows; i += 1)
          if (!meter.reserve(caller.key)) {
            end('quota')
            return
          }
    },
    /** Waits so long, or until it ends. */
    async wait(waitMs: number): Promise<void> {
      if (waitMs <= 0 || ending !== undefined) return
      await new Promise<void>(resolve => {
        const stop = after(waitMs, resolve)
        wake = () => {
          stop()
          resolve()
        }
      })
    },
  }
}
