import type { Operations } from '../../../http/operations/operation.ts'
import { createCorrectionStore } from '../store/corrections.ts'
import { datafeedOperations } from './datafeed.ts'
import { grafanaOperations } from './grafana.ts'

/** Prices in the protocols of charting libraries and dashboards. */
export const operations: Operations = [
  context => {
    const corrections = createCorrectionStore(context.db)
    return [...datafeedOperations(context, corrections), ...grafanaOperations(corrections)]
  },
]
