import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { type EnergyPrefix, energyPrefixes } from '../../energy/operations/frame.ts'
import { newestProduction } from '../service/well-production.ts'
import { drillingBasinRoutes } from './basin.ts'
import { cycleTimeRoutes } from './cycle-times.ts'
import { ducWellRoutes } from './duc-wells.ts'
import { energyRigCountRoutes } from './energy-rig-counts.ts'
import { fracFocusRoutes } from './frac-focus.ts'
import { fracSpreadRoutes } from './frac-spreads.ts'
import { drillingIntelligenceRoutes } from './intelligence.ts'
import { drillingListRoutes } from './intelligence-lists.ts'
import { latestDrillingRoutes } from './latest.ts'
import { rigCountRoutes } from './national-rig-counts.ts'
import { permitRoutes } from './permits.ts'
import { productivityRoutes } from './productivities.ts'
import { statePageRoutes } from './state-pages.ts'
import { timelineRoutes } from './timeline.ts'
import { wellProductionRoutes } from './well-production.ts'

/**
 * Families of energy intelligence, under its prefix and under the alias of it: the same handlers
 * twice. Their routes are nobody's types: under two prefixes they are more than the compiler holds.
 */
const families: readonly ((context: Context, prefix: EnergyPrefix) => AnyElysia)[] = [
  energyRigCountRoutes,
  productivityRoutes,
  fracSpreadRoutes,
  ducWellRoutes,
  permitRoutes,
  fracFocusRoutes,
  timelineRoutes,
]

/** Rigs, permits, wells and what they produce. */
export function mountDrilling(app: AnyElysia, context: Context): void {
  const shared = {
    ...context,
    permits: context.permits.counts,
    production: newestProduction(context.wellProduction),
  }
  for (const prefix of energyPrefixes)
    for (const family of families) app.use(family(context, prefix))
  app.use(rigCountRoutes(shared))
  app.use(latestDrillingRoutes(shared))
  app.use(drillingIntelligenceRoutes(shared))
  app.use(drillingListRoutes(shared))
  app.use(drillingBasinRoutes(shared))
  app.use(statePageRoutes(shared))
  app.use(wellProductionRoutes(context))
  app.use(cycleTimeRoutes(context))
}
