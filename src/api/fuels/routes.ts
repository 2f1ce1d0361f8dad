import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { bunkerRoutes } from './bunker.ts'
import { dieselRoutes } from './diesel.ts'
import { marineRoutes } from './marine.ts'
import { fuelSurchargeRoutes } from './surcharge.ts'

/** Marine fuels, diesel and fuel surcharges. */
export function fuelsTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(marineRoutes(context))
  routes.use(bunkerRoutes(context))
  routes.use(dieselRoutes(context))
  routes.use(fuelSurchargeRoutes(context))
  return routes
}
