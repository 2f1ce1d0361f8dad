import type { Declared } from '../../../src/datasets/dataset.ts'
import { fieldsOf } from '../../../src/feeds/files/csv.ts'

export type Fields = Record<string, string>

/**
 * For each dataset, the changed fields of a revision of its first row, and the key fields of a new
 * row.
 */
export const changesOf: Record<string, { revised: Fields; added: Fields }> = {
  'futures-settlements': { revised: { settlement: '71.91' }, added: { traded_on: '2026-11-18' } },
  'futures-ticks': { revised: { price: '702.75' }, added: { traded_at: '2026-11-20T14:45:00Z' } },
  'storage-capacities': { revised: { capacity: '78500' }, added: { effective_on: '2025-03-01' } },
  surcharges: { revised: { surcharge_percent: '27' }, added: { effective_date: '2026-11-11' } },
  'surcharge-schedules': {
    revised: { bands: '0=0;1.2=2;1.25=3;1.3' },
    added: { valid_from: '2025-02-03' },
  },
  'cftc-positions': { revised: { open_interest: '2035650' }, added: { report_date: '2026-11-10' } },
  annotations: { revised: { title: 'Producers keep them' }, added: { id: 'meeting-2026-06' } },
  'congressional-trades': {
    revised: { disclosure_date: '2026-10-31' },
    added: { ticker: 'UVW' },
  },
  'oil-inventories': { revised: { level: '424300' }, added: { date: '2026-11-06' } },
  'opec-productions': { revised: { production: '9150' }, added: { month: '2026-09' } },
  outlooks: { revised: { value: '72' }, added: { period: '2027-01' } },
  'rig-counts': { revised: { oil: '412' }, added: { date: '2026-11-06' } },
  'frac-spreads': { revised: { active_spreads: '199' }, added: { date: '2026-11-06' } },
  'duc-wells': { revised: { duc_count: '5231' }, added: { month: '2026-09' } },
  'drilling-productivity': { revised: { rig_count: '252' }, added: { month: '2026-09' } },
  'well-permits': {
    revised: { operator: 'Harrier Oil LLC', latitude: '31.9', permit_date: '2026-10-18' },
    added: { permit_number: '918274', api_number: '42-329-40002', formation: 'Spraberry' },
  },
  'frac-disclosures': {
    revised: { operator: 'Harrier Oil LLC', total_base_water_volume: '18420001' },
    added: { disclosure_id: 'c55d1a20' },
  },
  'frac-chemicals': {
    revised: { concentration_percent: '88.4' },
    added: { chemical_name: 'Guar gum', cas_number: '9000-30-0' },
  },
  'diesel-stations': {
    revised: { price: '3.469', latitude: '29.78', observed_at: '2026-11-19T12:40:00Z' },
    added: { reference: 'st-1003' },
  },
  wells: { revised: { completion_date: '2026-07-03' }, added: { api_number: '42-329-40009' } },
  'well-production': { revised: { oil_bbl: '21841' }, added: { month: '2026-05' } },
  'state-production': { revised: { oil_bbl: '179800001' }, added: { month: '2026-07' } },
}

/** The rows of the example in the documentation of a dataset. */
export function exampleRows({ example }: Pick<Declared, 'example'>): Fields[] {
  const [names, ...rows] = example
    .trim()
    .split('\n')
    .map(line => fieldsOf(line, ',')!)
  return rows.map(cells => Object.fromEntries(names!.map((column, i) => [column, cells[i]!])))
}
