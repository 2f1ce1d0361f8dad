import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { behindBareServer, type OpenPeer, run } from './peer.ts'

/**
 * DuckDB behind the bare server, where `bun add @duckdb/node-api` was run in the directory that
 * `WELLHEAD_BENCH_DUCKDB` names: nothing else of Wellhead needs it.
 */
export const openDuckdb: OpenPeer = async ({ dir, settings }) => {
  const installed = process.env.WELLHEAD_BENCH_DUCKDB
  if (installed === undefined) return undefined
  const driver = Bun.resolveSync('@duckdb/node-api', installed)
  const file = join(dir, 'prices.duckdb')
  const sql = (...statements: string[]) =>
    run([
      process.execPath,
      '-e',
      `const { DuckDBInstance } = await import(${JSON.stringify(driver)})
       const db = await (await DuckDBInstance.create(${JSON.stringify(file)})).connect()
       for (const sql of ${JSON.stringify(statements)}) await db.run(sql)
       db.closeSync()`,
    ])
  return {
    name: 'DuckDB behind a bare server',
    async load(csv) {
      rmSync(file, { force: true })
      await sql(
        `CREATE TABLE t AS SELECT * FROM read_csv('${csv}', header = true,
           columns = {code: 'VARCHAR', "at": 'TIMESTAMPTZ', price: 'DOUBLE'})`,
      )
    },
    async serve() {
      await sql(
        `CREATE TABLE prices AS SELECT code, epoch_ms("at")::BIGINT AS "at", price AS value,
           1763000000000::BIGINT AS recorded_at FROM t ORDER BY code, "at"`,
        'DROP TABLE t',
        'CHECKPOINT',
      )
      return behindBareServer({ ...settings, duckdb: { driver, file } })
    },
    stop: () => Promise.resolve(),
    bytes: () => statSync(file).size,
  }
}
