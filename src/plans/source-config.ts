import { isObject } from '../lib/text/json.ts'
import { oneOf } from '../lib/text/wrong-value.ts'

/** The fields of a row of a data source. */
export const rowFields = [
  'price',
  'timestamp',
  'fuel_type',
  'port',
  'region',
  'currency',
  'unit',
] as const
export type RowField = (typeof rowFields)[number]

export const sourceFormats = ['json', 'ndjson', 'csv'] as const
export type SourceFormat = (typeof sourceFormats)[number]

export const authKinds = ['none', 'bearer', 'basic', 'header'] as const
export type AuthKind = (typeof authKinds)[number]

/** The most bytes of a source's content, compressed and uncompressed. */
export const contentBytesMax = 4 * 2 ** 20

/** The types that are synced; the others are kept. */
export const syncedTypes = ['api', 'file', 'webhook'] as const

/** The place of the rows in a source's data. */
export interface SourceLayout {
  /** Detected from the content by default. */
  format: SourceFormat | undefined
  /** The path of the list in a JSON response, name by name. */
  items: readonly string[]
  /** The names of each field in the rows. */
  fields: ReadonlyMap<RowField, readonly string[]>
  /** The values of fields that a row does not have. */
  defaults: ReadonlyMap<RowField, unknown>
}

/** A scraper configuration that has been understood. */
export interface SourceConfig extends SourceLayout {
  url: string | undefined
  path: string | undefined
  auth: AuthKind | undefined
  authHeader: string
  intervalMinutes: number
}

/** The sentence continues after the field's name. */
export interface ConfigFault {
  field: string
  why: string
}

export const intervalMinutes = { min: 1, max: 10_080, default: 60 }
const charactersMax = 2048
const pathDepthMax = 10

type Fields = Readonly<Record<string, unknown>>

const headerName = /^[A-Za-z][A-Za-z0-9-]{0,63}$/
/** Headers that belong to the connection, and cookies, which are a session and no credential. */
const ownHeaders =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|cookie|accept.*|user-agent|range)$/i

/** Parses a configuration; unknown keys are kept and ignored. */
export function sourceConfig(values: Fields | null): {
  config: SourceConfig
  faults: ConfigFault[]
} {
  const faults: ConfigFault[] = []
  const fields = values ?? {}
  const fault = (field: string, why: string): undefined => void faults.push({ field, why })
  const text = (field: string, of: Fields = fields, name = field): string | undefined => {
    const value = Object.hasOwn(of, field) ? of[field] : undefined
    if (value === undefined || value === null) return undefined
    const isFine =
      typeof value === 'string' &&
      value.length <= charactersMax &&
      value.isWellFormed() &&
      !/\p{Cc}/u.test(value)
    return isFine
      ? value
      : fault(name, `must be text of at most ${charactersMax} characters on one line.`)
  }
  const word = <T extends string>(field: string, words: readonly T[]): T | undefined => {
    const value = text(field)?.toLowerCase()
    if (value === undefined) return undefined
    return words.find(word => word === value) ?? fault(field, `must be ${oneOf(words)}.`)
  }
  const part = (field: string): Fields => {
    const value = fields[field]
    if (value === undefined || value === null) return {}
    if (isObject(value)) return value
    fault(field, 'must be a JSON object.')
    return {}
  }
  const path = text('path')
  if (path !== undefined && !isInside(path))
    fault(
      'path',
      'must be a relative path with forward slashes and without "..", such as prices/today.csv.',
    )
  const authHeader = text('auth_header') ?? 'X-API-Key'
  if (!headerName.test(authHeader) || ownHeaders.test(authHeader))
    fault('auth_header', 'must be the name of a header for a credential.')
  const config: SourceConfig = {
    url: text('url'),
    path,
    auth: word('auth', authKinds),
    authHeader,
    format: word('format', sourceFormats),
    items: names(text('items')),
    fields: new Map(
      rowFields.flatMap(field => mapped(field, text(field, part('fields'), `fields.${field}`))),
    ),
    defaults: new Map(
      rowFields.flatMap(field => defaultEntry(field, part('defaults')[field], fault)),
    ),
    intervalMinutes:
      minutesOf(fields.interval_minutes) ??
      fault('interval_minutes', minutesRight) ??
      intervalMinutes.default,
  }
  for (const [field, list] of [
    ['items', config.items] as const,
    ...[...config.fields].map(([name, list]) => [`fields.${name}`, list] as const),
  ]) {
    if (list.length > pathDepthMax) fault(field, `must name at most ${pathDepthMax} steps.`)
  }
  return {
    config,
    faults: faults.filter(
      (fault, i) => faults.findIndex(other => other.field === fault.field) === i,
    ),
  }
}

const names = (text: string | undefined): string[] => (text ? text.split('.') : [])
const mapped = (field: RowField, text: string | undefined): [RowField, string[]][] =>
  text ? [[field, names(text)]] : []

function defaultEntry(
  field: RowField,
  value: unknown,
  fault: (field: string, why: string) => undefined,
): [RowField, unknown][] {
  if (value === undefined || value === null) return []
  if (field === 'price' || field === 'timestamp')
    fault(`defaults.${field}`, 'must not have a default.')
  else if (typeof value !== 'string' || value.length > 100)
    fault(`defaults.${field}`, 'must be text of at most 100 characters.')
  else return [[field, value]]
  return []
}

const minutesRight = `must be a whole number from ${intervalMinutes.min} to ${intervalMinutes.max}.`

function minutesOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return intervalMinutes.default
  const isFine =
    typeof value === 'number' &&
    Number.isSafeInteger(value) &&
    value >= intervalMinutes.min &&
    value <= intervalMinutes.max
  return isFine ? value : undefined
}

/** Whether a path stays below the directory that it is relative to, by its text. */
export function isInside(path: string): boolean {
  if (path === '' || path.length > 500 || path.startsWith('/') || /[\\\0]|^[A-Za-z]:/.test(path))
    return false
  return path.split('/').every(step => step !== '' && step !== '.' && step !== '..')
}

export type Credentials = Readonly<Record<string, string>>

const visible = /^[\x20-\x7e]+$/

/** The header that a credential is sent in; the message about a missing one contains no value. */
export function authHeaders(
  { auth, authHeader }: SourceConfig,
  credentials: Credentials,
): { headers: Record<string, string> } | { fault: string } {
  const kind = auth ?? impliedAuth(credentials)
  if (kind === 'none') return { headers: {} }
  if (kind === 'basic') {
    const { username, password } = credentials
    if (username === undefined || password === undefined)
      return { fault: 'credentials have no username and password, which auth "basic" needs' }
    if (username.includes(':'))
      return { fault: 'credentials.username has a colon, which auth "basic" does not support' }
    return {
      headers: {
        Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      },
    }
  }
  const names =
    kind === 'bearer' ? ['token', 'access_token', 'api_key'] : ['api_key', 'token', 'value']
  const name = names.find(candidate => credentials[candidate] !== undefined)
  if (name === undefined)
    return {
      fault: `credentials have none of ${names.join(', ')}, of which auth "${kind}" needs one`,
    }
  const value = credentials[name]!
  if (!visible.test(value))
    return { fault: `credentials.${name} has characters that no header can carry` }
  return {
    headers: kind === 'bearer' ? { Authorization: `Bearer ${value}` } : { [authHeader]: value },
  }
}

/** The way in which credentials are sent where the configuration does not define it. */
function impliedAuth(credentials: Credentials): AuthKind {
  if (credentials.username !== undefined && credentials.password !== undefined) return 'basic'
  if (credentials.token !== undefined || credentials.access_token !== undefined) return 'bearer'
  return credentials.api_key === undefined ? 'none' : 'header'
}

/** Shorter texts are not masked: they would match parts of prices. */
const maskedCharactersMin = 6

/**
 * Removes credentials from external text before it is used: a server may repeat them in its
 * response, and from there they would get into rows, logs and errors.
 */
export function withoutCredentials(credentials: Credentials): (text: string) => string {
  const values = Object.values(credentials)
  const joined =
    credentials.username !== undefined && credentials.password !== undefined
      ? [`${credentials.username}:${credentials.password}`]
      : []
  const spelled = [...values, ...joined].flatMap(value => [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
    Buffer.from(value).toString('base64'),
    Buffer.from(value).toString('hex'),
  ])
  const secrets = [...new Set(spelled)]
    .filter(secret => secret.length >= maskedCharactersMin)
    .sort((a, b) => b.length - a.length)
  return text => secrets.reduce((left, secret) => left.replaceAll(secret, '[redacted]'), text)
}

/** The secret of an inbound address is the only thing in front of it. */
export const pushSecretCharactersMin = 16

export function pushSecret({ secret, token }: Credentials): string | undefined {
  const text = secret ?? token
  return text !== undefined && text.length >= pushSecretCharactersMin ? text : undefined
}

const backOffMaxMinutes = 24 * 60

/**
 * How long a source that has failed so many times in a row waits: each time twice as long, up to a
 * day.
 */
export const waitMinutes = (interval: number, failures: number): number =>
  failures === 0
    ? interval
    : Math.max(interval, Math.min(backOffMaxMinutes, interval * 2 ** Math.min(20, failures - 1)))

/** After so many failures in a row a source is given up, until its owner changes it. */
export const failuresMax = 10
