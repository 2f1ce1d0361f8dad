import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { createCorrectionStore } from '../store/corrections.ts'
import { datafeedOperations } from './datafeed.ts'

/** Prices in the protocol of charting libraries. */
export const operationsOf = (context: Context): readonly Operation[] =>
  datafeedOperations(context, createCorrectionStore(context.db))
