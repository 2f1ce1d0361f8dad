import type { Operations } from '../../../http/operations/operation.ts'
import { drillingBasinOperation } from './basin.ts'
import { cycleTimeOperations } from './cycle-times.ts'
import { energyRigCountOperations } from './energy-rig-counts.ts'
import { fracFocusOperations } from './frac-focus.ts'
import { drillingIntelligenceOperations } from './intelligence.ts'
import { drillingListOperations } from './intelligence-lists.ts'
import { latestDrillingOperation } from './latest.ts'
import { rigCountOperations } from './national-rig-counts.ts'
import { permitOperations } from './permits.ts'
import { productivityOperations } from './productivities.ts'
import { regionalCountOperations } from './regional-counts.ts'
import { statePageOperation } from './state-pages.ts'
import { timelineOperation } from './timeline.ts'
import { wellProductionOperations } from './well-production.ts'

export const operations: Operations = [
  energyRigCountOperations,
  productivityOperations,
  regionalCountOperations,
  permitOperations,
  fracFocusOperations,
  timelineOperation,
  rigCountOperations,
  latestDrillingOperation,
  drillingIntelligenceOperations,
  drillingListOperations,
  drillingBasinOperation,
  statePageOperation,
  wellProductionOperations,
  cycleTimeOperations,
]
