import type { Operations } from '../../../http/operations/operation.ts'
import { batchOperations } from './batch.ts'
import { boardOperations } from './board.ts'
import { boardLayoutOperations } from './board-layout.ts'
import { chartOperations } from './chart.ts'
import { convertOperations } from './convert.ts'
import { dataConnectorOperations } from './data-connector.ts'
import { exportOperations } from './export.ts'
import { fileOperations } from './files.ts'
import { latestOperations } from './latest.ts'
import { metricsOperations } from './metrics.ts'
import { vintageOperations } from './vintages.ts'
import { widgetOperations } from './widgets.ts'
import { windowOperations } from './windows.ts'

/** Prices: the newest, windows of the past, conversions, widgets. */
export const operations: Operations = [
  latestOperations,
  windowOperations,
  boardOperations,
  boardLayoutOperations,
  chartOperations,
  vintageOperations,
  exportOperations,
  fileOperations,
  batchOperations,
  widgetOperations,
  metricsOperations,
  convertOperations,
  dataConnectorOperations,
]
