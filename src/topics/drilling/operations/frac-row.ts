import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { Day } from '../../energy/operations/answer.ts'
import type { FracChemical } from '../dataset/frac.ts'
import type { StoredDisclosure } from '../store/frac-disclosures.ts'

const gallons = (example: number) => t.numberOrNull('Gallons; null if not disclosed.', example)

export const Disclosure = t.object('FracDisclosure', {
  id: t.String({ examples: ['412'] }),
  api_number: t.String({ examples: ['42329400010000'] }),
  state: t.String({ examples: ['TX'] }),
  county: t.String({ examples: ['Midland'] }),
  operator: t.String({ examples: ['Juniper Ridge Operating, LLC'] }),
  well_name: t.String({ examples: ['BRADFORD 14-23 UNIT 3H'] }),
  job_start_date: Day,
  job_end_date: Day,
  total_base_water_volume: gallons(18_420_000),
  total_base_non_water_volume: gallons(0),
  latitude: t.orNull(t.Number({ examples: [31.8637] })),
  longitude: t.orNull(t.Number({ examples: [-102.0319] })),
  source: t.String({ examples: ['import'] }),
  timestamp: t.instant('When this service recorded it.'),
})

export const disclosureRow = (disclosure: StoredDisclosure) =>
  answerRow(Disclosure, disclosure, {
    id: String(disclosure.id),
    job_start_date: disclosure.startedOn,
    job_end_date: disclosure.endedOn,
    total_base_water_volume: disclosure.waterGallons,
    total_base_non_water_volume: disclosure.nonWaterGallons,
    timestamp: isoInstant(disclosure.recordedAt),
  })

const cas = t.stringOrNull(
  'Number of the Chemical Abstracts Service; null if there is none or it is not disclosed.',
  '14808-60-7',
)

const Chemical = t.Object({
  chemical_name: t.String({ examples: ['Crystalline silica (sand)'] }),
  cas_number: cas,
  purpose: t.String({ examples: ['Proppant'] }),
  concentration_percent: t.numberOrNull('Share of the fluid by mass.', 10.42),
  mass_lbs: t.orNull(t.Number({ examples: [17_840_000] })),
})
export const Chemicals = t.object('FracChemicals', {
  id: t.String({ examples: ['412'] }),
  chemicals: t.Array(Chemical, { description: 'Most of it first.' }),
})

export const chemicalRow = (chemical: FracChemical) =>
  answerRow(Chemical, chemical, { chemical_name: chemical.name })

export const FracSummary = t.object('FracSummary', {
  total_disclosures: t.integer({ examples: [2963] }),
  by_state: t.Record(t.String(), t.integer(), { examples: [{ TX: 1611 }] }),
  by_operator: t.Record(t.String(), t.integer(), {
    description: 'The hundred operators with the most disclosures.',
    examples: [{ 'Juniper Ridge Operating, LLC': 97 }],
  }),
  as_of_date: t.orNull(Day, 'Newest day on which a disclosed job ended.'),
})

const share = {
  disclosure_count: t.integer({ examples: [1611] }),
  percentage: t.number('Of all disclosures.', 54.4),
  date: t.date('Newest day on which one of its jobs ended.', '2026-11-04'),
}
export const FracByState = t.object('StateDisclosures', {
  state: t.String({ examples: ['TX'] }),
  ...share,
})
export const FracByOperator = t.object('OperatorDisclosures', {
  operator: t.String({ examples: ['Juniper Ridge Operating, LLC'] }),
  ...share,
})
export const FracByChemical = t.object('ChemicalUse', {
  chemical_name: t.String({ examples: ['Water'] }),
  cas_number: cas,
  usage_count: t.integer('Disclosures that name it.', 1980),
  percentage: t.number('Of all disclosures.', 66.8),
})
