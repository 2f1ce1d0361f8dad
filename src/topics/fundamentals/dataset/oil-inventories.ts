import type { WriteCounts } from '../../../database/write-counts.ts'
import { scaled } from '../../../datasets/cell.ts'
import {
  checked,
  neededNumber,
  neededPastDay,
  neededText,
  refuse,
} from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import type { CodeLookup } from '../../catalogue/math/lookup.ts'
import { checkRow } from '../../prices/files/rows.ts'
import type { Point } from '../../prices/store/observations.ts'
import { inventoryPlaces, placeOfAgencySeries } from '../math/inventories.ts'

/** Million barrels that one of these is; MBBL is how the agency abbreviates thousands. */
const units: ReadonlyMap<string, number> = new Map([
  ['million_barrels', 1],
  ['thousand_barrels', 0.001],
  ['mbbl', 0.001],
])

/** Where observations are written. */
export interface ObservationWriter {
  write(points: readonly Point[], recordedAt: number): WriteCounts
}

const codes = new Set(inventoryPlaces.map(place => place.code))

export function createOilInventoriesDataset(
  ingest: ObservationWriter,
  catalogue: CodeLookup,
): Dataset<Point> {
  const codeById = new Map<number, string>()
  return {
    name: 'oil-inventories',
    description:
      'Weekly stocks of crude oil and products by the series names of the Energy Information Administration (WCESTUS1 ...) or by storage code. They are observations of the storage series: the same levels can be imported as those.',
    columns: [
      {
        name: 'series',
        required: true,
        description: 'Name of the series at the agency, or a storage code of the family',
      },
      { name: 'date', required: true, description: 'Day of the level' },
      { name: 'level', required: true, description: 'What lies in store' },
      {
        name: 'unit',
        required: true,
        description:
          'thousand_barrels (also MBBL, as the agency abbreviates it) or million_barrels',
      },
    ],
    example:
      'series,date,level,unit\nWCESTUS1,2026-11-13,424200,MBBL\nWGTSTUS1,2026-11-13,207400,MBBL\n',
    key: ['series', 'date'],
    check: (row, now) =>
      checked(() => {
        const name = neededText(row, 'series', 'write the name of a series, such as WCESTUS1')
        const code = placeOfAgencySeries(name)?.code ?? catalogue.find(name)?.code
        if (code === undefined || !codes.has(code)) {
          refuse(
            'series',
            name,
            'is not a weekly inventory',
            'GET /v1/ei/oil_inventories/latest shows the codes of the family',
          )
        }
        const unit = neededText(row, 'unit', 'write thousand_barrels')
        const size =
          units.get(unit.toLowerCase()) ??
          refuse('unit', unit, 'is not known', `write ${[...units.keys()].join(' or ')}`)
        const level = scaled(neededNumber(row, 'level', 0, 1e9), size)
        const date = neededPastDay(row, 'date', now)
        const verdict = checkRow({ code, observedAt: date, price: level }, catalogue, now)
        if (verdict.kind !== 'point') {
          refuse(
            'level',
            row.level,
            `${unit} is outside the accepted range for ${code}`,
            'check the unit',
          )
        }
        codeById.set(verdict.point.seriesId, code)
        return verdict.point
      }),
    guarded: {
      cadence: 'weekly',
      time: 'date',
      columns: { level: { leastMove: 0.5 } },
      numbersOf: ({ seriesId, observedAt, value }) => [
        {
          line: { series: codeById.get(seriesId)! },
          time: isoDay(observedAt),
          values: { level: value },
        },
      ],
    },
    write: (records, recordedAt) => ingest.write(records, recordedAt),
  }
}
