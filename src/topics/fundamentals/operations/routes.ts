import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { type EnergyPrefix, energyPrefixes } from '../../energy/operations/frame.ts'
import { inventoryRoutes } from './inventories.ts'
import { monthlyForecastRoutes } from './monthly-forecasts.ts'
import { opecRoutes } from './opec.ts'
import { outlookRoutes } from './outlooks.ts'
import { storageRoutes } from './storage.ts'

/** Families of energy intelligence, under its prefix and under the alias of it. */
const families: readonly ((context: Context, prefix: EnergyPrefix) => AnyElysia)[] = [
  inventoryRoutes,
  opecRoutes,
  outlookRoutes,
]

/** Supply, stocks and what agencies and the service expect. */
export function mountFundamentals(app: AnyElysia, context: Context): void {
  app.use(storageRoutes(context))
  for (const prefix of energyPrefixes)
    for (const family of families) app.use(family(context, prefix))
  app.use(monthlyForecastRoutes(context))
}
