import { t } from 'elysia'
import type { AccessPlugin } from '../../http/gate/access.ts'
import { pageHeaders, pageMeta, pageOf, pageQuery } from '../../http/input/page.ts'
import { integerOf } from '../../http/input/query.ts'
import { invalidParameter, notFound, Problem } from '../../http/problem/problem.ts'
import { isoDay } from '../../lib/instant.ts'
import { permitFreshness } from '../../market/drilling/permits.ts'
import { permitStateOf, permitStates } from '../../market/geography/us-states.ts'
import { roundTo } from '../../market/prices/format.ts'
import { dayAfter } from '../../market/prices/window.ts'
import type { Feature } from '../../plan/tiers.ts'
import { statePermits } from '../../service/drilling/permit-activity.ts'
import type { Permits, PermitsHeld } from '../../service/drilling/permits.ts'
import type { CountedKind, PermitCounts } from '../../store/drilling/permit-counts.ts'
import type { PermitFilter, PermitPage, PermitSearch } from '../../store/drilling/permit-search.ts'
import { TooCommon } from '../../store/drilling/permit-words.ts'
import type { StoredPermit } from '../../store/drilling/well-permits.ts'
import type { Answering, Marks } from '../answer.ts'
import { markSources } from './answer.ts'
import { eiMeta } from './frame.ts'
import { eiIdOf, eiList, eiOne } from './list.ts'
import { permitFilterOf, permitQuery, statesOf } from './permit-query.ts'
import { freshRow, permitRow } from './permit-row.ts'

export interface EiPermitsDeps {
  access: AccessPlugin
  permits: Permits
  marks: Marks
  now: () => number
  tierRequired(feature: Feature): string
}

export const permitListQuery = t.Object({ ...pageQuery(100, 25), ...permitQuery })
type ListQuery = { [name in keyof typeof permitListQuery.properties]?: string }

const operatorsInSummary = 100
const changeDays = 30

/** What all answers need to know. */
function common({ permits, marks, now, tierRequired }: EiPermitsDeps) {
  return {
    tier: () => tierRequired('energy_intelligence'),
    today: () => isoDay(now()),
    rowsOf(set: unknown, ids: readonly number[]): StoredPermit[] {
      const rows = permits.store.rows(ids)
      markSources(set as Answering, marks, rows)
      return rows
    },
    /** Numbers are not rows: they are invented where the newest permits are. */
    markStates(set: unknown, held: PermitsHeld | undefined) {
      const sources = [...(held?.byState.keys() ?? [])].flatMap(
        state => permits.counts.sourceOf(state) ?? [],
      )
      markSources(
        set as Answering,
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
export function createPermitListAnswers(deps: EiPermitsDeps) {
  const { permits } = deps
  const { tier, today, rowsOf } = common(deps)

  const list = (query: ListQuery, set: unknown, request: Request) => {
    const page = pageOf(query, 100, 25)
    const filter = permitFilterOf(query)
    const { ids, total } = searched(
      permits.search,
      filter,
      page.perPage,
      (page.page - 1) * page.perPage,
    )
    pageHeaders((set as Answering).headers, request.url, pageMeta(page, total))
    const data = rowsOf(set, ids).map(permitRow)
    const fresh = freshRow(permits.held(filter.states, today()))
    return {
      data,
      meta: { ...eiMeta(tier(), total, page), ...fresh },
      well_permits: data,
      ...fresh,
    }
  }

  const latest = (query: { days?: string; states?: string; limit?: string }, set: unknown) => {
    const days = integerOf('days', query.days, 7, 1, 90)
    const limit = integerOf('limit', query.limit, 50, 1, 500)
    const states = statesOf(query.states)
    const filter = {
      ...(states && { states }),
      from: dayAfter(today(), 1 - days),
      to: dayAfter(today(), 1),
    }
    const { ids, total } = searched(permits.search, filter, limit, 0)
    const held = permits.held(states, today())
    const fresh = freshRow(held)
    const rows = rowsOf(set, ids)
    return {
      data: {
        well_permits: rows.map(permitRow),
        meta: {
          days,
          states: states ?? [...(held?.byState.keys() ?? [])],
          limit,
          count: rows.length,
          as_of: fresh.as_of,
          data_quality: qualityOf(permits.counts, held, today()),
        },
      },
      meta: eiMeta(tier(), total, { page: 1, perPage: limit }),
      ...fresh,
    }
  }
  const permit = (id: string, set: unknown) => {
    const row = rowsOf(set, [eiIdOf(id, 'Well permit')])[0]
    if (!row) throw notFound(`Well permit ${id}`)
    return eiOne(permitRow(row), tier())
  }
  return { list, latest, permit }
}

/** What is known of the list of each state. */
const qualityOf = (counts: PermitCounts, held: PermitsHeld | undefined, today: string) =>
  Object.fromEntries(
    [...(held?.byState ?? [])].map(([state, newestOn]) => [
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
export function createPermitCountAnswers(deps: EiPermitsDeps) {
  const { permits, marks } = deps
  const { counts } = permits
  const { tier, today, markStates } = common(deps)

  const summary = (set: unknown) => {
    const held = permits.held(undefined, today())
    markStates(set, held)
    const named = (kind: CountedKind, limit: number) =>
      Object.fromEntries(counts.largest(kind, limit, 0).map(one => [one.label, one.permits]))
    const numbers = {
      total_permits: counts.total(),
      by_state: named('state', permitStates.length),
      by_operator: named('operator', operatorsInSummary),
      as_of_date: held?.asOf ?? null,
    }
    return eiOne(numbers, tier())
  }

  const shares = <R>(
    kind: CountedKind,
    query: { page?: string; per_page?: string },
    set: unknown,
    request: Request,
    shape: (name: string) => R,
  ) => {
    const held = permits.held(undefined, today())
    const all = counts.total()
    markStates(set, held)
    const rows = (limit: number, offset: number) => {
      const largest = counts.largest(kind, limit, offset)
      const end = dayAfter(held?.asOf ?? today(), 1)
      const [later, earlier] = [dayAfter(end, -changeDays), dayAfter(end, -2 * changeDays)]
      const ids = largest.map(one => one.id)
      const movements = counts.movements(kind, ids, earlier, later, end)
      return largest.map(one => ({ ...one, ...movements.get(one.id)! }))
    }
    const answer = { set: set as Answering, request, tierRequired: tier() }
    return eiList(query, answer, { total: counts.count(kind), rows }, one => ({
      ...shape(one.label),
      permit_count: one.permits,
      change: one.change,
      percentage: roundTo((100 * one.permits) / all, 2),
      date: one.newestOn,
    }))
  }

  const state = (text: string, set: unknown) => {
    const known = permitStateOf(text)
    if (!known) {
      const served = permitStates.map(one => one.code).join(', ')
      throw new Problem(
        'DATA_NOT_AVAILABLE',
        `Well permits of ${text.slice(0, 100)} are not served; those of ${served} are.`,
      )
    }
    const one = statePermits(permits, known, today())
    markSources(set as Answering, marks, one.recent)
    const activity = {
      state_code: known.code,
      state_name: known.name,
      permit_count: one.total,
      permits_30d: one.permits30d,
      permits_365d: one.permits365d,
      top_operators: one.topOperators,
      top_counties: one.topCounties.map(({ name, permits: n }) => ({ county: name, permits: n })),
      recent: one.recent.map(permitRow),
      current_activity_status: one.activity.status,
      indexing_recommendation: one.activity.indexing,
      current_activity_reason: one.activity.reason,
      ...freshRow(one.held),
    }
    return eiOne(activity, tier())
  }

  return { summary, shares, state }
}
