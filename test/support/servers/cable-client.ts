/**
 * A client of /cable as anybody would write it from the description of its frames, on the plain
 * WebSocket of the runtime.
 */
export interface CableClient {
  socket: WebSocket
  frames: CableFrame[]
  /** The first frame, now or later, that fits. */
  frame(fits: (frame: CableFrame) => boolean): Promise<CableFrame>
  subscribe(fields?: object): string
  send(text: string | Uint8Array): void
  closed: Promise<{ code: number; reason: string }>
}

export interface CableFrame {
  type?: string
  identifier?: string
  reason?: string
  reconnect?: boolean
  message?: CableMessage | number
}

export interface CableMessage {
  type: string
  updated?: string[]
  price_rows?: {
    code: string
    price: number
    currency: string | null
    unit: string
    created_at: string
  }[]
  prices?: Record<
    string,
    Record<string, { original_price: number; normalized_price: number | null } | null>
  >
}

/** Resolves with an open connection, or with undefined when the handshake is refused. */
export async function cableClient(
  url: string,
  options: { token?: string; scheme?: string; query?: string; protocols?: string[] },
): Promise<CableClient | undefined> {
  const { token, scheme = 'Token', query = '', protocols = [] } = options
  const headers = token === undefined ? {} : { authorization: `${scheme} ${token}` }
  const socket = new WebSocket(`${url}/cable${query}`, { headers, protocols })
  const frames: CableFrame[] = []
  const waiting: { fits(frame: CableFrame): boolean; done(frame: CableFrame): void }[] = []
  socket.onmessage = ({ data }) => {
    const frame = JSON.parse(String(data)) as CableFrame
    frames.push(frame)
    for (const one of [...waiting])
      if (one.fits(frame)) waiting.splice(waiting.indexOf(one), 1)[0]!.done(frame)
  }
  const closed = new Promise<{ code: number; reason: string }>(done => {
    socket.onclose = ({ code, reason }) => done({ code, reason })
  })
  const opened = new Promise<boolean>(done => {
    socket.onopen = () => done(true)
  })
  if (!(await Promise.race([opened, closed.then(() => false)]))) return undefined
  return {
    socket,
    frames,
    closed,
    frame: fits =>
      new Promise(done =>
        frames.some(fits) ? done(frames.find(fits)!) : waiting.push({ fits, done }),
      ),
    subscribe(fields = {}) {
      const identifier = JSON.stringify({ channel: 'EnergyPricesChannel', ...fields })
      socket.send(JSON.stringify({ command: 'subscribe', identifier }))
      return identifier
    },
    send: text => socket.send(text),
  }
}

export const isMessage = (type: string) => (frame: CableFrame) =>
  typeof frame.message === 'object' && frame.message.type === type
export const isType = (type: string) => (frame: CableFrame) => frame.type === type
