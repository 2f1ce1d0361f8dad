import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { excelOperations } from './excel.ts'

/** Answers a request of this instance as its server would. */
export type Dispatch = (request: Request) => Promise<Response>

/** Any answer of the interface as a table for spreadsheets. */
export function operationsOf(context: Context, { answer }: { answer: Dispatch }): Operation[] {
  const { limits, config, gate, profiles } = context
  return [
    ...excelOperations({
      ...context,
      codesMax: limits.codesPerRequestMax,
      xmlRoot: config.brand.xmlRoot,
      dispatch(request, caller, onBehalf) {
        gate.vouch(request, caller)
        profiles?.refuseAs(request, onBehalf)
        return answer(request)
      },
    }),
  ]
}
