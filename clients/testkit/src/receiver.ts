import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A webhook as it arrived. */
export interface Delivery {
  /** The event's name. */
  type: string
  /** The event's id: the same on every retry. */
  id: string
  data: Record<string, unknown>
  headers: Record<string, string>
  /** The bytes that are signed, as text. */
  body: string
}

export interface Receiver {
  /** Where webhooks are to be sent. */
  readonly url: string
  readonly deliveries: Delivery[]
  /** The status of the next answers; 200 at the start. */
  answerWith(status: number): void
  close(): Promise<void>
}

function deliveryOf(body: string, headers: Record<string, string>): Delivery {
  let envelope: { type?: unknown; id?: unknown; data?: unknown } = {}
  try {
    envelope = JSON.parse(body)
  } catch {
    // A body that is no JSON is kept as it came, for the test to look at.
  }
  return {
    type: String(envelope.type ?? ''),
    id: String(envelope.id ?? ''),
    data: (envelope.data ?? {}) as Record<string, unknown>,
    headers,
    body,
  }
}

/** Listens on a free port of this machine for webhooks. */
export async function openReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = []
  let status = 200
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      )
      deliveries.push(deliveryOf(Buffer.concat(chunks).toString('utf8'), headers))
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    deliveries,
    answerWith(next) {
      status = next
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
