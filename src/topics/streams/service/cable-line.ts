import type { Clock } from '../../../lib/time/clock.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import type { Ending } from './streams.ts'

/** The other end of a connection. */
export interface CableSocket {
  /** False: the client reads more slowly than frames are sent, and frames wait in memory. */
  send(text: string): boolean
  waitingBytes(): number
  close(code: number, reason: string): void
}

/** The frames of one connection, and whether its client reads them. */
export type CableLine = ReturnType<typeof createCableLine>

export interface LineDeps {
  clock: Pick<Clock, 'now'>
  stopwatch: Pick<Clock, 'monotonic'>
  /** The connection is none any more, from whichever side; may be called again. */
  onClosed(): void
}

const pingEachMs = 3 * secondMs
/** A client that has not read what was sent for this long is too slow. */
const stalledMaxMs = 10 * secondMs
/** So is one for which this much waits in memory. */
const waitingBytesMax = 256 * 1024

export function createCableLine({ clock, stopwatch, onClosed }: LineDeps) {
  let socket: CableSocket | undefined
  let stalledSince: number | undefined
  let pingedAt = 0

  /** Sends the client the reason to disconnect, and closes. */
  const end = (ending: Ending) => {
    const open = socket
    socket = undefined
    onClosed()
    if (!open) return
    const { code, reason, reconnect } = farewell(ending)
    open.send(JSON.stringify({ type: 'disconnect', reason, reconnect }))
    open.close(code, reason)
  }
  /** Nothing happens where the connection is not open. */
  const say = (frame: object) => {
    const open = socket
    if (!open) return
    if (!open.send(JSON.stringify(frame))) stalledSince ??= stopwatch.monotonic()
    if (open.waitingBytes() > waitingBytesMax) end({ by: 'overload' })
  }
  return {
    say,
    end,
    opened(open: CableSocket) {
      socket = open
      pingedAt = stopwatch.monotonic()
      say({ type: 'welcome' })
    },
    /** Open, and no frame waits in memory. */
    isReady: () => socket !== undefined && stalledSince === undefined,
    /** Keeps the schedule of the pings, and gives up a client that does not read. */
    beat() {
      const now = stopwatch.monotonic()
      if (stalledSince !== undefined) {
        if (now - stalledSince >= stalledMaxMs) end({ by: 'overload' })
        return
      }
      if (now - pingedAt < pingEachMs) return
      // From one due ping to the next, so that the schedule of the beats does not add up; after a
      // pause, from now.
      pingedAt = now - pingedAt < 2 * pingEachMs ? pingedAt + pingEachMs : now
      say({ type: 'ping', message: Math.floor(clock.now() / secondMs) })
    },
    drained() {
      stalledSince = undefined
    },
    closed() {
      socket = undefined
      onClosed()
    },
  }
}

/** The last frame and close code of a connection. */
function farewell(ending: Ending): { code: number; reason: string; reconnect: boolean } {
  switch (ending.by) {
    case 'stop':
      return { code: 1012, reason: 'server_restart', reconnect: true }
    case 'overload':
      return { code: 1013, reason: 'overload', reconnect: true }
    case 'refusal':
      return { code: 1008, reason: ending.reason, reconnect: false }
  }
}
