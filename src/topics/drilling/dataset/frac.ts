import { day, optionalNumber, text } from '../../../datasets/columns.ts'
import { type Column, dataset, type RecordOf } from '../../../datasets/dataset.ts'
import { type DatasetRow, refuse, textIn } from '../../../datasets/fields.ts'
import {
  apiNumberIn,
  apiNumberText,
  emptyName,
  name,
  nameIn,
  operatorName,
  place,
  placeIn,
  source,
  state,
  stateIn,
} from './well-fields.ts'

/** Gallons: ten times the largest job that was ever disclosed. */
const gallonsMax = 1e9
const poundsMax = 1e9

const disclosureColumns = {
  /** The registry's own id. */
  reference: text(
    'Id of the disclosure in its registry, which identifies it',
    'write the id of the disclosure',
    80,
    { name: 'disclosure_id' },
  ),
  /** Fourteen digits. */
  apiNumber: { required: true, description: apiNumberText } as Column<string>,
  state,
  county: name('Name of the county', 'write the name of the county'),
  operator: operatorName(),
  wellName: emptyName('Name of the well', { exported: "nullif(t.well_name, '')" }),
  startedOn: day('Day on which the job began', { name: 'job_start_date' }),
  endedOn: day('Day on which it ended', { name: 'job_end_date' }),
  ...place,
  waterGallons: optionalNumber('Gallons of water', [0, gallonsMax], {
    name: 'total_base_water_volume',
  }),
  nonWaterGallons: optionalNumber('Gallons of any other base fluid', [0, gallonsMax], {
    name: 'total_base_non_water_volume',
  }),
  source,
}

/** The fluids pumped into a well, as its operator disclosed them. */
export type FracDisclosure = RecordOf<typeof disclosureColumns>

export const fracDisclosures = dataset({
  name: 'frac-disclosures',
  feature: 'energy_intelligence',
  description:
    'Hydraulic fracturing jobs as their operators disclosed them: one row for each job. The ingredients of the fluid are in frac-chemicals.',
  table: 'frac_disclosures',
  columns: disclosureColumns,
  key: ['reference'],
  order: 't.id',
  example:
    'disclosure_id,api_number,state,county,operator,well_name,job_start_date,job_end_date,total_base_water_volume\n' +
    'b41f0c7e,42-329-40001-00-00,TX,Midland,JUNIPER RIDGE OPERATING LLC,BRADFORD 14-23 UNIT 3H,2026-09-28,2026-10-14,18420000\n' +
    '7ac2d310,33-053-09911-00-00,ND,McKenzie,"Badland Petroleum, Inc.",SORENSON 5-8 2H,2026-10-01,2026-10-09,7915000\n',
  read(row, read): FracDisclosure {
    const state = stateIn(row)
    const api =
      apiNumberIn(row, state) ??
      refuse('api_number', undefined, '', 'write 10, 12 or 14 digits, such as 42-329-40001')
    const coordinates = placeIn(row, state)
    const days = { startedOn: read.startedOn(), endedOn: read.endedOn() }
    if (days.endedOn < days.startedOn)
      refuse(
        'job_end_date',
        days.endedOn,
        `is before the job began on ${days.startedOn}`,
        'check which column is which',
      )
    return read.rest({
      apiNumber: api.number.digits,
      state: state.code,
      ...days,
      ...coordinates,
    })
  },
})

const casPattern = /^\d{2,7}-\d{2}-\d$/
/** Values that registries have where an operator keeps the substance secret, or for none. */
const secretPattern =
  /^(?:proprietary|confidential|trade secret|n\/?a|none|not assigned|listed below|-+)/i

function casIn(row: DatasetRow): string | null {
  const text = textIn(row, 'cas_number', 60)
  if (text === undefined || secretPattern.test(text)) return null
  const number = text.replace(/^0+(?=\d{2,7}-)/, '')
  if (!casPattern.test(number)) {
    refuse(
      'cas_number',
      text,
      'is not a CAS number',
      'write it with its dashes, such as 14808-60-7, or leave it empty',
    )
  }
  return number
}

const disclosureId = text(
  'Id of the disclosure, as it was imported with frac-disclosures',
  'write the id of the disclosure',
  80,
)

const chemicalColumns = {
  disclosureId: {
    required: true,
    description: disclosureId.description!,
    exported: 'd.reference',
    read(row, field, context) {
      const reference = disclosureId.read!(row, field, context)
      return (
        context.disclosureId(reference) ??
        refuse(
          field,
          reference,
          'is not a known disclosure',
          'import its row with --dataset frac-disclosures first',
        )
      )
    },
  } as Column<number>,
  name: name('Name of the substance', 'write the name of the substance', {
    name: 'chemical_name',
    exported: 's.name',
  }),
  /** Null where the registry has none or the operator keeps it secret. */
  casNumber: {
    description: 'CAS number; a word such as proprietary counts as no number',
    exported: "nullif(s.cas_number, '')",
    read: casIn,
  } as Column<string | null>,
  purpose: {
    description: 'Purpose of the substance; default: Unspecified',
    read: (row, field) => nameIn(row, field) ?? 'Unspecified',
  } as Column<string>,
  concentrationPercent: optionalNumber('Share of the fluid by mass, in percent', [0, 100]),
  massLbs: optionalNumber('Pounds', [0, poundsMax]),
  source,
}

/** A substance in the fluid of one job. */
export type FracChemical = RecordOf<typeof chemicalColumns>

export const fracChemicals = dataset({
  name: 'frac-chemicals',
  feature: 'energy_intelligence',
  description:
    'Ingredients of fracturing fluids: one row for each substance and purpose of a disclosure. The disclosure must exist.',
  columns: chemicalColumns,
  key: ['disclosureId', 'name', 'casNumber', 'purpose'],
  tables: [{ name: 'frac_chemicals', key: ['disclosure_id', 'substance_id', 'purpose'] }],
  from: 'frac_chemicals t JOIN frac_disclosures d ON d.id = t.disclosure_id JOIN frac_substances s ON s.id = t.substance_id',
  order: 't.disclosure_id, t.substance_id, t.purpose',
  example:
    'disclosure_id,chemical_name,cas_number,purpose,concentration_percent,mass_lbs\n' +
    'b41f0c7e,Water,7732-18-5,Carrier,88.41,153700000\n' +
    'b41f0c7e,Crystalline silica (sand),14808-60-7,Proppant,10.42,18115000\n',
})
