import type { ChartAnswer } from '../../../topics/prices/operations/chart.ts'

export type { ChartAnswer }

/** A stock, a count or an index has no currency, and none of the words of a price. */
export const isPrice = ({ currency }: Pick<ChartAnswer, 'currency'>): boolean => currency !== null
