/**
 * Scopes that a key may be limited to, with the first segments of their paths. A route has one
 * scope; routes without one, such as the state of the service, are open to every key.
 */
const paths = {
  prices: [
    '/v1/prices',
    '/v1/export',
    '/v1/files',
    '/v1/commodities',
    '/v1/bunker-fuels',
    '/v1/marine-fuels',
    '/v1/marine-ports',
    '/v1/diesel-prices',
    '/v1/fuel-surcharge',
    '/v1/data-quality',
    '/v1/natural-gas',
    '/v1/delivery',
    '/v1/changes',
    '/v1/formulas',
    '/grafana',
    '/udf',
  ],
  futures: ['/v1/futures'],
  analytics: [
    '/v1/analytics',
    '/v1/indicators',
    '/v1/spreads',
    '/v1/forecasts',
    '/v1/market-brief',
  ],
  fundamentals: [
    '/v1/ei',
    '/v1/storage',
    '/v1/rig-counts',
    '/v1/drilling',
    '/v1/drilling-intelligence',
    '/v1/pseo',
    '/v1/well-production',
  ],
  alerts: ['/v1/alerts'],
  watches: ['/v1/subscriptions'],
  streams: ['/v1/stream', '/cable'],
  webhooks: ['/v1/webhooks'],
  deliveries: ['/v1/scheduled-deliveries'],
  messages: ['/v1/phone', '/v1/sms', '/v1/notifications', '/v1/notification_preferences'],
  sources: ['/v1/data-sources'],
  account: [
    '/v1/account',
    '/v1/api-keys',
    '/v1/dashboard',
    '/v1/display_preferences',
    '/v1/auth',
    '/v1/usage',
    '/v1/users',
    '/users',
    '/billing',
    '/organizations',
  ],
} as const satisfies Record<string, readonly string[]>

export type Scope = keyof typeof paths

export const scopes = Object.keys(paths) as Scope[]

export const isScope = (text: string): text is Scope => Object.hasOwn(paths, text)

const byPath = new Map<string, Scope>(
  scopes.flatMap(scope => paths[scope].map(path => [path, scope] as const)),
)

/** The scope of a route, whose path may contain parameters; undefined: every key may call it. */
export function scopeOf(route: string): Scope | undefined {
  const [, first = '', second = ''] = route.split('/', 3)
  return byPath.get(`/${first}/${second}`) ?? byPath.get(`/${first}`)
}

/** The limits of a key. */
export interface Limited {
  readOnly: boolean
  expiresAt: number | null
  allowedIps: readonly string[]
  allowedDomains: readonly string[]
  scopes: readonly string[]
}

/**
 * Whether a key may do less than its holder. Such a key must not lift its own limits, so it cannot
 * manage keys, people and payments, or read secrets.
 */
export const isLimited = (key: Limited): boolean =>
  key.readOnly ||
  key.expiresAt !== null ||
  key.allowedIps.length > 0 ||
  key.allowedDomains.length > 0 ||
  key.scopes.length > 0
