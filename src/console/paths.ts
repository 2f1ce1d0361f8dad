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

/** The sections of pages: what `:part` of their addresses may be. */
export const pageParts = {
  series: ['formulas'],
  markets: [
    'spreads',
    'power',
    'storage',
    'seasons',
    'correlation',
    'positions',
    'rigs',
    'permits',
  ],
  commodities: [
    'opec',
    'outlooks',
    'gas',
    'products',
    'futures',
    'power',
    'solids',
    'fx',
    'marine',
    'surcharges',
    'drilling',
    'wells',
    'quality',
  ],
  account: [
    'usage',
    'requests',
    'plan',
    'members',
    'notifications',
    'display',
    'sources',
    'sign-ins',
  ],
  operator: [
    'feeds',
    'data',
    'series',
    'people',
    'outbox',
    'backups',
    'copies',
    'logs',
    'audit',
    'system',
  ],
  desk: ['requests', 'inbox', 'deliveries'],
} as const
export type PageWithParts = keyof typeof pageParts

/** The facts that a page has before its first request. */
export interface Boot {
  service: string
  isEvaluation: boolean
  isSignedIn: boolean
  /** Any series has data: without it pages skip requests for computed values. */
  hasData: boolean
  /** The role in the organization: controls that it may not use are left out. */
  role: Role
  /** How the signed-in person wants pages to look; null until they have chosen. */
  display?: DisplayPreferences | null
  /** The sign-in opens the operator's pages, without the admin token. */
  isOperator: boolean
  /** The policy for new accounts. */
  signup: 'closed' | 'invite' | 'open'
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
