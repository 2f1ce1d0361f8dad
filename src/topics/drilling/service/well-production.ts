import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { readsNow } from '../../../database/dataset-reads.ts'
import { monthAfter } from '../../calendars/math/period.ts'
import { usStates } from '../../geography/math/us-states.ts'
import type { Well, WellReport } from '../dataset/wells.ts'
import { parseApiNumber } from '../math/api-number.ts'
import { perDay, wellStates } from '../math/well-production.ts'
import { createStateProductionStore, type NationalMonth } from '../store/state-production.ts'
import { createWellProductionStore } from '../store/well-production.ts'
import type { WellStore } from '../store/wells.ts'

/** Why there is no production of a well. */
export interface MissingWell {
  reason: 'unknown_state_prefix' | 'state_not_covered' | 'well_not_in_source'
  /** Two letters; undefined where the number begins with those of no state. */
  state: string | undefined
  /** The source of the reports; undefined where there are none. */
  source: string | undefined
}

export type WellProduction = ReturnType<typeof createWellProduction>

const unknownOperator = 'Unknown'

export function createWellProduction({
  db,
  wells: wellStore,
}: {
  db: Database
  wells: Pick<WellStore, 'get' | 'put'>
}) {
  const [wells, states] = [createWellProductionStore(db), createStateProductionStore(readsNow(db))]

  const newcomers = (reports: readonly WellReport[]): Well[] => {
    const first = new Map<string, WellReport>()
    for (const report of reports) {
      const earlier = first.get(report.apiNumber)
      if (!earlier || (earlier.operator === undefined && report.operator !== undefined))
        first.set(report.apiNumber, report)
    }
    return [...first.values()].filter(report => !wellStore.get(report.apiNumber)).map(wellOf)
  }

  const isWaitedFor = ({ month }: NationalMonth): boolean => {
    const filed = new Set(states.ofMonth(month).map(row => row.state))
    return states.ofMonth(monthAfter(month, -1)).some(row => !filed.has(row.state))
  }

  return {
    wells,
    states,
    /** One transaction with the wells that were not stored yet. */
    record: (reports: readonly WellReport[], recordedAt: number) =>
      transact(db, () => {
        wellStore.put(newcomers(reports), recordedAt)
        return wells.write(reports, recordedAt)
      }),
    /**
     * The newest month of the states together; provisional also while a state that was there the
     * month before has not filed.
     */
    newestNational() {
      const month = states.newestMonth()
      const national = month === undefined ? undefined : states.national(month)
      return national && { ...national, provisional: national.provisional || isWaitedFor(national) }
    },
    /** Newest month of each state whose wells are followed, by code. */
    covered: () => wells.newest(),
    whyMissing(apiNumber: string): MissingWell {
      const state = usStates.find(usState => usState.apiPrefix === apiNumber.slice(0, 2))?.code
      if (state === undefined) return { reason: 'unknown_state_prefix', state, source: undefined }
      const source = wells.newest().find(coverage => coverage.state === state)?.source
      const isCovered = source !== undefined || wellStates.includes(state)
      return { reason: isCovered ? 'well_not_in_source' : 'state_not_covered', state, source }
    },
  }
}

/** The daily production of a state in its newest month; undefined without a month. */
export const newestProduction =
  ({ states }: Pick<WellProduction, 'states'>) =>
  (state: string) => {
    const newest = states.newestOf(state)
    if (!newest) return undefined
    const { month, oilBbl, gasMcf, source } = newest
    return {
      oilBpd: Math.round(perDay(oilBbl, month)),
      gasMcfd: Math.round(perDay(gasMcf, month)),
      period: month,
      source,
    }
  }

/** A well as far as its first report describes it. */
const wellOf = ({ apiNumber, state, operator, wellName, county, source }: WellReport): Well => ({
  apiNumber,
  state,
  source,
  operator: operator ?? unknownOperator,
  name: wellName ?? shortNumber(apiNumber),
  county: county ?? null,
  formation: null,
  latitude: null,
  longitude: null,
  permitOn: null,
  spudOn: null,
  completedOn: null,
  firstProductionOn: null,
})

/** `42-329-40001`. */
const shortNumber = (apiNumber: string): string =>
  `${apiNumber.slice(0, 2)}-${apiNumber.slice(2, 5)}-${apiNumber.slice(5, 10)}`

/**
 * The fourteen digits of an API number written with any separators; undefined for anything else.
 */
export const wellNumberOf = (text: string): string | undefined =>
  parseApiNumber(text.replace(/[\s._/-]+/g, ''))?.digits
