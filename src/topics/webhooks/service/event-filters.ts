import { type EventType, hasCommodityFilter, isPermitEvent } from '../../../plans/event-types.ts'
import type { Endpoint } from '../store/webhooks.ts'
import type { SkipReason } from './skips.ts'

/** What the filters of endpoints look at. */
export interface Filtered {
  type: EventType
  commodity?: string | undefined
  /**
   * The futures family that the commodity is a contract of: who asked for the family asked for its
   * contracts.
   */
  family?: string | undefined
  state?: string | undefined
  /** Whether the conditions of an endpoint hold, for the events of prices that they filter. */
  conditionsHold?: ((endpoint: Endpoint) => boolean) | undefined
}

/**
 * Why an endpoint that subscribed to an event does not get it; undefined when it does. An empty
 * filter keeps nothing back.
 */
export function rejection(
  endpoint: Endpoint,
  { type, commodity, family, state, conditionsHold }: Filtered,
): SkipReason | undefined {
  const { commodityFilters, stateFilters, conditions } = endpoint
  if (commodity !== undefined && hasCommodityFilter(type)) {
    const names = (code: string) => code === commodity || code === family
    if (commodityFilters.length > 0 && !commodityFilters.some(names)) return 'commodity_filter'
    if (
      conditions.length > 0 &&
      type.startsWith('price.') &&
      !(conditionsHold?.(endpoint) ?? conditions.some(each => names(each.commodity)))
    )
      return 'conditions'
  }
  if (
    state !== undefined &&
    isPermitEvent(type) &&
    stateFilters.length > 0 &&
    !stateFilters.includes(state)
  )
    return 'state_filter'
  return undefined
}
