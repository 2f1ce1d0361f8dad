import { scaled } from '../../../datasets/cell.ts'
import { part, textOr } from '../../../datasets/columns.ts'
import { type Column, dataset, type RecordOf } from '../../../datasets/dataset.ts'
import { neededDay, neededNumber, neededText, refuse, textIn } from '../../../datasets/fields.ts'

/** How many of the unit of a series one of these is. */
const unitSizes: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  million_barrels: { million_barrels: 1, thousand_barrels: 0.001, barrels: 0.000001 },
  bcf: { bcf: 1, mmcf: 0.001 },
}

const storage = 'storage'
const capacityMax = 1e9
/** Surveys are published after the day that they are of; plans a little before. */
const aheadDays = 400

const columns = {
  seriesId: {
    name: 'code',
    required: true,
    description: 'Code or alias of category `storage`, such as CUSHING_STORAGE',
    isSeries: true,
  } as Column<number>,
  effectiveOn: {
    required: true,
    description: 'Day from which the capacity applies',
    read: (row, name, { now }) => neededDay(row, name, now, aheadDays),
  } as Column<string>,
  /** In the unit of the series. */
  capacity: { required: true, description: 'Working capacity' } as Column<number>,
  unit: part(
    'Unit of the capacity: that of the series (default), or thousand_barrels, barrels, mmcf',
    null,
  ),
  source: textOr('import', 'Source of the capacity; default: import', 200),
}

/** How much a place can hold from a day on, in the unit of its series. */
export type StorageCapacity = RecordOf<typeof columns>

export const storageCapacities = dataset({
  name: 'storage-capacities',
  description:
    'Working storage capacity by storage code and the day from which it applies, as surveyed by the Energy Information Administration.',
  table: 'storage_capacities',
  columns,
  key: ['seriesId', 'effectiveOn'],
  time: 'effectiveOn',
  revisions: true,
  checks: { cadence: 'monthly', columns: { capacity: { mayRepeat: true } } },
  example:
    'code,effective_on,capacity,unit,source\nCUSHING_STORAGE,2024-03-01,78410,thousand_barrels,EIA\nPADD3_CRUDE_STORAGE,2024-03-01,420779,thousand_barrels,EIA\n',
  read(row, read, { catalogue }): StorageCapacity {
    const code = neededText(
      row,
      'code',
      'write a code of category storage, such as CUSHING_STORAGE',
    )
    const series = catalogue.find(code)
    if (series?.category !== storage) {
      const near = series ? undefined : catalogue.nearest(code, storage)
      refuse(
        'code',
        code,
        'is not a storage code',
        near ? `did you mean ${near}?` : 'wellhead codes search storage lists them',
      )
    }
    const sizes = unitSizes[series.unit] ?? { [series.unit]: 1 }
    const unit = textIn(row, 'unit')?.toLowerCase() ?? series.unit
    const knownSize = Object.hasOwn(sizes, unit) ? sizes[unit] : undefined
    const size =
      knownSize ??
      refuse(
        'unit',
        unit,
        `does not measure ${series.code}`,
        `write ${Object.keys(sizes).join(' or ')}`,
      )
    const amount = neededNumber(row, 'capacity', 0, capacityMax)
    const capacity = scaled(amount, size)
    if (capacity === 0) refuse('capacity', amount, 'is nothing', 'write a capacity above 0')
    if (capacity > 50 * series.level) {
      refuse(
        'capacity',
        amount,
        `${unit} is outside the accepted range for ${series.code}`,
        `check the unit: ${capacity} ${series.unit} is far above its levels`,
      )
    }
    return read.rest({ seriesId: series.id, capacity })
  },
})
