import type { Operations } from '../../../http/operations/operation.ts'
import { commodityOperations } from './commodities.ts'
import { demoOperations } from './demo.ts'
import { gasHubOperations } from './gas-hubs.ts'
import { metaOperations } from './meta.ts'
import { priceListOperations } from './price-lists.ts'
import { sourceOperations } from './sources.ts'
import { wellKnownOperations } from './well-known.ts'

/** The catalogue, and operations that need no key. */
export const operations: Operations = [
  demoOperations,
  commodityOperations,
  metaOperations,
  priceListOperations,
  gasHubOperations,
  sourceOperations,
  wellKnownOperations,
]
