import type {
  PublisherAnswer,
  PublisherClient,
  PublisherRequest,
} from '../../../src/feeds/publishers/publisher.ts'
import { FeedFault } from '../../../src/feeds/reading/fault.ts'

/** A client of a stand-in that only makes requests: for tests of parsers. */
export function plainClient(root: string): PublisherClient {
  const open = async ({ url, headers = {}, secret }: PublisherRequest) => {
    const address = new URL(url)
    const target = new URL(address.pathname + address.search, root)
    if (secret) target.searchParams.append(secret.name, secret.value)
    const response = await fetch(target, { headers })
    if (!response.ok)
      throw new FeedFault('http_status', `answered ${response.status}`, response.status)
    return response
  }
  const get = async (request: PublisherRequest): Promise<PublisherAnswer> => {
    const response = await open(request)
    const headers = Object.fromEntries(response.headers)
    return { url: request.url, headers, bytes: await response.bytes() }
  }
  return {
    get: get as PublisherClient['get'],
    stream: async request => (await open(request)).body! as unknown as AsyncIterable<Uint8Array>,
    stored: () => undefined,
    store: () => undefined,
  }
}
