import { type TSchema, t } from 'elysia'
import type { AccessPlugin } from '../../http/gate/access.ts'
import type { CodeReader } from '../../http/input/codes.ts'
import { FailProblem, NestedProblem } from '../../http/problem/shape.ts'
import type { Catalogue } from '../../service/catalogue/catalogue.ts'
import type { StorageLevels } from '../../service/fundamentals/storage.ts'
import type { Board } from '../../service/prices/board.ts'
import type { Closes } from '../../service/prices/closes.ts'
import type { AnnotationStore } from '../../store/analytics/annotations.ts'
import type { CongressionalTradeStore } from '../../store/analytics/congressional-trades.ts'
import type { PositionStore } from '../../store/analytics/positions.ts'
import type { Marks } from '../answer.ts'

export interface IndicatorDeps {
  access: AccessPlugin
  annotations: AnnotationStore
  board: Board
  catalogue: Catalogue
  closes: Closes
  codes: CodeReader
  congressionalTrades: CongressionalTradeStore
  cot: PositionStore
  marks: Marks
  now: () => number
  storage: StorageLevels
}

export const calculated = { feature: 'calculated_metrics', meter: true } as const

export const refusals = {
  400: t.Union([FailProblem, NestedProblem]),
  403: NestedProblem,
  404: NestedProblem,
}

/** What every indicator says of its data. */
export const metaFields = {
  as_of: t.String({
    format: 'date-time',
    description: 'What the oldest price or the newest row of the answer is of.',
  }),
  source: t.String({ examples: ['EIA'], description: 'Sources, separated by semicolons.' }),
  source_description: t.String({ examples: ['Published by EIA'] }),
}

/** `{data, meta}` without a status. */
export const indicator = <T extends TSchema>(data: T, title: string) =>
  t.Object({ data, meta: t.Object(metaFields) }, { title })

export const instantField = t.String({ format: 'date-time', examples: ['2026-11-20T14:55:00Z'] })
