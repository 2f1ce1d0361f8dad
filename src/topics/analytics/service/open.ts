import type { Runtime } from '../../../config/runtime.ts'
import { readsNow } from '../../../database/dataset-reads.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { PricesView } from '../../prices/service/reads/vintage.ts'
import { createAnnotationStore } from '../store/annotations.ts'
import { createCongressionalTradeStore } from '../store/congressional-trades.ts'
import { createPositionStore } from '../store/positions.ts'

export type AnalyticsServices = ReturnType<typeof openAnalytics>

export const openAnalytics = ({
  db,
  catalogue,
}: Pick<Runtime, 'db'> & { catalogue: Pick<Catalogue, 'isRestricted' | 'named'> }) => ({
  annotations: createAnnotationStore(
    db,
    code => !catalogue.isRestricted || catalogue.named(code) !== undefined,
  ),
  congressionalTrades: createCongressionalTradeStore(db),
  /** Positions of managed money, from the commitments of traders. */
  positions: createPositionStore(readsNow(db)),
  /** The positions as a view of the past has them. */
  analyticsAt: ({ reads }: Pick<PricesView, 'reads'>) => ({
    positions: createPositionStore(reads),
  }),
})
