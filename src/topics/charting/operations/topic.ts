import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { createCorrectionStore } from '../store/corrections.ts'
import { datafeedOperations } from './datafeed.ts'
import { grafanaOperations } from './grafana.ts'

/** Prices in the protocols of charting libraries and dashboards. */
export function operationsOf(context: Context): readonly Operation[] {
  const corrections = createCorrectionStore(context.db)
  return [...datafeedOperations(context, corrections), ...grafanaOperations(corrections)]
}
