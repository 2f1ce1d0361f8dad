import { scaled } from '../../../datasets/cell.ts'
import { number, part } from '../../../datasets/columns.ts'
import { type Column, dataset, type RecordOf } from '../../../datasets/dataset.ts'
import { neededNumber, neededPastDay, neededText, refuse } from '../../../datasets/fields.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { inventoryPlaces, placeOfAgencySeries } from '../math/inventories.ts'
import { sizeIn } from './units.ts'

/** Million barrels in one of these; MBBL is how the agency abbreviates thousands. */
const units: ReadonlyMap<string, number> = new Map([
  ['million_barrels', 1],
  ['thousand_barrels', 0.001],
  ['mbbl', 0.001],
])
const codes = new Set(inventoryPlaces.map(place => place.code))

const columns = {
  seriesId: {
    name: 'series',
    required: true,
    description: 'Name of the series at the agency, or a storage code',
    isSeries: true,
  } as Column<number>,
  /** Midnight UTC of the day. */
  observedAt: {
    name: 'date',
    required: true,
    description: 'Day of the level',
    exported: "date(t.observed_at / 1000, 'unixepoch')",
    written: isoDay,
  } as Column<number>,
  value: number('Stock level', [0, 1e9], { name: 'level' }),
  unit: part(
    'thousand_barrels (also MBBL, as the agency abbreviates it) or million_barrels',
    "'million_barrels'",
    { required: true },
  ),
}

export const oilInventories = dataset({
  name: 'oil-inventories',
  description:
    'Weekly stocks of crude oil and products by the series names of the Energy Information Administration (WCESTUS1 ...) or by storage code. They are observations of the storage series, and can be imported as such instead.',
  columns,
  key: ['seriesId', 'observedAt'],
  time: 'observedAt',
  tables: [],
  from: `inventory_records r JOIN series s ON s.id = r.series_id
      JOIN observations t ON t.series_id = r.series_id AND t.observed_at = r.starts_at`,
  where: 't.observed_at % 86400000 = 0',
  order: 'r.id',
  checks: { cadence: 'weekly', columns: { value: { leastMove: 0.5 } } },
  example:
    'series,date,level,unit\nWCESTUS1,2026-11-13,424200,MBBL\nWGTSTUS1,2026-11-13,207400,MBBL\n',
  read(row, _read, context): RecordOf<typeof columns> {
    const name = neededText(row, 'series', 'write the name of a series, such as WCESTUS1')
    const code = placeOfAgencySeries(name)?.code ?? context.catalogue.find(name)?.code
    if (code === undefined || !codes.has(code)) {
      refuse(
        'series',
        name,
        'is not a weekly inventory',
        'GET /v1/ei/oil_inventories/latest shows the codes of the family',
      )
    }
    const { unit, size } = sizeIn(row, units, 'thousand_barrels')
    const level = scaled(neededNumber(row, 'level', 0, 1e9), size)
    const point = context.point(code, neededPastDay(row, 'date', context.now), level)
    return (
      point ??
      refuse(
        'level',
        row.level,
        `${unit} is outside the accepted range for ${code}`,
        'check the unit',
      )
    )
  },
})
