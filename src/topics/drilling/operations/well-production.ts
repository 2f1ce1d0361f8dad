import { t } from '../../../http/answer/schema.ts'
import { momentOf } from '../../../http/input/query.ts'
import { parsed, textParameter } from '../../../http/input/typed.ts'
import { envelope, envelopeOf, success } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { invalidParameter, Problem } from '../../../http/problem/problem.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { isMonth, monthAfter, monthOf } from '../../calendars/math/period.ts'
import { markSources } from '../../energy/operations/answer.ts'
import type { EnergyCall } from '../../energy/operations/frame.ts'
import { roundTo } from '../../prices/math/format.ts'
import { productionAge, wellStates } from '../math/well-production.ts'
import { type MissingWell, wellNumberOf } from '../service/well-production.ts'
import {
  MissingWellProblem,
  Month,
  nationalRecord,
  Overview,
  ProductionRecord,
  Span,
  State,
  StateRow,
  stateRecord,
  stateRow,
  TopWell,
  wellRecord,
} from './well-production-row.ts'

const productionAccess = {
  feature: 'well_production' as const,
  meter: true,
  queryWorker: true as const,
}
export const productionHeavyAccess = { ...productionAccess, heavy: true } as const
export const productionPrefix = '/v1/well-production'

const topStatesMax = 10
const historyMonths = 24
const firstMonth = '1900-01'
const homeState = 'TX'
// A month, or a day or time in it.
const monthPattern = '^[0-9]{4}-[0-9]{2}(-[0-9]{2}(T.+)?)?$'

const unavailable = (message: string) => new Problem('DATA_NOT_AVAILABLE', message)

/** The month of a month, a day or an instant. */
function monthIn(parameter: string, text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  const month = isMonth(text.trim())
    ? text.trim()
    : monthOf(isoDay(momentOf(parameter, text, 'start')!))
  if (month < firstMonth)
    throw invalidParameter(parameter, text.slice(0, 100), `${firstMonth} or later`)
  return month
}

/** First and last month of a query; by default two years up to now. */
function monthsOf(
  query: { start_date?: string; end_date?: string },
  now: number,
): { start: string; end: string } {
  const end = monthIn('end_date', query.end_date) ?? monthOf(isoDay(now))
  const start = monthIn('start_date', query.start_date) ?? monthAfter(end, -historyMonths)
  if (start <= end) return { start, end }
  const extra = { start_date: query.start_date ?? null, end_date: query.end_date ?? null }
  throw new Problem(
    'INVALID_DATE_RANGE',
    `start_date (${start}) is after end_date (${end}).`,
    extra,
  )
}

const namesOf = (sources: readonly string[]): string =>
  [...new Set(sources)].sort().join(', ') || 'none'

function missingWellProblem({ reason, state, source }: MissingWell, text: string): Problem {
  const messages: Readonly<Record<MissingWell['reason'], string>> = {
    unknown_state_prefix: `${text} does not begin with the two digits of a state, as API numbers do.`,
    state_not_covered: `Wells of ${state} are not covered; those of ${wellStates.join(', ')} are.`,
    well_not_in_source: `No production is reported of well ${text}.`,
  }
  const extra = { reason, state: state ?? null, source: source ?? null }
  return new Problem('DATA_NOT_AVAILABLE', messages[reason], extra, {
    onTop: ['reason', 'state', 'source'],
  })
}

/** The coverage, and the newest month of the country. */
function overviewOf(call: EnergyCall) {
  const { wellProduction: production, now } = call.at
  const { wells, states } = production
  const national = production.newestNational()
  const rows = national ? states.ofMonth(national.month) : []
  const covered = production.covered()
  markSources(call, [...rows, ...covered])
  const age = national && productionAge(national.month, now())
  return success({
    national: national ? nationalRecord(national) : null,
    top_states: rows.slice(0, topStatesMax).map(stateRow),
    data_sources: {
      state_aggregates: namesOf(rows.map(row => row.source)),
      well_level: namesOf(covered.map(coverage => coverage.source)),
      well_level_states: [
        ...new Set([...wellStates, ...covered.map(coverage => coverage.state)]),
      ].sort(),
      national_rollup: 'Sum of the state aggregates',
    },
    coverage: {
      states_with_data: states.states(),
      well_level_states_with_data: covered.map(coverage => coverage.state),
      latest_period: national?.month ?? null,
      total_records: states.total() + wells.total(),
      data_age_days: age?.ageDays ?? null,
      stale: age?.stale ?? false,
    },
    data_available: national !== undefined,
    provisional: national?.provisional ?? false,
  })
}

const overview = (path: string, operationId: string, use?: string) =>
  operation(`GET ${productionPrefix}${path}`, {
    operationId,
    summary: 'Get well production coverage and totals',
    description:
      'Returns the coverage and the newest month of the country: the sum of the states that have filed. States publish at the end of the second month; until the month after that the numbers are provisional. All wells of a state count into its aggregate, so the wells that are followed one by one add up to less.',
    ...(use !== undefined && { deprecated: { use } }),
    access: productionAccess,
    answers: envelope(Overview),
    handle: overviewOf,
  })

/** The production of wells, states and the country, month by month. */
export const wellProductionOperations = [
  overview('/', 'getWellProduction'),
  overview('/summary', 'getWellProductionSummary', productionPrefix),
  operation(`GET ${productionPrefix}/states`, {
    operationId: 'listStateProduction',
    summary: 'List production by state',
    description: 'Returns the production of every state in one month, most oil first.',
    access: productionAccess,
    unpaged: true,
    query: {
      period: textParameter(
        'Month, `YYYY-MM`; absent: the newest. A month without data is an empty list.',
        '2026-08',
        { pattern: '^[0-9]{4}-[0-9]{2}$' },
      ),
    },
    answers: envelopeOf({
      period: t.orNull(Month),
      count: t.integer({ examples: [26] }),
      states: t.Array(StateRow),
    }),
    handle: ({ at, query, reply }) => {
      const { states } = at.wellProduction
      const requestedMonth = query.period?.trim()
      if (requestedMonth && !isMonth(requestedMonth))
        throw invalidParameter('period', requestedMonth.slice(0, 100), 'a month (YYYY-MM)')
      const period = requestedMonth || states.newestMonth()
      const rows = period === undefined ? [] : states.ofMonth(period)
      markSources({ at, reply }, rows)
      return success({ period: period ?? null, count: rows.length, states: rows.map(stateRow) })
    },
  }),
  operation(`GET ${productionPrefix}/states/:code`, {
    operationId: 'getStateProduction',
    summary: 'Get the production of a state',
    description:
      'Returns the monthly production of a state, oldest first. Agencies publish no water figures for states.',
    access: productionAccess,
    unpaged: true,
    params: {
      code: t.string('Two letters, in any case.', 'TX'),
    },
    query: {
      start_date: textParameter(
        'First month, as a day in it or `YYYY-MM`; absent: two years before the last.',
        '2024-11-01',
        { pattern: monthPattern },
      ),
      end_date: textParameter('Last month, the same; absent: the running one.', '2026-11-30', {
        pattern: monthPattern,
      }),
    },
    answers: envelopeOf({
      state: State,
      period: Span,
      count: t.integer({ examples: [22] }),
      data: t.Array(ProductionRecord),
    }),
    handle: ({ at, params, query, reply }) => {
      const { states } = at.wellProduction
      const now = at.now()
      const period = monthsOf(query, now)
      const code = params.code.trim().toUpperCase()
      if (!states.newestOf(code))
        throw unavailable(
          `No production of ${params.code.slice(0, 100)} is held; /states lists the states that have some.`,
        )
      // Nothing is of a month that has not begun, and a month after 9999-12 would not compare.
      const [last] = [period.end, monthOf(isoDay(now))].sort()
      const rows = states.ofState(code, period.start, monthAfter(last!, 1))
      markSources({ at, reply }, rows)
      return success({ state: code, period, count: rows.length, data: rows.map(stateRecord) })
    },
  }),
  operation(`GET ${productionPrefix}/wells/:api_number`, {
    operationId: 'getWellProductionHistory',
    summary: 'Get the production history of a well',
    description:
      "Returns the monthly production of a well, oldest first. A 404 has the reason: `unknown_state_prefix` (not a state's number), `state_not_covered` (wells of the state are not covered) or `well_not_in_source` (not reported, or not producing yet).",
    access: productionAccess,
    unpaged: true,
    params: {
      api_number: t.string(
        'Fourteen digits, or the first ten or twelve, with or without separators.',
        '42329400010000',
      ),
    },
    answers: {
      200: envelopeOf({
        api_number: t.String({ examples: ['42329400010000'] }),
        operator: t.String(),
        well_name: t.String(),
        state: State,
        county: t.orNull(t.String({ examples: ['Midland'] })),
        count: t.integer({ examples: [24] }),
        data: t.Array(ProductionRecord),
      }),
      404: MissingWellProblem,
    },
    handle: ({ at, params, reply }) => {
      const { wellProduction: production, wells: wellStore } = at
      const apiNumberText = params.api_number.trim().slice(0, 100)
      const apiNumber = wellNumberOf(apiNumberText)
      const rows = apiNumber === undefined ? [] : production.wells.ofWell(apiNumber)
      const wellFacts = apiNumber === undefined ? undefined : wellStore.get(apiNumber)
      if (!wellFacts || rows.length === 0)
        throw missingWellProblem(
          production.whyMissing(apiNumber ?? apiNumberText.replace(/\D+/g, '')),
          apiNumberText,
        )
      markSources({ at, reply }, rows)
      return success({
        api_number: wellFacts.apiNumber,
        operator: wellFacts.operator,
        well_name: wellFacts.name,
        state: wellFacts.state,
        county: wellFacts.county,
        count: rows.length,
        data: rows.map(wellRecord),
      })
    },
  }),
  operation(`GET ${productionPrefix}/top-producers`, {
    operationId: 'listTopProducers',
    summary: 'List the top producing wells',
    description: 'Returns the wells of a state with the highest oil production in recent months.',
    access: productionHeavyAccess,
    unpaged: true,
    query: {
      state_code: textParameter(`Two letters; default: ${homeState}.`, homeState, {
        default: homeState,
        pattern: '^[A-Za-z]{2}$',
      }),
      limit: parsed.integer('Wells', [1, 100], 20, 10),
      months: parsed.integer('Months up to the newest of the state', [1, 60], 12),
    },
    answers: {
      200: envelopeOf({
        state: State,
        period: Span,
        count: t.integer({ examples: [10] }),
        producers: t.Array(TopWell),
      }),
      404: NestedProblem,
    },
    handle: ({ at, query, reply }) => {
      const { wellProduction: production, wells: wellStore } = at
      const { limit, months } = query
      const code = query.state_code?.trim().toUpperCase() || homeState
      const newest = production.covered().find(coverage => coverage.state === code)
      if (!newest)
        throw unavailable(`No production of single wells of ${code.slice(0, 100)} is held.`)
      const span = { start: monthAfter(newest.month, 1 - months), end: newest.month }
      const best = production.wells.top(code, span.start, monthAfter(newest.month, 1), limit)
      markSources({ at, reply }, best)
      const producers = best.map((producer, i) => {
        const wellFacts = wellStore.get(producer.apiNumber)!
        return {
          rank: i + 1,
          api_number: producer.apiNumber,
          operator: wellFacts.operator,
          well_name: wellFacts.name,
          total_oil_bbl: roundTo(producer.oilBbl, 2),
          total_gas_mcf: roundTo(producer.gasMcf, 2),
          months_producing: producer.months,
        }
      })
      return success({ state: code, period: span, count: producers.length, producers })
    },
  }),
]
