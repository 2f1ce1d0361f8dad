import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { excelRoutes } from './excel.ts'

/** Answers a request of this instance as its server would. */
export type Dispatch = (request: Request) => Promise<Response>

/** Any answer of the interface as a table for spreadsheets. */
export function mountSpreadsheet(app: AnyElysia, context: Context, answer: Dispatch): void {
  const { limits, config, gate, profiles } = context
  app.use(
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
}
