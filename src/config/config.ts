import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileFault } from '../lib/files/file-faults.ts'
import { oneLine, redact } from '../lib/log/log.ts'
import { errorMessage } from '../lib/text/error-message.ts'
import { isTable, parseToml, type Table } from '../lib/text/toml.ts'
import { nearestWord } from '../lib/text/wrong-value.ts'
import type { ClientProfile } from '../plans/clients/client-profile.ts'
import { parseProfiles } from '../plans/clients/client-profiles.ts'
import { shippedClientProfiles } from '../plans/clients/shipped-profiles.ts'
import { switchNames } from '../plans/clients/switches.ts'
import type { ConfigKey, ConfigKeys } from './keys.ts'
import { configKeys } from './keys.ts'

export type Mode = 'serve' | 'dev'

/** Where an installed package stores its data and its configuration, both absolute. */
export interface InstalledPaths {
  dataDirectory: string
  configFile: string
}

export interface ConfigSources {
  /** Set by the command; no file or variable can change it. */
  mode?: Mode
  /** Values from the command line, by key: `{ 'server.port': '9000' }`. */
  flags: Readonly<Record<string, string | undefined>>
  env: Readonly<Record<string, string | undefined>>
  files: {
    /** `--config FILE`. */
    explicit?: string | undefined
    /** The working directory, absolute. */
    directory: string
    /** The defaults of an installed package instead of those of the working directory. */
    installed?: InstalledPaths | undefined
  }
  /** undefined when there is no such file; throws when it cannot be read. */
  readFile?: (path: string) => string | undefined
}

/** Everything that is wrong with the configuration, one sentence each. */
export class ConfigProblem extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(
      `the configuration has ${problems.length} problem${problems.length === 1 ? '' : 's'}:\n${problems.map(text => `  ${text}`).join('\n')}`,
    )
    this.name = 'ConfigProblem'
    this.problems = problems
  }
}

/** A value in force, as it is shown (secrets masked), and where it comes from. */
export interface Explained {
  key: string
  value: string
  source: string
  description: string
}

type Camel<S> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S extends string
    ? S
    : never
type Value<K> = K extends ConfigKey<infer T, string> ? T : never
type Suffix<K> = K extends { kind: { suffix?: infer S } } ? Extract<S, string> : ''
type SectionOf<K> = K extends `${infer Section}.${string}` ? Section : never

/** The keys as nested objects: `server.trusted_proxies` is `server.trustedProxies`. */
export type Values<K extends ConfigKeys> = {
  readonly [Section in SectionOf<keyof K>]: {
    readonly [Key in keyof K as Key extends `${Section}.${infer Name}`
      ? `${Camel<Name>}${Suffix<K[Key]>}`
      : never]: Value<K[Key]>
  }
} & {
  readonly [Key in keyof K as Key extends `${string}.${string}` ? never : Camel<Key>]: Value<K[Key]>
}

export interface Common {
  readonly mode: Mode
  /** `[[client_profiles]]`, in their order: the first that fits a request applies to it. */
  readonly clientProfiles: readonly ClientProfile[]
  /**
   * Where each key's value comes from: `flag --port`, `env WELLHEAD_SERVER_PORT`,
   * `wellhead.toml:12` or `default`.
   */
  readonly provenance: ReadonlyMap<string, string>
  /** The configuration file that was read, absolute; undefined where there is none. */
  readonly file: string | undefined
}

export type Config = Values<typeof configKeys> & Common

const fileName = 'wellhead.toml'
const profilesKey = 'client_profiles'
const shownCharacters = 120

/** A configured value that is not validated yet. */
interface RawSetting {
  value: unknown
  source: string
  /** The base of a relative path. */
  directory: string
  hidden?: boolean
}

export const envName = (key: string) => `WELLHEAD_${key.replaceAll('.', '_').toUpperCase()}`

/**
 * Flags before variables before the file before defaults. Throws one ConfigProblem that holds
 * everything that is wrong.
 */
export function loadConfig(sources: ConfigSources): Config
export function loadConfig<K extends ConfigKeys>(
  sources: ConfigSources,
  keys: K,
): Values<K> & Common
export function loadConfig(sources: ConfigSources, keys: ConfigKeys = configKeys): Common {
  const problems: string[] = []
  const mode = sources.mode ?? 'serve'
  const outer = outerValues(sources, keys, problems)
  const { values: file, path } = fileValues(sources, keys, outer, problems)
  const { installed } = sources.files
  const packaged = (name: string): RawSetting | undefined =>
    name === 'data.dir' && installed
      ? { value: installed.dataDirectory, source: 'package', directory: '/' }
      : undefined
  const provenance = new Map<string, string>()
  const root: Record<string, unknown> = {}
  for (const [name, key] of Object.entries(keys)) {
    const preset = mode === 'dev' && key.inDev !== undefined ? key.inDev : key.default
    const override = outer.get(name) ?? file.get(name) ?? packaged(name)
    const value = override ? key.kind.accept(override.value) : preset
    if (override && value === undefined)
      problems.push(
        `${override.source}: ${name} = ${shown(override)} must be ${key.kind.allowed}${inToml(name, key, override.value)}`,
      )
    const [section, property] = propertyOf(name, key)
    const effective =
      value === undefined
        ? preset
        : (key.kind.locate?.(value, override?.directory ?? sources.files.directory) ?? value)
    if (section === '') root[property] = effective
    else root[section] = { ...(root[section] as Table | undefined), [property]: effective }
    provenance.set(name, override?.source ?? 'default')
  }
  const profiles = file.get(profilesKey)
  if (profiles) provenance.set(profilesKey, profiles.source)
  if (problems.length > 0) throw new ConfigProblem(problems)
  const clientProfiles = (profiles?.value ?? shippedClientProfiles()) as ClientProfile[]
  return { mode, ...root, clientProfiles, provenance, file: path }
}

/** How a text is written in the file, where the setting is not text: a list, a number or a flag. */
function inToml(name: string, { kind }: ConfigKeys[string], value: unknown): string {
  if (typeof value !== 'string') return ''
  const meant = kind.fromText(value)
  if (typeof meant === 'string' || isTable(meant)) return ''
  if (kind.accept(meant) === undefined) return ''
  return `; write ${name.slice(name.lastIndexOf('.') + 1)} = ${JSON.stringify(meant)}`
}

/** One row for each value in force, in the order of the table of keys. */
export function explain(config: Common, keys: ConfigKeys = configKeys): Explained[] {
  const root: Readonly<Record<string, unknown>> = { ...config }
  const rows = Object.entries(keys)
    .filter(([name]) => !isQuiet(name, config))
    .map(([name, key]) => {
      const [section, property] = propertyOf(name, key)
      const value = ((section === '' ? root : root[section]) as Table | undefined)?.[property]
      return {
        key: name,
        value: oneLine(redact(key.kind.show(value))),
        source: config.provenance.get(name) ?? 'default',
        description: key.description,
      }
    })
  const profiles = {
    key: profilesKey,
    value: String(config.clientProfiles.length),
    source: config.provenance.get(profilesKey) ?? 'default',
  }
  return [
    {
      key: 'mode',
      value: config.mode,
      source: 'command',
      description: 'Production, or evaluation and development.',
    },
    ...rows,
    {
      ...profiles,
      description: `How many profiles of client shapes are listed, "shipped" ones too. Switches: ${switchNames.join(', ')}.`,
    },
  ]
}

/** Settings of a feed that has none: there are more of them than of everything else. */
const isQuiet = (name: string, config: Common): boolean =>
  /^feeds\.\w+\./.test(name) && (config.provenance.get(name) ?? 'default') === 'default'

function propertyOf(
  name: string,
  key: ConfigKey<unknown, string>,
): [section: string, property: string] {
  const dot = name.indexOf('.')
  const property = name.slice(dot + 1).replace(/_(.)/g, (_, first: string) => first.toUpperCase())
  return [name.slice(0, Math.max(dot, 0)), property + (key.kind.suffix ?? '')]
}

/**
 * A value as it was written. Never the content of a secret file, and no token that was put into
 * another key by mistake.
 */
function shown({ value, hidden }: RawSetting): string {
  if (hidden) return '(not shown)'
  if (isTable(value)) return '(a table)'
  const text = oneLine(redact(typeof value === 'number' ? String(value) : JSON.stringify(value)))
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text
}

function outerValues(
  sources: ConfigSources,
  keys: ConfigKeys,
  problems: string[],
): Map<string, RawSetting> {
  const { flags, env, files } = sources
  const values = new Map<string, RawSetting>()
  problems.push(...unknownVariables(env, keys))
  for (const name of Object.keys(flags))
    if (!Object.hasOwn(keys, name))
      problems.push(`flag ${name}: unknown key${suggestion(name, keys)}`)
  for (const [name, key] of Object.entries(keys)) {
    const take = (text: string, source: string, hidden: boolean) =>
      values.set(name, {
        value: key.kind.fromText(text),
        source,
        directory: files.directory,
        hidden: hidden || key.kind.secret === true,
      })
    const flag = flags[name]
    if (flag !== undefined) {
      take(flag, `flag ${key.flag ?? name}`, false)
      continue
    }
    const variable = envName(name)
    // Its variable is the file variable of the key that it is a file for.
    if (name.endsWith('.key_file')) continue
    // Compose files and unit files write an unset variable as an empty one.
    const [direct, path] = [env[variable] || undefined, env[`${variable}_FILE`] || undefined]
    if (direct !== undefined && path !== undefined)
      problems.push(`env ${variable}: set together with ${variable}_FILE; only one of them may be`)
    if (direct !== undefined) take(direct, `env ${variable}`, false)
    else if (path !== undefined && Object.hasOwn(keys, `${name}_file`)) {
      // The file is read when it is needed: a missing file does not stop the start.
      const { directory } = files
      const file = { value: path, source: `env ${variable}_FILE`, directory, hidden: false }
      values.set(`${name}_file`, file)
    } else if (path !== undefined) {
      const text = readOrReport(`env ${variable}_FILE`, path, sources, problems)
      if (text !== undefined) take(text.replace(/\r?\n$/, ''), `env ${variable}_FILE`, true)
    }
  }
  return values
}

const variablePrefix = 'WELLHEAD_'
/**
 * Variables of the command line and of other programs, and those that orchestrators set for a
 * service with this name.
 */
const foreignVariable =
  /^WELLHEAD_(?:CONFIG|URL|API_KEY|BINARY|TORTURE|SEED|SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT(?:_\d+_\w+)?)$/

/** Reports variables that set nothing: someone relies on them. */
function unknownVariables(env: ConfigSources['env'], keys: ConfigKeys): string[] {
  const names = new Set(Object.keys(keys).flatMap(key => [envName(key), `${envName(key)}_FILE`]))
  return Object.keys(env)
    .filter(name => name.startsWith(variablePrefix) && env[name] && !names.has(name))
    .filter(name => !foreignVariable.test(name))
    .map(name => {
      // The prefix that all share would make every name a near one.
      const withoutPrefix = (variable: string) => variable.slice(variablePrefix.length)
      const near = nearestWord(withoutPrefix(name), [...names].map(withoutPrefix))
      const meant = near === undefined ? '' : `; did you mean ${variablePrefix}${near}?`
      return `env ${oneLine(redact(name)).slice(0, shownCharacters)}: unknown variable${meant}`
    })
}

/** Reads a file that has to be there. */
function readOrReport(
  source: string,
  path: string,
  { files, readFile = readPresent }: ConfigSources,
  problems: string[],
): string | undefined {
  try {
    const text = readFile(resolve(files.directory, path))
    if (text === undefined) problems.push(`${source}: there is no file ${oneLine(path)}`)
    return text
  } catch (error) {
    problems.push(
      `${source}: ${oneLine(path)} cannot be read: ${fileReason(error, resolve(files.directory, path))}`,
    )
    return undefined
  }
}

/**
 * Why a file cannot be read; where permissions are missing, the owner of the file and the remedy.
 */
const fileReason = (error: unknown, path: string) =>
  oneLine(fileFault(error, path) ?? reasonOf(error))

const reasonOf = (error: unknown) => oneLine(errorMessage(error))

interface ConfigFile {
  /** As people know it: relative to the working directory where it was looked up so. */
  label: string
  path: string
  text: string
  inDataDirectory: boolean
}

/** The variable that names a configuration file, as `--config` does. */
export const configVariable = 'WELLHEAD_CONFIG'

/**
 * The file that the command line or the environment names, else that of the data directory. The
 * working directory's file belongs to the default data directory and is read for no other one, as
 * the package's file belongs to the package's directory.
 */
function findFile(
  sources: ConfigSources,
  dataDirectory: string,
  isDefault: boolean,
  problems: string[],
): ConfigFile | undefined {
  const { env, files, readFile = readPresent } = sources
  const explicit = files.explicit ?? (env[configVariable] || undefined)
  if (explicit !== undefined) {
    const source = files.explicit === undefined ? `env ${configVariable}` : 'flag --config'
    const text = readOrReport(source, explicit, sources, problems)
    return text === undefined
      ? undefined
      : { label: explicit, path: resolve(files.directory, explicit), text, inDataDirectory: false }
  }
  const inDirectory = join(dataDirectory, fileName)
  const defaultFile = files.installed?.configFile ?? fileName
  for (const label of isDefault ? [inDirectory, defaultFile] : [inDirectory]) {
    const path = resolve(files.directory, label)
    try {
      const text = readFile(path)
      if (text !== undefined) return { label, path, text, inDataDirectory: label === inDirectory }
    } catch (error) {
      problems.push(`${oneLine(label)} cannot be read: ${fileReason(error, path)}`)
      return undefined
    }
  }
  return undefined
}

function fileValues(
  sources: ConfigSources,
  keys: ConfigKeys,
  outer: ReadonlyMap<string, RawSetting>,
  problems: string[],
): { values: Map<string, RawSetting>; path: string | undefined } {
  const { files } = sources
  const preset = files.installed?.dataDirectory ?? keys['data.dir']?.default
  const directory = outer.get('data.dir')?.value ?? preset
  const dataDirectory = typeof directory === 'string' ? directory : '.'
  const isDefault =
    typeof preset !== 'string' ||
    resolve(files.directory, dataDirectory) === resolve(files.directory, preset)
  const values = new Map<string, RawSetting>()
  const file = findFile(sources, dataDirectory, isDefault, problems)
  if (!file) return { values, path: undefined }
  const { path } = file
  const parsed = parseToml(file.text)
  if ('fault' in parsed) {
    problems.push(`${file.label}:${parsed.line}:${parsed.column}: ${parsed.fault}`)
    return { values, path }
  }
  for (const [name, value] of flatten(parsed.table, keys)) {
    const line = parsed.lineOf(name)
    const source = line === undefined ? file.label : `${file.label}:${line}`
    const profiles = name === profilesKey && Array.isArray(value) ? parseProfiles(value) : undefined
    for (const { field, message } of profiles?.faults ?? []) {
      const fieldLine =
        parsed.lineOf(field.replace(/\[\d+\]$/, '')) ??
        parsed.lineOf(field.replace(/\..*/, '')) ??
        line
      problems.push(`${file.label}:${fieldLine}: ${oneLine(redact(message))}`)
    }
    if (profiles)
      values.set(name, { value: profiles.profiles, source, directory: dirname(file.path) })
    else if (!Object.hasOwn(keys, name)) problems.push(`${source}: ${refusal(name, keys)}`)
    else
      values.set(name, {
        value,
        source,
        directory: dirname(file.path),
        hidden: keys[name]?.kind.secret === true,
      })
  }
  const moved = values.get('data.dir')
  if (
    moved &&
    file.inDataDirectory &&
    !outer.has('data.dir') &&
    resolve(moved.directory, String(moved.value)) !== moved.directory
  )
    problems.push(
      `${moved.source}: data.dir = ${shown(moved)} points away from the directory this file was found in; set it by --data, ${envName('data.dir')} or --config FILE`,
    )
  return { values, path }
}

/**
 * Dotted names with their values; a table is taken apart unless a setting or nothing at all bears
 * its name.
 */
function* flatten(
  table: Table,
  keys: ConfigKeys,
  prefix = '',
): Generator<[name: string, value: unknown]> {
  for (const [part, value] of Object.entries(table)) {
    const name = prefix + part
    if (!isTable(value) || Object.hasOwn(keys, name) || name === profilesKey)
      yield [name, value instanceof Date ? value.toISOString() : value]
    else if (Object.keys(value).length > 0) yield* flatten(value, keys, `${name}.`)
    else if (!isSection(name, keys)) yield [name, value]
    // A table with nothing in it is its own wish where there is a switch for it.
    else if (Object.hasOwn(keys, `${name}.enabled`)) yield [`${name}.enabled`, true]
  }
}

const isSection = (name: string, keys: ConfigKeys) =>
  Object.keys(keys).some(key => key.startsWith(`${name}.`))

function refusal(name: string, keys: ConfigKeys): string {
  if (name === profilesKey) return `${profilesKey} must be tables, each under [[${profilesKey}]]`
  if (isSection(name, keys)) return `${name} is a section: its keys go under [${name}]`
  return `unknown key ${oneLine(redact(name)).slice(0, shownCharacters)}${suggestion(name, keys)}`
}

/**
 * The key that was probably meant: one of the same last word (a wrong or missing section), else the
 * nearest spelling.
 */
function suggestion(name: string, keys: ConfigKeys): string {
  if (name.length > shownCharacters) return ''
  const plain = name
    .replaceAll('-', '_')
    .replace(
      /[A-Z]+/g,
      (capitals, at: number) =>
        (at > 0 && /[a-z]/.test(name[at - 1]!) ? '_' : '') + capitals.toLowerCase(),
    )
  const last = plain.slice(plain.lastIndexOf('.') + 1)
  const keyNames = [...Object.keys(keys), profilesKey]
  const sameLast = keyNames.filter(key => key.endsWith(`.${last}`))
  // A table of a feed without a key names no setting.
  const sections = plain.includes('.')
    ? Object.keys(keys).map(key => key.slice(0, key.lastIndexOf('.')))
    : []
  const meant =
    nearestWord(plain, sameLast) ?? sameLast[0] ?? nearestWord(plain, [...keyNames, ...sections])
  return meant === undefined ? '' : `; did you mean ${meant}?`
}

/** The text of a file; undefined when there is none. */
function readPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (
      error instanceof Error &&
      'code' in error &&
      (error.code === 'ENOENT' || error.code === 'ENOTDIR')
    )
      return undefined
    throw error
  }
}
