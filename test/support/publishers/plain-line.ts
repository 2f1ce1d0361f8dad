import type {
  Line,
  PublisherAnswer,
  PublisherRequest,
} from '../../../src/feeds/publishers/publisher.ts'
import { FeedFault } from '../../../src/feeds/reading/fault.ts'

/** A line to a stand-in that only makes requests: for tests of parsers. */
export function plainLine(root: string): Line {
  const open = async ({ url, headers = {}, secret }: PublisherRequest) => {
    const address = new URL(url)
    const target = new URL(address.pathname + address.search, root)
    if (secret) target.searchParams.append(secret.name, secret.value)
    const response = await fetch(target, { headers })
    if (!response.ok)
      throw new FeedFault('http_status', `answered ${response.status}`, response.status)
    return response
  }
  const ask = async (request: PublisherRequest): Promise<PublisherAnswer> => {
    const response = await open(request)
    const headers = Object.fromEntries(response.headers)
    return { url: request.url, headers, bytes: await response.bytes() }
  }
  return {
    ask: ask as Line['ask'],
    stream: async request => (await open(request)).body! as unknown as AsyncIterable<Uint8Array>,
    kept: () => undefined,
    keep: () => undefined,
  }
}
