import type { Clock } from '../time/clock.ts'
import { currentTrace, traceOf } from '../trace.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFormat = 'json' | 'text'
export type Fields = Readonly<Record<string, unknown>>

/**
 * `event` is a stable name in snake_case that an operator can search for; a sentence goes into the
 * field `message`. Every string of every line has passed `redact` and holds no line break.
 */
export type Log = ReturnType<typeof createLog>

export interface LogOptions {
  /** The least important level that is written. */
  level: LogLevel
  format: LogFormat
  /** Gets one line at a time, its line break included. */
  write: (line: string) => void
  clock: Pick<Clock, 'now'>
}

const ranks: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 }
const maxStringCharacters = 8192
const maxEntries = 100
const maxDepth = 6
const mask = '[redacted]'

/** Matches `word` with any of its characters percent-encoded, as a query string may spell it. */
const encodable = (word: string) =>
  [...word]
    .map(
      character =>
        `(?:${character}|%${character.charCodeAt(0).toString(16)}|%${character.toUpperCase().charCodeAt(0).toString(16)})`,
    )
    .join('')

const secretWords = ['api_key', 'apikey', 'token', 'secret', 'password']
const secretParameter = new RegExp(
  `((?:${secretWords.map(encodable).join('|')})(?:=|%3d))[^\\s&#"'<>]+`,
  'gi',
)
const secretProperty = new RegExp(
  `((?:${secretWords.join('|')})\\\\?["']\\s*:\\s*\\\\?["'])[^"'\\\\]+`,
  'gi',
)
const authorization =
  /(authorization\\?["']?\s*[:=]\s*\\?["']?)(?:[a-z][\w-]*[ \t]+)?[^\s"'\\]+(?:(?<=,)[ \t]*(?:[a-z][\w-]*[ \t]+)?[^\s"'\\]+)*/gi
const credentials = /\b(bearer|token|basic)([ \t]+)[\w.~+/=-]{16,}/gi
const addressPassword = /(:\/\/[^\s/:@]*:)[^\s/@]+@/g
const signingSecret = /whsec_[\w+/=-]+/gi
const sessionToken = /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g
const fullToken = /[0-9a-f]{64,}/gi

// One look instead of eight for the text of ordinary lines: every pattern above needs one of these.
const suspect = /[=:%]|[0-9a-f]{64}|whsec_|eyJ|bearer|token|basic/i

/**
 * The text without tokens, signing secrets, credentials in headers and addresses, and values of
 * `api_key=`, `token=` and their like.
 */
export const redact = (text: string): string => (suspect.test(text) ? redactAll(text) : text)

const redactAll = (text: string): string =>
  text
    .replace(fullToken, mask)
    .replace(signingSecret, mask)
    .replace(sessionToken, mask)
    .replace(secretParameter, `$1${mask}`)
    .replace(secretProperty, `$1${mask}`)
    .replace(authorization, `$1${mask}`)
    .replace(credentials, `$1$2${mask}`)
    .replace(addressPassword, `$1${mask}@`)

/** Fields that hold a secret by their name, whatever their value looks like. */
const secretName =
  /^(?:(?:proxy[-_])?authorization|(?:set[-_])?cookie|(?:.*[-_])?(?:token|secret|password|api[-_]?key))$/i

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g
const names = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/** Escapes what would break a line, move a terminal's cursor or turn the direction of reading. */
export const oneLine = (text: string): string =>
  text.replace(
    unsafe,
    character =>
      names.get(character) ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

export function createLog(options: LogOptions) {
  const least = ranks[options.level]
  const render = options.format === 'json' ? jsonLine : textLine
  const put = (level: LogLevel, event: string, fields: Fields = {}) => {
    if (ranks[level] < least) return
    const at = new Date(options.clock.now()).toISOString()
    const trace = traceOf(currentTrace())
    const all = { ...(trace && { trace_id: trace.id }), ...fields }
    options.write(`${render(at, level, cleanText(event), clean(all, []) as Fields)}\n`)
  }
  return {
    debug: (event: string, fields?: Fields) => void put('debug', event, fields),
    info: (event: string, fields?: Fields) => void put('info', event, fields),
    warn: (event: string, fields?: Fields) => void put('warn', event, fields),
    error: (event: string, fields?: Fields) => void put('error', event, fields),
  }
}

/** Logs how many lines were lost, at whatever level they were, as every configuration writes it. */
export const reportLost =
  (log: Pick<Log, 'error'>) =>
  (why: string, count: number): void =>
    log.error('log_lines_lost', { count, message: why })

/** A field cannot take the place of the line's own: `level` becomes `level_`. */
function jsonLine(ts: string, level: LogLevel, msg: string, fields: Fields): string {
  const head = { ts, level, msg }
  const rest = Object.entries(fields).map(([name, value]) => [
    name in head ? `${name}_` : name,
    value,
  ])
  // JSON leaves a few characters alone that viewers of logs take for line breaks; inside a JSON
  // text the escape means the same.
  return oneLine(JSON.stringify({ ...head, ...Object.fromEntries(rest) }))
}

function textLine(ts: string, level: LogLevel, msg: string, fields: Fields): string {
  const pairs = Object.entries(fields).map(
    ([name, value]) => ` ${oneLine(name)}=${textValue(value)}`,
  )
  return `${ts} ${level.toUpperCase().padEnd(5)} ${oneLine(msg)}${pairs.join('')}`
}

const textValue = (value: unknown) =>
  typeof value === 'string' && /^[\w.:/@+,-]+$/.test(value)
    ? value
    : oneLine(JSON.stringify(value) ?? 'null')

// Cut after redaction: a cut before it could leave a token that is one character short of being
// recognised.
function cleanText(text: string): string {
  const redacted = redact(text).toWellFormed()
  return redacted.length > maxStringCharacters
    ? `${redacted.slice(0, maxStringCharacters).toWellFormed()}…`
    : redacted
}

/**
 * A copy that JSON can hold, redacted throughout, bounded in depth and width. Never throws: a log
 * line must not be what fails.
 */
function clean(value: unknown, above: readonly unknown[]): unknown {
  try {
    if (typeof value === 'string') return cleanText(value)
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
    if (typeof value === 'bigint') return cleanText(String(value))
    if (typeof value === 'function' || typeof value === 'symbol')
      return cleanText(String(value.toString()))
    if (typeof value !== 'object' || value === null) return value
    if (above.includes(value)) return '[circular]'
    if (above.length >= maxDepth) return '[deeper]'
    return cleanObject(value, [...above, value])
  } catch {
    return '[unreadable]'
  }
}

function cleanObject(value: object, path: readonly unknown[]): unknown {
  if (value instanceof Error) return cleanError(value, path)
  // Bytes may be a token in another spelling.
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    return `[${value.byteLength} bytes]`
  if ('toJSON' in value && typeof value.toJSON === 'function') return clean(value.toJSON(), path)
  if (value instanceof Map)
    return cleanEntries(
      [...value].map(([name, each]) => [String(name), () => each]),
      path,
    )
  if (Array.isArray(value) || value instanceof Set) {
    const all = [...value]
    const shown = all.slice(0, maxEntries).map(each => clean(each, path))
    return all.length > maxEntries ? [...shown, `[${all.length - maxEntries} more]`] : shown
  }
  return cleanEntries(
    Object.keys(value).map(name => [name, () => value[name as keyof typeof value]]),
    path,
  )
}

function cleanEntries(
  entries: readonly (readonly [name: string, read: () => unknown])[],
  path: readonly unknown[],
): unknown {
  const shown = entries
    .slice(0, maxEntries)
    .map(([name, read]) => [cleanText(name), cleanEntry(name, read, path)] as const)
  const more = entries.length > maxEntries ? [['more', entries.length - maxEntries] as const] : []
  return Object.fromEntries([...shown, ...more].filter(([, value]) => value !== undefined))
}

function cleanEntry(name: string, read: () => unknown, path: readonly unknown[]): unknown {
  try {
    const value = read()
    const tells = value !== undefined && value !== null && typeof value !== 'boolean'
    return tells && secretName.test(name) ? mask : clean(value, path)
  } catch {
    return '[unreadable]'
  }
}

function cleanError(error: Error, path: readonly unknown[]): unknown {
  const parts = ['name', 'message', 'code', 'stack', 'cause', 'errors'] as const
  const read = (part: (typeof parts)[number]) => () =>
    (error as Error & Record<(typeof parts)[number], unknown>)[part]
  return cleanEntries(
    parts.map(part => [part, read(part)]),
    path,
  )
}
