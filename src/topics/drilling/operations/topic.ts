import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { newestProduction } from '../service/well-production.ts'
import { drillingBasinOperations } from './basin.ts'
import { cycleTimeOperations } from './cycle-times.ts'
import { ducWellOperations } from './duc-wells.ts'
import { energyRigCountOperations } from './energy-rig-counts.ts'
import { fracFocusOperations } from './frac-focus.ts'
import { fracSpreadOperations } from './frac-spreads.ts'
import { drillingIntelligenceOperations } from './intelligence.ts'
import { drillingListOperations } from './intelligence-lists.ts'
import { latestDrillingOperations } from './latest.ts'
import { rigCountOperations } from './national-rig-counts.ts'
import { permitOperations } from './permits.ts'
import { productivityOperations } from './productivities.ts'
import { statePageOperations } from './state-pages.ts'
import { timelineOperations } from './timeline.ts'
import { wellProductionOperations } from './well-production.ts'

/**
 * Families of energy intelligence, under its prefix and under the alias of it: the same handlers
 * twice. Their routes are nobody's types: under two prefixes they are more than the compiler holds.
 */
const families: readonly ((context: Context) => Operation[])[] = [
  energyRigCountOperations,
  productivityOperations,
  fracSpreadOperations,
  ducWellOperations,
  permitOperations,
  fracFocusOperations,
  timelineOperations,
]

/** Rigs, permits, wells and what they produce. */
export function operationsOf(context: Context): Operation[] {
  const shared = {
    ...context,
    permits: context.permits.counts,
    production: newestProduction(context.wellProduction),
  }
  return [
    ...families.flatMap(family => family(context)),
    ...rigCountOperations(shared),
    ...latestDrillingOperations(shared),
    ...drillingIntelligenceOperations(shared),
    ...drillingListOperations(shared),
    ...drillingBasinOperations(shared),
    ...statePageOperations(shared),
    ...wellProductionOperations(context),
    ...cycleTimeOperations(context),
  ]
}
