import ipaddr from 'ipaddr.js'

export type Verdict = 'public' | 'allowed' | 'refused'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = [Address, number]

const networks = (...texts: string[]): Network[] => texts.map(text => ipaddr.parseCIDR(text))

/** IPv4 that is not the public internet (IANA special-purpose registry), and multicast. */
const special = networks(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
)
/**
 * IPv6 is closed but for the global unicast space; in it, ranges with embedded IPv4 addresses and
 * documentation ranges stay closed.
 */
const globalUnicast = networks('2000::/3')
const closedUnicast = networks('2001::/32', '2001:db8::/32', '2002::/16', '3fff::/20')
/**
 * Cloud machines find their credentials here, some of them at addresses that are public or private
 * otherwise. Never open.
 */
const metadata = networks(
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::/32',
  'fd20:ce::/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
)
/** Addresses that mean an IPv4 address: mapped, and NAT64's own prefix. */
const mapped = networks('::ffff:0:0/96', '64:ff9b::/96')
/** Addresses with an embedded IPv4 address: the old forms, and 6to4. */
const compatible = networks('::/96')
const sixToFour = networks('2002::/16')

const within = (address: Address, list: readonly Network[]): boolean =>
  list.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits))

/**
 * Decides which addresses may be called; `allow` are networks in CIDR notation that are permitted
 * in addition to the public internet. Everything unknown is refused.
 */
export function addressJudge(allow: readonly string[]): (text: string) => Verdict {
  const open = networks(...allow)
  return text => {
    // A zone names an interface of this machine.
    if (text.includes('%') || !ipaddr.isValid(text)) return 'refused'
    const written = ipaddr.parse(text)
    const address = within(written, mapped) ? ipv4At(written, 12) : written
    if ([written, address, ...carried(written)].some(candidate => within(candidate, metadata)))
      return 'refused'
    if (within(address, open)) return 'allowed'
    if (address.kind() === 'ipv4') return within(address, special) ? 'refused' : 'public'
    return within(address, globalUnicast) && !within(address, closedUnicast) ? 'public' : 'refused'
  }
}

const ipv4At = (address: Address, byte: number): Address =>
  ipaddr.fromByteArray(address.toByteArray().slice(byte, byte + 4))

function carried(address: Address): Address[] {
  if (within(address, compatible)) return [ipv4At(address, 12)]
  return within(address, sixToFour) ? [ipv4At(address, 2)] : []
}
