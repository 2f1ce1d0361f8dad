import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { bunkerRoutes } from './bunker.ts'
import { dieselRoutes } from './diesel.ts'
import { marineRoutes } from './marine.ts'
import { fuelSurchargeRoutes } from './surcharge.ts'

/** Marine fuels, diesel and fuel surcharges. */
export function mountFuels(app: AnyElysia, context: Context): void {
  app.use(marineRoutes(context))
  app.use(bunkerRoutes(context))
  app.use(dieselRoutes(context))
  app.use(fuelSurchargeRoutes(context))
}
