import ipaddr from 'ipaddr.js'

/** The address of the other end of the connection; undefined for requests that came through no network socket. */
export type PeerLookup = { requestIP(request: Request): { address: string } | null } | null

export type TrustedProxies = (address: string) => boolean

/** Which peers may say in X-Forwarded-For whom they speak for. */
export function trustedProxies(networks: readonly string[]): TrustedProxies {
  const parsed = networks.map(text => ipaddr.parseCIDR(text))
  return address => {
    if (parsed.length === 0 || !ipaddr.isValid(address)) return false
    const peer = ipaddr.process(address)
    return parsed.some(([network, bits]) => network.kind() === peer.kind() && peer.match(network, bits))
  }
}

/**
 * The address of the client. X-Forwarded-For counts only from a trusted peer, and then from the right: the first address that is not
 * itself a trusted proxy, because everything left of it is what the client claims.
 */
export function clientAddress(request: Request, peer: PeerLookup, trusted: TrustedProxies): string {
  const direct = peer?.requestIP(request)?.address ?? 'local'
  if (!trusted(direct)) return direct
  const hops = (request.headers.get('x-forwarded-for') ?? '').split(',').map(hop => hop.trim())
  const client = hops.reverse().find(hop => ipaddr.isValid(hop) && !trusted(hop))
  return client ?? direct
}
