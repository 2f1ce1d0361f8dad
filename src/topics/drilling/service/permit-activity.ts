import { isoDay } from '../../../lib/time/instant.ts'
import type { PermitState } from '../../geography/math/us-states.ts'
import { dayAfter } from '../../prices/math/window.ts'
import { type Activity, activityOf } from '../math/permits.ts'
import type { NamedCount } from '../store/permit-counts.ts'
import type { StoredPermit } from '../store/well-permits.ts'
import type { PermitCoverage, Permits } from './permits.ts'

export interface StatePermits {
  coverage: PermitCoverage | undefined
  total: number
  permits30d: number
  permits365d: number
  topOperators: NamedCount[]
  topCounties: NamedCount[]
  recent: StoredPermit[]
  activity: Activity
}

const topMax = 10

/** The permits of a state on a day; the spans of 30 and 365 days end with it. */
export function statePermits(permits: Permits, state: PermitState, today: string): StatePermits {
  const { code } = state
  const { counts, search, store } = permits
  const coverage = permits.coverage([code], today)
  const [end, monthAgo, yearAgo] = [1, -29, -364].map(days => dayAfter(today, days)) as [
    string,
    string,
    string,
  ]
  const [permits30d, permits365d] = [
    counts.between(code, monthAgo, end),
    counts.between(code, yearAgo, end),
  ]
  const readAt = store.readAt(code)
  const readOn = readAt === undefined ? undefined : isoDay(readAt)
  return {
    coverage,
    total: counts.ofState(code),
    permits30d,
    permits365d,
    topOperators: counts.topOperators(code, yearAgo, end, topMax),
    topCounties: counts.topCounties(code, yearAgo, end, topMax),
    recent: store.rows(search.page({ states: [code] }, topMax, 0).ids),
    activity: activityOf({
      state,
      newestOn: coverage?.asOf,
      readOn,
      permits30d,
      permits365d,
      today,
    }),
  }
}
