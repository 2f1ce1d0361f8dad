import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { excelRoutes } from './excel.ts'

/** Answers a request of this instance as its server would. */
export type Dispatch = (request: Request) => Promise<Response>

/** Any answer of the interface as a table for spreadsheets. */
export function spreadsheetTopic(context: Context, answer: Dispatch): Elysia {
  const { limits, config, gate, profiles } = context
  const routes = new Elysia()
  routes.use(
    excelRoutes({
      ...context,
      codesMax: limits.codesPerRequestMax,
      xmlRoot: config.brand.xmlRoot,
      dispatch(request, caller, onBehalf) {
        gate.vouch(request, caller)
        profiles?.refuseAs(request, onBehalf)
        return answer(request)
      },
    }),
  )
  return routes
}
