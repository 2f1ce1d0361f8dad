import { expect, test } from 'bun:test'
import { parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { loadConfig } from '../../../../src/config/config.ts'
import { openDatabase } from '../../../../src/database/database.ts'
import { declaredDatasets } from '../../../../src/database/datasets.ts'
import {
  datasetFile,
  datasetRows,
  datasetYears,
} from '../../../../src/topics/operator/store/dataset-rows.ts'
import { demoDatabase } from '../../../support/instance/demo-database.ts'

const config = loadConfig({
  mode: 'dev',
  flags: {},
  env: { WELLHEAD_DEV_WORLD: 'small' },
  files: { directory: '/' },
  readFile: () => undefined,
})
const path = demoDatabase(config, Date.parse('2026-11-20T15:00:00Z'))
const db = openDatabase(path, { readonly: true })
const recorded = declaredDatasets.filter(({ recordTable }) => recordTable)

const readFile = async (name: string, year: string) => {
  const { bytes } = datasetFile(db, name, year, () => true)
  const file = await new Blob(bytes).arrayBuffer()
  return parquetReadObjects({ file, compressors })
}

test.each(recorded.map(({ name }) => name))(
  'the files of %s have each of its rows in one year',
  async name => {
    const current = [...datasetRows(db, name)]
    const rows = (
      await Promise.all(datasetYears(db, name).map(year => readFile(name, year)))
    ).flat()
    expect(rows.filter(row => row.valid_to === null)).toHaveLength(current.length)
    for (const row of rows) expect(row.valid_from).toBeInstanceOf(Date)
  },
)

test('a column with the name of a time of the file has its own name in it', async () => {
  const [row] = await readFile('surcharge-schedules', '2025')
  expect(row!.valid_from_on).toMatch(/^2025-\d\d-\d\d$/)
  expect(row!.valid_from).toBeInstanceOf(Date)
})
