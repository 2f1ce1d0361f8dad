import { t } from 'elysia'
import { pageHeaders, pageMeta, pageOf, pageQuery } from '../../../http/input/page.ts'
import { integerOf } from '../../../http/input/query.ts'
import type { Answering } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { invalidParameter, notFound, Problem } from '../../../http/problem/problem.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { markSources } from '../../energy/operations/answer.ts'
import { energyMeta } from '../../energy/operations/frame.ts'
import { energyPage, energyRecord, recordIdOf } from '../../energy/operations/list.ts'
import { permitStateOf, permitStates } from '../../geography/math/us-states.ts'
import { roundTo } from '../../prices/math/format.ts'
import { dayAfter } from '../../prices/math/window.ts'
import { permitFreshness } from '../math/permits.ts'
import { statePermits } from '../service/permit-activity.ts'
import type { PermitCoverage } from '../service/permits.ts'
import type { CountedKind, PermitCounts } from '../store/permit-counts.ts'
import type { PermitFilter, PermitPage, PermitSearch } from '../store/permit-search.ts'
import { TooCommon } from '../store/permit-words.ts'
import type { StoredPermit } from '../store/well-permits.ts'
import { permitFilterOf, permitQuery, statesOf } from './permit-query.ts'
import { freshRow, permitRow } from './permit-row.ts'

export type PermitsDeps = Pick<Context, 'access' | 'permits' | 'marks' | 'now' | 'tierRequired'>

export const permitListQuery = t.Object({ ...pageQuery(100, 25), ...permitQuery })
type ListQuery = { [name in keyof typeof permitListQuery.properties]?: string }

const operatorsInSummary = 100
const changeDays = 30

/** What all answers about permits share. */
function createSharedAnswers({ permits, marks, now, tierRequired }: PermitsDeps) {
  return {
    tier: () => tierRequired('energy_intelligence'),
    today: () => isoDay(now()),
    rowsOf(set: Answering, ids: readonly number[]): StoredPermit[] {
      const rows = permits.store.rows(ids)
      markSources(set, marks, rows)
      return rows
    },
    /** Counts have no source of their own: they are marked as the newest permits are. */
    markStates(set: Answering, coverage: PermitCoverage | undefined) {
      const sources = [...(coverage?.byState.keys() ?? [])].flatMap(
        state => permits.counts.sourceOf(state) ?? [],
      )
      markSources(
        set,
        marks,
        sources.map(source => ({ source })),
      )
    },
  }
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
    throw invalidParameter(
      filter.wellName === undefined ? 'query' : 'well_name',
      error.part,
      `${error.message}: send more of the name.`,
    )
  }
}

/** Answers that are permits. */
export function createPermitListAnswers(deps: PermitsDeps) {
  const { permits } = deps
  const { tier, today, rowsOf } = createSharedAnswers(deps)

  const list = (query: ListQuery, set: Answering, request: Request) => {
    const page = pageOf(query, 100, 25)
    const filter = permitFilterOf(query)
    const { ids, total } = searched(
      permits.search,
      filter,
      page.perPage,
      (page.page - 1) * page.perPage,
    )
    pageHeaders(set.headers, request.url, pageMeta(page, total))
    const data = rowsOf(set, ids).map(permitRow)
    const fresh = freshRow(permits.coverage(filter.states, today()))
    return {
      data,
      meta: { ...energyMeta(tier(), total, page), ...fresh },
      well_permits: data,
      ...fresh,
    }
  }

  const latest = (query: { days?: string; states?: string; limit?: string }, set: Answering) => {
    const days = integerOf('days', query.days, 7, 1, 90)
    const limit = integerOf('limit', query.limit, 50, 1, 500)
    const states = statesOf(query.states)
    const filter = {
      ...(states && { states }),
      from: dayAfter(today(), 1 - days),
      to: dayAfter(today(), 1),
    }
    const { ids, total } = searched(permits.search, filter, limit, 0)
    const coverage = permits.coverage(states, today())
    const fresh = freshRow(coverage)
    const rows = rowsOf(set, ids)
    return {
      data: {
        well_permits: rows.map(permitRow),
        meta: {
          days,
          states: states ?? [...(coverage?.byState.keys() ?? [])],
          limit,
          count: rows.length,
          as_of: fresh.as_of,
          data_quality: qualityOf(permits.counts, coverage, today()),
        },
      },
      meta: energyMeta(tier(), total, { page: 1, perPage: limit }),
      ...fresh,
    }
  }
  const permit = (id: string, set: Answering) => {
    const row = rowsOf(set, [recordIdOf(id, 'Well permit')])[0]
    if (!row) throw notFound(`Well permit ${id}`)
    return energyRecord(permitRow(row), tier())
  }
  return { list, latest, permit }
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

/** Answers that are numbers of permits. */
export function createPermitCountAnswers(deps: PermitsDeps) {
  const { permits } = deps
  const { counts } = permits
  const { tier, today, markStates } = createSharedAnswers(deps)

  const summary = (set: Answering) => {
    const coverage = permits.coverage(undefined, today())
    markStates(set, coverage)
    const permitsByLabel = (kind: CountedKind, limit: number) =>
      Object.fromEntries(counts.largest(kind, limit, 0).map(term => [term.label, term.permits]))
    const numbers = {
      total_permits: counts.total(),
      by_state: permitsByLabel('state', permitStates.length),
      by_operator: permitsByLabel('operator', operatorsInSummary),
      as_of_date: coverage?.asOf ?? null,
    }
    return energyRecord(numbers, tier())
  }

  const shares = <R>(
    kind: CountedKind,
    query: { page?: string; per_page?: string },
    set: Answering,
    request: Request,
    shape: (name: string) => R,
  ) => {
    const coverage = permits.coverage(undefined, today())
    const all = counts.total()
    markStates(set, coverage)
    const rows = (limit: number, offset: number) => {
      const largest = counts.largest(kind, limit, offset)
      const end = dayAfter(coverage?.asOf ?? today(), 1)
      const [later, earlier] = [dayAfter(end, -changeDays), dayAfter(end, -2 * changeDays)]
      const ids = largest.map(term => term.id)
      const movements = counts.movements(kind, ids, earlier, later, end)
      return largest.map(term => ({ ...term, ...movements.get(term.id)! }))
    }
    const answer = { set, request, tierRequired: tier() }
    return energyPage(query, answer, { total: counts.count(kind), rows }, term => ({
      ...shape(term.label),
      permit_count: term.permits,
      change: term.change,
      percentage: roundTo((100 * term.permits) / all, 2),
      date: term.newestOn,
    }))
  }

  return { summary, shares }
}

/** What permits say about drilling in a state. */
export function createStateActivityAnswer(deps: PermitsDeps) {
  const { permits, marks } = deps
  const { tier, today } = createSharedAnswers(deps)
  return (text: string, set: Answering) => {
    const permitState = permitStateOf(text)
    if (!permitState) {
      const served = permitStates.map(servedState => servedState.code).join(', ')
      throw new Problem(
        'DATA_NOT_AVAILABLE',
        `Well permits of ${text.slice(0, 100)} are not served; those of ${served} are.`,
      )
    }
    const permitsOfState = statePermits(permits, permitState, today())
    markSources(set, marks, permitsOfState.recent)
    const activity = {
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
    return energyRecord(activity, tier())
  }
}
