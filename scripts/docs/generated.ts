import { exitCodeMeanings } from '../../src/cli/exit-codes.ts'
import { commandTable } from '../../src/cli/manual/table.ts'
import { envName } from '../../src/config/config.ts'
import { type ConfigKey, configKeys } from '../../src/config/keys.ts'
import { declaredDatasets } from '../../src/database/datasets.ts'
import { shippedFeeds } from '../../src/feeds/publishers/publishers.ts'
import { problems } from '../../src/http/problem/problem.ts'
import { defaultLimits } from '../../src/plans/limits.ts'
import { eventAliases, eventTypes } from '../../src/plans/messages/event-types.ts'
import { features, specAddOns, specTiers } from '../../src/plans/tiers.ts'
import { shippedCatalogue } from '../../src/topics/catalogue/files/shipped.ts'
import { sampleData } from '../../src/topics/webhooks/operations/sample.ts'
import { eventDescriptions } from './events.ts'
import { documentedProgram } from './program.ts'
import { remedies } from './remedies.ts'

/** The parts of the documentation that definitions of the program determine, as Markdown. */
export interface GeneratedParts {
  settings: string
  'error-codes': string
  events: string
  commands: string
  'exit-codes': string
  'plan-limits': string
  catalogue: string
  datasets: string
  publishers: string
  'publisher-formats': string
}

/** A cell may hold no bar and no line end. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim()

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map(row => `| ${row.map(cell).join(' | ')} |`).join('\n')

const code = (text: string): string => (text === '' ? 'empty' : `\`${text}\``)

function settings(): string {
  const groups = Map.groupBy(Object.entries(configKeys), ([name]) => {
    const [group, feed] = name.split('.')
    return group === 'feeds' && name.split('.').length === 3 ? `feeds.${feed}` : group!
  })
  // Every feed has the same settings: one table describes them all.
  const first = [...groups.keys()].find(name => name.startsWith('feeds.'))
  return [...groups]
    .filter(([name]) => !name.startsWith('feeds.') || name === first)
    .map(([name, keys]) => {
      const feed = name.startsWith('feeds.') ? name.slice('feeds.'.length) : undefined
      const general = (text: string) => (feed ? text.replaceAll(feed, 'NAME') : text)
      const rows = keys.map(([key, value]) => {
        const { kind, default: usual, inDev, description, flag } = value as ConfigKey<unknown>
        const shown = (some: unknown) =>
          key === 'readers.threads' ? 'cores minus one' : code(kind.secret ? '' : kind.show(some))
        const dev = inDev === undefined ? '' : `; \`dev\`: ${shown(inDev)}`
        const variable = general(
          feed ? envName(key).replace(feed.toUpperCase(), 'NAME') : envName(key),
        )
        const allowed = kind.secret ? 'secret' : kind.allowed
        return [
          `\`${general(key)}\``,
          general(description),
          allowed,
          `${shown(usual)}${dev}`,
          `\`${variable}\`${flag ? `, \`${flag}\`` : ''}`,
        ]
      })
      return `## ${general(name)}\n\n${table(['setting', 'meaning', 'values', 'default', 'variable, option'], rows)}`
    })
    .join('\n\n')
}

const errorCodes = (): string =>
  table(
    ['code', 'status', 'retry', 'meaning', 'remedy'],
    Object.entries(problems).map(([name, { status, retryable, when }]) => [
      `\`${name}\``,
      String(status),
      retryable ? 'yes' : 'no',
      when,
      remedies[name as keyof typeof problems],
    ]),
  )

/** A moment for samples that must be the same in every build. */
const sampleAt = Date.UTC(2026, 10, 20, 15)

function events(): string {
  const id = '00000000-0000-4000-8000-000000000000'
  return eventTypes
    .map(type => {
      const others = Object.entries(eventAliases).flatMap(([alias, canonical]) =>
        canonical === type ? [`\`${alias}\``] : [],
      )
      const alias = others.length > 0 ? ` Other names: ${others.join(', ')}.` : ''
      const event = {
        id,
        type,
        created_at: '2026-11-20T15:00:00Z',
        data: sampleData(type, id, sampleAt),
      }
      return `## ${type}\n\n${eventDescriptions[type]}${alias}\n\n\`\`\`json shown=sample\n${JSON.stringify(event, null, 2)}\n\`\`\``
    })
    .join('\n\n')
}

/** Options that nearly every command has: the page describes them once. */
const shared: ReadonlySet<string> = new Set(['--data', '--config', '--json'])

function commands(): string {
  return commandTable(documentedProgram())
    .map(({ words, description, arguments: given, options, examples }) => {
      const name = ['wellhead', ...words].join(' ')
      const own = options.filter(({ long }) => !shared.has(long))
      const rows = own.map(option => [`\`${option.flags}\``, option.description])
      const parts = [`## ${name}`, `\`${[name, ...given].join(' ')}\`: ${description}`]
      if (rows.length > 0) parts.push(table(['option', 'meaning'], rows))
      if (examples.length > 0) parts.push(`\`\`\`sh shown=network\n${examples.join('\n')}\n\`\`\``)
      return parts.join('\n\n')
    })
    .join('\n\n')
}

const exitCodes = (): string =>
  table(
    ['code', 'meaning'],
    exitCodeMeanings.map(([number, meaning]) => [String(number), meaning]),
  )

function planLimits(): string {
  const tiers = specTiers(defaultLimits)
  const many = (value: number | null) => (value === null ? 'unlimited' : value.toLocaleString('en'))
  const periods = {
    daily_counter: 'a day',
    monthly_counter: 'a month',
    trial_counter: 'in the trial',
  }
  const money = (cents: number) => (cents / 100).toLocaleString('en')
  const rows: [string, (tier: (typeof tiers)[number]) => string][] = [
    ['id', tier => `\`${tier.id}\``],
    ['name in tier fields', tier => tier.tierName],
    ['requests', tier => `${many(tier.requestQuota)} ${periods[tier.quotaKind]}`],
    ['requests in any 60 seconds', tier => many(tier.requestsPerMinute)],
    ['active API keys', tier => many(tier.apiKeys)],
    ['alerts', tier => many(tier.alerts)],
    ['webhook endpoints', tier => many(tier.webhookEndpoints)],
    ['webhook events a month', tier => many(tier.webhookEventsPerMonth)],
    ['scheduled deliveries', tier => many(tier.scheduledDeliveries)],
    ['watches', tier => many(tier.watches)],
    ['formulas', tier => many(tier.formulaSeries)],
    ['shortest interval of a watch', tier => `${many(tier.minWatchIntervalSeconds)} s`],
    ['codes of the market brief', tier => many(tier.marketBriefCodes)],
    ['text messages a month', tier => many(tier.smsPerMonth)],
    ['requests for 10,000 exported rows', tier => many(tier.exportRequestsPer10kRows)],
    ['share of webhook slots', tier => `${tier.sendingSlotsPercent}%`],
    ['USD a month', tier => (tier.customPricing ? 'agreed' : money(tier.priceMonthlyCents))],
    ['USD a year', tier => (tier.customPricing ? 'agreed' : money(tier.priceYearlyCents))],
  ]
  const access = { included: 'yes', allowance: 'limited', addon: 'add-on', none: 'no' }
  const head = ['', ...tiers.map(({ name }) => name)]
  const limits = rows.map(([name, value]) => [name, ...tiers.map(value)])
  const offered = features.map(feature => [
    `\`${feature}\``,
    ...tiers.map(tier => access[tier.access[feature]]),
  ])
  const addOns = specAddOns.map(addOn => [
    addOn.name,
    `\`${addOn.id}\``,
    `\`${addOn.feature}\``,
    money(addOn.priceMonthlyCents),
  ])
  return [
    `## Limits\n\n${table(head, limits)}`,
    `## Features\n\n${table(['feature', ...tiers.map(({ name }) => name)], offered)}`,
    `## Add-ons\n\n${table(['add-on', 'id', 'feature', 'USD a month'], addOns)}`,
  ].join('\n\n')
}

function catalogue(): string {
  const groups = Map.groupBy(shippedCatalogue().series, series => series.category)
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([category, list]) => {
      const rows = list
        .toSorted((a, b) => (a.code < b.code ? -1 : 1))
        .map(series => [
          `\`${series.code}\``,
          series.name,
          series.unit ?? '',
          series.currency ?? '',
          series.cadence,
        ])
      return `## ${category}\n\n${table(['code', 'name', 'unit', 'currency', 'cadence'], rows)}`
    })
    .join('\n\n')
}

/** The columns of every dataset, as its declaration has them. */
const datasets = (): string =>
  declaredDatasets
    .map(({ name, description, columns, key, example, revisions }) => {
      const rows = columns.map(({ name, required, description }) => [
        code(name),
        required ? 'yes' : '',
        description,
      ])
      const kept = revisions ? ' Replaced rows are kept for `as_of`.' : ''
      return [
        `### ${name}`,
        `${description} Rows are identified by ${key.map(code).join(', ')}.${kept}`,
        table(['column', 'required', 'meaning'], rows),
        `\`\`\`csv\n${example.trim()}\n\`\`\``,
      ].join('\n\n')
    })
    .join('\n\n')

const keyWords = { needed: 'yes', optional: 'optional', none: 'no' } as const

const publishers = (): string =>
  table(
    ['feed', 'content', 'key', 'class', 'licence'],
    shippedFeeds.map(({ publisher: { name, key, licenseClass, guide } }) => [
      code(name),
      guide.content,
      keyWords[key],
      licenseClass,
      guide.terms,
    ]),
  )

const publisherFormats = (): string =>
  table(
    ['feed', 'elements that the parser needs, and the remedy when they change'],
    shippedFeeds.map(({ publisher }) => [code(publisher.name), publisher.guide.format]),
  )

export const generatedParts = (): GeneratedParts => ({
  settings: settings(),
  'error-codes': errorCodes(),
  events: events(),
  commands: commands(),
  'exit-codes': exitCodes(),
  'plan-limits': planLimits(),
  catalogue: catalogue(),
  datasets: datasets(),
  publishers: publishers(),
  'publisher-formats': publisherFormats(),
})

if (import.meta.main) process.stdout.write(JSON.stringify(generatedParts()))
