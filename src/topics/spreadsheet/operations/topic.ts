import type { Operations } from '../../../http/operations/operation.ts'
import { excelOperations } from './excel.ts'
import { createTableSource } from './run.ts'
import { workspaceOperations } from './workspace.ts'

/** Handles a request within this instance as its server would. */
export type Dispatch = (request: Request) => Promise<Response>

/** Returns responses of the API as tables for spreadsheets. */
export const operations: Operations<{ answer: Dispatch; document(): Promise<string> }> = [
  (context, { answer, document }) => {
    const { limits, config, gate, onBehalf, profiles } = context
    const source = createTableSource({
      ...context,
      dispatch(request, caller, original) {
        onBehalf.set(request, original)
        gate.vouch(request, caller)
        profiles?.refuseAs(request, original)
        return answer(request)
      },
    })
    return [
      ...excelOperations({
        ...context,
        codesMax: limits.codesPerRequestMax,
        xmlRoot: config.brand.xmlRoot,
        source,
      }),
      ...workspaceOperations({ ...context, source, document }),
    ]
  },
]
