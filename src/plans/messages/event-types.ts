import { distance } from 'fastest-levenshtein'

/** Every type of event that this service delivers, by its canonical name. */
export const eventTypes = [
  'price.updated',
  'price.corrected',
  'price.significant_change',
  'price.threshold',
  'price.day_ahead.published',
  'price_alert.triggered',
  'analytics_alert.triggered',
  'drilling.rig_count.updated',
  'drilling.frac_spread.updated',
  'drilling.well_permit.new',
  'drilling.well_permits.batch',
  'drilling.well_permit.updated',
  'drilling.duc_well.updated',
  'subscription.created',
  'subscription.updated',
  'subscription.cancelled',
  'invoice.paid',
  'invoice.payment_failed',
  'usage.limit_warning',
  'usage.limit_exceeded',
  'watch.evaluated',
  'watch.threshold_crossed',
  'webhook.test',
] as const
export type EventType = (typeof eventTypes)[number]

/** Other names under which a type may be subscribed to; deliveries carry the canonical one. */
export const eventAliases: Readonly<Record<string, EventType>> = {
  'alert.triggered': 'price_alert.triggered',
  'price.alert': 'price_alert.triggered',
  'api.limit.warning': 'usage.limit_warning',
  'api.limit.exceeded': 'usage.limit_exceeded',
}

const knownTypes: ReadonlySet<string> = new Set(eventTypes)

/** The canonical name of a type or alias; undefined for a name that never fires. */
export const eventTypeOf = (name: string): EventType | undefined =>
  (Object.hasOwn(eventAliases, name) ? eventAliases[name] : undefined) ??
  (knownTypes.has(name) ? (name as EventType) : undefined)

/**
 * Whether a name, alias or pattern (`*`, `price.*`) that an endpoint subscribed to covers a type. No
 * pattern covers corrections: receivers of all price events take each for a new price.
 */
export function coversEvent(subscribed: string, type: EventType): boolean {
  if (type === 'price.corrected') return subscribed === type
  if (subscribed === '*') return true
  if (subscribed.endsWith('.*')) return type.startsWith(subscribed.slice(0, -1))
  return eventTypeOf(subscribed) === type
}

/**
 * Event types that an endpoint may subscribe to: every type, its aliases, and patterns that match a
 * type.
 */
const subscribable: readonly string[] = [
  ...new Set([
    '*',
    ...eventTypes,
    ...Object.keys(eventAliases),
    ...eventTypes.flatMap(type => {
      const parts = type.split('.')
      return parts.slice(1).map((_, i) => `${parts.slice(0, i + 1).join('.')}.*`)
    }),
  ]),
]

/** Whether a name, alias or pattern covers any type; otherwise it would never fire. */
export const coversAnyEvent = (subscribed: string): boolean =>
  eventTypes.some(type => coversEvent(subscribed, type))

/** The name, alias or pattern that is most likely meant. */
export const nearestEvent = (name: string): string =>
  subscribable.reduce((best, candidate) =>
    distance(name, candidate) < distance(name, best) ? candidate : best,
  )

/** Every type that one of the names, aliases or patterns matches. */
export const coveredEvents = (subscribed: readonly string[]): EventType[] =>
  eventTypes.filter(type => subscribed.some(name => coversEvent(name, type)))

const permitName = /^drilling\.well_permits?\./

/**
 * Whether a type, or a name that is subscribed to, is of well permits: they need the feature
 * `well_permits`.
 */
export const isPermitEvent = (name: string): boolean => permitName.test(name)

/** Events that commodity filters apply to; watches define their codes themselves. */
export const hasCommodityFilter = (type: EventType): boolean =>
  /^(price|price_alert|analytics_alert|drilling)\./.test(type)
