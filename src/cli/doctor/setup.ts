import { accessSync, constants, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import { envName, explain } from '../../config/config.ts'
import { type ConfigKey, configKeys } from '../../config/keys.ts'
import { fileFaults, servedPathFaults } from '../../config/paths.ts'
import { openDatabase } from '../../database/database.ts'
import { configuredFeeds } from '../../feeds/engine/configured.ts'
import { feedStateOf, settingsOf } from '../../feeds/engine/settings.ts'
import { unreadOf } from '../../feeds/publishers/map.ts'
import { shippedFeeds } from '../../feeds/publishers/publishers.ts'
import { openServices } from '../../instance/services/services.ts'
import { createRandomIds } from '../../lib/ids.ts'
import { createLog } from '../../lib/log/log.ts'
import { createSystemClock } from '../../lib/time/clock.ts'
import { createEgress } from '../../send/egress/egress.ts'
import { checked, doubtful, type Finding, faulty, fine, reasonOf } from './finding.ts'

/** Where a configuration was read from. */
export interface SetupSources {
  env: Readonly<Record<string, string | undefined>>
  /** The base of relative paths in variables and in the configuration file's name. */
  directory: string
}

/**
 * Checks the configuration as a server would: its files, its providers, and whether a start would
 * reach the database.
 */
export function examineSetup(config: Config, sources: SetupSources): readonly Finding[] {
  const providers = [...examineProviders(config), ...checked('nats', () => examineNats(config))]
  const start = providers.some(provider => provider.status === 'error')
    ? []
    : [examineStart(config)]
  return [...start, ...examineFiles(config, sources), ...providers, ...examineFeedSettings(config)]
}

function examineStart(config: Config): Finding {
  const db = openDatabase(':memory:')
  const clock = createSystemClock()
  const log = createLog({ level: 'error', format: 'json', write: () => {}, clock })
  try {
    openServices({ config, clock, ids: createRandomIds(), log, db, masterKey: 'of no vault' })
    const sources = [...config.provenance.values()].filter(source => source !== 'default')
    const where = [...new Set(sources.map(source => source.replace(/:\d+$/, '')))]
    return fine(
      'configuration',
      sources.length === 0
        ? 'all settings have their defaults'
        : `${sources.length} ${sources.length === 1 ? 'setting' : 'settings'} from ${where.join(', ')}`,
    )
  } catch (error) {
    return faulty(
      'configuration',
      `the server does not start with this setting: ${reasonOf(error)}`,
      'correct the setting',
    )
  } finally {
    db.close()
  }
}

const [othersRead, othersEnter] = [0o004, 0o001]

/** Whether users other than the owner and the group of a file can read it. */
const isOpenToAll = (path: string): boolean =>
  (statSync(path).mode & othersRead) !== 0 && (statSync(dirname(path)).mode & othersEnter) !== 0

function examineFiles(config: Config, { env, directory }: SetupSources): readonly Finding[] {
  const keys: Readonly<Record<string, ConfigKey<unknown, string>>> = configKeys
  const secrets = new Set<string>()
  const others = new Set<string>()
  for (const [name, source] of config.provenance) {
    const variable = `${envName(name)}_FILE`
    const [, label] = /^(.+):\d+$/.exec(source) ?? []
    const path =
      source === `env ${variable}` ? env[variable] : source.startsWith('env ') ? undefined : label
    if (path !== undefined)
      (keys[name]?.kind.secret ? secrets : others).add(resolve(directory, path))
  }
  return [
    ...[...secrets].flatMap(path => checked(`file ${path}`, () => examineSecretFile(path))),
    ...[...others.difference(secrets)].flatMap(path =>
      checked(`file ${path}`, () => readable(path)),
    ),
    ...examinePaths(config),
  ]
}

function readable(path: string): Finding {
  accessSync(path, constants.R_OK)
  return fine(`file ${path}`, 'readable')
}

function examineSecretFile(path: string): Finding {
  if (!isOpenToAll(path)) return readable(path)
  return doubtful(
    `file ${path}`,
    'it contains a secret and is readable by every user of this machine',
    `chmod 600 ${path}`,
  )
}

/** The paths that the configuration names, as a start checks them. */
const examinePaths = (config: Config): Finding[] =>
  [...fileFaults(config), ...servedPathFaults(config)].map(({ setting, message }) =>
    faulty(
      setting,
      message.replace(/\.$/, ''),
      'correct the setting, or the path: a start is refused',
    ),
  )

interface ProviderNeeds {
  check: string
  key: string
  /** The value of the setting that selects no provider. */
  none: string
  idle: string
  /** The settings that each provider requires. */
  needs: Readonly<Record<string, readonly string[]>>
  /** A setting that has no effect without a provider. */
  usedBy?: string
}

const providers: readonly ProviderNeeds[] = [
  {
    check: 'mail',
    key: 'mail.provider',
    none: 'none',
    idle: 'e-mails are not sent',
    needs: { resend: ['mail.resend_key'], smtp: ['mail.smtp_url'] },
    usedBy: 'notices.mail',
  },
  {
    check: 'text messages',
    key: 'sms.provider',
    none: 'log',
    idle: 'text messages are not sent',
    needs: { twilio: ['sms.twilio_account', 'sms.twilio_token', 'sms.twilio_from'] },
  },
  {
    check: 'billing',
    key: 'billing.provider',
    none: 'manual',
    idle: 'invoices are marked as paid by the operator',
    needs: { stripe: ['billing.stripe_key', 'billing.stripe_webhook_secret'] },
  },
]

/** No findings where no NATS servers are configured. */
function examineNats({ nats }: Config): Finding[] {
  if (nats.servers.length === 0) return []
  if (nats.copies > 1 && nats.copies % 2 === 0)
    return [
      doubtful(
        'nats',
        `nats.copies is ${nats.copies}: it survives only as many failures as ${nats.copies - 1}`,
        `set nats.copies = ${nats.copies - 1} or ${Math.min(nats.copies + 1, 5)}`,
      ),
    ]
  if (nats.standby === 'auto' && nats.sync === 'async')
    return [
      doubtful(
        'nats',
        'nats.standby is auto and nats.sync async: a failing primary can lose its last acknowledged writes',
        'set nats.sync = "commit"',
      ),
    ]
  if (nats.standby === 'auto' && nats.copies < 3)
    return [
      doubtful(
        'nats',
        `nats.standby is auto and nats.copies ${nats.copies}: the lease is lost with one NATS server`,
        'run three NATS servers and set nats.copies = 3',
      ),
    ]
  return [fine('nats', `commits are published to ${nats.servers.join(', ')}`)]
}

function examineProviders(config: Config): Finding[] {
  const shown = new Map(explain(config).map(row => [row.key, row.value]))
  return providers.map(({ check, key, none, idle, needs, usedBy }) => {
    const provider = shown.get(key) ?? ''
    const missing = (needs[provider] ?? []).filter(name => shown.get(name) === '')
    if (missing.length > 0) {
      return faulty(
        check,
        `${key} is ${provider}, and ${missing.join(', ')} is empty: a server does not start`,
        `set ${missing.join(', ')}`,
      )
    }
    if (provider === 'capture')
      return fine(
        check,
        `${key} is capture: a demo instance captures messages instead of sending them`,
      )
    if (provider !== none) return fine(check, `${key} is ${provider}`)
    const unused = Object.entries(needs).flatMap(([name, keys]) =>
      keys.filter(key => shown.get(key) !== '').map(key => [name, key] as const),
    )
    const [first] = unused
    if (!first && usedBy !== undefined && shown.get(usedBy) !== '')
      return doubtful(
        check,
        `${usedBy} is set, and ${key} is ${provider}: ${idle}`,
        `set ${key} to ${Object.keys(needs).join(' or ')}`,
      )
    if (!first) return fine(check, `${key} is ${provider}: ${idle}`)
    const set = unused.map(([, name]) => name).join(', ')
    return doubtful(
      check,
      `${set} is set, and ${key} is ${provider}: ${idle}`,
      `set ${key} = "${first[0]}", or take ${set} away`,
    )
  })
}

/** Feeds that the configuration turns on and that cannot be read as it stands. */
function examineFeedSettings(config: Config): Finding[] {
  const configured = configuredFeeds(config)
  const egress = createEgress(config.egress.allow)
  return shippedFeeds.flatMap(feed => {
    const { name } = feed.publisher
    const settings = settingsOf(configured, name, { values: undefined, pausedAt: undefined })
    const state = feedStateOf(feed, settings)
    if (state === 'needs_key') {
      return [doubtful('feeds', `${name} has no key and does not run`, `set feeds.${name}.key`)]
    }
    if (state === 'needs_license') {
      const finding = `the terms of ${name} are not accepted, so it does not run`
      return [doubtful('feeds', finding, `set feeds.${name}.license = "accept" if you may use it`)]
    }
    if (state === 'off') return []
    const { baseUrl } = settings.values
    const refusal = baseUrl ? egress.checkTarget(baseUrl) : undefined
    if (refusal !== undefined) {
      const finding = `feeds.${name}.base_url ${refusal.replace(/\.$/, '')}: ${name} is not read`
      return [doubtful('feeds', finding, 'allow its network with egress.allow, or remove it')]
    }
    return unreadOf(settings.values.codes ?? [], feed.map).map(code =>
      doubtful('feeds', `${name} has no series for ${code}`, `remove it from feeds.${name}.codes`),
    )
  })
}
