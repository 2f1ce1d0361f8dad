import type { DatasetReads } from '../../../database/dataset-reads.ts'
import { datasetStore } from '../../../database/dataset-store.ts'
import { type StorageCapacity, storageCapacities } from '../dataset/storage-capacities.ts'

export type StorageCapacityStore = ReturnType<typeof createStorageCapacityStore>

export function createStorageCapacityStore(reads: DatasetReads) {
  const store = datasetStore<StorageCapacity>(reads, storageCapacities)
  const on = store.records<[number, string]>(
    'WHERE series_id = ? AND effective_on <= ? ORDER BY effective_on DESC LIMIT 1',
  )
  return {
    /**
     * One transaction. The same capacity from the same source is unchanged; anything else for a known
     * day replaces it.
     */
    write: store.write /** What holds on a day: the newest capacity that took effect by then. */,
    on: (seriesId: number, day: string) => on.get(seriesId, day),
  }
}
