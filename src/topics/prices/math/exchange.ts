import { dayMs } from '../../../lib/time/instant.ts'

/** How much older than the price that it converts a rate may be: holidays take no longer. */
export const rateAgeMaxMs = 7 * dayMs

/** The currencies between two that no series pairs, shortest path first. */
export const rateCrossings = [[], ['USD'], ['EUR'], ['USD', 'EUR'], ['EUR', 'USD']] as const
