import { isTable } from '../../lib/text/toml.ts'
import { nearestWord } from '../../lib/text/wrong-value.ts'
import { type ClientProfile, type Scope, type Sign, scopeOf } from './client-profile.ts'
import { shippedClientProfiles } from './shipped-profiles.ts'
import { type SwitchName, switchNames } from './switches.ts'

export interface ProfileFault {
  /** The field at fault, by its place in the list: `client_profiles[0].match.User-Agent`. */
  field: string
  /** One sentence that begins with the field. */
  message: string
}

const listName = 'client_profiles'
/** The word in the list that selects all built-in profiles. */
const shippedWord = 'shipped'
const keys = ['name', 'match', 'switches', 'values']
const valueNames = ['retry_after_cap']
/** Pairs of which one contradicts the other. */
const exclusive: readonly (readonly [SwitchName, SwitchName])[] = [
  ['latest_list', 'latest_flat_and_list'],
  ['retry_after_cap', 'quota_without_retry_after'],
]
const nameCharactersMax = 100
const patternCharactersMax = 200
const shownCharactersMax = 120
const retryAfterCapDefaultSeconds = 60
const retryAfterCapMaxSeconds = 86_400
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/

type Fields = Readonly<Record<string, unknown>>

/**
 * The profiles of a configuration, in its order, and everything that is wrong with them. An entry
 * is a table, or the word for those that are shipped.
 */
export function parseProfiles(entries: readonly unknown[]): {
  profiles: ClientProfile[]
  faults: ProfileFault[]
} {
  const faults: ProfileFault[] = []
  const names = new Set<string>()
  const profiles = entries.flatMap((table, i) => {
    const at = `${listName}[${i}]`
    const fault = (field: string, sentence: string) =>
      void faults.push({ field, message: `${field} ${sentence}` })
    if (table === shippedWord) return shippedClientProfiles()
    if (!isTable(table)) {
      fault(at, `${valueText(table)} must be a table, or "${shippedWord}"`)
      return []
    }
    for (const key of Object.keys(table))
      if (!keys.includes(key)) fault(`${at}.${short(key)}`, `is unknown${suggestion(key, keys)}`)
    const profile = profileOf(table, at, fault)
    if (names.has(profile.name))
      fault(`${at}.name`, `= ${quoted(profile.name)} is the name of an earlier profile too`)
    if (profile.name !== '') names.add(profile.name)
    return profile
  })
  return { profiles, faults }
}

type Fault = (field: string, sentence: string) => void

function profileOf(
  { name, match, switches, values }: Fields,
  at: string,
  fault: Fault,
): ClientProfile {
  const isName = typeof name === 'string' && name.trim() !== '' && name.length <= nameCharactersMax
  if (!isName)
    fault(`${at}.name`, `${valueText(name)} must be a text of 1 to ${nameCharactersMax} characters`)
  const signs = signsOf(match, `${at}.match`, fault)
  return {
    name: isName ? name : '',
    signs,
    needed: signs.length,
    switches: switchesOf(switches, `${at}.switches`, fault),
    retryAfterCapSeconds: retryAfterCapOf(values, `${at}.values`, fault),
  }
}

function signsOf(match: unknown, at: string, fault: Fault): Sign[] {
  if (!isTable(match) || Object.keys(match).length === 0) {
    fault(
      at,
      `${valueText(match)} must name at least one request header with a regular expression, such as { User-Agent = '^example/1' }`,
    )
    return []
  }
  return Object.entries(match).flatMap(([header, text]) => {
    const field = `${at}.${short(header)}`
    const pattern = patternOf(text)
    if (!headerName.test(header)) fault(field, 'is not the name of a header')
    if (typeof pattern === 'string') fault(field, `${valueText(text)} must be ${pattern}`)
    return typeof pattern === 'string' ? [] : [{ of: header.toLowerCase(), pattern, weight: 1 }]
  })
}

/** The expression, or what it would have to be. */
function patternOf(text: unknown): RegExp | string {
  if (typeof text !== 'string' || text === '' || text.length > patternCharactersMax) {
    return `a regular expression of 1 to ${patternCharactersMax} characters`
  }
  try {
    return new RegExp(text, 'i')
  } catch (error) {
    return `a regular expression (${error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : error})`
  }
}

function switchesOf(switches: unknown, at: string, fault: Fault): Map<SwitchName, Scope> {
  const switched = new Map<SwitchName, Scope>()
  if (!Array.isArray(switches) || switches.length === 0) {
    fault(
      at,
      `${valueText(switches)} must be a list of at least one switch: ${switchNames.join(', ')}`,
    )
    return switched
  }
  for (const [i, entry] of switches.entries()) {
    const [name = '', ...paths] = typeof entry === 'string' ? entry.split(/\s+/) : []
    const wrong = paths.find(path => !/^!?\/\S*$/.test(path))
    if (!isSwitch(name))
      fault(
        `${at}[${i}]`,
        `${valueText(entry)} is not a switch${suggestion(entry, switchNames)} (${switchNames.join(', ')})`,
      )
    else if (wrong !== undefined)
      fault(`${at}[${i}]`, `names the path ${quoted(wrong)}, which must begin with / or with !/`)
    else switched.set(name, scopeOf(paths))
  }
  for (const [first, other] of exclusive)
    if (switched.has(first) && switched.has(other))
      fault(at, `must not name both ${first} and ${other}`)
  return switched
}

const isSwitch = (name: unknown): name is SwitchName =>
  (switchNames as readonly unknown[]).includes(name)

function retryAfterCapOf(values: unknown, at: string, fault: Fault): number {
  const usual = { retry_after_cap: retryAfterCapDefaultSeconds }
  const given = isTable(values) ? values : usual
  if (values !== undefined && given === usual)
    fault(
      at,
      `${valueText(values)} must be a table, such as { retry_after_cap = ${retryAfterCapDefaultSeconds} }`,
    )
  for (const key of Object.keys(given))
    if (!valueNames.includes(key))
      fault(`${at}.${short(key)}`, `is not a value of a switch${suggestion(key, valueNames)}`)
  const { retry_after_cap: cap } = { ...usual, ...given }
  if (Number.isInteger(cap) && cap >= 1 && cap <= retryAfterCapMaxSeconds) return cap
  fault(
    `${at}.retry_after_cap`,
    `${valueText(cap)} must be an integer from 1 to ${retryAfterCapMaxSeconds}, in seconds`,
  )
  return retryAfterCapDefaultSeconds
}

const short = (text: string): string =>
  text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text
const quoted = (value: unknown): string =>
  short(typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value)))
const valueText = (value: unknown): string =>
  value === undefined ? 'is missing: it' : `= ${quoted(value)}`

/** The name that was probably meant. */
function suggestion(value: unknown, names: readonly string[]): string {
  const near =
    typeof value === 'string' ? nearestWord(value.replaceAll('-', '_'), names) : undefined
  return near === undefined ? '' : `; did you mean ${near}?`
}
