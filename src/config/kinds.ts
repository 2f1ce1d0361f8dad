import { resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { isLoopbackName } from '../lib/text/loopback.ts'
import { unprintable } from '../lib/text/text.ts'
import { dayMs, hourMs, isoInstant, minuteMs, parseInstant, secondMs } from '../lib/time/instant.ts'

/**
 * A kind of value: how it is parsed, which values are accepted, and how one is shown to a person.
 */
export interface Kind<T, Suffix extends string = ''> {
  /** Completes the sentence "it must be …". */
  allowed: string
  /**
   * Parses the text of a flag or a variable; a text of another kind is returned unchanged, and
   * `accept` refuses it.
   */
  fromText(text: string): unknown
  /** undefined refuses the value. */
  accept(value: unknown): T | undefined
  show(value: T): string
  /**
   * For paths: makes a relative one absolute, seen from the directory of the file that names it.
   */
  locate?(value: T, directory: string): T
  /** Its values are never shown, not even wrong ones. */
  secret?: boolean
  /** Ends the property's name in `Config`: `Ms` for lengths of time, `At` for instants. */
  suffix?: Suffix
}

/**
 * A value that shows itself as `[redacted]` wherever it is printed, logged or serialised; only
 * `reveal` gives it away.
 */
export class Secret {
  readonly #value: string
  constructor(value: string) {
    this.#value = value
  }
  reveal(): string {
    return this.#value
  }
  toString(): string {
    return this.#value === '' ? '' : '[redacted]'
  }
  toJSON(): string {
    return this.toString()
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString()
  }
}

export const same = (text: string) => text
const ownText = (value: unknown) => String(value)

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.isWellFormed() && !unprintable.test(value)

/** Text that `pattern` matches; without a pattern, any printable text. */
export const text = (
  allowed = 'text without control characters',
  pattern?: RegExp,
): Kind<string> => ({
  allowed,
  fromText: same,
  accept: value => (isText(value) && (pattern?.test(value) ?? true) ? value : undefined),
  show: same,
})

export const secret = (): Kind<Secret> => ({
  allowed: 'text without control characters',
  fromText: same,
  accept: value => (isText(value) ? new Secret(value) : undefined),
  show: ownText,
  secret: true,
})

/** An integer of the closed range `from`..`to`. */
export const integer = (from: number, to: number): Kind<number> => ({
  allowed: `an integer from ${from} to ${to}`,
  fromText: text => (/^-?\d+$/.test(text) ? Number(text) : text),
  accept: value =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= from && value <= to
      ? value
      : undefined,
  show: ownText,
})

/** A number of the closed range `from`..`to`. */
export const decimal = (from: number, to: number): Kind<number> => ({
  allowed: `a number from ${from} to ${to}`,
  fromText: text => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text),
  accept: value => (typeof value === 'number' && value >= from && value <= to ? value : undefined),
  show: ownText,
})

const words = new Map([
  ...['true', '1', 'yes'].map(word => [word, true] as const),
  ...['false', '0', 'no'].map(word => [word, false] as const),
])

export const flag = (): Kind<boolean> => ({
  allowed: 'true or false',
  fromText: text => words.get(text.toLowerCase()) ?? text,
  accept: value => (typeof value === 'boolean' ? value : undefined),
  show: ownText,
})

export const choice = <T extends string>(...options: T[]): Kind<T> => ({
  allowed: `one of ${options.join(', ')}`,
  fromText: same,
  accept: value => options.find(option => option === value),
  show: same,
})

/** A list whose every item `item` accepts; in text, separated by commas. */
export const list = (
  allowed: string,
  item: (text: string) => string | undefined,
  atLeast = 0,
): Kind<readonly string[]> => ({
  allowed: `a list of ${allowed}${atLeast > 0 ? `, at least ${atLeast}` : ''}`,
  fromText: text =>
    text
      .split(',')
      .map(part => part.trim())
      .filter(part => part !== ''),
  accept: value => {
    if (!Array.isArray(value) || value.length < atLeast) return undefined
    const items = value.map(entry => (isText(entry) ? item(entry) : undefined))
    return items.every(entry => entry !== undefined) ? items : undefined
  },
  show: value => value.join(', '),
})

export const matching = (pattern: RegExp) => (text: string) =>
  pattern.test(text) ? text : undefined

const unitMs = new Map([
  ['ms', 1],
  ['s', secondMs],
  ['m', minuteMs],
  ['h', hourMs],
  ['d', dayMs],
] as const)

/** A length of time such as `10s`, in milliseconds, of the closed range `from`..`to`. */
export const duration = (from: string, to: string): Kind<number, 'Ms'> => {
  const [fromMs, toMs] = [parseDuration(from) ?? 0, parseDuration(to) ?? 0]
  return {
    allowed: `a length of time from ${from} to ${to}, in ms, s, m, h or d`,
    fromText: same,
    accept: value => {
      const ms = typeof value === 'string' ? parseDuration(value) : undefined
      return ms !== undefined && ms >= fromMs && ms <= toMs ? ms : undefined
    },
    show: showDuration,
    suffix: 'Ms',
  }
}

function parseDuration(text: string): number | undefined {
  const m = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text)
  return m ? Number(m[1]) * unitMs.get(m[2] as 's')! : undefined
}

function showDuration(ms: number): string {
  const [unit, size] = [...unitMs].findLast(([, each]) => ms % each === 0 && ms >= each) ?? ['s', 1]
  return `${ms / size}${unit}`
}

/** An instant, Unix milliseconds; undefined only where that is the default. */
export const instant = <Absent extends undefined = never>(): Kind<number | Absent, 'At'> => ({
  allowed: 'an instant with its zone, such as 2026-07-28T00:00:00Z',
  fromText: same,
  accept: value => (typeof value === 'string' ? parseInstant(value) : undefined),
  show: value => (value === undefined ? '' : isoInstant(value)),
  suffix: 'At',
})

/**
 * A file or directory, or one of the `reserved` words, which mean something else; the empty word
 * only where it is reserved.
 */
export const path = (...reserved: string[]): Kind<string> => ({
  allowed: [...reserved.map(word => word || 'empty'), 'a path'].join(' or '),
  fromText: same,
  accept: value => (isText(value) && (value !== '' || reserved.includes('')) ? value : undefined),
  show: same,
  locate: (value, directory) => (reserved.includes(value) ? value : resolve(directory, value)),
})

/**
 * An address or network, answered in CIDR notation; undefined for shorthand such as `10/8`, which
 * people read differently.
 */
export function network(address: string): string | undefined {
  if (address.includes('%')) return undefined
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(address) || ipaddr.IPv6.isValidCIDR(address))
    return address
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return `${address}/32`
  return ipaddr.IPv6.isValid(address) ? `${address}/128` : undefined
}

export function origin(text: string): string | undefined {
  if (text === '*') return text
  const url = /^https?:\/\//.test(text) ? URL.parse(text) : null
  return url && url.href === `${url.origin}/` ? url.origin : undefined
}

/** Names with a word each; in text as `name=word, name=word`. */
export const pairs = (
  allowed: string,
  isWord: (word: string) => boolean,
): Kind<Readonly<Record<string, string>>> => ({
  allowed: `a table of ${allowed}`,
  fromText: text =>
    Object.fromEntries(
      text
        .split(',')
        .filter(part => part.trim() !== '')
        .map(part => part.split('=').map(word => word.trim())),
    ),
  accept: value =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(value).every(([name, word]) => isText(name) && isText(word) && isWord(word))
      ? (value as Record<string, string>)
      : undefined,
  show: value =>
    Object.entries(value)
      .map(([name, word]) => `${name}=${word}`)
      .join(', '),
})

/** An identity provider by its exact name, which tokens repeat; over http on this machine only. */
export const issuer: Kind<string> = {
  allowed: 'empty, an https address, or an http address of this machine, without query or fragment',
  fromText: same,
  accept: value => {
    if (value === '') return value
    const url = isText(value) && !/[\s@?#{}]/.test(value) ? URL.parse(value) : null
    return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackName(url.hostname))
      ? (value as string)
      : undefined
  },
  show: same,
}

/**
 * An http address without user, query or fragment, as a prefix of paths; `{base_url}` is replaced
 * by the server's own.
 */
export const link: Kind<string> = {
  allowed:
    'empty, an http or https address without user, query or fragment, or a path after {base_url}',
  fromText: same,
  accept: value => {
    if (!isText(value) || value === '') return value === '' ? value : undefined
    const url = URL.parse(value.replace(/^\{base_url\}(?=\/|$)/, 'http://base'))
    const plain =
      url && /^https?:$/.test(url.protocol) && !/[\s@?#{}]/.test(value.replace(/^\{base_url\}/, ''))
    return plain ? value.replace(/\/$/, '') : undefined
  },
  show: same,
}

export const baseUrl: Kind<string> = {
  ...link,
  allowed: 'empty, or an http or https address without user, query or fragment',
  accept: value =>
    typeof value === 'string' && value.startsWith('{') ? undefined : link.accept(value),
}

/** The base address of another service's API, to which paths are added. */
export const providerUrl: Kind<string> = {
  ...baseUrl,
  allowed: 'an http or https address without user, query or fragment',
  accept: value => (value === '' ? undefined : baseUrl.accept(value)),
}
