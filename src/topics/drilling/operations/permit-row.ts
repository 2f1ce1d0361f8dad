import { t } from '../../../http/answer/schema.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { Day } from '../../energy/operations/answer.ts'
import { EnergyMeta } from '../../energy/operations/frame.ts'
import { permitHead, permitProvenance, surveyPlace } from '../service/permit-events.ts'
import type { PermitCoverage } from '../service/permits.ts'
import type { StoredPermit } from '../store/well-permits.ts'

const degrees = (example: string) =>
  t.stringOrNull('Decimal degrees as text; null if the source gives no location.', example)
const county = t.orNull(t.String({ examples: ['Midland'] }))
const land = (example: string) => t.orNull(t.String({ examples: [example] }))

export const Permit = t.object('WellPermit', {
  id: t.String({ examples: ['18231'] }),
  api_number: t.stringOrNull(
    'Fourteen digits; null until the well has a number.',
    '42329400010000',
  ),
  api_number_raw: t.string('As the source writes it; empty without one.', '42-329-40001'),
  state_code: t.String({ examples: ['TX'] }),
  county,
  permit_number: t.orNull(t.String({ examples: ['918273'] })),
  permit_type: t.String({ examples: ['new_drill'] }),
  permit_status: t.String({ examples: ['approved'] }),
  permit_date: Day,
  operator: t.Object({
    name: t.String({ examples: ['Juniper Ridge Operating, LLC'] }),
    name_raw: t.string('As filed.', 'JUNIPER RIDGE OPERATING LLC'),
    name_normalized: t.string('Normalized spelling of the name.', 'JUNIPER RIDGE OPERATING'),
    number: t.stringOrNull('Of the operator in its state.', '148113'),
  }),
  well: t.Object({
    name: t.String({ examples: ['BRADFORD 14-23 UNIT'] }),
    number: t.orNull(t.String({ examples: ['3H'] })),
    type: t.String({ examples: ['oil'] }),
  }),
  location: t.Object({
    latitude: degrees('31.8637'),
    longitude: degrees('-102.0319'),
    county,
    section: land('14'),
    township: land('2S'),
    range: land('37E'),
  }),
  target: t.Object({
    formation: t.orNull(t.String({ examples: ['Wolfcamp A'] })),
    formation_raw: t.orNull(t.String({ examples: ['WOLFCAMP A FM'] })),
    formation_normalized: t.orNull(t.String({ examples: ['WOLFCAMP A'] })),
    total_depth_proposed: t.integerOrNull('Feet.', 9800),
  }),
  provenance: t.Object({
    source: t.String({ examples: ['Texas RRC'] }),
    source_url: t.string(
      'Empty where the source names none.',
      'https://example.com/permits/918273',
    ),
    fetched_at: t.String({ format: 'date-time' }),
    data_as_of: Day,
  }),
  state: t.String({ examples: ['TX'] }),
  operator_name: t.String({ examples: ['Juniper Ridge Operating, LLC'] }),
  well_name: t.String({ examples: ['BRADFORD 14-23 UNIT'] }),
  well_type: t.String({ examples: ['oil'] }),
  formation: t.orNull(t.String({ examples: ['Wolfcamp A'] })),
  issue_date: Day,
  timestamp: t.instant('When this service recorded it.'),
})
export type Permit = (typeof Permit)['static']

export const permitRow = (permit: StoredPermit) => ({
  id: String(permit.id),
  ...permitHead(permit),
  operator: {
    name: permit.operatorName,
    name_raw: permit.operator,
    name_normalized: permit.operatorKey,
    number: permit.operatorNumber,
  },
  well: { name: permit.wellName, number: permit.wellNumber, type: permit.wellType },
  location: {
    latitude: permit.latitude === null ? null : String(permit.latitude),
    longitude: permit.longitude === null ? null : String(permit.longitude),
    ...surveyPlace(permit),
  },
  target: {
    formation: permit.formationName,
    formation_raw: permit.formation,
    formation_normalized: permit.formationKey,
    total_depth_proposed: permit.totalDepth,
  },
  provenance: permitProvenance(permit),
  state: permit.state,
  operator_name: permit.operatorName,
  well_name: permit.wellName,
  well_type: permit.wellType,
  formation: permit.formationName,
  issue_date: permit.permitOn,
  timestamp: isoInstant(permit.recordedAt),
})

export const Fresh = {
  as_of: t.orNull(
    Day,
    'Newest stored permit date of the states in the response; null if there is none.',
  ),
  data_age_days: t.integerOrNull('Days from `as_of` to today.', 1),
  stale: t.boolean('True if there is no permit of the last 30 days.'),
  as_of_basis: t.Literal('permit_date'),
  by_state_as_ofs: t.Optional(
    t.Record(t.String(), t.String({ format: 'date' }), {
      description: 'The newest permit date of each state, where more than one is covered.',
      examples: [{ NM: '2026-11-19', TX: '2026-11-20' }],
    }),
  ),
  stale_states: t.Optional(
    t.Array(t.String({ examples: ['NV'] }), {
      description: 'The states without a permit of the last 30 days.',
    }),
  ),
}

export function freshRow(coverage: PermitCoverage | undefined) {
  const basis = { as_of_basis: 'permit_date' as const }
  if (!coverage) return { as_of: null, data_age_days: null, stale: true, ...basis }
  const freshness = {
    as_of: coverage.asOf,
    data_age_days: coverage.dataAgeDays,
    stale: coverage.stale,
    ...basis,
  }
  if (coverage.byState.size < 2) return freshness
  return {
    ...freshness,
    by_state_as_ofs: Object.fromEntries(coverage.byState),
    stale_states: coverage.staleStates,
  }
}

export const PermitList = t.object('WellPermits', {
  data: t.Array(Permit),
  meta: t.Object({ ...EnergyMeta, ...Fresh }),
  well_permits: t.Array(Permit, { description: 'The same list as `data`.' }),
  ...Fresh,
})

/** The permits of a page as points. */
export const LatestPermits = t.object('LatestWellPermits', {
  data: t.Object({
    well_permits: t.Array(Permit),
    meta: t.Object({
      days: t.integer({ examples: [7] }),
      states: t.Array(t.String({ examples: ['TX'] }), {
        description: 'The requested states, or all states with a permit.',
      }),
      limit: t.integer({ examples: [50] }),
      count: t.integer('Permits in the answer.', 50),
      as_of: Fresh.as_of,
      data_quality: t.Record(
        t.String(),
        t.Object({
          date_coverage: t.String({ examples: ['2023-11-20 to 2026-11-20'] }),
          source: t.String({ examples: ['Texas RRC'] }),
          note: t.String({ examples: ['Newest permit 1 day old.'] }),
        }),
        {
          description:
            'By state: the days that are covered, the source, and whether the list has fallen behind.',
          examples: [
            {
              TX: {
                date_coverage: '2023-11-20 to 2026-11-20',
                source: 'Texas RRC',
                note: 'Newest permit 1 day old.',
              },
            },
          ],
        },
      ),
    }),
  }),
  meta: t.Object(EnergyMeta),
  ...Fresh,
})

const share = {
  permit_count: t.integer({ examples: [11342] }),
  change: t.integer(
    'Permits of the 30 days up to `as_of` of all states minus those of the 30 days before.',
    12,
  ),
  percentage: t.number('Of all permits held.', 56.7),
  date: t.date('Its newest permit.', '2026-11-20'),
}
export const ByState = t.object('StatePermits', { state: t.String({ examples: ['TX'] }), ...share })
export const ByOperator = t.object('OperatorPermits', {
  operator: t.String({ examples: ['Juniper Ridge Operating, LLC'] }),
  ...share,
})
export const ByFormation = t.object('FormationPermits', {
  formation: t.String({ examples: ['Wolfcamp A'] }),
  ...share,
})

export const PermitSummary = t.object('WellPermitSummary', {
  total_permits: t.integer({ examples: [20012] }),
  by_state: t.Record(t.String(), t.integer(), {
    description: 'Every state that has a permit.',
    examples: [{ TX: 11342 }],
  }),
  by_operator: t.Record(t.String(), t.integer(), {
    description: 'The hundred operators with the most permits.',
    examples: [{ 'Juniper Ridge Operating, LLC': 613 }],
  }),
  as_of_date: t.orNull(Day),
})

export const StateActivity = t.object('StateWellPermits', {
  state_code: t.String({ examples: ['TX'] }),
  state_name: t.String({ examples: ['Texas'] }),
  permit_count: t.integer('All that are held.', 11342),
  permits_30d: t.integer('Dated in the last 30 days, today included.', 812),
  permits_365d: t.integer({ examples: [7021] }),
  top_operators: t.objects('Of the last 365 days, at most ten.', {
    name: t.String({ examples: ['Juniper Ridge Operating, LLC'] }),
    permits: t.integer({ examples: [97] }),
  }),
  top_counties: t.objects('Of the last 365 days, at most ten.', {
    county: t.String({ examples: ['Midland'] }),
    permits: t.integer({ examples: [144] }),
  }),
  recent: t.Array(Permit, { description: 'The ten newest.' }),
  current_activity_status: t.Union(
    [t.Literal('active'), t.Literal('slow'), t.Literal('inactive'), t.Literal('unknown')],
    {
      examples: ['active'],
    },
  ),
  indexing_recommendation: t.Union([t.Literal('index'), t.Literal('noindex')], {
    description: 'Whether a page about the state has enough content for search engines.',
    examples: ['index'],
  }),
  current_activity_reason: t.String({
    examples: [
      '812 permits in the last 30 days, where the last 365 days had 577.1 in 30 days on average.',
    ],
  }),
  ...Fresh,
})
