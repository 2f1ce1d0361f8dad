import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { addressJudge, type Verdict } from './address.ts'

export interface Address {
  address: string
  family: number
}

/** Every address of a name; rejects when there is none. */
export type Lookup = (name: string) => Promise<readonly Address[]>

/** A target whose addresses have been checked: only these may be connected to. */
export interface Route {
  url: URL
  addresses: readonly Address[]
}

/**
 * Decides which addresses may be called from this machine. Every outgoing URL that a customer or a
 * file names passes through it.
 */
export type Egress = ReturnType<typeof createEgress>

const urlCharactersMax = 2048
const addressesMax = 8

// Ports of services that speak no HTTP, as the Fetch Standard closes them: a request to them could
// be taken for commands.
const closedPorts = new Set(
  [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
    6668, 6669, 6679, 6697, 10080,
  ].map(String),
)

const onlyPublic = 'must be an address on the public internet'

/**
 * `allow`: networks in CIDR notation that are permitted in addition to the public internet, over
 * http too.
 */
export function createEgress(
  allow: readonly string[],
  lookup: Lookup = name => systemLookup(name, { all: true, verbatim: true }),
) {
  const judge = addressJudge(allow)
  // A name may turn out to be in a network that is open; this machine's own addresses have no other
  // names than localhost.
  const opensNames = allow.some(network => !isLoopback(network))

  /** Parses a target; returns the addresses that it states, or the error. */
  const read = (text: string): { fault: string } | { url: URL; stated: Address[] } => {
    const url = parsed(text)
    if (typeof url === 'string') return { fault: url }
    const ownAddresses = isOwn(url.hostname)
      ? loopback.filter(candidate => judge(candidate.address) === 'allowed')
      : undefined
    if (ownAddresses?.length === 0) return { fault: `${onlyPublic}.` }
    const stated = ownAddresses ?? literalAddress(url.hostname)
    const verdicts = stated.map(candidate => judge(candidate.address))
    if (verdicts.includes('refused')) return { fault: `${onlyPublic}.` }
    const isOpen = stated.length > 0 ? verdicts.every(verdict => verdict === 'allowed') : opensNames
    const fault = schemeFault(url, isOpen)
    return fault ? { fault } : { url, stated }
  }
  return {
    /**
     * Why a target cannot be one, to be read after the name of its field; undefined when it may be
     * tried. Nothing is looked up.
     */
    checkTarget(text: string) {
      const target = read(text)
      return 'fault' in target ? target.fault : undefined
    },
    /**
     * Looks the target up and judges every address it has; rejects when its name cannot be looked
     * up.
     */
    async route(text: string): Promise<Route | { refused: string }> {
      const target = read(text)
      if ('fault' in target) return { refused: `the target ${target.fault.replace(/\.$/, '')}` }
      const { url, stated } = target
      const candidates =
        stated.length > 0 ? stated : (await lookup(withoutDot(url.hostname))).slice(0, addressesMax)
      const verdicts: Verdict[] = candidates.map(candidate =>
        isIP(candidate.address) === 0 ? 'refused' : judge(candidate.address),
      )
      if (verdicts.length === 0 || verdicts.includes('refused'))
        return { refused: `the target ${onlyPublic}` }
      const fault = schemeFault(
        url,
        verdicts.every(verdict => verdict === 'allowed'),
      )
      // IPv4 first: a host without IPv6 connects sooner.
      const addresses = candidates.toSorted((a, b) => a.family - b.family)
      return fault ? { refused: `the target ${fault.replace(/\.$/, '')}` } : { url, addresses }
    },
  }
}

function parsed(text: string): URL | string {
  if (text.length > urlCharactersMax) return `must have at most ${urlCharactersMax} characters.`
  // Refuses what the parser would ignore silently: blanks, line breaks, backslashes, missing
  // slashes.
  if (!/^https?:\/\/[^/?#\\]/i.test(text) || /[\s\\\p{Cc}]/u.test(text))
    return 'must be an https address such as https://example.com/hook.'
  const url = URL.parse(text)
  if (!url || url.hostname === '')
    return 'must be an https address such as https://example.com/hook.'
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text))
    return 'must not contain a user name or password.'
  return url
}

function schemeFault(url: URL, isOpen: boolean): string | undefined {
  if (isOpen) return undefined
  if (url.protocol !== 'https:') return 'must be an https address.'
  return closedPorts.has(url.port)
    ? `must not name port ${url.port}, which is for another service.`
    : undefined
}

const loopback: readonly Address[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** This machine's own name, which is known without asking. */
const isOwn = (hostname: string): boolean => /(?:^|\.)localhost\.?$/.test(hostname)

/** An address instead of a name, in any spelling: the parser has made it plain. */
function literalAddress(hostname: string): Address[] {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(literal)
  return family === 0 ? [] : [{ address: literal, family }]
}

const withoutDot = (hostname: string): string => hostname.replace(/\.$/, '')

const isLoopback = (network: string): boolean =>
  network.startsWith('127.') || network.startsWith('::1/')
