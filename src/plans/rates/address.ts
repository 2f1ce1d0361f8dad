import ipaddr from 'ipaddr.js'

/**
 * The group of addresses that shares one rate window: an IPv4 address by itself (IPv4-mapped IPv6
 * too), an IPv6 address with its /64, because one customer holds that many. All other texts share
 * the group `unknown`.
 */
export function addressGroup(ip: string): string {
  if (!ipaddr.isValid(ip)) return 'unknown'
  const address = ipaddr.process(ip)
  if (address instanceof ipaddr.IPv4) return address.toString()
  const network = address.parts.slice(0, 4).map(part => part.toString(16))
  return `${network.join(':')}::/64`
}
