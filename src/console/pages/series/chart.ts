import { useData } from '../../parts/requests/ask.ts'
import type { ChartAnswer } from './answer.ts'

/** The prices of a code from a day on; nothing without a code. */
export const useChart = (code: string | undefined, from: string, by = 'day', isLater = false) =>
  useData<ChartAnswer>(
    code && `/v1/prices/chart?code=${code}&start_date=${from}&interval=${by}`,
    isLater,
  )
