import { type AnyElysia, Elysia } from 'elysia'
import { cheapestWith, firstPlan, type Plans } from '../../plan/plans.ts'
import type { Feature } from '../../plan/tiers.ts'
import { type EiInventoriesDeps, inventoryRoutes } from '../fundamentals/inventories.ts'
import { type EiOpecDeps, opecRoutes } from '../fundamentals/opec.ts'
import { type EiForecastsDeps, outlookRoutes } from '../fundamentals/outlooks.ts'
import type { DrillingAnswerDeps } from './answer.ts'
import { ducWellRoutes } from './duc-wells.ts'
import { energyRigCountRoutes } from './ei-rig-counts.ts'
import { type EiFracFocusDeps, fracFocusRoutes } from './frac-focus.ts'
import { fracSpreadRoutes } from './frac-spreads.ts'
import { type EiPrefix, eiPrefixes } from './frame.ts'
import { permitRoutes } from './permits.ts'
import { productivityRoutes } from './productivities.ts'
import { type EiTimelineDeps, timelineRoutes } from './timeline.ts'

/** What each family is told beside what it takes from the instance. */
export interface EiShared {
  /** Name of the lowest plan that has a feature, for `meta.tier_required`. */
  tierRequired(feature: Feature): string
}

/** What a family takes from the instance. */
type House<T extends EiShared> = Omit<T, keyof EiShared>

export interface EiDeps
  extends House<DrillingAnswerDeps>,
    House<EiInventoriesDeps>,
    House<EiOpecDeps>,
    House<EiForecastsDeps>,
    House<EiFracFocusDeps>,
    House<EiTimelineDeps> {
  plans: Plans
}

/** The lowest plan with a feature, by its name; empty where no plan can have it. */
export const tierRequiredOf =
  (plans: Plans): EiShared['tierRequired'] =>
  feature =>
    cheapestWith(plans, feature, firstPlan)?.plan.tierName ?? ''

/**
 * The families, one line for each. Their routes are nobody's types: under two prefixes they are
 * more than the compiler can hold.
 */
const families: readonly ((deps: EiDeps & EiShared, prefix: EiPrefix) => AnyElysia)[] = [
  energyRigCountRoutes,
  productivityRoutes,
  fracSpreadRoutes,
  ducWellRoutes,
  inventoryRoutes,
  opecRoutes,
  outlookRoutes,
  permitRoutes,
  fracFocusRoutes,
  timelineRoutes,
]

/**
 * Energy intelligence, whole, under its prefix and under the alias of it: the same handlers twice.
 */
export function energyIntelligenceRoutes(deps: EiDeps): Elysia {
  const shared = { ...deps, tierRequired: tierRequiredOf(deps.plans) }
  const all = new Elysia()
  for (const prefix of eiPrefixes) for (const family of families) all.use(family(shared, prefix))
  return all
}
