import {
  checked,
  type DatasetRow,
  neededText,
  numberIn,
  refuse,
  textIn,
} from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import type { FracChemical, FracChemicalStore } from '../store/frac-chemicals.ts'
import type { FracDisclosureStore } from '../store/frac-disclosures.ts'
import { nameIn, neededName, sourceColumn } from './well-fields.ts'

const poundsMax = 1e9
const casPattern = /^\d{2,7}-\d{2}-\d$/
/** What registries write where an operator keeps the substance to itself, or nothing. */
const secretPattern =
  /^(?:proprietary|confidential|trade secret|n\/?a|none|not assigned|listed below|-+)/i

export function createFracChemicalsDataset(
  store: FracChemicalStore,
  disclosures: Pick<FracDisclosureStore, 'idOf'>,
): Dataset<FracChemical> {
  return {
    name: 'frac-chemicals',
    description:
      'What fracturing fluids were made of: one row for each substance and purpose of a disclosure that is known.',
    columns: [
      {
        name: 'disclosure_id',
        required: true,
        description: 'Id of the disclosure, as it was imported with frac-disclosures',
      },
      { name: 'chemical_name', required: true, description: 'Name of the substance' },
      {
        name: 'cas_number',
        required: false,
        description: 'Number of the Chemical Abstracts Service; a word such as proprietary is none',
      },
      {
        name: 'purpose',
        required: false,
        description: 'What it is there for; default: Unspecified',
      },
      {
        name: 'concentration_percent',
        required: false,
        description: 'Percent of the whole fluid, by mass',
      },
      { name: 'mass_lbs', required: false, description: 'Pounds' },
      sourceColumn,
    ],
    example:
      'disclosure_id,chemical_name,cas_number,purpose,concentration_percent,mass_lbs\n' +
      'b41f0c7e,Water,7732-18-5,Carrier,88.41,153700000\n' +
      'b41f0c7e,Crystalline silica (sand),14808-60-7,Proppant,10.42,18115000\n',
    key: ['disclosure_id', 'chemical_name', 'cas_number', 'purpose'],
    check: row =>
      checked(() => {
        const reference = neededText(row, 'disclosure_id', 'write the id of the disclosure', 80)
        const disclosureId =
          disclosures.idOf(reference) ??
          refuse(
            'disclosure_id',
            reference,
            'is not a disclosure that is known',
            'import its row with --dataset frac-disclosures first',
          )
        return {
          disclosureId,
          name: neededName(row, 'chemical_name', 'write the name of the substance'),
          casNumber: casIn(row),
          purpose: nameIn(row, 'purpose') ?? 'Unspecified',
          concentrationPercent: numberIn(row, 'concentration_percent', 0, 100) ?? null,
          massLbs: numberIn(row, 'mass_lbs', 0, poundsMax) ?? null,
          source: textIn(row, 'source', 40) ?? 'import',
        }
      }),
    write: (records, recordedAt) => store.write(records, recordedAt),
  }
}

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
