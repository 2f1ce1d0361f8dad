import { availableParallelism } from 'node:os'
import { dayMs, hourMs, minuteMs, parseDay, secondMs } from '../lib/time/instant.ts'
import { creditPackOf } from '../plans/billing/credit-packs.ts'
import { defaultExchangeWords } from '../plans/clients/exchange-words.ts'
import { defaultLimits } from '../plans/limits.ts'
import { companyRoleOf, companyRoles } from '../plans/roles/company-roles.ts'
import { planIds } from '../plans/tiers.ts'
import {
  baseUrl,
  choice,
  decimal,
  duration,
  flag,
  instant,
  integer,
  issuer,
  type Kind,
  link,
  list,
  matching,
  network,
  origin,
  pairs,
  path,
  providerUrl,
  Secret,
  same,
  secret,
  text,
} from './kinds.ts'

export interface ConfigKey<T, Suffix extends string = ''> {
  kind: Kind<T, Suffix>
  default: T
  /** The default under `dev`, where it differs. */
  inDev?: T
  description: string
  /** The option on the command line that sets it. */
  flag?: string
}

export type ConfigKeys = Readonly<Record<string, ConfigKey<unknown, string>>>

/** Revisions recorded since this time show when the coverage of a series begins. */
export const revisionsKeptSince = Date.UTC(2026, 6, 28)

/** The codes that a demo serves and that lists begin with, unless others are configured. */
export const freeCodes = [
  'BRENT_CRUDE_USD',
  'WTI_USD',
  'NATURAL_GAS_USD',
  'GOLD_USD',
  'EUR_USD',
  'GBP_USD',
  'HEATING_OIL_USD',
  'GASOLINE_USD',
  'DIESEL_USD',
]

const natsServers = list(
  'addresses such as nats://10.0.0.5:4222',
  matching(/^(?:nats|tls):\/\/[\w.-]+(?::\d{1,5})?$/),
)

const natsPrefix = text(
  'letters, digits, hyphens and underscores, at most 40, or empty',
  /^[A-Za-z0-9_-]{0,40}$/,
)

const host = text('a host name or an address', /^[\w.:-]+$/)
const headerPrefix = text(
  'letters, digits and hyphens, a letter first and a hyphen last, such as X-Service-',
  /^[A-Za-z][A-Za-z0-9-]{0,39}-$/,
)
const elementName = text('an XML name without a colon, such as service', /^[A-Za-z_][\w.-]{0,39}$/)
const agent = text('printable ASCII, up to 200 characters', /^[!-~](?:[ -~]{0,198}[!-~])?$/)
const serviceName = text('text of 1 to 60 characters', /^\S(?:.{0,58}\S)?$/)
const sender = text(
  'an e-mail address, or a name and an address as in: Wellhead <prices@example.com>',
  /^(?:[^<>@,;"]+ <[^\s<>@,;"]+@[^\s<>@,;"]+>|[^\s<>@,;"]+@[^\s<>@,;"]+)$/,
)
const exchangeWords = list(
  'words of lower-case letters and digits',
  matching(/^[a-z][a-z0-9]{0,19}$/),
  1,
)
const channels = list('names of letters and digits', matching(/^\w{1,60}$/), 1)
const codes = list('commodity codes in capitals, such as WTI_USD', matching(/^[A-Z0-9_]{2,60}$/), 1)
const networks = list('addresses or networks, such as 10.0.0.0/8', network)
const origins = list('origins such as https://desk.example.com, or *', origin)
const perWindow = integer(1, 10_000_000)
/** Programs that try a demo instance do not wait between requests. */
const demoPerMinute = 600

const key = <T, S extends string>(
  kind: Kind<T, S>,
  fallback: NoInfer<T>,
  description: string,
  more: { flag?: string; inDev?: NoInfer<T> } = {},
) => ({ kind, default: fallback, description, ...more }) satisfies ConfigKey<T, S>

/** Every feed, the one that is preferred by default first. */
export const feedNames = [
  'eia',
  'eia_bulk',
  'eia_wpsr',
  'eia_wngsr',
  'fred',
  'ecb',
  'norges_bank',
  'world_bank',
  'cftc',
  'jodi',
  'alberta',
  'ec_oil_bulletin',
  'uk_road_fuel',
  'eex_auctions',
  'baker_hughes',
  'lbma',
  'smard',
  'elexon',
  'aemo',
  'eia_930',
  'entsoe',
  'gie',
  'energy_charts',
] as const
export type FeedName = (typeof feedNames)[number]

/** A day; empty: none. */
const day: Kind<string> = {
  allowed: 'empty, or a day, such as 2020-01-31',
  fromText: same,
  accept: value =>
    value === '' || (typeof value === 'string' && parseDay(value) !== undefined)
      ? (value as string)
      : undefined,
  show: same,
}

const feedTargets = list(
  'commodity codes in capitals, such as WTI_USD, or names of datasets',
  matching(/^(?:[A-Z0-9_]{2,60}|[a-z-]{3,40})$/),
)

/** Feeds by code, the one that wins first. */
const preference: Kind<Readonly<Record<string, readonly string[]>>> = {
  allowed: 'a table of codes with lists of feeds, such as WTI_USD = ["fred", "eia"]',
  fromText: given =>
    Object.fromEntries(
      given
        .split(',')
        .filter(part => part.trim() !== '')
        .map(part => part.split(':'))
        .map(([code = '', feeds = '']) => [code.trim(), feeds.trim().split(/\s+/)]),
    ),
  accept(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const isList = (feeds: unknown) =>
      Array.isArray(feeds) && feeds.every(name => feedNames.includes(name))
    return Object.values(value).every(isList)
      ? (value as Readonly<Record<string, readonly string[]>>)
      : undefined
  },
  show: value =>
    Object.entries(value)
      .map(([code, feeds]) => `${code}: ${feeds.join(' ')}`)
      .join(', '),
}

/** The settings of one feed. A table `[feeds.NAME]` with any of them, or with none, turns it on. */
const keysOfFeed = (name: FeedName) => ({
  [`feeds.${name}.enabled`]: key(
    flag(),
    false,
    `Whether the feed ${name} is read. A table [feeds.${name}] turns it on.`,
  ),
  [`feeds.${name}.key`]: key(secret(), new Secret(''), `API key for ${name}.`),
  [`feeds.${name}.key_file`]: key(path(''), '', `File with the API key for ${name}.`),
  [`feeds.${name}.base_url`]: key(
    baseUrl,
    '',
    `Address of a mirror of ${name}; empty: the publisher itself.`,
  ),
  [`feeds.${name}.codes`]: key(
    feedTargets,
    [],
    `Codes and datasets to read from ${name}; empty: all.`,
  ),
  [`feeds.${name}.since`]: key(
    day,
    '',
    `First day to read from ${name}; empty: its whole history.`,
  ),
  [`feeds.${name}.reread`]: key(
    duration('0s', '3650d'),
    0,
    `Period that each later run of ${name} reads again, for corrections; 0s: as long as its publisher usually corrects.`,
  ),
  [`feeds.${name}.license`]: key(
    choice('', 'accept'),
    '',
    `"accept" confirms that the terms of ${name} allow your use of its data.`,
  ),
})

const feedKeys: ConfigKeys = Object.assign({}, ...feedNames.map(keysOfFeed))

/** Every setting but those of feeds, in the order in which `config explain` lists them. */
const ownKeys = {
  plans: key(
    path('spec', 'unlimited'),
    'spec',
    "The plan table: the specification's, every feature without quota, or a file.",
  ),
  'data.dir': key(path(), 'wellhead-data', 'Directory of the database and all other state.', {
    flag: '--data',
  }),
  'data.reserve_mb': key(
    integer(0, 10_240),
    16,
    'Megabytes reserved for a full disk: released then, so that sign-in and messages continue to work.',
    { inDev: 0 },
  ),
  'server.host': key(host, '127.0.0.1', 'Address to listen on.', { flag: '--host' }),
  'server.port': key(integer(0, 65_535), 8470, 'Port to listen on; 0 takes any free one.', {
    flag: '--port',
  }),
  'server.trusted_proxies': key(networks, [], 'Proxies whose X-Forwarded-For names the client.'),
  'server.base_url': key(
    baseUrl,
    '',
    'Address in links; empty: as the request addressed the server.',
  ),
  'server.ready_file': key(
    path(''),
    '',
    'File to which the address and the first keys are written once the server listens.',
    {
      flag: '--ready-file',
    },
  ),
  'server.drain': key(
    duration('0s', '10m'),
    10 * secondMs,
    'How long a stop waits for running requests.',
  ),
  'server.stop_notice': key(
    duration('0s', '10m'),
    0,
    'How long a stopping server still serves requests while its health is 503, so that load balancers redirect; 0s disables this.',
  ),
  'log.level': key(
    choice('debug', 'info', 'warn', 'error'),
    'info',
    'Least severe level that is logged.',
  ),
  'log.format': key(choice('json', 'text'), 'json', 'One JSON object a line, or text for people.', {
    inDev: 'text',
  }),
  'log.access': key(
    decimal(0, 1),
    0,
    'The share of requests that are logged, without addresses: 0 none, 0.01 one in a hundred, 1 all. Failures (5xx) are always logged unless it is 0.',
  ),
  'log.file': key(
    path(''),
    '',
    'File that a server writes its log to; empty: standard error, for journald or a container.',
  ),
  'log.file_mb': key(integer(1, 10_240), 50, 'Size in megabytes at which the log file is rotated.'),
  'log.file_days': key(integer(1, 3650), 14, 'Days for which rotated log files are retained.'),
  'audit.keep_days': key(
    integer(30, 36_500),
    730,
    'Days for which entries of the audit trail are retained; the remaining chain can still be verified.',
  ),
  'batches.undo_days': key(
    integer(1, 36_500),
    90,
    'Days for which a batch of a dataset can be undone; replaced rows are retained for as long.',
  ),
  'files.directory': key(
    path(''),
    '',
    'Directory of the nightly files of all prices, for accounts that may export; empty: no files are made.',
  ),
  'backups.directory': key(
    path(''),
    '',
    'Directory that scheduled backups are written to, best on another disk than the data; empty: none.',
  ),
  'backups.every': key(duration('5m', '7d'), dayMs, 'How often a scheduled backup is made.'),
  'backups.keep_all': key(
    duration('1h', '90d'),
    2 * dayMs,
    'Age up to which every backup is retained.',
  ),
  'backups.keep_days': key(
    integer(0, 3650),
    14,
    'Number of days for which one backup a day is retained.',
  ),
  'backups.keep_weeks': key(
    integer(0, 520),
    8,
    'Number of weeks for which one backup a week is retained.',
  ),
  'backups.key': key(
    secret(),
    new Secret(''),
    'Pass phrase that encrypts scheduled backups; empty: they are not encrypted. Without it an encrypted backup is lost.',
  ),
  'backups.s3_bucket': key(
    text('empty, or the name of a bucket', /^([a-z0-9][a-z0-9.-]{1,62})?$/),
    '',
    'Bucket of an S3-compatible storage that scheduled backups are written to; empty: none.',
  ),
  'backups.s3_prefix': key(
    text('empty, or a path of letters, digits, dots, hyphens and slashes', /^[\w./-]{0,200}$/),
    '',
    'Prefix of the names of backups in the bucket.',
  ),
  'backups.s3_endpoint': key(
    baseUrl,
    '',
    'Address of the S3-compatible storage; empty: the address of Amazon S3 in the region.',
  ),
  'backups.s3_region': key(
    text('a region', /^[a-z0-9-]{1,40}$/),
    'us-east-1',
    'Region of the bucket.',
  ),
  'backups.s3_access_key': key(secret(), new Secret(''), 'Access key of the bucket.'),
  'backups.s3_secret_key': key(secret(), new Secret(''), 'Secret key of the bucket.'),
  'notices.url': key(
    secret(),
    new Secret(''),
    'Address that notices to the operator are posted to; empty: none. It may hold a token.',
  ),
  'notices.format': key(
    choice('json', 'slack', 'ntfy'),
    'json',
    'Format of the posted notices: json for an object, slack for {"text"}, ntfy for plain text.',
  ),
  'notices.mail': key(
    text('empty, or an e-mail address', /^([^\s<>@,;"]+@[^\s<>@,;"]+)?$/),
    '',
    'Address that notices to the operator are mailed to; empty: none.',
  ),
  'notices.again': key(
    duration('1h', '30d'),
    dayMs,
    'How long an operator alert lasts before it is sent again.',
  ),
  'notices.quiet': key(
    text(
      'empty, or hours in UTC such as 22:00-07:00',
      /^(([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d)?$/,
    ),
    '',
    'Quiet hours: only refused writes, damaged pages and an expired certificate are notified; other notices wait for their end.',
  ),
  'notices.disk_free_mb': key(
    integer(0, 1_000_000_000),
    1024,
    'Free megabytes on the data disk below which the operator is notified.',
  ),
  'metrics.port': key(
    integer(0, 65_535),
    0,
    'Port of GET /metrics without a token, for a scraper; 0 opens none: the admin token opens /metrics.',
  ),
  'metrics.host': key(host, '127.0.0.1', 'Address that metrics.port listens on.'),
  'otel.endpoint': key(
    baseUrl,
    '',
    'Address of a collector that takes traces by OTLP over HTTP, without /v1/traces; empty: no spans are sent.',
  ),
  'brand.service_name': key(serviceName, 'Wellhead', 'Name of the service in pages and messages.'),
  'brand.header_prefix': key(headerPrefix, 'X-Service-', "Prefix of the service's own headers."),
  'brand.exchange_words': key(
    exchangeWords,
    [...defaultExchangeWords],
    'Words accepted for the exchange in slugs and values; responses have the first one.',
  ),
  'brand.xml_root': key(elementName, 'service', 'Root element of the spreadsheet XML.'),
  'brand.webhook_user_agent': key(
    agent,
    'Wellhead-Webhooks/2.0',
    'User-Agent of webhook deliveries.',
  ),
  'brand.docs_url': key(link, '{base_url}/docs', 'Documentation, as linked from responses.'),
  'brand.upgrade_url': key(
    link,
    '{base_url}/account/plan',
    'Page where plans are chosen, as linked from error responses.',
  ),
  'brand.signup_url': key(
    link,
    '{base_url}/signup',
    'Page where accounts are created, as linked from error responses.',
  ),
  'brand.support_url': key(link, '', 'Page where people get help; empty: no link.'),
  'brand.sender': key(sender, 'Wellhead <wellhead@localhost>', 'Sender of e-mail.'),
  'brand.stream_channels': key(
    channels,
    ['EnergyPricesChannel'],
    'Accepted channel names of the stream.',
  ),
  'cors.origins': key(
    origins,
    ['*'],
    'Origins whose pages may read responses; never with credentials.',
  ),
  'demo.codes': key(
    codes,
    freeCodes,
    'Codes of the demo and of the free tier, in the order of responses.',
  ),
  'demo.limit_per_hour': key(
    perWindow,
    defaultLimits.demoPerHour,
    'Demo requests an hour from one address.',
  ),
  'demo.visitor': key(
    flag(),
    true,
    'Whether a browser on this machine uses a demo instance without signing in, as its account and its operator. Turn it off where a proxy on the same machine publishes the instance.',
  ),
  'quota.scope': key(
    choice('key', 'account'),
    'key',
    'Whether each key or the whole account has the quota.',
  ),
  'limits.per_minute': key(perWindow, defaultLimits.perMinute, 'Requests of a key in 60 seconds.', {
    inDev: demoPerMinute,
  }),
  'limits.unauthenticated_per_minute': key(
    perWindow,
    defaultLimits.unauthenticated,
    'Requests of an address without a valid key in 60 seconds.',
  ),
  'limits.over_quota_per_minute': key(
    perWindow,
    defaultLimits.overQuota,
    'Requests in 60 seconds of a key that is suspended or has used up its quota.',
  ),
  'limits.marine_per_minute': key(
    perWindow,
    defaultLimits.marine,
    'Marine fuel requests of a key in 60 seconds.',
  ),
  'limits.marine_historical_per_minute': key(
    perWindow,
    defaultLimits.marineHistorical,
    'Marine fuel history requests of a key in 60 seconds.',
  ),
  'limits.keys_max': key(integer(1, 1000), defaultLimits.keysMax, 'Active API keys of an account.'),
  'limits.enterprise_per_month': key(
    integer(1, 1_000_000_000_000),
    defaultLimits.enterprisePerMonth,
    'Requests of the enterprise plan in a month.',
  ),
  'vintage.coverage_since': key(
    instant(),
    revisionsKeptSince,
    'Earliest time for which as_of knows revisions; each series begins with its first recorded value. If it is set, it applies to imported vintages too.',
  ),
  'egress.allow': key(
    networks,
    [],
    'Networks, in addition to the public internet, that webhooks and data sources may reach, also over http. Metadata services stay blocked.',
    { inDev: ['127.0.0.0/8', '::1/128'] },
  ),
  'feeds.enabled': key(
    flag(),
    true,
    'Whether public feeds are read; false: no feed makes a request.',
  ),
  'feeds.contact': key(
    text('text without control characters, up to 200 characters', /^[^<>()]{0,200}$/),
    '',
    'Contact address that agencies require, sent in the User-Agent.',
  ),
  'feeds.prefer': key(
    preference,
    {},
    'Feeds to prefer for a code that several publish, best first; other codes use the built-in order.',
  ),
  'data_sources.directory': key(
    path(''),
    '',
    'Directory of the files that data sources may be read from, by every account that has data sources; empty: none.',
  ),
  'data_sources.timeout': key(
    duration('100ms', '60s'),
    20 * secondMs,
    'How long a sync of a data source waits for a response.',
  ),
  'data_sources.per_account': key(integer(1, 1000), 25, 'Data sources of an account.'),
  'outbox.concurrency': key(
    integer(1, 1000),
    40,
    'Webhooks sent at a time; e-mail has a fifth and SMS a tenth as many separate slots. A host uses at most half of the free slots, an account the share that its plan allows.',
  ),
  'outbox.per_lane': key(
    integer(1, 100),
    4,
    'Messages in progress at a time to one webhook endpoint, by e-mail, or by SMS.',
  ),
  'webhooks.source_ranges': key(
    networks,
    [],
    'Networks that webhook deliveries come from, as published to receivers.',
  ),
  'mail.provider': key(
    choice('none', 'resend', 'smtp', 'capture'),
    'none',
    'How e-mail is sent: through a provider, a mail server, or not at all. A demo instance captures it.',
    { inDev: 'capture' },
  ),
  'mail.letters_per_day': key(
    integer(1, 1_000_000),
    1000,
    'Maximum e-mails per account and day (UTC), to any address.',
  ),
  'mail.letters_to_stranger_per_day': key(
    integer(1, 10_000),
    10,
    'Maximum e-mails per day from one account to one external address.',
  ),
  'mail.strangers_per_day': key(
    integer(0, 10_000),
    20,
    'Maximum number of external addresses that one account may send e-mail to in a day.',
  ),
  'mail.strangers_agree': key(
    flag(),
    true,
    'External addresses get scheduled e-mails only after they confirm, and no text written by the account.',
    { inDev: false },
  ),
  'mail.resend_key': key(
    secret(),
    new Secret(''),
    'API key of the mail provider, for mail.provider resend.',
  ),
  'mail.resend_url': key(
    providerUrl,
    'https://api.resend.com',
    "Address of the mail provider's API.",
  ),
  'mail.smtp_url': key(
    secret(),
    new Secret(''),
    'Mail server for mail.provider smtp, such as smtp://user:password@mail.example.com:587, or smtps:// for TLS from the start.',
  ),
  'sms.provider': key(
    choice('log', 'twilio', 'capture'),
    'log',
    'How text messages are sent: through a provider, or only to the log. A demo instance captures them.',
    { inDev: 'capture' },
  ),
  'sms.twilio_account': key(
    text('empty, or an id of AC and 32 hexadecimal digits', /^(AC[0-9a-fA-F]{32})?$/),
    '',
    'Twilio account, for sms.provider twilio.',
  ),
  'sms.twilio_token': key(secret(), new Secret(''), 'Auth token of the Twilio account.'),
  'sms.twilio_from': key(
    text(
      "empty, a number such as +15005550006, or a messaging service's id",
      /^(\+[1-9]\d{6,14}|MG[0-9a-fA-F]{32})?$/,
    ),
    '',
    'Sender of text messages.',
  ),
  'sms.twilio_url': key(
    providerUrl,
    'https://api.twilio.com',
    "Address of the text message provider's API.",
  ),
  'sms.codes_per_day': key(
    integer(1, 1_000_000),
    500,
    'Verification codes that this instance sends in 24 hours, to all numbers together.',
  ),
  'futures.live_stale_minutes': key(
    integer(1, 1440),
    30,
    'Age in minutes at which a live futures quote is stale while the market is open.',
  ),
  'alerts.interval': key(
    duration('0s', '1h'),
    minuteMs,
    "Minimum time between firings of a code's alerts; prices that arrive in the meantime are evaluated at its end, one by one.",
  ),
  'deliveries.enabled': key(
    flag(),
    true,
    'False pauses all scheduled deliveries; those that fall due are sent once after they resume.',
  ),
  'deliveries.dispatch_interval': key(
    duration('1m', '1h'),
    defaultLimits.dispatchIntervalSeconds * secondMs,
    'How often scheduled deliveries that are due are sent.',
  ),
  'billing.provider': key(
    choice('manual', 'stripe'),
    'manual',
    'How customers pay for plans: by invoices that the operator marks as paid, or through a payment processor. In a demo instance manual invoices are paid automatically.',
  ),
  'billing.terms': key(
    duration('0s', '365d'),
    30 * dayMs,
    'How long a manual invoice may be open before it is overdue.',
  ),
  'billing.grace': key(
    duration('0s', '90d'),
    14 * dayMs,
    'How long a plan continues with an overdue invoice before it ends.',
  ),
  'billing.issuer': key(
    text('text of up to 400 characters', /^.{0,400}$/),
    '',
    'Name and address on invoices, lines separated by semicolons.',
  ),
  'billing.credit_packs': key(
    list('packs as id:requests:price:days, such as pack_10k:10000:900:365', text =>
      creditPackOf(text) ? text : undefined,
    ),
    ['pack_10k:10000:900:365', 'pack_50k:50000:3900:365', 'pack_250k:250000:14900:365'],
    'Credit packs on sale: id, requests, price in cents, and optionally days until they expire.',
  ),
  'billing.stripe_key': key(
    secret(),
    new Secret(''),
    'Secret key of the Stripe account, for billing.provider stripe.',
  ),
  'billing.stripe_webhook_secret': key(
    secret(),
    new Secret(''),
    "Secret that signs Stripe's messages to POST /billing/webhooks/stripe.",
  ),
  'billing.stripe_url': key(
    providerUrl,
    'https://api.stripe.com',
    "Address of the payment processor's API.",
  ),
  'streams.per_key': key(
    integer(1, 1000),
    5,
    'Connections to /cable that an API key may have open, and as many to /v1/stream.',
  ),
  'accounts.signup': key(
    choice('closed', 'invite', 'open'),
    'closed',
    'Who can sign up for the free plan: only the operator creates accounts, only invited people, or anyone with an e-mail address.',
    { inDev: 'open' },
  ),
  'sessions.lifetime': key(
    duration('5m', '30d'),
    12 * hourMs,
    'How long a session token is valid; a refresh creates a new one.',
  ),
  'sessions.sign_in_max': key(
    duration('1h', '365d'),
    30 * dayMs,
    'How long after signing in a session can be refreshed.',
  ),
  'sessions.link_lifetime': key(
    duration('1m', '24h'),
    15 * minuteMs,
    'How long a mailed sign-in link is valid.',
  ),
  'sessions.fresh_sign_in': key(
    duration('0s', '24h'),
    0,
    'How recent a sign-in must be to manage keys, people and secrets; 0s disables this, and API keys without restrictions can manage them too.',
  ),
  'sessions.second_factor': key(
    flag(),
    false,
    'Whether managing keys, people and secrets requires a sign-in with two-factor authentication; API keys then cannot manage them.',
  ),
  'oidc.issuer': key(
    issuer,
    '',
    "Issuer of the company's OpenID Connect provider, exactly as its tokens name it; empty: no company sign-in.",
  ),
  'oidc.client_id': key(text(), '', 'Client ID that the provider gave to this service.'),
  'oidc.client_secret_file': key(path(''), '', 'File with the client secret; empty: none.'),
  'oidc.domains': key(
    list('domains such as example.com', matching(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/)),
    [],
    'Accepted domains of e-mail addresses; empty: every address that the provider has verified.',
  ),
  'oidc.role_claim': key(
    text(),
    'groups',
    "Claim that lists a person's groups; dots lead into objects, as in realm_access.roles.",
  ),
  'oidc.roles': key(
    pairs(
      `groups with a role each: ${companyRoles.join(', ')}`,
      word => companyRoleOf(word) !== undefined,
    ),
    { operator: 'operator', admin: 'admin', member: 'member', 'read-only': 'read-only' },
    'Role that each group gives; the highest one counts.',
  ),
  'oidc.plans': key(
    pairs(`groups with a plan each: ${planIds.join(', ')}`, word =>
      (planIds as readonly string[]).includes(word),
    ),
    {},
    "Plan that each group gives to a person's own account; the highest one counts.",
  ),
  'oidc.auto_create': key(
    flag(),
    true,
    'Whether the first sign-in of a person creates an account.',
  ),
  'oidc.only': key(
    flag(),
    false,
    'Whether people sign in through the provider only: passwords, mailed links and sign-up are off.',
  ),
  'oidc.audience': key(
    text(),
    '',
    'Audience of access tokens that the API accepts from the issuer; empty: the client ID.',
  ),
  'secrets.master_key': key(
    secret(),
    new Secret(''),
    'Key that encrypts webhook secrets and credentials at rest; empty: created at the first start and stored in master.key of the data directory.',
  ),
  'sqlite.autocheckpoint': key(
    integer(0, 100_000),
    1000,
    'Pages of the WAL before a checkpoint; 0 leaves checkpoints to a replicator.',
  ),
  'readers.threads': key(
    integer(0, 64),
    Math.max(1, availableParallelism() - 1),
    'Query workers: threads for slow requests, each with a read-only connection; 0: the main thread processes them.',
  ),
  'nats.servers': key(
    natsServers,
    [],
    'Servers of a NATS cluster with JetStream to which commits, prices and snapshots are published; none: nothing is published.',
  ),
  'nats.credentials_file': key(path(''), '', 'File with credentials for NATS; empty: none.'),
  'nats.token': key(secret(), new Secret(''), 'Token for NATS; empty: none.'),
  'nats.prefix': key(
    natsPrefix,
    'wellhead',
    'Prefix of the names of subjects, streams and buckets, so that installations and other programs can share NATS; empty: the names of earlier versions, such as prices.>.',
  ),
  'nats.copies': key(integer(1, 5), 1, 'Number of NATS servers that store each stream.'),
  'nats.keep': key(
    duration('1h', '30d'),
    dayMs,
    'How long published changes are retained, in the database and in the stream.',
  ),
  'nats.snapshot_every': key(
    duration('1m', '7d'),
    hourMs,
    'How often a snapshot is written to the object store; at most half of nats.keep is used.',
  ),
  'nats.sync': key(
    choice('async', 'commit'),
    'async',
    'commit: a write is acknowledged once the stream has stored it, and returns 503 after five seconds without that; async: a write is acknowledged at once.',
  ),
  'nats.events': key(
    flag(),
    false,
    'Whether the webhook events of all accounts are also published on <prefix>.events.<type>.',
  ),
  'nats.standby': key(
    choice('off', 'auto'),
    'off',
    'auto: the primary writes only while it holds a lease, and a replica with the same setting takes over when the lease expires; off: "wellhead promote" is manual.',
    { flag: '--standby' },
  ),
  'nats.address': key(
    baseUrl,
    '',
    'Address at which other instances reach this one. Default: where it listens.',
  ),
  'replica.primary': key(
    baseUrl,
    '',
    'Address of the primary, to which a replica forwards requests that it cannot process; for serve --replica only.',
  ),
  'replica.max_lag': key(
    duration('1s', '1d'),
    10 * secondMs,
    'How far a replica may be behind before it reports this and forwards reads to the primary as well, while the primary responds.',
  ),
  'replica.wait': key(
    duration('0s', '30s'),
    2 * secondMs,
    'How long a read waits for the write that it names by sequence, before it is forwarded to the primary.',
  ),
  'dev.seed': key(
    integer(0, 4_294_967_295),
    1,
    'Seed of the demo data, for the command dev only.',
    { flag: '--seed' },
  ),
  'dev.world': key(
    choice('whole', 'small'),
    'whole',
    'Size of the demo data, for the command dev only: whole for all codes with years of history, small for some of each kind with one year.',
    { flag: '--world' },
  ),
  'dev.clock': key(
    instant<undefined>(),
    undefined,
    'Time at which the clock stops until it is advanced, for the command dev only.',
    {
      flag: '--clock',
    },
  ),
}

/** All settings; those of feeds are read by name in `feeds/engine`. */
export const configKeys: typeof ownKeys = Object.assign({}, ownKeys, feedKeys)
