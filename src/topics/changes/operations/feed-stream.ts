import type { Caller, RequestContext } from '../../../http/gate/request-context.ts'
import type { Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { after } from '../../../lib/time/clock.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import { noPlace } from '../../streams/operations/access.ts'
import { rowsOfPrice } from './request.ts'

/** A request with a response that continues. */
export interface StreamRequest {
  caller: Caller
  request: Request
  requestContext: RequestContext | undefined
  reply: Reply
}

type EndReason = 'shutdown' | 'revoked' | 'quota' | 'lineage'

/** How long a client that does not read has left when its stream has ended. */
const partingSeconds = 10

/** How often a stream without records sends a comment. */
export const keepAliveMs = 15 * secondMs
export const keepAlive = ': keep-alive\n\n'

export const blockOf = (event: string, data: unknown, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

export const changeBlock = (row: string, cursor: string): string =>
  `id: ${cursor}\nevent: change\ndata: ${row}\n\n`

/** The headers of a response that continues. */
export function openHeaders({ headers }: Reply, type: string, { entitled }: Caller): void {
  Object.assign(headers, {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'no-store',
    // The header keeps proxies from collecting the response before they pass it on.
    'x-accel-buffering': 'no',
    'x-quota-requests': String(Math.max(1, entitled.exportRequestsPer10kRows)),
  })
}

/**
 * A place among the streams of a key, until either side ends it; throws a refusal where there is none.
 * Its opening has paid for the first records.
 */
export function openFeedStream(
  { gate, streams, connections, meter }: Context,
  { caller, request, requestContext }: Omit<StreamRequest, 'reply'>,
) {
  let ending: EndReason | undefined
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
  return {
    /** Why the stream has ended; undefined: it is open. */
    ending: () => ending,
    /** Gives up its place. */
    end,
    /** Charges for the records that were sent in all; one that the quota does not have ends it. */
    pay(sent: number): void {
      for (; sent > paid; paid += rowsOfPrice)
        for (let i = 0; i < caller.entitled.exportRequestsPer10kRows; i += 1)
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
