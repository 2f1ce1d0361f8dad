import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { parquetFile } from '../../../lib/tables/parquet.ts'
import type { Kinds } from '../../../lib/tables/table.ts'
import type { Mirror, MirrorRow, MirrorTable } from '../store/mirror.ts'

const yearTables = {
  prices: {
    code: 'text',
    observed_at: 'instant',
    price: 'number',
    currency: 'text',
    unit: 'text',
    source: 'text',
    recorded_at: 'instant',
  },
  price_vintages: {
    code: 'text',
    observed_at: 'instant',
    price: 'number',
    recorded_at: 'instant',
    cursor: 'text',
  },
} as const

const datasetTables = {
  dataset_rows: { key: 'text', row: 'text', source: 'text', recorded_at: 'instant' },
  dataset_vintages: { key: 'text', row: 'text', recorded_at: 'instant', cursor: 'text' },
} as const

/** Writes the tables of a mirror into a folder, only years and datasets that have changed since. */
export async function writeMirror(mirror: Mirror, folder: string): Promise<void> {
  const write = async (table: string, columns: Kinds, name: string, rows: Iterable<MirrorRow>) => {
    await mkdir(join(folder, table), { recursive: true })
    const path = join(folder, table, `${name}.parquet`)
    await Bun.write(`${path}.partial`, new Blob([...parquetFile(table, columns, rows)]))
    await rename(`${path}.partial`, path)
  }
  for (const year of mirror.changedYears()) {
    for (const [table, columns] of Object.entries(yearTables))
      await write(table, columns, year, mirror.rows(table as keyof typeof yearTables, year))
    mirror.written(year)
  }
  for (const dataset of mirror.changedDatasets()) {
    for (const [table, columns] of Object.entries(datasetTables))
      await write(table, columns, dataset, mirror.datasetRows(table as MirrorTable, dataset))
    mirror.written(dataset)
  }
  const path = join(folder, 'state.json')
  await Bun.write(`${path}.partial`, `${JSON.stringify(mirror.state(), undefined, 2)}\n`)
  await rename(`${path}.partial`, path)
}
