import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import {
  instant,
  number,
  type ParquetRow,
  parquetRows,
  text,
} from '../../../lib/files/row-parquet.ts'
import { parseInstant } from '../../../lib/time/instant.ts'
import type { Mirror, MirrorRow, MirrorTable } from '../store/mirror.ts'

const yearTables = {
  prices: {
    code: text,
    observed_at: instant,
    price: number,
    currency: text,
    unit: text,
    source: text,
    recorded_at: instant,
  },
  price_vintages: {
    code: text,
    observed_at: instant,
    price: number,
    recorded_at: instant,
    cursor: text,
  },
} as const

const datasetTables = {
  dataset_rows: { key: text, row: text, source: text, recorded_at: instant },
  dataset_vintages: { key: text, row: text, recorded_at: instant, cursor: text },
} as const

const groupRows = 100_000

/** Writes the tables of a mirror into a folder, only years and datasets that have changed since. */
export async function writeMirror(mirror: Mirror, folder: string): Promise<void> {
  const write = async (
    table: string,
    columns: Parameters<typeof parquetRows>[1],
    name: string,
    rows: Iterable<MirrorRow>,
  ) => {
    await mkdir(join(folder, table), { recursive: true })
    const path = join(folder, table, `${name}.parquet`)
    await Bun.write(`${path}.partial`, new Blob([...parquetRows(table, columns, inGroups(rows))]))
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

function* inGroups(rows: Iterable<MirrorRow>): Generator<ParquetRow[]> {
  const momentOf = (text: MirrorRow[string] = null) =>
    typeof text === 'string' ? parseInstant(text) : undefined
  let group: ParquetRow[] = []
  for (const row of rows) {
    const { observed_at: at, recorded_at: recordedAt } = row
    group.push({ ...row, observed_at: momentOf(at), recorded_at: momentOf(recordedAt) })
    if (group.length < groupRows) continue
    yield group
    group = []
  }
  yield group
}
