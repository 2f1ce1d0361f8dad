import ipaddr from 'ipaddr.js'

/**
 * The address of the other end of the connection; undefined for requests that came through no
 * network socket.
 */
export type PeerLookup = { requestIP(request: Request): { address: string } | null } | null

export type TrustedProxies = (address: string) => boolean

/** The peers whose X-Forwarded-For is trusted. */
export function trustedProxies(networks: readonly string[]): TrustedProxies {
  const parsed = networks.map(text => ipaddr.parseCIDR(text))
  return address => {
    if (parsed.length === 0 || !ipaddr.isValid(address)) return false
    const peer = ipaddr.process(address)
    return parsed.some(
      ([network, bits]) => network.kind() === peer.kind() && peer.match(network, bits),
    )
  }
}

/**
 * The address of the client. X-Forwarded-For counts only from a trusted peer, and then from the
 * right: the first hop that is not itself a trusted proxy, because everything left of it is what
 * the client claims. When that hop is not an address, the peer's address is used.
 */
export function clientAddress(request: Request, peer: PeerLookup, trusted: TrustedProxies): string {
  const direct = peer?.requestIP(request)?.address ?? 'local'
  if (!trusted(direct)) return direct
  const hops = (request.headers.get('x-forwarded-for') ?? '').split(',').map(addressOfHop)
  const client = hops.findLast(hop => !trusted(hop)) ?? ''
  return ipaddr.isValid(client) ? client : direct
}

/** Some proxies write the port too: `203.0.113.7:4711`, `[2001:db8::1]:4711`. */
const addressOfHop = (hop: string): string =>
  hop
    .trim()
    .replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1')
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
