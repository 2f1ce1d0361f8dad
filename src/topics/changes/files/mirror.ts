import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { instant, number, parquetRows, text } from '../../../lib/files/row-parquet.ts'
import { parseInstant } from '../../../lib/time/instant.ts'
import type { Mirror, MirrorRow } from '../store/mirror.ts'

const tables = {
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

const groupRows = 100_000

/** Writes the tables of a mirror into a folder, the years alone that have changed since. */
export async function writeMirror(mirror: Mirror, folder: string): Promise<void> {
  for (const year of mirror.changedYears()) {
    for (const [table, columns] of Object.entries(tables)) {
      await mkdir(join(folder, table), { recursive: true })
      const path = join(folder, table, `${year}.parquet`)
      const groups = inGroups(mirror.rows(table as keyof typeof tables, year))
      await Bun.write(`${path}.partial`, new Blob([...parquetRows(table, columns, groups)]))
      await rename(`${path}.partial`, path)
    }
    mirror.written(year)
  }
  const path = join(folder, 'state.json')
  await Bun.write(`${path}.partial`, `${JSON.stringify(mirror.state(), undefined, 2)}\n`)
  await rename(`${path}.partial`, path)
}

function* inGroups(rows: Iterable<MirrorRow>) {
  let group: object[] = []
  for (const { observed_at: at, recorded_at: recordedAt, ...row } of rows) {
    group.push({ ...row, observed_at: parseInstant(at), recorded_at: parseInstant(recordedAt) })
    if (group.length < groupRows) continue
    yield group as never
    group = []
  }
  yield group as never
}
