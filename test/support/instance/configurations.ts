import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { feedNames } from '../../../src/config/keys.ts'

/** A value of a setting as the file has it. */
export type Setting =
  | string
  | number
  | boolean
  | readonly string[]
  | Record<string, string | string[]>

/**
 * The environment of the rows of the matrix: receivers on this machine, and a directory for each.
 */
export interface Surroundings {
  dir: string
  /** `smtp://…` */
  mail: string
  /** An HTTP address where anything posted is taken. */
  sink: string
  /** The same for providers: e-mail by HTTP, text messages, payments. */
  resend: string
  twilio: string
  stripe: string
  bucket: string
  nats: string
  /** Another server, and a file of credentials for it. */
  leasedNats: string
  credentials: string
  freePort: number
}

/** One configuration that a server is started with. */
export interface Configuration {
  name: string
  settings: Readonly<Record<string, Setting>>
  /** Further lines of the file, such as tables. */
  more?: string
  /** Arguments of the server in addition to the file. */
  options?: readonly string[]
  command?: 'serve' | 'dev'
  /** It needs a NATS server. */
  needsNats?: true
  /** E-mail arrives at the mail server of the surroundings. */
  sendsMail?: true
  /** Some series are for chosen accounts. */
  isRestricted?: true
  /** Only a full run tries it: the provider or kind of work that it is about has another row. */
  isSweep?: true
}

/** Settings that the tests themselves set for every row, on the command line or as variables. */
export const everyRowSets = [
  'data.dir',
  'server.port',
  'server.ready_file',
  'egress.allow',
  'limits.per_minute',
  'limits.unauthenticated_per_minute',
] as const

const smtp = (at: Surroundings) => ({
  'mail.provider': 'smtp',
  'mail.smtp_url': at.mail,
  'brand.sender': 'Prices <prices@example.com>',
})
const resend = (at: Surroundings) => ({
  'mail.provider': 'resend',
  'mail.resend_key': 're_key',
  'mail.resend_url': at.resend,
})
const twilio = (at: Surroundings) => ({
  'sms.provider': 'twilio',
  'sms.twilio_account': `AC${'0'.repeat(32)}`,
  'sms.twilio_token': 'token',
  'sms.twilio_from': '+15005550006',
  'sms.twilio_url': at.twilio,
  'sms.codes_per_day': 100,
})
const stripe = (at: Surroundings) => ({
  'billing.provider': 'stripe',
  'billing.stripe_key': 'sk_test_1',
  'billing.stripe_webhook_secret': 'whsec_1',
  'billing.stripe_url': at.stripe,
})

function directoryOf(at: Surroundings, name: string): string {
  const path = join(at.dir, name)
  mkdirSync(path, { recursive: true })
  return path
}

function secretFile(at: Surroundings): string {
  const path = join(at.dir, 'oidc-secret')
  writeFileSync(path, 'a secret')
  return path
}

/** Feeds that poll a mirror on this machine, which has no data for them. */
const feedSettings = (at: Surroundings): Record<string, Setting> =>
  Object.fromEntries(
    feedNames.flatMap((name): [string, Setting][] => [
      [`feeds.${name}.enabled`, true],
      [`feeds.${name}.key`, 'key'],
      [`feeds.${name}.base_url`, at.sink],
      [`feeds.${name}.codes`, []],
      [`feeds.${name}.since`, '2026-01-01'],
      [`feeds.${name}.reread`, '1d'],
      [`feeds.${name}.license`, 'accept'],
    ]),
  )

/**
 * The configurations that every kind of work is tried with. Add new settings here: a setting
 * without a test run may break unrelated features.
 */
export const configurations = (at: Surroundings): readonly Configuration[] => [
  { name: 'none', settings: {} },
  { name: 'e-mail by SMTP', settings: smtp(at), sendsMail: true },
  { name: 'e-mail by an HTTP provider', settings: resend(at) },
  { name: 'text messages', settings: twilio(at) },
  { name: 'payments by a processor', settings: stripe(at) },
  {
    name: 'all providers',
    settings: {
      ...smtp(at),
      ...twilio(at),
      ...stripe(at),
      'notices.url': at.sink,
      'notices.mail': 'operator@example.com',
    },
    sendsMail: true,
  },
  {
    name: 'backups in a bucket',
    settings: {
      'backups.s3_bucket': 'backups',
      'backups.s3_prefix': 'prices/',
      'backups.s3_endpoint': at.bucket,
      'backups.s3_region': 'eu-central-1',
      'backups.s3_access_key': 'access',
      'backups.s3_secret_key': 'secret',
    },
  },
  {
    name: 'sealed backups in a directory',
    isSweep: true,
    settings: {
      'backups.directory': directoryOf(at, 'backups'),
      'backups.key': 'a key of at least thirty-two characters',
      'backups.every': '1h',
      'backups.keep_all': '1d',
      'backups.keep_days': 7,
      'backups.keep_weeks': 4,
    },
  },
  {
    name: 'notices',
    settings: {
      'notices.url': at.sink,
      'notices.format': 'slack',
      'notices.again': '2h',
      'notices.quiet': '22:00-07:00',
      'notices.disk_free_mb': 1,
    },
  },
  { name: 'traces sent to a collector', settings: { 'otel.endpoint': at.sink } },
  {
    name: 'a configured master key',
    settings: { 'secrets.master_key': 'a master key that the operator keeps elsewhere' },
  },
  {
    name: 'feeds with keys',
    settings: {
      ...feedSettings(at),
      'feeds.enabled': true,
      'feeds.contact': 'operator at example.com',
      'feeds.prefer': { WTI_USD: ['fred', 'eia'] },
    },
  },
  {
    name: 'a feed with its key in a file',
    isSweep: true,
    settings: Object.fromEntries(
      feedNames.map(name => [`feeds.${name}.key_file`, join(at.dir, 'feed.key')]),
    ),
  },
  {
    name: 'commits published to NATS, with e-mail',
    settings: {
      ...smtp(at),
      'nats.servers': [at.nats],
      'nats.token': 'token',
      'nats.prefix': 'desk',
      'nats.copies': 1,
      'nats.keep': '2h',
      'nats.snapshot_every': '1m',
      'nats.sync': 'commit',
      'nats.events': true,
      'replica.primary': at.sink,
      'replica.max_lag': '30s',
      'replica.wait': '1s',
    },
    sendsMail: true,
    needsNats: true,
    isRestricted: true,
  },
  {
    name: 'a primary with a lease',
    isSweep: true,
    settings: {
      'nats.servers': [at.leasedNats],
      'nats.credentials_file': at.credentials,
      'nats.standby': 'auto',
      'nats.address': 'http://127.0.0.1:8470',
    },
    needsNats: true,
  },
  {
    name: 'a brand with profiles of clients',
    settings: {
      'brand.service_name': 'Desk Prices',
      'brand.header_prefix': 'X-Desk-',
      'brand.exchange_words': ['ice', 'exch'],
      'brand.xml_root': 'desk',
      'brand.webhook_user_agent': 'Desk/1',
      'brand.docs_url': 'https://docs.example.com',
      'brand.upgrade_url': '{base_url}/upgrade',
      'brand.signup_url': '{base_url}/join',
      'brand.support_url': 'https://help.example.com',
      'brand.stream_channels': ['DeskChannel'],
      'cors.origins': ['https://desk.example.com'],
      'demo.codes': ['WTI_USD'],
      'demo.limit_per_hour': 100,
    },
    more: 'client_profiles = ["shipped"]',
  },
  {
    name: 'behind a proxy with TLS',
    settings: {
      'server.host': '127.0.0.1',
      'server.trusted_proxies': ['127.0.0.0/8'],
      'server.base_url': 'https://prices.example.com',
      'server.drain': '1s',
      'server.stop_notice': '0s',
    },
  },
  {
    name: 'series for chosen accounts, with e-mail and text messages',
    settings: { ...smtp(at), ...twilio(at) },
    sendsMail: true,
    isRestricted: true,
  },
  {
    name: 'files of a night, and files that are read',
    settings: {
      'files.directory': directoryOf(at, 'files'),
      'data_sources.directory': directoryOf(at, 'sources'),
      'data_sources.timeout': '5s',
      'data_sources.per_account': 3,
    },
  },
  { name: 'no query worker', settings: { 'readers.threads': 0 } },
  { name: 'one query worker', isSweep: true, settings: { 'readers.threads': 1 } },
  { name: 'four query workers', settings: { 'readers.threads': 4 } },
  {
    name: 'other limits, logs and sessions',
    isSweep: true,
    settings: {
      plans: 'unlimited',
      'data.reserve_mb': 1,
      'log.level': 'debug',
      'log.format': 'text',
      'log.access': 1,
      'log.file': join(at.dir, 'wellhead.log'),
      'log.file_mb': 1,
      'log.file_days': 2,
      'audit.keep_days': 40,
      'batches.undo_days': 10,
      'metrics.port': at.freePort,
      'metrics.host': '127.0.0.1',
      'quota.scope': 'account',
      'limits.over_quota_per_minute': 10,
      'limits.marine_per_minute': 1000,
      'limits.marine_historical_per_minute': 1000,
      'limits.keys_max': 9,
      'limits.enterprise_per_month': 1_000_000,
      'vintage.coverage_since': '2026-01-01T00:00:00Z',
      'outbox.concurrency': 8,
      'outbox.per_lane': 2,
      'webhooks.source_ranges': ['192.0.2.0/24'],
      'mail.letters_per_day': 100,
      'mail.letters_to_stranger_per_day': 2,
      'mail.strangers_per_day': 3,
      'mail.strangers_agree': false,
      'futures.live_stale_minutes': 5,
      'alerts.interval': '0s',
      'deliveries.enabled': true,
      'deliveries.dispatch_interval': '1m',
      'billing.terms': '14d',
      'billing.grace': '7d',
      'billing.issuer': 'Desk Ltd; Street 1',
      'billing.credit_packs': ['pack_1k:1000:100:30'],
      'streams.per_key': 2,
      'accounts.signup': 'open',
      'sessions.lifetime': '1h',
      'sessions.sign_in_max': '10d',
      'sessions.link_lifetime': '10m',
      'sqlite.autocheckpoint': 500,
    },
  },
  {
    name: 'people who signed in a moment ago, with a second factor',
    settings: { 'sessions.fresh_sign_in': '1h', 'sessions.second_factor': true },
  },
  {
    name: 'a company whose identity provider cannot be reached',
    settings: {
      'oidc.issuer': 'https://login.example.invalid',
      'oidc.client_id': 'wellhead',
      'oidc.client_secret_file': secretFile(at),
      'oidc.domains': ['example.com'],
      'oidc.role_claim': 'realm_access.roles',
      'oidc.roles': { desk: 'member' },
      'oidc.plans': { desk: 'professional' },
      'oidc.auto_create': false,
      'oidc.only': false,
      'oidc.audience': 'wellhead-api',
    },
  },
  {
    name: 'generated data',
    settings: {
      'dev.seed': 7,
      'dev.world': 'small',
      'dev.clock': '2026-11-20T12:00:00Z',
      'demo.visitor': false,
    },
    command: 'dev',
  },
]

const text = (value: Setting): string => {
  if (Array.isArray(value)) return `[${value.map(item => JSON.stringify(item)).join(', ')}]`
  if (typeof value === 'object')
    return `{ ${Object.entries(value)
      .map(([name, items]) => `${name} = ${text(items)}`)
      .join(', ')} }`
  return JSON.stringify(value)
}

/** A row as the file of its server. */
export const fileOf = ({ settings, more = '' }: Configuration): string =>
  [
    more,
    'egress.allow = ["127.0.0.0/8"]',
    ...Object.entries(settings).map(([name, value]) => `${name} = ${text(value)}`),
  ].join('\n')
