import { readsNow } from '../../../src/database/dataset-reads.ts'
import type { Dataset } from '../../../src/feeds/files/dataset.ts'
import { parseInstant } from '../../../src/lib/time/instant.ts'
import { shippedCatalogue } from '../../../src/topics/catalogue/files/shipped.ts'
import { codeLookupOf } from '../../../src/topics/catalogue/math/lookup.ts'
import { createSeriesStore } from '../../../src/topics/catalogue/store/series.ts'
import { surchargeSchedules } from '../../../src/topics/fuels/dataset/surcharge-schedules.ts'
import { surcharges as published } from '../../../src/topics/fuels/dataset/surcharges.ts'
import { createSurchargeStore } from '../../../src/topics/fuels/store/surcharges.ts'
import { storageCapacities } from '../../../src/topics/fundamentals/dataset/storage-capacities.ts'
import { createStorageCapacityStore } from '../../../src/topics/fundamentals/store/storage-capacities.ts'
import { databaseInMemory } from '../instance/database.ts'
import { datasetOf } from './datasets.ts'

export const now = parseInstant('2026-11-20T15:00:00Z')!

/** Datasets over a database in memory, and the stores that they write to. */
export function setUp() {
  const db = databaseInMemory()
  const series = createSeriesStore(db)
  const shipped = shippedCatalogue()
  series.put(shipped.series, shipped.aliases)
  const catalogue = codeLookupOf(series.all())
  const [capacities, surcharges] = [
    createStorageCapacityStore(readsNow(db)),
    createSurchargeStore(db),
  ]
  return {
    capacities,
    surcharges,
    idOf: (code: string) => catalogue.find(code)!.id,
    storage: datasetOf(storageCapacities, capacities.write, { catalogue }),
    published: datasetOf(published, surcharges.write, { catalogue }),
    schedules: datasetOf(surchargeSchedules, surcharges.writeSchedules, { catalogue }),
  }
}

/** The records of a file in the form of the example; fails on the first row that is refused. */
export function taken<T>(dataset: Dataset<T>, csv: string): T[] {
  const [head, ...lines] = csv.trim().split('\n')
  const names = head!.split(',')
  return lines.map(line => {
    const fields = line.split(',')
    const checked = dataset.check(
      Object.fromEntries(names.map((name, i) => [name, fields[i]])),
      now,
    )
    if (!('record' in checked)) throw new Error(checked.reason)
    return checked.record
  })
}

/** Why a row is refused; undefined when it is not. */
export const faultOf = (dataset: Dataset<unknown>, row: Record<string, unknown>) => {
  const checked = dataset.check(row, now)
  return 'record' in checked ? undefined : checked
}

/** A published week. */
export const week = {
  carrier: 'Alder',
  carrier_name: 'Alder Freight Lines',
  effective_date: '2026-11-18',
  surcharge_percent: '26',
  index_price: '3.718',
  band_min: '3.7',
  band_max: '3.75',
  source: 'https://alder.example/fuel',
  retrieved_at: '2026-11-18T13:05:00Z',
}
