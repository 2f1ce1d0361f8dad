import type { DisplayPreferences } from '../plans/display.ts'
import type { Role } from '../plans/roles/roles.ts'

/**
 * The addresses of the console's pages, for the server, which answers each with the same document,
 * and for the router in the browser. `:name` is a parameter.
 */
export const pagePaths = [
  '/',
  '/status',
  '/signup',
  '/docs',
  '/docs/:guide',
  '/board',
  '/series',
  '/series/:code',
  '/market',
  '/markets',
  '/markets/:part',
  '/commodities',
  '/commodities/:part',
  '/alerts',
  '/alerts/:id',
  '/webhooks',
  '/webhooks/:id',
  '/account',
  '/account/:part',
  '/operator',
  '/operator/:part',
  '/desk',
  '/desk/:part',
] as const
export type PagePath = (typeof pagePaths)[number]

/** Every operation by its name: the reference and the search list them. */
export const callsPath = '/docs/operations.json'

/** The part of the OpenAPI document that the reference shows of an operation; without one, its head. */
export const operationPath = (id: string): string =>
  `/docs/operation.json${id === '' ? '' : `?id=${encodeURIComponent(id)}`}`

const families = 'brent wti gasoil henry hub natural gas ttf carbon'

/**
 * The sections of pages by what `:part` of their addresses may be: the name of each, and further
 * words by which people look for it. The empty one is the page itself.
 */
export const pageParts = {
  series: {
    formulas: ['Formulas', 'formula editor computed series crack spread template'],
  },
  markets: {
    '': [
      'Curves',
      `forward curve futures term structure contango backwardation calendar spreads ${families}`,
    ],
    spreads: ['Spreads', 'cracks crack refining margins basis premiums'],
    power: ['Power', 'electricity day ahead delivery hours zones cheapest heat map gas day'],
    storage: ['Storage', 'stocks inventories five years stock'],
    seasons: ['Seasons', 'seasonality monthly returns heat map'],
    correlation: ['Correlation', 'matrix'],
    positions: ['Positions', 'cftc managed money commitments traders'],
    rigs: ['Rigs', 'rig count counts drilling baker'],
    permits: ['Permits', 'well permits drilling map'],
  },
  commodities: {
    '': ['Crude', 'oil inventories stocks cushing spr padd grades physical'],
    opec: ['OPEC', 'production countries quota saudi'],
    outlooks: ['Outlooks', 'forecasts steo eia iea accuracy prediction'],
    gas: ['Gas and LNG', 'natural gas lng ttf henry hub nbp jkm'],
    products: ['Products', 'refined gasoline diesel jet heating oil cracks retail fuels biofuels'],
    futures: ['Futures', 'contracts continuous settlement structure contango'],
    power: ['Power and carbon', 'electricity emissions eua carbon'],
    solids: ['Coal and metals', 'coal metals gold copper uranium'],
    fx: ['FX and indices', 'currency exchange rates indices'],
    marine: ['Marine fuels', 'bunker vlsfo mgo ports singapore rotterdam scrubber'],
    surcharges: ['Surcharges', 'fuel surcharge parcel carrier ups fedex truck bands'],
    drilling: ['Drilling', 'rigs uncompleted wells duc frac completions productivity basins'],
    wells: ['Wells', 'production permits frac focus chemicals cycle time cohorts operators'],
    quality: ['Data quality', 'completeness timeliness late health sources limits conversions'],
  },
  account: {
    '': ['Keys', 'api key token create revoke roll'],
    usage: ['Usage', 'requests quota limits consumption'],
    requests: ['Requests', 'log of requests errors refused status request id debug'],
    plan: ['Plan', 'plans billing invoices invoice subscription upgrade price credits payment'],
    members: ['Members', 'team organization invite roles people'],
    notifications: ['Notifications', 'e-mail phone text messages sms channels'],
    display: ['Display', 'preferences time zone number format colours scheme dark light dense'],
    sources: ['Data sources', 'connector own data source'],
    'sign-ins': ['Sign-ins', 'sessions devices sign out password'],
  },
  operator: {
    '': ['Overview', 'health condition operator'],
    feeds: ['Feeds', 'public sources publishers'],
    data: ['Data', 'import csv review held batches undo quarantine'],
    series: ['Series', 'add retire change series'],
    people: ['Customers', 'accounts people organizations plans'],
    outbox: ['Outbox', 'messages deliveries queue suppressed held'],
    backups: ['Backups', 'backup restore'],
    copies: ['Replicas', 'copies cluster replication'],
    logs: ['Logs', 'log'],
    audit: ['Audit', 'audit trail'],
    system: ['System', 'settings tokens tests admin'],
  },
  desk: {
    '': ['Scenarios', 'clock faults snapshots crash outage'],
    requests: ['Requests', 'log of requests'],
    inbox: ['Inbox', 'mail messages e-mail'],
    deliveries: ['Deliveries', 'webhooks sent'],
  },
} as const
export type PageWithParts = keyof typeof pageParts

/** The name of a section; undefined where the page has none of that address. */
export const partName = (page: PageWithParts, part: string): string | undefined =>
  (pageParts[page] as Record<string, readonly [string, string]>)[part]?.[0]

/** The facts that a page has before its first request. */
export interface Boot {
  service: string
  isEvaluation: boolean
  isSignedIn: boolean
  /** Any series has data: without it pages skip requests for computed values. */
  hasData: boolean
  /** The codes of the futures families that have quotes: pages request the curves of no others. */
  futures: readonly string[]
  /** The kinds of spreads of which at least one has the prices of all its legs. */
  spreads: readonly string[]
  /** Whether market events are recorded: without any, the API refuses to list them. */
  hasEvents: boolean
  /** The role in the organization: controls that it may not use are left out. */
  role: Role
  /** How the signed-in person wants pages to look; null until they have chosen. */
  display?: DisplayPreferences | null
  /** The sign-in opens the operator's pages, without the admin token. */
  isOperator: boolean
  /** The policy for new accounts. */
  signup: 'closed' | 'company' | 'invite' | 'open'
  /** Whether providers of e-mail and of text messages are configured. */
  reaches: { email: boolean; sms: boolean }
  /** The channel of prices in the stream. */
  channel: string
  /** Where the guides are, as JSON. */
  guides: string
  /**
   * The clock of this instance when the page was created, Unix ms; the clock of a demo instance can
   * be set.
   */
  now: number
}
