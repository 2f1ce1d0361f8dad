import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { commodityOperations } from './commodities.ts'
import { demoOperations } from './demo.ts'
import { gasHubOperations } from './gas-hubs.ts'
import { metaOperations } from './meta.ts'
import { priceListOperations } from './price-lists.ts'
import { sourceOperations } from './sources.ts'
import { wellKnownOperations } from './well-known.ts'

/** The catalogue, and operations that need no key. */
export function operationsOf(context: Context): Operation[] {
  return [
    ...demoOperations(context),
    ...commodityOperations(context),
    ...metaOperations(context),
    ...priceListOperations(context),
    ...gasHubOperations(context),
    ...sourceOperations(context),
    ...wellKnownOperations(context),
  ]
}
