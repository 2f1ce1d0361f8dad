import type { Call } from '../../../http/operations/operation.ts'
import { Problem, refusedParameter } from '../../../http/problem/problem.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { markSources } from '../../energy/operations/answer.ts'
import { type EnergyCall, energy } from '../../energy/operations/frame.ts'
import { permitStateOf, permitStates } from '../../geography/math/us-states.ts'
import { roundTo } from '../../prices/math/format.ts'
import { dayAfter } from '../../prices/math/window.ts'
import { permitFreshness } from '../math/permits.ts'
import { statePermits } from '../service/permit-activity.ts'
import type { PermitCoverage } from '../service/permits.ts'
import type { CountedKind, PermitCounts } from '../store/permit-counts.ts'
import type { PermitFilter, PermitPage, PermitSearch } from '../store/permit-search.ts'
import { TooCommon } from '../store/permit-words.ts'
import { permitFilterOf, type permitQuery } from './permit-query.ts'
import { freshRow, permitRow } from './permit-row.ts'

const operatorsInSummary = 100
const changeDays = 30

const today = ({ at }: EnergyCall): string => isoDay(at.now())

/** Permits by their numbers, marked with their sources. */
export const markedPermits = (call: EnergyCall, ids: readonly number[]) =>
  markSources(call, call.at.permits.store.rows(ids))

/** Counts have no source: they are marked with the sources of the newest permits. */
function markStates(call: EnergyCall, coverage: PermitCoverage | undefined): void {
  const states = [...(coverage?.byState.keys() ?? [])]
  const sources = states.flatMap(state => call.at.permits.counts.sourceOf(state) ?? [])
  markSources(
    call,
    sources.map(source => ({ source })),
  )
}

function searched(
  search: PermitSearch,
  filter: PermitFilter,
  limit: number,
  offset: number,
): PermitPage {
  try {
    return search.page(filter, limit, offset)
  } catch (error) {
    if (!(error instanceof TooCommon)) throw error
    throw refusedParameter(
      filter.wellName === undefined ? 'query' : 'well_name',
      error.part,
      `${error.message}. Send more of the name.`,
    )
  }
}

type ListCall = Call<typeof permitQuery, never, unknown>

/** A page of the permits that fit a query. */
export function permitList(call: ListCall) {
  const { permits } = call.at
  const { page } = call
  const filter = permitFilterOf(call.query)
  const { ids, total } = searched(permits.search, filter, page.perPage, page.offset)
  page.meta(total)
  const data = markedPermits(call, ids).map(permitRow)
  const fresh = freshRow(permits.coverage(filter.states, today(call)))
  return {
    data,
    meta: { ...energy.meta(call, total, page), ...fresh },
    well_permits: data,
    ...fresh,
  }
}

export function latestPermits(
  call: EnergyCall,
  { days, limit, states }: { days: number; limit: number; states: string[] | undefined },
) {
  const { permits } = call.at
  const end = dayAfter(today(call), 1)
  const filter = { ...(states && { states }), from: dayAfter(end, -days), to: end }
  const { ids, total } = searched(permits.search, filter, limit, 0)
  const coverage = permits.coverage(states, today(call))
  const fresh = freshRow(coverage)
  const rows = markedPermits(call, ids)
  return {
    data: {
      well_permits: rows.map(permitRow),
      meta: {
        days,
        states: states ?? [...(coverage?.byState.keys() ?? [])],
        limit,
        count: rows.length,
        as_of: fresh.as_of,
        data_quality: qualityOf(permits.counts, coverage, today(call)),
      },
    },
    meta: energy.meta(call, total, { page: 1, perPage: limit }),
    ...fresh,
  }
}

/** The days, the source and the freshness of each state's list. */
const qualityOf = (counts: PermitCounts, coverage: PermitCoverage | undefined, today: string) =>
  Object.fromEntries(
    [...(coverage?.byState ?? [])].map(([state, newestOn]) => [
      state,
      {
        date_coverage: `${counts.oldestOn(state)} to ${newestOn}`,
        source: counts.sourceOf(state)!,
        note: noteOf(newestOn, today),
      },
    ]),
  )

function noteOf(newestOn: string, today: string): string {
  const { dataAgeDays, stale } = permitFreshness(newestOn, today)
  if (!stale) return `Newest permit ${dataAgeDays === 1 ? '1 day' : `${dataAgeDays} days`} old.`
  return `Nothing newer than ${newestOn} is held (${dataAgeDays} days): the state publishes its list at longer intervals, or it was not loaded since.`
}

/** Permits in all, by state and by operator. */
export function permitSummary(call: EnergyCall) {
  const { permits } = call.at
  const { counts } = permits
  const coverage = permits.coverage(undefined, today(call))
  markStates(call, coverage)
  const permitsByLabel = (kind: CountedKind, limit: number) =>
    Object.fromEntries(counts.largest(kind, limit, 0).map(term => [term.label, term.permits]))
  return {
    total_permits: counts.total(),
    by_state: permitsByLabel('state', permitStates.length),
    by_operator: permitsByLabel('operator', operatorsInSummary),
    as_of_date: coverage?.asOf ?? null,
  }
}

/** How many permits each term of a kind has, largest first. */
export function permitShares(call: EnergyCall, kind: CountedKind) {
  const { permits } = call.at
  const { counts } = permits
  const coverage = permits.coverage(undefined, today(call))
  const all = counts.total()
  markStates(call, coverage)
  const rows = (limit: number, offset: number) => {
    const largest = counts.largest(kind, limit, offset)
    const end = dayAfter(coverage?.asOf ?? today(call), 1)
    const [later, earlier] = [dayAfter(end, -changeDays), dayAfter(end, -2 * changeDays)]
    const ids = largest.map(term => term.id)
    const movements = counts.movements(kind, ids, earlier, later, end)
    return largest.map(({ id, label, permits }) => ({
      label,
      permit_count: permits,
      change: movements.get(id)!.change,
      percentage: roundTo((100 * permits) / all, 2),
      date: movements.get(id)!.newestOn,
    }))
  }
  return { total: counts.count(kind), rows }
}

export function stateActivity(call: EnergyCall, text: string) {
  const permitState = permitStateOf(text)
  if (!permitState) {
    const served = permitStates.map(servedState => servedState.code).join(', ')
    throw new Problem(
      'DATA_NOT_AVAILABLE',
      `Well permits of ${text.slice(0, 100)} are not served; those of ${served} are.`,
    )
  }
  const permitsOfState = statePermits(call.at.permits, permitState, today(call))
  markSources(call, permitsOfState.recent)
  return {
    state_code: permitState.code,
    state_name: permitState.name,
    permit_count: permitsOfState.total,
    permits_30d: permitsOfState.permits30d,
    permits_365d: permitsOfState.permits365d,
    top_operators: permitsOfState.topOperators,
    top_counties: permitsOfState.topCounties.map(({ name, permits: n }) => ({
      county: name,
      permits: n,
    })),
    recent: permitsOfState.recent.map(permitRow),
    current_activity_status: permitsOfState.activity.status,
    indexing_recommendation: permitsOfState.activity.indexing,
    current_activity_reason: permitsOfState.activity.reason,
    ...freshRow(permitsOfState.coverage),
  }
}
