import type { Runtime } from '../../../config/runtime.ts'
import { type AnnotationStore, createAnnotationStore } from '../store/annotations.ts'
import {
  type CongressionalTradeStore,
  createCongressionalTradeStore,
} from '../store/congressional-trades.ts'
import { createPositionStore, type PositionStore } from '../store/positions.ts'

export interface AnalyticsServices {
  annotations: AnnotationStore
  congressionalTrades: CongressionalTradeStore
  /** What managed money holds, from the commitments of traders. */
  positions: PositionStore
}

export const openAnalytics = ({ db }: Pick<Runtime, 'db'>): AnalyticsServices => ({
  annotations: createAnnotationStore(db),
  congressionalTrades: createCongressionalTradeStore(db),
  positions: createPositionStore(db),
})
