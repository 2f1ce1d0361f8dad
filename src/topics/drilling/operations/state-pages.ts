import { t } from '../../../http/answer/schema.ts'
import type { Context } from '../../../http/operations/context.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { monthAfter } from '../../calendars/math/period.ts'
import { Day, markSources } from '../../energy/operations/answer.ts'
import { type EnergyCall, energy } from '../../energy/operations/frame.ts'
import { dayAfter } from '../../prices/math/window.ts'
import { type DrillingState, stateOf } from '../math/states.ts'
import { newestProduction } from '../service/well-production.ts'
import type { PermitCounts } from '../store/permit-counts.ts'
import { newestCounts, permitDays } from './metric.ts'
import { rigChanges } from './rig-count-row.ts'

const trendMonths = 12
const yearDays = 365
const topMax = 10

const count = (example: number) => t.orNull(t.integer({ examples: [example] }))
const day = t.orNull(Day)
const Top = t.Array(
  t.Object({ name: t.String({ examples: ['Reeves'] }), permits: t.integer({ examples: [96] }) }),
)

const StateBody = t.object('StateDrilling', {
  state_code: t.String({ examples: ['TX'] }),
  state_name: t.String({ examples: ['Texas'] }),
  slug: t.String({ examples: ['texas'] }),
  as_of: t.date('Newest day of everything below.', '2026-11-20'),
  rig_count: t.Object(
    {
      total: count(247),
      oil: count(206),
      gas: count(40),
      change_week: t.integerOrNull('Against the week before.', 1),
      date: day,
    },
    { description: 'All null if the sources do not list the state separately.' },
  ),
  frac_spreads: t.Object({ active: count(104), date: day }),
  well_permits: t.Object({
    permits_30d: count(640),
    permits_365d: count(7810),
    top_operators: Top,
    top_counties: Top,
  }),
  duc_wells: t.Object({ count: count(1586), month: t.orNull(t.String({ examples: ['2026-11'] })) }),
  production: t.Object({
    oil_bpd: t.orNull(t.Number({ examples: [5820000] })),
    gas_mcfd: t.orNull(t.Number({ examples: [34500000] })),
    period: t.orNull(t.String({ examples: ['2026-08'] })),
  }),
  trend: t.objects(
    'Twelve months up to the running one, oldest first: permits dated in the month and its newest count of rigs.',
    {
      month: t.String({ examples: ['2026-11'] }),
      permits: count(640),
      rigs: count(247),
    },
  ),
  basins: t.Array(t.String({ examples: ['permian'] })),
  summary: t.String({ examples: ['Texas has 247 active rigs.'] }),
})

/** Permits of a state; undefined where none is stored. */
function permitsOf(permits: PermitCounts, state: string, today: string) {
  const newestOn = permits.newestByState().get(state)
  if (newestOn === undefined) return undefined
  const end = dayAfter(today, 1)
  const since = (days: number) => dayAfter(end, -days)
  return {
    newestOn,
    permits_30d: permits.between(state, since(permitDays), end),
    permits_365d: permits.between(state, since(yearDays), end),
    top_operators: permits.topOperators(state, since(yearDays), end, topMax),
    top_counties: permits.topCounties(state, since(yearDays), end, topMax),
  }
}

function trendOf(
  { drilling, permits: { counts: permits } }: Context,
  state: string,
  today: string,
  hasPermits: boolean,
) {
  const last = today.slice(0, 7)
  const months = Array.from({ length: trendMonths }, (_, i) =>
    monthAfter(last, i + 1 - trendMonths),
  )
  const weeks = drilling.metrics.ofRegion(
    'rig_count',
    state,
    `${months[0]}-01`,
    `${monthAfter(last, 1)}-01`,
  )
  return months.map(month => ({
    month,
    permits: hasPermits
      ? permits.between(state, `${month}-01`, `${monthAfter(month, 1)}-01`)
      : null,
    rigs: weeks.findLast(week => week.on.startsWith(month))?.value ?? null,
  }))
}

const quantity = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`

/** The numbers of a state in sentences; null values are left out. */
function summaryOf(
  state: DrillingState,
  figures: {
    rigs: number | null
    change: number | null
    permits: number | null
    ducWells: number | null
  },
): string {
  const { rigs, change, permits, ducWells } = figures
  const moved =
    change === null
      ? ''
      : change === 0
        ? ', as many as a week before'
        : `, ${Math.abs(change)} ${change > 0 ? 'more' : 'fewer'} than a week before`
  const sentences = [
    rigs === null ? undefined : `${state.name} has ${quantity(rigs, 'active rig')}${moved}.`,
    permits === null
      ? undefined
      : `${quantity(permits, 'new permit')} ${permits === 1 ? 'is' : 'are'} dated in the last ${permitDays} days.`,
    ducWells === null
      ? undefined
      : `${quantity(ducWells, 'drilled well')} ${ducWells === 1 ? 'waits' : 'wait'} for completion.`,
  ]
  return sentences.filter(Boolean).join(' ') || `Production of ${state.name} is all that is held.`
}

/** Everything about drilling in one state; undefined where nothing is stored about it. */
function pageOf(call: EnergyCall, state: DrillingState) {
  const { at } = call
  const { drilling } = at
  const { counts } = at.permits
  const today = isoDay(at.now())
  const newest = newestCounts(drilling, state.code)
  const permits = permitsOf(counts, state.code, today)
  const production = newestProduction(at.wellProduction)(state.code)
  const [rigs] = newest.rig_count
    ? drilling.rigs.between(state.code, newest.rig_count.on, dayAfter(newest.rig_count.on, 1))
    : []
  const days = [
    ...Object.values(newest).map(count => count.on),
    ...(permits ? [permits.newestOn] : []),
    ...(production ? [`${production.period}-01`] : []),
  ]
  if (days.length === 0) return undefined
  const permitSource = counts.sourceOf(state.code)
  const otherSources = [
    ...(permitSource === undefined ? [] : [{ source: permitSource }]),
    ...(production ? [production] : []),
  ]
  markSources(call, [...Object.values(newest), ...otherSources])
  const change = rigs ? rigChanges(drilling.rigs, state.code, rigs.countedOn).week : null
  const { newestOn: _, ...permitFigures } = permits ?? {
    newestOn: '',
    permits_30d: null,
    permits_365d: null,
    top_operators: [],
    top_counties: [],
  }
  return {
    state_code: state.code,
    state_name: state.name,
    slug: state.slug,
    as_of: days.sort().at(-1)!,
    rig_count: {
      total: rigs?.total ?? null,
      oil: rigs?.oil ?? null,
      gas: rigs?.gas ?? null,
      change_week: change,
      date: rigs?.countedOn ?? null,
    },
    frac_spreads: {
      active: newest.frac_spreads?.value ?? null,
      date: newest.frac_spreads?.on ?? null,
    },
    well_permits: permitFigures,
    duc_wells: {
      count: newest.duc_wells?.value ?? null,
      month: newest.duc_wells?.on.slice(0, 7) ?? null,
    },
    production: {
      oil_bpd: production?.oilBpd ?? null,
      gas_mcfd: production?.gasMcfd ?? null,
      period: production?.period ?? null,
    },
    trend: trendOf(at, state.code, today, permits !== undefined),
    basins: [...state.basins],
    summary: summaryOf(state, {
      rigs: rigs?.total ?? null,
      change,
      permits: permitFigures.permits_30d,
      ducWells: newest.duc_wells?.value ?? null,
    }),
  }
}

export const statePageOperation = energy.record({
  path: '/v1/pseo/drilling-intelligence/states/:state/full',
  operationId: 'getStateDrilling',
  summary: 'Get the drilling metrics of a state',
  description:
    'Returns rigs, frac spreads, permits, uncompleted wells, production and basins of a state, with twelve months of permits and rigs. Unavailable values are null.',
  access: energy.heavyAccess,
  params: {
    state: t.string('Two letters, or the name in lower case with dashes.', 'texas'),
  },
  title: 'StateDrillingBody',
  data: StateBody,
  handle(call) {
    const name = call.params.state
    const state = stateOf(name)
    const data = state && pageOf(call, state)
    if (!data)
      throw new Problem(
        'DATA_NOT_AVAILABLE',
        `Nothing is held about drilling in ${state?.name ?? name.slice(0, 100)}.`,
      )
    return data
  },
})
